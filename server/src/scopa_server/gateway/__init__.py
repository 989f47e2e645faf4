"""Connections: WebSockets, and the HTTP side beside them."""
