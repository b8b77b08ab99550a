"""Reads English sentences: `parser` loads what parses them."""
