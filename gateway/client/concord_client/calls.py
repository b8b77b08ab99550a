"""Interceptors of the synchronous client: they apply its terms and raise `Refused`."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

import grpc

from concord_client.refusal import from_rpc_error
from concord_client.terms import Pairs, Terms

Q = TypeVar("Q")
R = TypeVar("R")
# A continuation returns an object that is call and future; gRPC has no public type for it.
Continuation = Callable[[grpc.ClientCallDetails, Q], Any]


class _Details(NamedTuple):
    method: str
    timeout: float | None
    metadata: Pairs | None
    credentials: grpc.CallCredentials | None
    wait_for_ready: bool | None
    compression: grpc.Compression | None


class Replies(Iterator[R]):
    """The replies of a server stream, as they arrive. `cancel` ends the call early."""

    def __init__(self, call: Any) -> None:  # as above
        self._call = call

    def __next__(self) -> R:
        try:
            reply: R = next(self._call)
        except grpc.RpcError as error:
            raise from_rpc_error(error) from error
        return reply

    def cancel(self) -> None:
        """Ends the call; the server stops too."""
        self._call.cancel()


class Outgoing(
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
    grpc.StreamUnaryClientInterceptor,
):
    """Applies the terms to each call."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms

    def intercept_unary_unary(
        self, continuation: Continuation[Q], client_call_details: grpc.ClientCallDetails, request: Q
    ) -> Any:
        """One request, one reply."""
        call = continuation(self._details(client_call_details), self._terms.request(request))
        return _checked(call)

    def intercept_unary_stream(
        self, continuation: Continuation[Q], client_call_details: grpc.ClientCallDetails, request: Q
    ) -> Any:
        """One request, many replies."""
        details = self._details(client_call_details)
        return Replies(continuation(details, self._terms.request(request)))

    def intercept_stream_unary(
        self,
        continuation: Continuation[Iterator[Q]],
        client_call_details: grpc.ClientCallDetails,
        request_iterator: Iterator[Q],
    ) -> Any:
        """Many requests, one reply."""
        return _checked(continuation(self._details(client_call_details), request_iterator))

    def _details(self, asked: grpc.ClientCallDetails) -> grpc.ClientCallDetails:
        given = asked.metadata or ()
        details: Any = _Details(  # gRPC only reads the attributes; its own type is abstract
            asked.method,
            self._terms.timeout(asked.timeout),
            self._terms.metadata(tuple((name, value) for name, value in given)),
            asked.credentials,
            asked.wait_for_ready,
            asked.compression,
        )
        found: grpc.ClientCallDetails = details
        return found


def _checked(call: Any) -> Any:
    """The finished call; raises `Refused` when it failed."""
    if isinstance(call, grpc.RpcError):
        raise from_rpc_error(call) from call
    error = call.exception()
    if isinstance(error, grpc.RpcError):
        raise from_rpc_error(error) from error
    return call
