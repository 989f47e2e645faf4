"""Seats played by the server, from a view like any client's."""
