"""The gateway's settings, read from an environment mapping.

Keys are `GATEWAY_` and the field's name in capitals. There is no default key and no default
secret; listening on loopback is the default.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from concord_chassis import config
from concord_chassis.channel.addresses import REPLICA_SEPARATOR, valid_addresses
from pydantic import BaseModel, ConfigDict, Field, field_validator

from concord_gateway.admission import RENEW_BEFORE
from concord_gateway.in_flight import Limits

PREFIX = "GATEWAY_"

_LISTEN = re.compile(r"(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):[0-9]{1,5}")
_SERVICE_PREFIX = re.compile(r"[a-z0-9_]+(\.[A-Za-z0-9_]+)*")


class Config(BaseModel):
    """Every setting of the gateway; times in seconds, sizes in bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    grpc_listen: str = "127.0.0.1:7600"
    """`host:port` of the gRPC address; port 0 takes any."""
    http_listen: str = "127.0.0.1:7601"
    """`host:port` of HTTP/JSON; port 0 takes any."""
    upstreams: Mapping[str, str]
    """Service prefix to address: `concord.graph=unix:/run/graph.sock,concord.search=h:7612`.
    Several replicas, as IPv4 addresses with ports, are separated by `|` and used in turn.
    `concord.governance` is also asked whose API key a call presents."""
    issuer_key_file: Path
    """The Ed25519 private key (PEM, unencrypted, mode 0600) that signs tokens for the services."""
    issuer_name: str = Field(default="gateway", min_length=1, max_length=128)
    """The name under which the services know the issuer's public key."""
    tls_cert: Path | None = None
    """The certificate chain (PEM) that both addresses show; without it they speak plain text."""
    tls_key: Path | None = None
    """Its private key (PEM, unencrypted)."""
    tls_client_ca: Path | None = None
    """The CA of callers' certificates (PEM); if set, callers without a certificate are refused."""
    plain_text_network: bool = False
    """Whether to listen beyond loopback without TLS, behind a proxy that terminates TLS."""
    token_ttl: float = Field(default=300.0, gt=RENEW_BEFORE, le=3600.0)
    """A token's life."""
    reflection: bool = False
    """Whether gRPC reflection shows the contracts to anyone who asks."""
    http_hosts: tuple[str, ...] = ()
    """Host names, beside loopback, that HTTP requests may address."""
    http_origins: tuple[str, ...] = ()
    """Origins, beside the gateway's own, whose pages may send HTTP requests."""
    page: bool = False
    """Whether people may sign in over HTTP: sessions, which a browser's page uses."""
    deadline: float = Field(default=30.0, gt=0, le=3600.0)
    """The deadline of a unary call that came without one."""
    max_message_bytes: int = Field(default=1 << 20, ge=1024, le=64 << 20)
    """The largest request message or HTTP body."""
    calls_per_key: int = Field(default=64, ge=1, le=10_000)
    """How many calls of one key may be under way; more are refused at once."""
    streams_per_key: int = Field(default=8, ge=1, le=1_000)
    """How many of these may be streams."""
    exports_per_key: int = Field(default=2, ge=1, le=100)
    """How many of these may be exports of a space or of its audit log."""
    calls: int = Field(default=1_000, ge=1, le=100_000)
    """How many calls of all keys together may be under way."""
    http_connections: int = Field(default=512, ge=1, le=100_000)
    """How many HTTP connections may be open, but at most half of the process's descriptors."""
    http_header_seconds: float = Field(default=5.0, gt=0, le=60.0)
    """The time in which all headers of a request must arrive on an open connection."""
    http_body_seconds: float = Field(default=30.0, gt=0, le=3600.0)
    """The time in which a request's whole body must arrive."""
    health_timeout: float = Field(default=1.0, gt=0, le=60.0)
    """A service that does not answer a health check in this time counts as not serving."""
    health_interval: float = Field(default=1.0, gt=0, le=60.0)
    """The time between two health checks for a caller of Watch."""
    grace: float = Field(default=10.0, ge=0, le=600.0)
    """The time that calls under way have when the gateway stops."""

    @property
    def in_flight(self) -> Limits:
        """How many calls may be under way."""
        return Limits(self.calls_per_key, self.streams_per_key, self.exports_per_key, self.calls)

    @field_validator("grpc_listen", "http_listen")
    @classmethod
    def _host_and_port(cls, value: str) -> str:
        if not _LISTEN.fullmatch(value) or int(value.rpartition(":")[2]) > 65535:
            raise ValueError("not host:port")
        return value

    @field_validator("upstreams")
    @classmethod
    def _prefixes_and_targets(cls, value: Mapping[str, str]) -> Mapping[str, str]:
        if not value:
            raise ValueError("no upstream")
        for prefix, addresses in value.items():
            if not _SERVICE_PREFIX.fullmatch(prefix) or not all(addresses.split(REPLICA_SEPARATOR)):
                raise ValueError("not prefix=address")
            valid_addresses(addresses)
        return MappingProxyType(dict(value))


def read(environ: Mapping[str, str]) -> Config:
    """The configuration in `environ`. Raises `concord_chassis.config.ConfigError`."""
    return config.load(Config, environ, PREFIX)
