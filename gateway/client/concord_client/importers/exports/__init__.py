"""Readers of other memories' exports."""
