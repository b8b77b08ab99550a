"""Versions of an index: each is a part of its own, and a file holds their roles."""
