"""Governance behind its contract."""
