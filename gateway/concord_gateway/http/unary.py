"""One method over HTTP: a POST becomes a call, and its reply the response."""

import asyncio
import time
from functools import partial
from typing import Any

import grpc
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from concord_gateway.http import headers as http_headers
from concord_gateway.http.answers import replied
from concord_gateway.http.connect_error import JSON
from concord_gateway.http.method import Method, left
from concord_gateway.http.payload import JsonCodec, ProtoCodec
from concord_gateway.upstream_failure import method_unknown


class Unary(Method):
    """Answers the POSTs of one method; refuses those of one whose callers stream."""

    def __init__(self, *method: Any, **named: Any) -> None:
        """As `Method`."""
        super().__init__(*method, **named)
        self._stub: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = (
            self._route.upstream.channel.unary_unary(self._path)
        )
        self._codecs: dict[str, JsonCodec | ProtoCodec] = {
            JSON: JsonCodec(self._route.method),
            "application/proto": ProtoCodec(self._route.method),
        }

    async def answer(self, request: Request) -> Response:
        """The response to one POST, whatever happens."""
        return await self._answers.of(self._path, request, partial(self._answer, request))

    async def _answer(self, request: Request, identity: str) -> Response:
        headers = request.headers
        http_headers.check_version(headers.get(http_headers.VERSION_HEADER))
        admitted = await self._gate.admit(request)
        if self._route.streams:
            raise method_unknown(
                "Over HTTP the gateway serves calls of one request; this method's callers stream: "
                "call it over gRPC."
            )
        with self._in_flight.place(admitted.key, self._route):
            media_type = http_headers.media_type(headers.get("content-type"))
            # a browser sends other types for any page, without asking first
            codecs = {JSON: self._codecs[JSON]} if admitted.by_session else self._codecs
            codec = codecs.get(media_type)
            if codec is None:
                return self._answers.unsupported(identity, ", ".join(codecs), path=self._path)
            token = admitted.authorization(self._route.audience)
            return await self._called(request, identity, token, codec, media_type)

    async def _called(
        self,
        request: Request,
        identity: str,
        token: str,
        codec: JsonCodec | ProtoCodec,
        media_type: str,
    ) -> Response:
        headers = request.headers
        http_headers.check_encoding(headers.get("content-encoding"))
        seconds = http_headers.timeout(
            headers.get(http_headers.TIMEOUT_HEADER), self._config.deadline
        )
        metadata = self._metadata(request, identity, token)
        until = time.monotonic() + seconds
        wire = await self._wire(request, codec.request, seconds)
        call = self._stub(wire, timeout=max(until - time.monotonic(), 0.0), metadata=metadata)
        reply = await _unless_left(request, call)
        return await replied(call, await self._converted(codec.reply, reply), media_type)


async def _unless_left(request: Request, call: "grpc.aio.UnaryUnaryCall[bytes, bytes]") -> bytes:
    """The reply of `call`, which is cancelled when the client leaves. Raises `ClientDisconnect`."""

    async def answered() -> bytes:
        return await call

    answering = asyncio.create_task(answered())
    leaving = asyncio.create_task(left(request))
    try:
        await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            raise ClientDisconnect
        return await answering
    finally:
        call.cancel()
        leaving.cancel()
        answering.cancel()
        await asyncio.gather(answering, leaving, return_exceptions=True)
