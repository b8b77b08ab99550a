"""Signed envelopes: genesis records, consents and grants as DSSE over RFC 8785 JSON with Ed25519.

Everybody who verifies an envelope reads it with this package; signers have code of their own.
"""
