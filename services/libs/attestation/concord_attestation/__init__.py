"""Signed papers: genesis records, consents and grants as DSSE over RFC 8785 JSON with Ed25519.

Everybody who believes a paper reads it with this; those who sign have code of their own.
"""
