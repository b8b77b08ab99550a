"""Judging texts by a language-inference model in a local file."""
