"""Renders replies for a terminal."""
