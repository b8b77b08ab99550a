"""Dissonance's settings: read once from an environment mapping, keys DISSONANCE_..."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

PREFIX = "DISSONANCE_"


class Addresses(BaseModel):
    """Where the services are that dissonance asks: unix:/path or host:port."""

    model_config = ConfigDict(frozen=True)

    graph_address: str
    """Graph's address: statements come from there, and conflicts go there."""
    search_address: str
    """Search's address: it finds what is near in meaning."""
    governance_address: str
    """Governance's address: findings become proposals there."""


class DissonanceConfig(Addresses):
    """All of dissonance's settings."""

    listen: list[str] = Field(min_length=1)
    """Addresses: unix:/path or host:port."""
    issuer_keys: Mapping[str, Path]
    """Issuer name to the file of its Ed25519 public key (PEM)."""
    key_file: Path
    """Dissonance's own Ed25519 private key (PEM), with which it signs its tokens as the issuer
    "dissonance"."""
    reflection: bool = False
    """Whether to serve gRPC reflection."""
