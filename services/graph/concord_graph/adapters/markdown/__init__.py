"""Reads the links to other memories in a memory's Markdown content."""
