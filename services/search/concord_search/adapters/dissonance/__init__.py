"""Dissonance, over its contract."""
