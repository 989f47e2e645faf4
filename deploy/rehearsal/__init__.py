"""What docs/deploying.md promises, tried with real containers, a real match and real faults."""
