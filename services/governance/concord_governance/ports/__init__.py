"""Governance's ports: interfaces that it needs, with the guarantees that it may rely on."""
