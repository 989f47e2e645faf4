"""The game itself, as pure functions of frozen values: no clock, dice, I/O or logging."""
