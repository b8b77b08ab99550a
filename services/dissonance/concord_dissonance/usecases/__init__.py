"""Dissonance's use cases, one a module."""
