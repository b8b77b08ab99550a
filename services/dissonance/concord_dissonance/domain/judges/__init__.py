"""Judges that need no model: they compare the words, or the typed facts, of two statements."""
