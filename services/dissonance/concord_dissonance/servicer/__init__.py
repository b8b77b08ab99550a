"""Translates between the contract and the use cases."""
