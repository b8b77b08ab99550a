"""Reads what sentences say."""
