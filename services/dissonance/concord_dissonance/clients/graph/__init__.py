"""Graph behind its contract."""
