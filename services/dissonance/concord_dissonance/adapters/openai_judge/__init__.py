"""Judging texts by a model behind an OpenAI-compatible endpoint."""
