"""Translates between the contract's messages and governance's values."""
