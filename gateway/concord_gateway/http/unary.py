"""One method over HTTP: a POST becomes a call, and its reply the response."""

import asyncio
import time
from collections.abc import Callable

import grpc
from concord_chassis.call import failure
from concord_chassis.call.failure import Failure
from concord_chassis.observe import request_id as request_ids
from concord_chassis.server.workers import Workers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from concord_gateway.admission import Gate, onward
from concord_gateway.config import Config
from concord_gateway.http import body
from concord_gateway.http import headers as http_headers
from concord_gateway.http.answers import PROTOCOL, REQUEST_ID, STREAM_TYPES, Answers, replied
from concord_gateway.http.payload import JsonCodec, ProtoCodec
from concord_gateway.in_flight import InFlight
from concord_gateway.observation import Observation
from concord_gateway.routes import Route
from concord_gateway.upstream_failure import method_unknown

LARGE = 32 << 10
"""Bodies of at least so many bytes are converted in a thread: a megabyte of JSON takes a tenth of
a second, for which the event loop would not serve other callers."""


class Unary:
    """Answers the POSTs of one method; refuses those of a streaming method."""

    def __init__(
        self,
        route: Route,
        gate: Gate,
        in_flight: InFlight,
        observation: Observation,
        *,
        workers: Workers,
        config: Config,
    ) -> None:
        self._route, self._path = route, route.path
        self._stub: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = (
            route.upstream.channel.unary_unary(route.path)
        )
        self._gate, self._in_flight, self._observation = gate, in_flight, observation
        self._answers = Answers(observation)
        self._workers, self._config = workers, config
        self._codecs: dict[str, JsonCodec | ProtoCodec] = {
            "application/json": JsonCodec(route.method),
            "application/proto": ProtoCodec(route.method),
        }

    async def answer(self, request: Request) -> Response:
        """The response to one POST, whatever happens."""
        with self._observation.under_way(self._path, request.headers.items()):
            return await self._answered(request)

    async def _answered(self, request: Request) -> Response:
        started = time.perf_counter()
        identity = request_ids.accept(request.headers.get(REQUEST_ID))
        code = grpc.StatusCode.OK
        try:
            return await self._answer(request, identity)
        except Failure as refusal:
            code = refusal.code
            return self._refused(request, identity, refusal)
        except grpc.aio.AioRpcError as error:
            code = error.code()
            return self._answers.failed(identity, error, path=self._path)
        except ClientDisconnect:
            code = grpc.StatusCode.CANCELLED
            return Response(status_code=499)  # nobody is there to read it
        except asyncio.CancelledError:
            code = grpc.StatusCode.CANCELLED
            raise
        except Exception:  # noqa: BLE001 - the edge: our bug is logged in full, and sent without its text
            code = grpc.StatusCode.INTERNAL
            self._observation.bug(self._path, identity)
            return self._answers.refused(identity, failure.internal(), path=self._path)
        finally:
            self._observation.ended(PROTOCOL, self._path, code, started)

    def _refused(self, request: Request, identity: str, refusal: Failure) -> Response:
        media_type = http_headers.media_type(request.headers.get("content-type"))
        if media_type in STREAM_TYPES:
            return self._answers.refused_stream(
                identity, refusal, path=self._path, media_type=media_type
            )
        status = 413 if refusal.reason == "ERROR_REASON_MESSAGE_TOO_LARGE" else None
        return self._answers.refused(identity, refusal, path=self._path, status=status)

    async def _answer(self, request: Request, identity: str) -> Response:
        headers = request.headers
        http_headers.check_version(headers.get(http_headers.VERSION_HEADER))
        admitted = await self._gate.admit(headers.items())
        if self._route.streams:
            raise method_unknown(
                "Over HTTP the gateway serves calls of one request and one reply; "
                "this method streams: call it over gRPC."
            )
        with self._in_flight.place(admitted.key, self._route):
            token = admitted.authorization(self._route.audience)
            return await self._called(request, identity, token)

    async def _called(self, request: Request, identity: str, token: str) -> Response:
        headers = request.headers
        media_type = http_headers.media_type(headers.get("content-type"))
        codec = self._codecs.get(media_type)
        if codec is None:
            return self._unsupported(identity)
        encoding = headers.get("content-encoding")
        http_headers.check_encoding(encoding)
        seconds = http_headers.timeout(
            headers.get(http_headers.TIMEOUT_HEADER), self._config.deadline
        )
        metadata = onward(_identified(http_headers.metadata(headers.items()), identity), token)
        until = time.monotonic() + seconds
        limit = self._config.max_message_bytes
        plain = http_headers.decompressed(
            await body.read(request, limit, min(seconds, self._config.http_body_seconds)),
            encoding,
            limit,
        )
        wire = await self._converted(codec.request, plain)
        left = max(until - time.monotonic(), 0.0)
        call = self._stub(wire, timeout=left, metadata=metadata)
        reply = await _unless_left(request, call)
        return await replied(call, await self._converted(codec.reply, reply), media_type)

    def _unsupported(self, identity: str) -> Response:
        supported = ", ".join(self._codecs)
        return self._answers.refused(
            identity,
            method_unknown(f"Supported content types: {supported}."),
            path=self._path,
            status=415,
            headers={"accept-post": supported},
        )

    async def _converted(self, convert: Callable[[bytes], bytes], data: bytes) -> bytes:
        if len(data) < LARGE:
            return convert(data)
        return await self._workers.run(convert, data)


def _identified(
    metadata: list[tuple[str, str | bytes]], identity: str
) -> list[tuple[str, str | bytes]]:
    """The metadata with the gateway's request id, so that the service logs the same one."""
    return [(REQUEST_ID, identity), *(each for each in metadata if each[0] != REQUEST_ID)]


async def _unless_left(request: Request, call: "grpc.aio.UnaryUnaryCall[bytes, bytes]") -> bytes:
    """The reply of `call`, which is cancelled when the client leaves. Raises `ClientDisconnect`."""

    async def answered() -> bytes:
        return await call

    answering = asyncio.create_task(answered())
    leaving = asyncio.create_task(_left(request))
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


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
