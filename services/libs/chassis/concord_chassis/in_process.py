"""Calls to a server of the same process, without its socket (services/decisions/0079).

The embedded system runs all services in one event loop, where gRPC costs more than most methods do.
A channel to such a server gives a call of one request and one reply to the server's own handler:
the same bytes through the same stages. All other calls go through gRPC.
"""
# ruff: noqa: D102 - the methods of `PassingChannel` are gRPC's, which describes them

import asyncio
import time
from collections.abc import Callable, Coroutine, Generator, Iterable, Sequence
from contextlib import suppress
from contextvars import Context, copy_context
from types import TracebackType
from typing import Any, NamedTuple, NoReturn, Self, cast

import grpc

from concord_chassis.failure import PUSHBACK_KEY

# Only the generated stub has the types of a method's messages; gRPC's own annotations are Any too.
Serializer = Callable[[Any], bytes]
Deserializer = Callable[[bytes], Any]
Handle = Callable[[bytes, Any], Any]
Again = Callable[[], "grpc.aio.UnaryUnaryCall[Any, Any]"]
Metadata = tuple[tuple[str, str | bytes], ...]

_SOCKET = "unix:"
_NO_RETRY = (PUSHBACK_KEY, "-1")


class InProcessServer:
    """The handlers of a server, for callers in its event loop, and their calls under way."""

    def __init__(self, find: Callable[[str], Handle | None]) -> None:
        """`find` returns the handler of a method's path; None unless it takes one request and
        returns one reply."""
        self._find = find
        self._loop: asyncio.AbstractEventLoop | None = None
        self._context = Context()
        self._calls: dict[asyncio.Task[None], _Call] = {}

    def start(self, addresses: Iterable[str]) -> None:
        """Takes the calls to those of the addresses that are `unix:/path`, from now on."""
        self._loop, self._context = asyncio.get_running_loop(), copy_context()
        _SERVERS.update((each, self) for each in addresses if each.startswith(_SOCKET))

    def find(self, path: str) -> Handle | None:
        """Returns the handler of a method's path; None if the call has to go through gRPC."""
        return self._find(path) if asyncio.get_running_loop() is self._loop else None

    def serve(self, call: "_Call", work: Coroutine[Any, Any, None]) -> None:
        """Does `work`, which ends the call, and counts the call as under way until it is done.

        It sees the variables of who started the server, as gRPC's handlers do, and none of the
        caller's.
        """
        task = call.run(work, self._context.copy())
        self._calls[task] = call
        task.add_done_callback(self._calls.pop)

    async def stop(self, grace: float) -> None:
        """Takes no more calls, and cuts off those that last longer than `grace` seconds."""
        for address in [each for each, server in _SERVERS.items() if server is self]:
            del _SERVERS[address]
        if self._calls:
            _, late = await asyncio.wait(self._calls, timeout=grace)
            for each in late:
                self._calls[each].refuse(grpc.StatusCode.UNAVAILABLE, "The server has stopped.")
                each.cancel()


_SERVERS: dict[str, InProcessServer] = {}
"""By their addresses, the servers of this process that are started."""


def channel(address: str, through_grpc: grpc.aio.Channel, *, retries: bool) -> grpc.aio.Channel:
    """Returns a channel to a `ServiceAddress`, which uses `through_grpc` for all but direct calls.

    With `retries`, a direct call that ends with UNAVAILABLE is made again through gRPC, for
    channels that retry such calls.
    """
    if not address.startswith(_SOCKET):
        return through_grpc
    return _Channel(address, through_grpc, retries=retries)


class PassingChannel(grpc.aio.Channel):
    """Passes everything on to `inner`: a base of channels that change some of it."""

    def __init__(self, inner: grpc.aio.Channel) -> None:
        self._inner = inner

    def _changed(self, _method: str, multicallable: Any) -> Any:
        """Returns what the channel gives in place of its inner channel's multicallable."""
        return multicallable

    def unary_unary(
        self,
        method: str,
        request_serializer: Serializer | None = None,
        response_deserializer: Deserializer | None = None,
        _registered_method: bool | None = False,
    ) -> grpc.aio.UnaryUnaryMultiCallable[Any, Any]:
        inner = self._inner.unary_unary(method, request_serializer, response_deserializer)
        return cast(grpc.aio.UnaryUnaryMultiCallable[Any, Any], self._changed(method, inner))

    def unary_stream(
        self,
        method: str,
        request_serializer: Serializer | None = None,
        response_deserializer: Deserializer | None = None,
        _registered_method: bool | None = False,
    ) -> grpc.aio.UnaryStreamMultiCallable[Any, Any]:
        inner = self._inner.unary_stream(method, request_serializer, response_deserializer)
        return cast(grpc.aio.UnaryStreamMultiCallable[Any, Any], self._changed(method, inner))

    def stream_unary(
        self,
        method: str,
        request_serializer: Serializer | None = None,
        response_deserializer: Deserializer | None = None,
        _registered_method: bool | None = False,
    ) -> grpc.aio.StreamUnaryMultiCallable[Any, Any]:
        inner = self._inner.stream_unary(method, request_serializer, response_deserializer)
        return cast(grpc.aio.StreamUnaryMultiCallable[Any, Any], self._changed(method, inner))

    def stream_stream(
        self,
        method: str,
        request_serializer: Serializer | None = None,
        response_deserializer: Deserializer | None = None,
        _registered_method: bool | None = False,
    ) -> grpc.aio.StreamStreamMultiCallable[Any, Any]:
        inner = self._inner.stream_stream(method, request_serializer, response_deserializer)
        return cast(grpc.aio.StreamStreamMultiCallable[Any, Any], self._changed(method, inner))

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


class _Channel(PassingChannel):
    def __init__(self, address: str, inner: grpc.aio.Channel, *, retries: bool) -> None:
        super().__init__(inner)
        self._address, self._retries = address, retries

    def unary_unary(
        self,
        method: str,
        request_serializer: Serializer | None = None,
        response_deserializer: Deserializer | None = None,
        _registered_method: bool | None = False,
    ) -> grpc.aio.UnaryUnaryMultiCallable[Any, Any]:
        through_grpc = super().unary_unary(method, request_serializer, response_deserializer)
        serialize, deserialize = request_serializer or bytes, response_deserializer or bytes

        def call(
            request: Any,
            *,
            timeout: float | None = None,
            metadata: Sequence[tuple[str, str | bytes]] | None = None,
            **options: Any,
        ) -> Any:
            server = _SERVERS.get(self._address)
            handle = None if server is None else server.find(method)
            if server is None or handle is None:
                return through_grpc(request, timeout=timeout, metadata=metadata, **options)
            context = _CallContext(tuple(metadata or ()), timeout)

            def again() -> grpc.aio.UnaryUnaryCall[Any, Any]:
                left = context.time_remaining()
                return through_grpc(request, timeout=left, metadata=metadata, **options)

            async def serve() -> None:
                try:
                    begun.reply(deserialize(await handle(serialize(request), context)))
                except grpc.aio.AbortError:
                    begun.refuse(context.status, context.details)

            begun = _Call(context, timeout, again if self._retries else None)
            server.serve(begun, serve())
            return begun

        return cast(grpc.aio.UnaryUnaryMultiCallable[Any, Any], call)


class _CallContext:
    """What the stages use of gRPC's context of a call; then it holds how the server ended it."""

    def __init__(self, metadata: Metadata, timeout: float | None) -> None:
        self._metadata = metadata
        self._until = None if timeout is None else time.monotonic() + timeout
        self.status = grpc.StatusCode.OK
        self.details = ""
        self.leading: Metadata = ()
        self.trailing: Metadata = ()

    def invocation_metadata(self) -> Metadata:
        return self._metadata

    def time_remaining(self) -> float | None:
        return None if self._until is None else max(0.0, self._until - time.monotonic())

    async def send_initial_metadata(self, metadata: Metadata) -> None:
        self.leading = metadata

    def set_trailing_metadata(self, metadata: Metadata) -> None:
        self.trailing = metadata

    async def abort(
        self, code: grpc.StatusCode, details: str = "", trailing_metadata: Metadata = ()
    ) -> NoReturn:
        self.status, self.details = code, details
        self.trailing = trailing_metadata or self.trailing
        raise grpc.aio.AbortError

    def code(self) -> int:
        return int(self.status.value[0])


class _Status(NamedTuple):
    """How a call ended for its caller."""

    code: grpc.StatusCode
    details: str
    leading: Metadata = ()
    trailing: Metadata = ()

    @property
    def may_be_retried(self) -> bool:
        return self.code is grpc.StatusCode.UNAVAILABLE and _NO_RETRY not in self.trailing

    def error(self) -> grpc.aio.AioRpcError:
        leading, trailing = (grpc.aio.Metadata(*each) for each in (self.leading, self.trailing))
        return grpc.aio.AioRpcError(self.code, leading, trailing, self.details)


class _Call(grpc.aio.UnaryUnaryCall[Any, Any]):
    """A direct call as its caller sees it.

    As through gRPC, it ends at once when its caller leaves or its time is over, even if the
    servicer then takes long to end, or ends as if nothing had happened.
    """

    def __init__(self, context: _CallContext, timeout: float | None, again: Again | None) -> None:
        """`again` makes the call through gRPC; None: it is never made again."""
        self._context, self._again = context, again
        self._status = _Status(grpc.StatusCode.CANCELLED, "The caller has left.")
        loop = asyncio.get_running_loop()
        self._outcome: asyncio.Future[Any] = loop.create_future()
        self._outcome.add_done_callback(self._ended)
        late = (grpc.StatusCode.DEADLINE_EXCEEDED, "The call's time is over.")
        self._timer = None if timeout is None else loop.call_later(timeout, self.refuse, *late)

    def run(self, work: Coroutine[Any, Any, None], context: Context) -> "asyncio.Task[None]":
        """Returns the task that does `work`, which ends this call."""
        self._work = asyncio.create_task(work, context=context)
        self._work.add_done_callback(self._worked)
        return self._work

    def reply(self, reply: Any) -> None:
        """Ends the call with a reply, unless it has ended."""
        context = self._context
        self._end(_Status(grpc.StatusCode.OK, "", context.leading, context.trailing), reply)

    def refuse(self, code: grpc.StatusCode, details: str) -> None:
        """Ends the call with an error, or makes it again, unless it has ended."""
        again, self._again = self._again, None
        status = _Status(code, details, self._context.leading, self._context.trailing)
        if again is None or not status.may_be_retried or self._outcome.done():
            self._end(status)
        else:
            self.run(self._repeat(again), Context())

    async def _repeat(self, again: Again) -> None:
        call, reply = again(), None
        with suppress(grpc.aio.AioRpcError):
            reply = await call
        leading, trailing = await call.initial_metadata(), await call.trailing_metadata()
        code, details = await call.code(), await call.details()
        self._end(_Status(code, details, tuple(leading), tuple(trailing)), reply)

    def _end(self, status: _Status, reply: Any = None) -> None:
        if self._outcome.done():
            return
        self._status = status
        if status.code is grpc.StatusCode.OK:
            self._outcome.set_result(reply)
        else:
            self._outcome.set_exception(status.error())

    def _worked(self, work: "asyncio.Task[None]") -> None:
        if work is self._work:  # else the call is made again
            code = grpc.StatusCode.CANCELLED if work.cancelled() else grpc.StatusCode.UNKNOWN
            self.refuse(code, "The server has not answered.")

    def _ended(self, outcome: "asyncio.Future[Any]") -> None:
        if self._timer is not None:
            self._timer.cancel()
        if outcome.cancelled():
            self._work.cancel()
        else:
            outcome.exception()  # else asyncio reports a refusal that nobody awaits

    def __await__(self) -> Generator[Any, None, Any]:
        return self._outcome.__await__()

    def cancelled(self) -> bool:
        return self._outcome.cancelled()

    def done(self) -> bool:
        return self._outcome.done()

    def cancel(self) -> bool:
        return self._outcome.cancel()

    def time_remaining(self) -> float | None:
        return self._context.time_remaining()

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        self._outcome.add_done_callback(lambda _: callback(self))

    async def initial_metadata(self) -> grpc.aio.Metadata:
        await self.wait_for_connection()
        return grpc.aio.Metadata(*self._status.leading)

    async def trailing_metadata(self) -> grpc.aio.Metadata:
        await self.wait_for_connection()
        return grpc.aio.Metadata(*self._status.trailing)

    async def code(self) -> grpc.StatusCode:
        await self.wait_for_connection()
        return self._status.code

    async def details(self) -> str:
        await self.wait_for_connection()
        return self._status.details

    async def wait_for_connection(self) -> None:
        """Waits until the call is done: only then is anything known of it."""
        if not self._outcome.done():
            await asyncio.wait((self._outcome,))
