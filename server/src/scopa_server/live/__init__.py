"""Rooms being shown in this process."""
