"""Shared parts of governance commands: session, reviewed bytes, genesis, deletion, verification."""
