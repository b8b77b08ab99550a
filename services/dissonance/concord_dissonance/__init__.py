"""Dissonance: where the memory disagrees with itself.

It keeps nothing: conflicts live in graph. `domain` holds the judges that need no model.
"""
