"""Forwards calls as bytes, unparsed.

The caller gets the service's own status, details, metadata and messages. Deadlines are forwarded
as the time that remains; cancellation on either side cancels the other; a slow reader slows the
writer, since each message is written before the next is read.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any, NoReturn, TypeAlias

import grpc
from concord_chassis.call import failure as failures
from concord_chassis.call.failure import Failure
from concord_chassis.call.requests import LONGEST_PAUSE, discard_rest
from concord_chassis.observe import request_id

from concord_gateway import upstream_failure
from concord_gateway.admission import LET_IN_EVERY, Gate, onward
from concord_gateway.config import Config
from concord_gateway.in_flight import InFlight
from concord_gateway.observation import UNKNOWN_METHOD, Observation
from concord_gateway.routes import Route

Context: TypeAlias = "grpc.aio.ServicerContext[bytes, bytes]"
Metadata: TypeAlias = list[tuple[str, str | bytes]]
Handler: TypeAlias = "grpc.RpcMethodHandler[bytes, bytes]"
Stream: TypeAlias = "grpc.aio.StreamStreamCall[bytes, bytes]"
Replies: TypeAlias = "grpc.aio.UnaryStreamCall[bytes, bytes] | Stream"
Answer: TypeAlias = Callable[[Any, Context], Coroutine[Any, Any, Any]]
"""Answers one call: takes its request, unless it streams, and returns or writes its reply."""
Forward: TypeAlias = Callable[[Any, Context, Metadata], Coroutine[Any, Any, Any]]
"""An `Answer` that is a service's, to whom it sends the metadata."""

PROTOCOL = "grpc"
SETTLE = 0.005
"""Seconds between the end of a caller's stream and its end towards the service.

gRPC's Python shows a cancelled stream as an ended one before it shows the cancellation. Without
the pause a service could take the beginning of a cancelled upload for the whole of it.
"""


class Proxy(grpc.GenericRpcHandler):
    """Forwards every method of the routing table, and refuses all others."""

    def __init__(
        self,
        routes: Mapping[str, Route],
        gate: Gate,
        in_flight: InFlight,
        observation: Observation,
        config: Config,
    ) -> None:
        self._gate, self._in_flight = gate, in_flight
        self._observation, self._config = observation, config
        self._handlers = {path: self._handler(route) for path, route in routes.items()}
        # As a stream: only the caller knows whether an unknown method streams.
        self._unknown: Handler = grpc.stream_stream_rpc_method_handler(
            self._answering(UNKNOWN_METHOD, self._refuse_unknown, streams_in=True)
        )

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Handler:
        """The handler of one call, by its method's path."""
        return self._handlers.get(handler_call_details.method, self._unknown)

    def _handler(self, route: Route) -> Handler:
        """A method whose caller streams is forwarded as one that streams both ways.

        On the wire they are the same. One message of a caller is not: gRPC has read it whole before
        its handler may refuse the call.
        """
        if route.method.client_streaming:
            return grpc.stream_stream_rpc_method_handler(
                self._forwarding(route, self._both_ways(route))
            )
        if route.method.server_streaming:
            return grpc.unary_stream_rpc_method_handler(
                self._forwarding(route, self._replying(route))
            )
        return grpc.unary_unary_rpc_method_handler(self._forwarding(route, self._unary(route)))

    def _forwarding(self, route: Route, forward: Forward) -> Answer:
        """Returns a handler that authenticates a call, counts it in its limits, and forwards it."""

        async def answer(request: Any, context: Context) -> Any:
            metadata = context.invocation_metadata() or ()
            admitted = await self._gate.admit(metadata)
            with self._in_flight.place(admitted.key, route):
                outcome = forward(
                    request, context, onward(metadata, admitted.authorization(route.audience))
                )
                return await (self._while_let_in(context, outcome) if route.streams else outcome)

        streams_in = bool(route.method.client_streaming)
        return self._answering(route.path, answer, streams_in=streams_in)

    def _answering(self, path: str, act: Answer, *, streams_in: bool) -> Answer:
        """Returns a handler that traces and counts a call, and maps errors to a status."""

        async def answer(request: Any, context: Context) -> Any:
            with self._observation.under_way(path, context.invocation_metadata() or ()):
                return await answered(request, context)

        async def answered(request: Any, context: Context) -> Any:
            started = time.perf_counter()
            code = grpc.StatusCode.OK
            try:
                return await act(request, context)
            except asyncio.CancelledError:
                code = grpc.StatusCode.CANCELLED
                raise
            except Failure as failure:
                code = failure.code
                if streams_in:
                    await discard_rest(context)  # or an asyncio client never learns the reason
                await self._refuse(path, context, failure)
            except grpc.aio.AioRpcError as error:
                code = error.code()
                await self._pass_on(path, context, error)
            except Exception:  # noqa: BLE001 - else gRPC would send the exception's text
                code = grpc.StatusCode.INTERNAL
                self._observation.bug(path, _request_id(context))
                await self._refuse(path, context, failures.internal())
            finally:
                self._observation.ended(PROTOCOL, path, code, started)

        return answer

    def _unary(self, route: Route) -> Forward:
        stub: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]
        stub = route.upstream.channel.unary_unary(route.path)

        async def forward(request: bytes, context: Context, metadata: Metadata) -> bytes:
            self._check_size(request)
            left = context.time_remaining()
            timeout = self._config.deadline if left is None else left
            call = stub(request, timeout=timeout, metadata=metadata)
            reply = await call
            head = await call.initial_metadata()
            if head:
                await context.send_initial_metadata(head)
            context.set_trailing_metadata(await call.trailing_metadata())
            return reply

        return forward

    def _replying(self, route: Route) -> Forward:
        stub: grpc.aio.UnaryStreamMultiCallable[bytes, bytes]
        stub = route.upstream.channel.unary_stream(route.path)

        async def forward(request: bytes, context: Context, metadata: Metadata) -> None:
            self._check_size(request)
            call = stub(request, timeout=context.time_remaining(), metadata=metadata)
            try:
                await self._replies(context, call)
            finally:
                call.cancel()

        return forward

    def _both_ways(self, route: Route) -> Forward:
        stub: grpc.aio.StreamStreamMultiCallable[bytes, bytes]
        stub = route.upstream.channel.stream_stream(route.path)

        async def forward(_requests: object, context: Context, metadata: Metadata) -> None:
            call = stub(timeout=context.time_remaining(), metadata=metadata)
            await self._while_pumping(context, call)

        return forward

    async def _while_let_in(self, context: Context, outcome: Coroutine[Any, Any, Any]) -> Any:
        """Returns or raises `outcome`; ends it with a `Failure` once the key is not let in.

        The check before each message is not enough: one that was answered just before a revocation
        lets its message through, and on a silent stream, or one whose caller reads nothing, no
        other message follows.
        """
        forwarding = asyncio.create_task(outcome)
        shut_out = asyncio.create_task(self._shut_out(context))
        try:
            await asyncio.wait({forwarding, shut_out}, return_when=asyncio.FIRST_COMPLETED)
            if not forwarding.done():
                shut_out.result()
            return await forwarding
        finally:
            forwarding.cancel()
            shut_out.cancel()
            await asyncio.gather(forwarding, shut_out, return_exceptions=True)

    async def _shut_out(self, context: Context) -> NoReturn:
        """Raises `Failure` as soon as the key is no longer let in."""
        while True:
            await asyncio.sleep(LET_IN_EVERY)
            await self._demand_still_let_in(context)

    async def _while_pumping(self, context: Context, call: Stream) -> None:
        """Forwards the service's answer, which may end before the caller has sent everything.

        Raises `Failure` if the caller sent a message that cannot be forwarded. The error of a
        service that is gone waits for the caller's last message, or some seconds: `discard_rest`.
        """
        up = asyncio.create_task(self._pump(context, call))
        down = asyncio.create_task(self._replies(context, call))
        try:
            await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
            if not down.done():
                up.result()
            await down
        except grpc.aio.AioRpcError as error:
            if upstream_failure.made_by_runtime(error):
                await asyncio.wait({up}, timeout=3 * LONGEST_PAUSE)
            raise
        finally:
            call.cancel()
            up.cancel()
            down.cancel()
            await asyncio.gather(up, down, return_exceptions=True)

    async def _pump(self, context: Context, call: Stream) -> None:
        """Forwards the caller's messages and their end; drops those after the service's answer."""
        while (message := await _read(context)) is not None:
            self._check_size(message)
            await self._demand_still_let_in(context)
            await _unless_over(call.write(message))
        await asyncio.sleep(SETTLE)
        await _unless_over(call.done_writing())

    async def _replies(self, context: Context, call: Replies) -> None:
        """Forwards the service's initial metadata and its messages. Raises `AioRpcError`."""
        await context.send_initial_metadata(await call.initial_metadata())
        while (message := await _read(call)) is not None:
            await self._demand_still_let_in(context)
            try:
                await context.write(message)
            except grpc.aio.InternalError:  # the caller left while the write waited
                raise asyncio.CancelledError from None
        context.set_trailing_metadata(await call.trailing_metadata())

    async def _demand_still_let_in(self, context: Context) -> None:
        """Raises `Failure` if the key was revoked since: open streams then move nothing more."""
        await self._gate.admit(context.invocation_metadata() or ())

    def _check_size(self, message: bytes) -> None:
        if len(message) > self._config.max_message_bytes:
            raise upstream_failure.too_large(self._config.max_message_bytes)

    async def _refuse_unknown(self, _requests: object, _context: Context) -> None:
        """Refuses before authentication: a missing key must not seem to be all that is wrong."""
        raise upstream_failure.method_unknown("No service here has this method.")

    async def _refuse(self, path: str, context: Context, failure: Failure) -> NoReturn:
        """Ends the call with `failure`."""
        identity = _request_id(context)
        self._observation.refused(PROTOCOL, path, failure.reason, identity)
        await context.abort(
            failure.code,
            failures.wire_message(failure),
            failures.trailing_metadata(failure, identity),
        )

    async def _pass_on(self, path: str, context: Context, error: grpc.aio.AioRpcError) -> NoReturn:
        """Ends the call with the service's own status, byte for byte."""
        if upstream_failure.made_by_runtime(error):
            self._observation.upstream_failed(path, error, _request_id(context))
            await self._refuse(path, context, upstream_failure.of_runtime(error))
        trailers = tuple(error.trailing_metadata() or ())
        await context.abort(error.code(), error.details() or "", trailers)


async def _read(side: "Context | Replies") -> bytes | None:
    """The next message; None at the end."""
    message: object = await side.read()
    return message if isinstance(message, bytes) else None


async def _unless_over(writing: Awaitable[None]) -> None:
    """Awaits `writing`; ignores its failure after the service's answer, which is the outcome."""
    with suppress(grpc.aio.AioRpcError, grpc.aio.UsageError, asyncio.InvalidStateError):
        await writing


def _request_id(context: Context) -> str:
    offered = dict(context.invocation_metadata() or ()).get(request_id.METADATA_KEY)
    return request_id.accept(offered)
