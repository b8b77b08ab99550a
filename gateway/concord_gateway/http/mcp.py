"""MCP for agents over streamable HTTP: /mcp, without sessions.

The key of each request decides its space and the tools that it may call.
"""

import asyncio
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from typing import TypeVar

import grpc
from concord_chassis.call.failure import DETAILS_KEY, Failure
from concord_chassis.observe import request_id as request_ids
from concord_chassis.server.background import Background
from concord_mcp import halves
from concord_mcp.calls import Refusal
from concord_mcp.server import Context, Tools
from concord_mcp.tools import DEFAULT, PROFILES
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import ClientDisconnect, Request
from starlette.routing import Route as HttpRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as Event

from concord_gateway.admission import Admitted, Gate, onward
from concord_gateway.config import Config
from concord_gateway.http import body
from concord_gateway.http.answers import REQUEST_ID, Answers
from concord_gateway.in_flight import InFlight
from concord_gateway.routes import Route
from concord_gateway.upstream_failure import made_by_runtime, of_runtime

PATH = "/mcp"
LONGEST_STREAM = 600.0
"""The timeout in seconds of a method that streams replies."""
ADMITTED = "concord.admitted"
"""The key of the ASGI scope that holds a request's `Admitted`."""

R = TypeVar("R", bound=Message)


class ToolCalls:
    """The calls to services for one MCP request, under its caller's token."""

    def __init__(
        self, routes: Mapping[str, Route], admitted: Admitted, in_flight: InFlight, seconds: float
    ) -> None:
        self._routes, self._admitted, self._in_flight = routes, admitted, in_flight
        self._seconds = seconds

    async def call(self, path: str, request: Message, reply: type[R]) -> R:
        """As `concord_mcp.calls.Calls`."""
        method: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]
        method = self._routes[path].upstream.channel.unary_unary(path)
        with self._called(path):
            wire = await method(
                request.SerializeToString(), timeout=self._seconds, metadata=self._metadata(path)
            )
        return reply.FromString(wire)

    async def last(self, path: str, request: Message, reply: type[R]) -> R:
        """As `concord_mcp.calls.Calls`."""
        method: grpc.aio.UnaryStreamMultiCallable[bytes, bytes]
        method = self._routes[path].upstream.channel.unary_stream(path)
        wire = b""
        with self._called(path):
            call = method(
                request.SerializeToString(), timeout=LONGEST_STREAM, metadata=self._metadata(path)
            )
            async for wire in call:  # noqa: B007 - the last one is the answer
                pass
        return reply.FromString(wire)

    def _metadata(self, path: str) -> Sequence[tuple[str, str | bytes]]:
        token = self._admitted.authorization(self._routes[path].audience)
        return onward([(REQUEST_ID, uuid.uuid4().hex)], token)

    @contextmanager
    def _called(self, path: str) -> Iterator[None]:
        try:
            with self._in_flight.place(self._admitted.key, self._routes[path]):
                yield
        except Failure as failure:
            raise _refusal(failure) from None
        except grpc.aio.AioRpcError as error:
            raise _refusal_of(error) from None


class McpDoor:
    """The HTTP paths of MCP: /mcp, and /mcp/PROFILE for other sets of tools."""

    def __init__(
        self,
        routes: Mapping[str, Route],
        gate: Gate,
        in_flight: InFlight,
        answers: Answers,
        *,
        config: Config,
        background: Background,
    ) -> None:
        self._gate, self._answers, self._config = gate, answers, config

        async def caller(context: Context) -> ToolCalls:
            request = context.request
            if request is None:
                raise RuntimeError("an HTTP transport without its request")
            return ToolCalls(routes, request.scope[ADMITTED], in_flight, config.deadline)

        self._servers = {profile: Tools(tools, caller) for profile, tools in PROFILES.items()}
        self._managers: dict[str, StreamableHTTPSessionManager] = {}
        self._background = background
        self._started, self._stopping = asyncio.Event(), asyncio.Event()
        self._serving: asyncio.Task[None] | None = None

    @property
    def http_routes(self) -> list[HttpRoute]:
        """The HTTP routes, one per profile."""
        paths = {DEFAULT: PATH} | {
            name: f"{PATH}/{name}" for name in self._servers if name != DEFAULT
        }
        return [HttpRoute(path, endpoint=self._admitting(name)) for name, path in paths.items()]

    async def start(self) -> None:
        """Return when requests can be answered."""
        self._serving = self._background.start("mcp", self._serve)
        await self._started.wait()

    async def stop(self) -> None:
        """End the requests under way."""
        self._stopping.set()
        if self._serving is not None:
            await asyncio.wait([self._serving])

    async def _serve(self) -> None:
        # the SDK's task groups must end in the task that began them, and a manager runs only once
        async with AsyncExitStack() as stack:
            for name, tools in self._servers.items():
                self._managers[name] = StreamableHTTPSessionManager(
                    app=tools.server(), json_response=True, stateless=True
                )
                await stack.enter_async_context(self._managers[name].run())
            self._started.set()
            try:
                await self._stopping.wait()
            finally:
                self._started.clear()

    def _admitting(self, name: str) -> ASGIApp:
        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            await self._started.wait()
            await self._managers[name].handle_request(scope, receive, send)

        return _Admitting(answer, self._gate, self._answers, self._config)


class _Admitting:
    """Authenticates a request and reads its body before the SDK, which has no limits, sees it.

    Starlette calls an object as ASGI.
    """

    def __init__(self, app: ASGIApp, gate: Gate, answers: Answers, config: Config) -> None:
        self._app, self._gate, self._answers, self._config = app, gate, answers, config

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        headers, config = request.headers, self._config
        try:
            scope[ADMITTED] = await self._gate.admit(headers.items())
            content = halves.marked(
                await body.read(request, config.max_message_bytes, config.http_body_seconds)
            )
        except Failure as failure:
            identity = request_ids.accept(headers.get(REQUEST_ID))
            status = 413 if failure.reason == "ERROR_REASON_MESSAGE_TOO_LARGE" else None
            refused = self._answers.refused(identity, failure, status=status)
            await refused(scope, receive, send)
            return
        except ClientDisconnect:
            return  # nobody is there to read an answer
        with self._answers.under_way(PATH, request):
            await self._app(scope, _after(content, receive), send)


def _after(content: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the whole body first."""
    whole: list[Event] = [{"type": "http.request", "body": content, "more_body": False}]

    async def received() -> Event:
        return whole.pop() if whole else await receive()

    return received


def _refusal(failure: Failure) -> Refusal:
    return Refusal(failure.reason, failure.message)


def _refusal_of(error: grpc.aio.AioRpcError) -> Refusal:
    """The refusal that a service's error carries; the text of a gRPC runtime's error is dropped."""
    if made_by_runtime(error):
        return _refusal(of_runtime(error))
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    packed = dict(error.trailing_metadata() or ())[DETAILS_KEY]
    for detail in status_pb2.Status.FromString(packed).details:
        for known in (info, bad):
            if detail.Is(known.DESCRIPTOR):
                detail.Unpack(known)
    fields = [(each.field, each.description) for each in bad.field_violations]
    return Refusal(info.reason, error.details() or "", fields)
