"""Rooms being shown in this process: one task each, its clocks, and who is connected."""
