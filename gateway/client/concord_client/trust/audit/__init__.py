"""Checking an audit log offline: that nothing in it changed or is missing, and that rules held."""
