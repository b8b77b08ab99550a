"""gRPC's handlers: one per method, with all of the method's stages composed into it.

A generated `add_..._to_server` function registers a service's handlers by calling two methods of a
gRPC server. `Recorder` has these two methods, and only keeps the handlers.
"""

import inspect
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from typing import Any, TypeAlias, cast

import grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import Message

from concord_chassis.call.access import Method
from concord_chassis.call.call import Call, Context, Stage, Step
from concord_chassis.call.contract import ContractError
from concord_chassis.call.failure import Failure
from concord_chassis.call.sizes import MAX_REPLY_BYTES
from concord_chassis.call.stages import compose

# The types of a handler's messages depend on its method, which is known only at run time.
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Behavior = Callable[[Any, Context], Any]

UNKNOWN = Method(
    path="unknown",
    service="",
    name="unknown",
    permission="",
    request=Empty.DESCRIPTOR,
    streams_in=True,
    streams_out=True,
)


class Recorder:
    """Keeps the handlers that generated code registers, by their methods' paths."""

    def __init__(self) -> None:
        self.handlers: dict[str, Handler] = {}

    def add_generic_rpc_handlers(self, handlers: Iterable[grpc.GenericRpcHandler]) -> None:
        """Does nothing: generated code passes the same handlers by name to the other method."""

    def add_registered_method_handlers(
        self, service_name: str, method_handlers: Mapping[str, Handler]
    ) -> None:
        """Keeps `method_handlers`, whose keys are method names."""
        for name, handler in method_handlers.items():
            self.handlers[f"/{service_name}/{name}"] = handler


class Router(grpc.GenericRpcHandler):
    """Finds the handler of each call; for an unknown method, the handler `unknown`."""

    def __init__(self, handlers: Mapping[str, Handler], unknown: Handler) -> None:
        self._handlers = dict(handlers)
        self._unknown = unknown

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Handler:
        """Returns the handler of the call's method."""
        return self._handlers.get(handler_call_details.method, self._unknown)


def build(stages: list[Stage], method: Method, handler: Handler) -> Handler:
    """Returns a handler that runs `stages`, then the servicer's method in `handler`.

    Raises `ContractError` unless the servicer's method is an async function or, for a reply stream,
    an async generator.
    """
    return _handler(method, compose(stages, method, _servicer_step(method, handler)))


def build_unknown(stages: list[Stage]) -> Handler:
    """Returns the handler of unknown methods: it runs `stages`, then refuses (METHOD_UNKNOWN)."""

    async def refuse(_call: Call) -> bytes | None:
        raise Failure(
            grpc.StatusCode.UNIMPLEMENTED,
            "ERROR_REASON_METHOD_UNKNOWN",
            "There is no such method here.",
        )

    return _handler(UNKNOWN, compose(stages, UNKNOWN, refuse))


def _handler(method: Method, first: Step) -> Handler:
    """Returns a handler that takes and returns bytes.

    The stages parse and the last step serializes, because gRPC sends the text of an error in either
    to the caller.
    """

    async def handle(request: Any, context: Context) -> bytes | None:
        return await first(Call(context, request, dict(context.invocation_metadata() or ())))

    if method.streams_in:
        if method.streams_out:
            return grpc.stream_stream_rpc_method_handler(handle)
        return grpc.stream_unary_rpc_method_handler(handle)
    if method.streams_out:
        return grpc.unary_stream_rpc_method_handler(handle)
    return grpc.unary_unary_rpc_method_handler(handle)


def _servicer_step(method: Method, handler: Handler) -> Step:
    behavior = cast(
        Behavior | None,  # gRPC's annotations are of synchronous servicers
        handler.unary_unary
        or handler.unary_stream
        or handler.stream_unary
        or handler.stream_stream,
    )
    wanted = inspect.isasyncgenfunction if method.streams_out else inspect.iscoroutinefunction
    if behavior is None or handler.response_serializer is None or not wanted(behavior):
        kind = "an async generator" if method.streams_out else "an async function"
        raise ContractError(f"{method.path} is not implemented, or not as {kind}")
    if method.streams_out:
        return _stream_step(behavior, handler.response_serializer)
    return _unary_step(behavior, handler.response_serializer)


def _unary_step(behavior: Behavior, serialize: Callable[[Message], bytes]) -> Step:
    async def served(call: Call) -> bytes | None:
        return _within_size(serialize(await behavior(call.request, call.context)))

    return served


def _stream_step(behavior: Behavior, serialize: Callable[[Message], bytes]) -> Step:
    async def served(call: Call) -> bytes | None:
        replies: AsyncGenerator[Message, None] = behavior(call.request, call.context)
        async with aclosing(replies):
            async for reply in replies:
                await call.context.write(_within_size(serialize(reply)))
        return None

    return served


def _within_size(reply: bytes) -> bytes:
    """Returns the reply.

    Raises `Failure` (MESSAGE_TOO_LARGE) above `MAX_REPLY_BYTES`, where the caller's gRPC would
    refuse the reply without a reason.
    """
    if len(reply) > MAX_REPLY_BYTES:
        raise Failure(
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            "ERROR_REASON_MESSAGE_TOO_LARGE",
            f"The reply has {len(reply)} bytes, at most {MAX_REPLY_BYTES} are sent: ask for less.",
        )
    return reply
