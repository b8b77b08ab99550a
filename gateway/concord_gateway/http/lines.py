"""One method whose replies stream, over HTTP: a POST is answered with a line of JSON per reply.

`{"result": {...}}` is a reply, and `{"error": {...}}`, the last line, the end of a stream that
failed. Nothing is collected: each line is sent before the next reply is read.
"""

import asyncio
import math
import time
from collections.abc import Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

import grpc
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from concord_gateway.admission import LET_IN_EVERY
from concord_gateway.http import headers as http_headers
from concord_gateway.http.answers import REQUEST_ID
from concord_gateway.http.connect_error import JSON
from concord_gateway.http.method import Method, left
from concord_gateway.http.payload import JsonCodec
from concord_gateway.upstream_failure import method_unknown

NDJSON = "application/x-ndjson"
LAST_LINE_SECONDS = 5.0
"""How long a client that reads nothing may hold up the last line; then its connection is cut."""


class Lines(Method):
    """Answers the POSTs of one method: an ASGI application."""

    def __init__(self, *method: Any, **named: Any) -> None:
        """As `Method`."""
        super().__init__(*method, **named)
        self._stub: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = (
            self._route.upstream.channel.unary_stream(self._path)
        )
        self._codec = JsonCodec(self._route.method)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the lines, or the refusal of a request before the first of them."""
        request, reply = Request(scope, receive), _Reply(send)
        act = partial(self._answer, request, reply)
        response = await self._answers.of(self._path, request, act)
        if reply.begun:
            await reply.end(response)
        else:
            await response(scope, receive, send)

    async def _answer(self, request: Request, reply: "_Reply", identity: str) -> Response:
        """Sends all lines but the error's; the response is nothing more, or the refusal."""
        headers = request.headers
        http_headers.check_version(headers.get(http_headers.VERSION_HEADER))
        admitted = await self._gate.admit(request)
        if not http_headers.accepts(headers.get("accept"), NDJSON):
            raise method_unknown(
                f"This method's replies stream: send `accept: {NDJSON}`, or call it over gRPC."
            )
        if http_headers.media_type(headers.get("content-type")) != JSON:
            return self._answers.unsupported(identity, JSON, path=self._path)
        with self._in_flight.place(admitted.key, self._route):
            http_headers.check_encoding(headers.get("content-encoding"))
            seconds = http_headers.timeout(headers.get(http_headers.TIMEOUT_HEADER), math.inf)
            until = time.monotonic() + seconds
            token = admitted.authorization(self._route.audience)
            metadata = self._metadata(request, identity, token)
            wire = await self._wire(request, self._codec.request, seconds)
            remaining = None if until == math.inf else max(until - time.monotonic(), 0.0)
            call = self._stub(wire, timeout=remaining, metadata=metadata)
            try:
                await reply.begin(identity)
                await self._while_let_in(request, self._forward(request, call, reply))
            finally:
                call.cancel()
        return Response()

    async def _forward(
        self, request: Request, call: "grpc.aio.UnaryStreamCall[bytes, bytes]", reply: "_Reply"
    ) -> None:
        async for message in call:
            await self._gate.admit(request)  # a revoked key gets nothing more
            await reply.line("result", await self._converted(self._codec.reply, message))

    async def _while_let_in(self, request: Request, forward: Coroutine[Any, Any, None]) -> None:
        """Returns or raises what `forward` does; ends it when the client has left, or once its
        credential is not let in: on a silent stream no message follows that would show it."""
        forwarding = asyncio.create_task(forward)
        leaving = asyncio.create_task(left(request))
        shut_out = asyncio.create_task(self._shut_out(request))
        tasks = (forwarding, leaving, shut_out)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not forwarding.done():
                if leaving.done():
                    raise ClientDisconnect
                shut_out.result()
            await forwarding
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _shut_out(self, request: Request) -> NoReturn:
        """Raises `Failure` as soon as the credential is no longer let in."""
        while True:
            await asyncio.sleep(LET_IN_EVERY)
            await self._gate.admit(request)


class _Reply:
    """The lines of one response."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False

    async def begin(self, identity: str) -> None:
        """Sends the headers, so that the client knows at once that it is heard."""
        self.begun = True
        headers = {
            "content-type": NDJSON,
            "cache-control": "no-store",
            "x-accel-buffering": "no",  # nginx would collect the lines
            REQUEST_ID: identity,
        }
        pairs = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        await self._send({"type": "http.response.start", "status": 200, "headers": pairs})

    async def line(self, name: str, value: bytes) -> None:
        """Sends a line, as soon as the client has room for it."""
        text = b'{"%s":%s}\n' % (name.encode(), value)
        await self._send({"type": "http.response.body", "body": text, "more_body": True})

    async def end(self, response: Response) -> None:
        """Ends the lines, with that of an error if `response` is one's."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_LINE_SECONDS):
                if response.body:
                    await self.line("error", bytes(response.body))
                await self._send({"type": "http.response.body", "body": b""})
