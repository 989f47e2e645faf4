"""The terminal client for Scopa Server."""
