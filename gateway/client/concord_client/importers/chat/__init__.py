"""Reads chat transcripts: every turn becomes a memory of kind TURN."""

from concord_client.importers.chat.transcript import read_chat

__all__ = ["read_chat"]
