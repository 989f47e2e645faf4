"""A room as a value: what may happen in it, what it is then, and who may see what."""
