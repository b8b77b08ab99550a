"""TLS on both addresses: the gateway's certificate and key, and the CA of callers' certificates."""

import ssl
from dataclasses import dataclass
from pathlib import Path

import grpc
from concord_chassis.channel.addresses import is_loopback
from cryptography import x509

from concord_gateway.config import Config
from concord_gateway.errors import TlsRefused


@dataclass(frozen=True)
class Tls:
    """The checked files: a certificate chain, its key, and the CA of callers, if demanded."""

    certificate: Path
    key: Path
    client_ca: Path | None

    def grpc_credentials(self) -> grpc.ServerCredentials:
        """The credentials of the gRPC server."""
        pair = (self.key.read_bytes(), self.certificate.read_bytes())
        roots = self.client_ca.read_bytes() if self.client_ca else None
        return grpc.ssl_server_credentials([pair], roots, require_client_auth=roots is not None)


def of(config: Config) -> Tls | None:
    """The certificate and key that `config` names; None for plain text. Raises `TlsRefused`."""
    _check_settings(config)
    if config.tls_cert is None or config.tls_key is None:
        return None
    for setting in ("tls_cert", "tls_key", "tls_client_ca"):
        _demand_readable(setting, getattr(config, setting))
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(config.tls_cert, config.tls_key)
    except (ssl.SSLError, OSError) as error:
        raise TlsRefused(
            f"{config.tls_cert} and {config.tls_key} are no certificate (PEM) and its unencrypted "
            "key: set GATEWAY_TLS_CERT and GATEWAY_TLS_KEY to a pair."
        ) from error
    if config.tls_client_ca:
        _demand_certificates(config.tls_client_ca)
    return Tls(config.tls_cert, config.tls_key, config.tls_client_ca)


def _check_settings(config: Config) -> None:
    if (config.tls_cert is None) != (config.tls_key is None):
        raise TlsRefused("GATEWAY_TLS_CERT and GATEWAY_TLS_KEY need each other: set both.")
    if config.tls_client_ca and not config.tls_cert:
        raise TlsRefused("GATEWAY_TLS_CLIENT_CA needs GATEWAY_TLS_CERT and GATEWAY_TLS_KEY too.")
    if config.tls_cert or config.plain_text_network:
        return
    for listen in (config.grpc_listen, config.http_listen):
        if not is_loopback(listen.rpartition(":")[0].strip("[]")):
            raise TlsRefused(
                f"Keys sent to {listen} would cross the network in plain text. Set "
                "GATEWAY_TLS_CERT and GATEWAY_TLS_KEY, or, where something in front of the "
                "gateway ends TLS, GATEWAY_PLAIN_TEXT_NETWORK=true."
            )


def _demand_readable(setting: str, path: Path | None) -> None:
    try:
        if path:
            path.read_bytes()
    except OSError as error:
        raise TlsRefused(
            f"Cannot read {path}: {error.strerror}. Set GATEWAY_{setting.upper()} to a PEM file."
        ) from error


def _demand_certificates(path: Path) -> None:
    try:
        x509.load_pem_x509_certificates(path.read_bytes())
    except ValueError as error:
        raise TlsRefused(
            f"{path} holds no certificate (PEM): set GATEWAY_TLS_CLIENT_CA to the one that signs "
            "callers' certificates."
        ) from error
