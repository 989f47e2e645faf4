"""The Scopa game server."""
