"""Theses, their contradictions, and what resolves them."""
