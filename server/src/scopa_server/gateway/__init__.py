"""Connections from outside: frames in and out, limits, close codes."""
