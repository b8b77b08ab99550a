"""Mutual TLS between services: each shows a certificate, and demands one, of the same authority.

Tokens name the caller and its scopes; TLS keeps others on the network from reading the traffic and
from posing as a service. Unix sockets have no TLS.
"""

import ssl
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import grpc
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from pydantic import BaseModel, ConfigDict

from concord_chassis.config import ConfigError, load

PREFIX = "SERVICES_TLS_"
_SOCKET = "unix:"
_SEVERAL = ("ipv4:", "ipv6:")


class ServicesTlsConfig(BaseModel):
    """The files for TLS, keys SERVICES_TLS_...: all three, or none for plain text."""

    model_config = ConfigDict(frozen=True)

    ca: Path | None = None
    """The certificates (PEM) of the authorities that sign the services' certificates. A peer
    without a certificate of theirs is refused."""
    cert: Path | None = None
    """This service's certificate (PEM), for the DNS name by which other services address it. Its
    intermediate certificates may follow it."""
    key: Path | None = None
    """The certificate's private key (PEM, unencrypted)."""


@dataclass(frozen=True)
class ServicesTls:
    """The checked contents of the three files, and the first DNS name of the certificate."""

    ca: bytes
    cert: bytes
    key: bytes
    name: str

    def of_server(self) -> grpc.ServerCredentials:
        """Returns the credentials of a server: its callers must show a certificate."""
        return grpc.ssl_server_credentials(
            [(self.key, self.cert)], self.ca, require_client_auth=True
        )

    def of_channel(self) -> grpc.ChannelCredentials:
        """Returns the credentials of a channel: the server must show a certificate for the host
        name in the channel's address."""
        return grpc.ssl_channel_credentials(self.ca, self.key, self.cert)


_CURRENT: ContextVar[ServicesTls | None] = ContextVar("concord_services_tls", default=None)


def enter(environ: Mapping[str, str]) -> None:
    """Sets TLS, by the settings in `environ`, for servers and channels made later in this context.

    Raises `ConfigError`, which names the wrong setting and its remedy.
    """
    _CURRENT.set(read(environ))


def current() -> ServicesTls | None:
    """Returns the files of the last `enter` in this context; None for plain text."""
    return _CURRENT.get()


def channel(address: str, options: Sequence[tuple[str, str | int]]) -> grpc.aio.Channel:
    """Returns a channel to a service at `unix:/path`, `host:port` or, without TLS, `ipv4:A,B`.

    Raises `ConfigError` for several addresses under TLS: a certificate is for a name.
    """
    tls = current()
    if tls is None or address.startswith(_SOCKET):
        return grpc.aio.insecure_channel(address, options=list(options))
    if address.startswith(_SEVERAL):
        raise ConfigError(
            f"{address} cannot be spoken to with TLS: name the replicas by one host name, which"
            " stands for all their addresses, or unset SERVICES_TLS_CA"
        )
    return grpc.aio.secure_channel(address, tls.of_channel(), options=list(options))


def bind(server: grpc.aio.Server, address: str) -> int:
    """Adds an address to `server`; returns its port (1 for a Unix socket).

    Raises `RuntimeError` if gRPC cannot listen on the address.
    """
    tls = current()
    if tls is None or address.startswith(_SOCKET):
        return server.add_insecure_port(address)
    return server.add_secure_port(address, tls.of_server())


def read(environ: Mapping[str, str]) -> ServicesTls | None:
    """Returns the contents of the files that the settings name; None if no setting is set.

    Raises `ConfigError` when a setting is missing, a file is not readable, a certificate is not
    valid now or has no DNS name, or the files do not fit each other.
    """
    config = load(ServicesTlsConfig, environ, PREFIX)
    paths = {f"{PREFIX}{n.upper()}": getattr(config, n) for n in ServicesTlsConfig.model_fields}
    if not any(paths.values()):
        return None
    if missing := [key for key, path in paths.items() if path is None]:
        raise ConfigError(f"{missing[0]} is not set: {', '.join(paths)} need each other")
    ca, cert, key = (_content(setting, path) for setting, path in paths.items())
    _demand_pair(config)
    authorities = _certificates("SERVICES_TLS_CA", ca)
    (mine, *chain) = _certificates("SERVICES_TLS_CERT", cert)
    _demand_valid_now("SERVICES_TLS_CERT", mine)
    for each in authorities:
        _demand_valid_now("SERVICES_TLS_CA", each)
    _demand_signed(mine, [*chain, *authorities])
    return ServicesTls(ca, cert, key, _name(mine))


def _content(setting: str, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"{setting}: {path} cannot be read ({error.strerror}): name a PEM file"
        ) from None


def _demand_pair(config: ServicesTlsConfig) -> None:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(str(config.cert), str(config.key))
    except (ssl.SSLError, OSError):
        raise ConfigError(
            f"SERVICES_TLS_KEY: {config.key} is not the unencrypted key (PEM) of the certificate"
            f" in SERVICES_TLS_CERT, {config.cert}: set both to a pair"
        ) from None


def _certificates(setting: str, pem: bytes) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(pem)
    except ValueError:
        raise ConfigError(f"{setting} holds no certificate (PEM)") from None


def _demand_valid_now(setting: str, certificate: x509.Certificate) -> None:
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if not begins <= datetime.now(UTC) <= ends:
        raise ConfigError(
            f"{setting} holds a certificate for {begins:%Y-%m-%d} to {ends:%Y-%m-%d}, which is not"
            " now: put one that counts in its place (`make compose-up` renews those it made), or"
            " correct this machine's clock"
        )


def _demand_signed(mine: x509.Certificate, signers: Sequence[x509.Certificate]) -> None:
    for each in signers:
        try:
            return mine.verify_directly_issued_by(each)
        except (ValueError, TypeError, InvalidSignature):
            continue
    raise ConfigError(
        "SERVICES_TLS_CERT is not signed by whom SERVICES_TLS_CA holds: set the authority that all"
        " services' certificates are of"
    )


def _name(certificate: x509.Certificate) -> str:
    """Returns a certificate's first DNS name.

    Raises `ConfigError` without one: no channel could then verify the server's name.
    """
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        return names.value.get_values_for_type(x509.DNSName)[0]
    except (x509.ExtensionNotFound, IndexError):
        raise ConfigError(
            "SERVICES_TLS_CERT is for no DNS name: name the host that others address as its"
            " subjectAltName"
        ) from None
