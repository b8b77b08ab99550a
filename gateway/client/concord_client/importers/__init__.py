"""Readers of people's files: they yield memories to add as drafts, or the defects of items.

Only `upload` talks to a server. An item that cannot be read never stops the others.
"""
