"""Readers of people's files: they yield drafts to add, or say why an item is none.

Nothing here talks to a server. An item that cannot be read never stops the others.
"""
