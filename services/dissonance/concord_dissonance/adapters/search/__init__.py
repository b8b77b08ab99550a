"""Search behind its contract."""
