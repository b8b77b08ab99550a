"""Reads what a memory's Markdown content says about other memories."""
