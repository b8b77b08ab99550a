"""Forgetting somebody whole: a look, and the erasure of what was looked at (M4)."""
