"""Verifies what principals and governance signed: DSSE over RFC 8785 JSON, Ed25519."""
