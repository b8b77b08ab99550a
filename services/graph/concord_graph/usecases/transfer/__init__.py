"""Exports and imports of a space."""
