"""Channels to other services: who asks, under which request id, and for how long.

A channel adds to each call the caller's token, the current request id, an explicit deadline, and
the current trace.
It does so in the multicallables rather than in gRPC's client interceptors, which cost a task a
call.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, cast

import grpc

from concord_chassis import addresses, deadline, keepalive, request_id, services_tls, tracing
from concord_chassis.keepalive import Keepalive
from concord_chassis.sizes import MAX_REPLY_BYTES

_RETRY = {
    "maxAttempts": 4,
    "initialBackoff": "0.05s",
    "maxBackoff": "1s",
    "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE"],
}
RETRIES = json.dumps({"methodConfig": [{"name": [{}], "retryPolicy": _RETRY}]})
"""gRPC's service config: every method may be sent again, as the contract says."""

Metadata = Sequence[tuple[str, str | bytes]] | grpc.aio.Metadata
Token = Callable[[], str]


def connect(
    address: str,
    *,
    token: Token | None,
    cap: float | None = 30.0,
    alive: Keepalive = keepalive.CHANNEL,
) -> grpc.aio.Channel:
    """A channel to `unix:/path` or `host:port`; it connects with its first call.

    Where a host has several addresses, or `address` names replicas parted by `|`, calls go to those
    that are connected in turn; a call that follows stays with the one that it met.

    Each call carries `token()` as its bearer token, unless its metadata has one or `token` is
    None; the current request id; and a deadline: the least of `cap`, the call's own `timeout` and
    the current call's remaining time less 50 ms. With `cap=None` a call outside any other has no
    deadline unless it asks for one: for streams that follow forever.
    A call that meets UNAVAILABLE is sent again, at most four times in all. `alive` finds out that
    the other side vanished. TCP is under TLS where `services_tls` was entered.
    """
    options = [*_options(), *alive.of_channel()]
    raw = services_tls.channel(addresses.target(address), options)
    return _Channel(raw, _Terms(token, cap))


def _options() -> list[tuple[str, int | str]]:
    return [
        ("grpc.max_receive_message_length", MAX_REPLY_BYTES),
        ("grpc.service_config", RETRIES),
        addresses.IN_TURN,
        ("grpc.enable_http_proxy", 0),  # our services are never behind the machine's web proxy
        ("grpc.use_local_subchannel_pool", 1),  # a channel's backoff is its own
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.min_reconnect_backoff_ms", 5_000),  # the time that one attempt to connect has
        ("grpc.max_reconnect_backoff_ms", 2_000),
        ("grpc.dns_min_time_between_resolutions_ms", 1_000),  # a new container, a new address
    ]


class _Terms:
    """What a channel adds to each call."""

    def __init__(self, token: Token | None, cap: float | None) -> None:
        self._token = token
        self._cap = cap

    def timeout(self, asked: float | None) -> float | None:
        """Seconds for this call. Raises `Failure` when the current call has none left."""
        wishes = [wish for wish in (asked, self._cap) if wish is not None]
        if wishes:
            return deadline.outgoing(min(wishes))
        return None if deadline.remaining() is None else deadline.outgoing(float("inf"))

    def metadata(
        self, metadata: Metadata | None, trace: Mapping[str, str]
    ) -> tuple[tuple[str, str | bytes], ...]:
        """The call's own metadata and what it lacks; `trace` takes the current one on."""
        own = tuple(metadata or ())
        names = {name for name, _ in own}
        added: list[tuple[str, str]] = []
        if request_id.METADATA_KEY not in names:
            added.append((request_id.METADATA_KEY, request_id.current() or request_id.new()))
        if self._token is not None and "authorization" not in names:
            added.append(("authorization", f"Bearer {self._token()}"))
        added += [each for each in trace.items() if each[0] not in names]
        return (*own, *added)


class _OnTerms:
    """A multicallable of any of the four shapes, called on the channel's terms."""

    def __init__(self, method: str, inner: Callable[..., Any], terms: _Terms) -> None:
        self._method, self._inner, self._terms = method, inner, terms

    # The request, or the iterator of requests, and gRPC's other options pass as they are.
    def __call__(
        self,
        *request: Any,
        timeout: float | None = None,
        metadata: Metadata | None = None,
        **options: Any,
    ) -> Any:
        within = self._terms.timeout(timeout)
        asked = tracing.asked(self._method)
        trace = {} if asked is None else asked.headers
        call = self._inner(
            *request, timeout=within, metadata=self._terms.metadata(metadata, trace), **options
        )
        if asked is not None:
            call.add_done_callback(lambda done: asked.ended(_code_of(done)))
        return call


def _code_of(done: grpc.aio.Call) -> int:
    """The code of a call that is done, which gRPC hands out in a coroutine that waits no more."""
    waiting = done.code()
    try:
        waiting.send(None)
    except StopIteration as found:
        code: grpc.StatusCode = found.value
        return int(code.value[0])
    waiting.close()
    return int(grpc.StatusCode.UNKNOWN.value[0])


# What the messages of a method are, only the generated stub knows; gRPC's own types say Any too.
Serializer = Callable[[Any], bytes]
Deserializer = Callable[[bytes], Any]


class _Channel(grpc.aio.Channel):
    """A channel all of whose calls follow its terms."""

    def __init__(self, inner: grpc.aio.Channel, terms: _Terms) -> None:
        self._inner, self._terms = inner, terms

    def unary_unary(
        self,
        method: str,
        request_serializer: Serializer | None = None,
        response_deserializer: Deserializer | None = None,
        _registered_method: bool | None = False,
    ) -> grpc.aio.UnaryUnaryMultiCallable[Any, Any]:
        inner = self._inner.unary_unary(method, request_serializer, response_deserializer)
        return cast(
            grpc.aio.UnaryUnaryMultiCallable[Any, Any], _OnTerms(method, inner, self._terms)
        )

    def unary_stream(
        self,
        method: str,
        request_serializer: Serializer | None = None,
        response_deserializer: Deserializer | None = None,
        _registered_method: bool | None = False,
    ) -> grpc.aio.UnaryStreamMultiCallable[Any, Any]:
        inner = self._inner.unary_stream(method, request_serializer, response_deserializer)
        return cast(
            grpc.aio.UnaryStreamMultiCallable[Any, Any], _OnTerms(method, inner, self._terms)
        )

    def stream_unary(
        self,
        method: str,
        request_serializer: Serializer | None = None,
        response_deserializer: Deserializer | None = None,
        _registered_method: bool | None = False,
    ) -> grpc.aio.StreamUnaryMultiCallable[Any, Any]:
        inner = self._inner.stream_unary(method, request_serializer, response_deserializer)
        return cast(
            grpc.aio.StreamUnaryMultiCallable[Any, Any], _OnTerms(method, inner, self._terms)
        )

    def stream_stream(
        self,
        method: str,
        request_serializer: Serializer | None = None,
        response_deserializer: Deserializer | None = None,
        _registered_method: bool | None = False,
    ) -> grpc.aio.StreamStreamMultiCallable[Any, Any]:
        inner = self._inner.stream_stream(method, request_serializer, response_deserializer)
        return cast(
            grpc.aio.StreamStreamMultiCallable[Any, Any], _OnTerms(method, inner, self._terms)
        )

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
