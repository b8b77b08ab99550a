"""Gives these tests furnished spaces."""

from contract_fixtures import kept, template

__all__ = ["kept", "template"]
