"""Versions of an index: each a part of its own, and a file that says what each is for."""
