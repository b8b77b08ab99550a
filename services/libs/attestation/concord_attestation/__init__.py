"""Signed envelopes: genesis records, consents and grants as DSSE over RFC 8785 JSON with Ed25519.

Every verifier of an envelope reads it with this package; signers have code of their own.
"""
