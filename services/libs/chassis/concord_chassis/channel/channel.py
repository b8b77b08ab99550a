"""Channels to other services, which add token, request id, deadline and trace to each call.

A channel adds them in its multicallables, not in gRPC's client interceptors, which cost one asyncio
task for each call.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import grpc

from concord_chassis.call import deadline
from concord_chassis.call.sizes import MAX_REPLY_BYTES
from concord_chassis.channel import addresses, services_tls
from concord_chassis.channel.keepalive import CHANNEL_KEEPALIVE, Keepalive
from concord_chassis.observe import request_id, tracing

_RETRY = {
    "maxAttempts": 4,
    "initialBackoff": "0.05s",
    "maxBackoff": "1s",
    "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE", "CANCELLED"],
}
RETRIES = json.dumps({"methodConfig": [{"name": [{}], "retryPolicy": _RETRY}]})
"""gRPC's service config: a call of any method is retried on UNAVAILABLE, and on CANCELLED, with
which gRPC ends the calls that still wait for a server's Python when that server stops.

By the contract (`MethodRules`), every method may be called again with the same request."""

Metadata = Sequence[tuple[str, str | bytes]] | grpc.aio.Metadata
Token = Callable[[], str]


def connect(
    address: str,
    *,
    token: Token | None,
    cap: float | None = 30.0,
    keepalive: Keepalive = CHANNEL_KEEPALIVE,
) -> grpc.aio.Channel:
    """Returns a channel to a `ServiceAddress`; the channel connects at its first call.

    If `address` lists replicas, or its host has several addresses, calls go in turn to the
    connected ones; a stream stays on the connection on which it began.

    Each call gets these, unless its own metadata has them:
    - the bearer token `token()`; none if `token` is None
    - the current request id, or a new one
    - the current trace, if there is one

    Each call gets a deadline: the least of `cap`, its own `timeout` (both in seconds) and the
    current call's remaining time less 50 ms. `cap=None` is for streams without an end: a call that
    is not made within another call then has a deadline only if it has a `timeout`. A call raises
    `Failure` (DEADLINE_EXCEEDED) at once if the current call has at most 50 ms left.

    On UNAVAILABLE and CANCELLED, gRPC makes up to four attempts at a call. `keepalive` says when to
    ping, to notice that the server vanished. After `services_tls.enter` with TLS settings, TCP
    connections use TLS. Raises `ConfigError` for a list of replicas under TLS.
    """
    options = [*_options(), *keepalive.of_channel()]
    channel = services_tls.channel(addresses.target(address), options)
    defaults = _CallDefaults(token, cap)
    for shape in ("unary_unary", "unary_stream", "stream_unary", "stream_stream"):
        setattr(channel, shape, _with_defaults(getattr(channel, shape), defaults))
    return channel


def _options() -> list[tuple[str, int | str]]:
    return [
        ("grpc.max_receive_message_length", MAX_REPLY_BYTES),
        ("grpc.service_config", RETRIES),
        addresses.ROUND_ROBIN,
        ("grpc.enable_http_proxy", 0),  # our services are never behind the machine's web proxy
        ("grpc.use_local_subchannel_pool", 1),  # channels share neither connections nor backoff
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.min_reconnect_backoff_ms", 5_000),  # gRPC's timeout of one attempt to connect
        ("grpc.max_reconnect_backoff_ms", 2_000),
        ("grpc.dns_min_time_between_resolutions_ms", 1_000),  # a new container has a new address
    ]


class _CallDefaults:
    """The token and the deadline that a channel adds to each call."""

    def __init__(self, token: Token | None, cap: float | None) -> None:
        self._token = token
        self._cap = cap

    def timeout(self, requested: float | None) -> float | None:
        """Returns the seconds for a call whose own timeout is `requested`; None for no limit.

        Raises `Failure` (DEADLINE_EXCEEDED) when the current call has no time left.
        """
        limits = [limit for limit in (requested, self._cap) if limit is not None]
        if limits:
            return deadline.outgoing(min(limits))
        return None if deadline.remaining() is None else deadline.outgoing(float("inf"))

    def metadata(
        self, metadata: Metadata | None, trace: Mapping[str, str]
    ) -> tuple[tuple[str, str | bytes], ...]:
        """Returns the call's own metadata, and the request id, token and trace that it lacks.

        `trace` holds the headers of the current trace.
        """
        own = tuple(metadata or ())
        names = {name for name, _ in own}
        added: list[tuple[str, str]] = []
        if request_id.METADATA_KEY not in names:
            added.append((request_id.METADATA_KEY, request_id.current() or request_id.new()))
        if self._token is not None and "authorization" not in names:
            added.append(("authorization", f"Bearer {self._token()}"))
        added += [each for each in trace.items() if each[0] not in names]
        return (*own, *added)


def _with_defaults(
    multicallable_of: Callable[..., Any], defaults: _CallDefaults
) -> Callable[..., Any]:
    """Returns a channel's method for one of the four call shapes, which adds call defaults."""

    def of(method: str, *codecs: Any, **options: Any) -> _Multicallable:
        return _Multicallable(method, multicallable_of(method, *codecs, **options), defaults)

    return of


class _Multicallable:
    """A multicallable of any of the four call shapes that adds the channel's call defaults."""

    def __init__(self, method: str, inner: Callable[..., Any], defaults: _CallDefaults) -> None:
        self._method, self._inner, self._defaults = method, inner, defaults

    # The request (or the iterator of requests) and gRPC's other options are passed on unchanged.
    def __call__(
        self,
        *request: Any,
        timeout: float | None = None,
        metadata: Metadata | None = None,
        **options: Any,
    ) -> Any:
        seconds = self._defaults.timeout(timeout)
        span = tracing.begin_client_span(self._method)
        trace = {} if span is None else span.headers
        call = self._inner(
            *request, timeout=seconds, metadata=self._defaults.metadata(metadata, trace), **options
        )
        if span is not None:
            call.add_done_callback(lambda done: span.end(_code_of(done)))
        return call


def _code_of(done: grpc.aio.Call) -> int:
    """Returns the code of a call that is done.

    gRPC returns it from a coroutine, which ends at its first step because the call is done.
    """
    waiting = done.code()
    try:
        waiting.send(None)
    except StopIteration as found:
        code: grpc.StatusCode = found.value
        return int(code.value[0])
    waiting.close()
    return int(grpc.StatusCode.UNKNOWN.value[0])
