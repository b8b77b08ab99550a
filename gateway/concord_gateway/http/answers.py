"""Builds HTTP responses: a reply with its metadata, or an error with its reason."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType

import grpc
from concord_chassis.call import failure as failures
from concord_chassis.call.failure import Failure
from concord_chassis.observe import request_id as request_ids
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from concord_gateway import upstream_failure
from concord_gateway.http import connect_error
from concord_gateway.http.connect_error import JSON, ConnectError
from concord_gateway.http.headers import media_type, reply_headers
from concord_gateway.observation import UNKNOWN_METHOD, Observation

PROTOCOL = "http"
TRAILER = "trailer-"
REQUEST_ID = request_ids.METADATA_KEY
STREAM_TYPES = frozenset({"application/connect+json", "application/connect+proto"})


class Answers:
    """Builds responses, and logs the requests that reach no service."""

    def __init__(self, observation: Observation) -> None:
        self._observation = observation

    async def of(
        self, path: str, request: Request, act: Callable[[str], Awaitable[Response]]
    ) -> Response:
        """The response of `act`, which takes the request's id, or the one to its failure.

        Counts and traces the request.
        """
        with self.under_way(path, request):
            return await self._of(path, request, act)

    def under_way(self, path: str, request: Request) -> AbstractContextManager[None]:
        """Traces a request while the block runs, if tracing is on."""
        return self._observation.under_way(path, request.headers.items())

    async def _of(
        self, path: str, request: Request, act: Callable[[str], Awaitable[Response]]
    ) -> Response:
        started = time.perf_counter()
        identity = request_ids.accept(request.headers.get(REQUEST_ID))
        code = grpc.StatusCode.OK
        try:
            return await act(identity)
        except Failure as refusal:
            code = refusal.code
            return self._refused(path, request, identity, refusal)
        except grpc.aio.AioRpcError as error:
            code = error.code()
            return self.failed(identity, error, path=path)
        except ClientDisconnect:
            code = grpc.StatusCode.CANCELLED
            return Response(status_code=499)  # nobody is there to read it
        except asyncio.CancelledError:
            code = grpc.StatusCode.CANCELLED
            raise
        except Exception:  # noqa: BLE001 - the edge: our bug is logged in full, and sent without its text
            code = grpc.StatusCode.INTERNAL
            self._observation.bug(path, identity)
            return self.refused(identity, failures.internal(), path=path)
        finally:
            self._observation.ended(PROTOCOL, path, code, started)

    def _refused(self, path: str, request: Request, identity: str, refusal: Failure) -> Response:
        kind = media_type(request.headers.get("content-type"))
        if kind in STREAM_TYPES:
            return self.refused_stream(identity, refusal, path=path, media_type=kind)
        status = 413 if refusal.reason == "ERROR_REASON_MESSAGE_TOO_LARGE" else None
        return self.refused(identity, refusal, path=path, status=status)

    def unsupported(self, identity: str, supported: str, *, path: str) -> Response:
        """The answer to a request with another content type than the supported ones."""
        return self.refused(
            identity,
            upstream_failure.method_unknown(f"Supported content types: {supported}."),
            path=path,
            status=415,
            headers={"accept-post": supported},
        )

    def refused(
        self,
        identity: str,
        failure: Failure,
        *,
        path: str = UNKNOWN_METHOD,
        status: int | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> Response:
        """The answer to the request `identity`, which the gateway itself refuses.

        `status`: replaces the HTTP status of the failure's code if HTTP has a more exact one.
        """
        self._observation.refused(PROTOCOL, path, failure.reason, identity)
        error = connect_error.of_failure(failure, identity)
        return _response(error, status or error.http_status, {**headers, REQUEST_ID: identity})

    def refused_stream(
        self, identity: str, failure: Failure, *, path: str, media_type: str
    ) -> Response:
        """The same for a client of Connect's streaming protocol: the HTTP status is always 200."""
        self._observation.refused(PROTOCOL, path, failure.reason, identity)
        body = connect_error.of_failure(failure, identity).end_of_stream()
        return Response(body, media_type=media_type, headers={REQUEST_ID: identity})

    def failed(self, identity: str, error: grpc.aio.AioRpcError, *, path: str) -> Response:
        """The answer to a call that a service refused, or that did not reach the service."""
        if upstream_failure.made_by_runtime(error):
            self._observation.upstream_failed(path, error, identity)
            return self.refused(identity, upstream_failure.of_runtime(error), path=path)
        found = connect_error.of_service(error)
        head = reply_headers(error.initial_metadata() or ())
        trailers = reply_headers(error.trailing_metadata() or (), TRAILER)
        response = _response(found, found.http_status, {})
        _add(response, head, trailers)
        return response


async def replied(call: grpc.aio.Call, body: bytes, media_type: str) -> Response:
    """The answer with a service's reply."""
    response = Response(body, media_type=media_type)
    head = reply_headers(await call.initial_metadata())
    _add(response, head, reply_headers(await call.trailing_metadata(), TRAILER))
    return response


def _response(error: ConnectError, status: int, headers: dict[str, str]) -> Response:
    return Response(error.body(), status, headers, media_type=JSON)


def _add(response: Response, head: list[tuple[str, str]], trailers: list[tuple[str, str]]) -> None:
    """Adds metadata; the request id, which services send as a trailer, also becomes a header."""
    for name, value in head + trailers:
        response.headers.append(name, value)
    identity = dict(trailers).get(TRAILER + REQUEST_ID)
    if identity is not None and REQUEST_ID not in response.headers:
        response.headers[REQUEST_ID] = identity
