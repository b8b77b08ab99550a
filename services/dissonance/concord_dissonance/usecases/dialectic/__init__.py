"""Synthesis of what opposes, as runs that their callers can come back to."""
