"""Builds HTTP responses: a reply with its metadata, or an error with its reason."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType

import grpc
from concord_chassis.call.failure import Failure
from concord_chassis.observe import request_id as request_ids
from starlette.requests import Request
from starlette.responses import Response

from concord_gateway import upstream_failure
from concord_gateway.http import connect_error
from concord_gateway.http.connect_error import JSON, ConnectError
from concord_gateway.http.headers import reply_headers
from concord_gateway.observation import UNKNOWN_METHOD, Observation

PROTOCOL = "http"
TRAILER = "trailer-"
REQUEST_ID = request_ids.METADATA_KEY
STREAM_TYPES = frozenset({"application/connect+json", "application/connect+proto"})


class Answers:
    """Builds responses, and logs the requests that reach no service."""

    def __init__(self, observation: Observation) -> None:
        self._observation = observation

    def under_way(self, path: str, request: Request) -> AbstractContextManager[None]:
        """Traces a request while the block runs, if tracing is on."""
        return self._observation.under_way(path, request.headers.items())

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
