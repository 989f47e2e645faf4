"""Seats played by the server: bots, and stand-ins for people who are away."""
