"""Channels to other services, which add token, request id, deadline and trace to each call.

A channel adds them in its multicallables, not in gRPC's client interceptors, which cost one asyncio
task for each call.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, cast

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

# Only the generated stub has the types of a method's messages; gRPC's own annotations are Any too.
Serializer = Callable[[Any], bytes]
Deserializer = Callable[[bytes], Any]
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
    raw = services_tls.channel(addresses.target(address), options)
    return _Channel(raw, _CallDefaults(token, cap))


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


class _Channel(grpc.aio.Channel):
    """Passes everything on to `inner`, and adds its call defaults to all of its calls."""

    def __init__(self, inner: grpc.aio.Channel, defaults: _CallDefaults) -> None:
        self._inner, self._defaults = inner, defaults

    def _added_to(self, method: str, multicallable: Any) -> Any:
        return _Multicallable(method, multicallable, self._defaults)

    def unary_unary(
        self,
        method: str,
        request_serializer: Serializer | None = None,
        response_deserializer: Deserializer | None = None,
        _registered_method: bool | None = False,
    ) -> grpc.aio.UnaryUnaryMultiCallable[Any, Any]:
        inner = self._inner.unary_unary(method, request_serializer, response_deserializer)
        return cast(grpc.aio.UnaryUnaryMultiCallable[Any, Any], self._added_to(method, inner))

    def unary_stream(
        self,
        method: str,
        request_serializer: Serializer | None = None,
        response_deserializer: Deserializer | None = None,
        _registered_method: bool | None = False,
    ) -> grpc.aio.UnaryStreamMultiCallable[Any, Any]:
        inner = self._inner.unary_stream(method, request_serializer, response_deserializer)
        return cast(grpc.aio.UnaryStreamMultiCallable[Any, Any], self._added_to(method, inner))

    def stream_unary(
        self,
        method: str,
        request_serializer: Serializer | None = None,
        response_deserializer: Deserializer | None = None,
        _registered_method: bool | None = False,
    ) -> grpc.aio.StreamUnaryMultiCallable[Any, Any]:
        inner = self._inner.stream_unary(method, request_serializer, response_deserializer)
        return cast(grpc.aio.StreamUnaryMultiCallable[Any, Any], self._added_to(method, inner))

    def stream_stream(
        self,
        method: str,
        request_serializer: Serializer | None = None,
        response_deserializer: Deserializer | None = None,
        _registered_method: bool | None = False,
    ) -> grpc.aio.StreamStreamMultiCallable[Any, Any]:
        inner = self._inner.stream_stream(method, request_serializer, response_deserializer)
        return cast(grpc.aio.StreamStreamMultiCallable[Any, Any], self._added_to(method, inner))

    async def close(self, grace: float | None = None) -> None:
        await self._inner.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        return self._inner.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        await self._inner.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        await self._inner.channel_ready()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.close()
