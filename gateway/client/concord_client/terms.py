"""The terms of each call: API key, request id, deadline, and safe retries."""

import json
import re
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import grpc
from google.protobuf.message import Message

from concord_client.credentials import Certificates, CredentialsError

MAX_REPLY_BYTES = 8 << 20
DEFAULT_TIMEOUT = 30.0
TLS_PREFIX = "https://"
PLAIN_PREFIXES = ("http://", "grpc://")

_RETRY = {
    "maxAttempts": 4,
    "initialBackoff": "0.05s",
    "maxBackoff": "1s",
    "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE", "CANCELLED"],
}
RETRIES = json.dumps({"methodConfig": [{"name": [{}], "retryPolicy": _RETRY}]})
"""gRPC's service config: every method may be sent again, as the contract says. CANCELLED is what
gRPC's runtime sends for calls that waited for the Python of a server that stopped."""

NO_CERTIFICATES = Certificates()

Pairs = Sequence[tuple[str, str | bytes]]
Q = TypeVar("Q")


class Terms:
    """The terms of one client's calls. `timeout`: seconds, for calls without a timeout."""

    def __init__(self, api_key: str, timeout: float) -> None:
        self._authorization = ("authorization", f"Bearer {api_key}")
        self._timeout = timeout

    def timeout(self, asked: float | None) -> float:
        """The call's timeout in seconds: `asked`, else the client's."""
        return self._timeout if asked is None else asked

    def metadata(self, given: Pairs) -> list[tuple[str, str | bytes]]:
        """The call's own metadata, the key and a request id for the logs."""
        added = [] if _names(given, "x-request-id") else [("x-request-id", uuid.uuid4().hex)]
        return [*given, self._authorization, *added]

    def request(self, given: Q) -> Q:
        """The request to send: a write without a `request_id` gets a new one.

        So a call that is retried writes once, and two calls write twice.
        """
        if not isinstance(given, Message) or "request_id" not in given.DESCRIPTOR.fields_by_name:
            return given
        if getattr(given, "request_id"):  # noqa: B009 - its class is known only at run time
            return given
        sent = type(given)()
        sent.CopyFrom(given)
        setattr(sent, "request_id", str(uuid.uuid4()))  # noqa: B010 - as above
        return sent


_ADDRESS = re.compile(
    r"(dns|unix|ipv4|ipv6):.+|https://[^/?#@\s]+/?|((http|grpc)://)?[^/?#@\s]+:[0-9]{1,5}/?"
)
_PORT = re.compile(r":([0-9]+)/?$")
_LAST_PORT = 65_535


def address(
    url: str, certificates: Certificates = NO_CERTIFICATES
) -> tuple[str, grpc.ChannelCredentials | None]:
    """The gRPC target of `url`, and TLS credentials if it begins with `https://`.

    `host:port` and `http://host:port` are plain text, as on loopback; so are gRPC's own `dns:` and
    `unix:`. Raises `CredentialsError`, also for a URL with a path.
    """
    port = _PORT.search(url)
    if not _ADDRESS.fullmatch(url) or (port and int(port[1]) > _LAST_PORT):
        shown = re.sub(r"[^/\s]*@", "…@", url)  # what may stand before it is a password
        raise CredentialsError(
            f"{shown!r} is no address of Concord: CONCORD_URL is host:port, http://host:port or "
            "https://host:port, without a path, as `concord up` prints it after gRPC."
        )
    if url.startswith(TLS_PREFIX):
        tls = grpc.ssl_channel_credentials(
            root_certificates=_read(certificates.ca),
            private_key=_read(certificates.cert_key),
            certificate_chain=_read(certificates.cert),
        )
        return url.removeprefix(TLS_PREFIX).rstrip("/"), tls
    for prefix in PLAIN_PREFIXES:
        url = url.removeprefix(prefix)
    return url.rstrip("/"), None


def _read(path: Path | None) -> bytes | None:
    try:
        return path.read_bytes() if path else None
    except OSError as error:
        raise CredentialsError(f"Cannot read {path}: {error.strerror}.") from error


def options() -> list[tuple[str, int | str]]:
    """The channel's options."""
    return [
        ("grpc.max_receive_message_length", MAX_REPLY_BYTES),
        ("grpc.service_config", RETRIES),
        ("grpc.lb_policy_name", "round_robin"),  # for an address with several gateways
        ("grpc.enable_http_proxy", 0),  # a gateway is never behind the machine's web proxy
        ("grpc.use_local_subchannel_pool", 1),  # a new client does not inherit a backoff
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.min_reconnect_backoff_ms", 5_000),  # the timeout of one attempt to connect
        ("grpc.max_reconnect_backoff_ms", 2_000),
        ("grpc.keepalive_time_ms", 30_000),  # ends long calls to a server that vanished
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.http2.ping_timeout_ms", 10_000),  # measured: the line above has no effect alone
        ("grpc.http2.max_pings_without_data", 0),
    ]


def _names(metadata: Pairs, key: str) -> bool:
    return any(name == key for name, _ in metadata)
