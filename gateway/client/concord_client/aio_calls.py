"""Interceptors of the asynchronous client: they apply its terms and raise `Refused`."""

from collections.abc import AsyncIterator, Callable, Generator
from typing import Any, TypeVar

import grpc

from concord_client.refusal import from_rpc_error
from concord_client.terms import Terms

Q = TypeVar("Q")
R = TypeVar("R")
# A continuation, awaited, returns a call; its types are the method's, which only its stub knows.
Continuation = Callable[[grpc.aio.ClientCallDetails, Q], Any]


class _Applied:
    def __init__(self, terms: Terms) -> None:
        self._terms = terms

    def _details(self, asked: grpc.aio.ClientCallDetails) -> grpc.aio.ClientCallDetails:
        given = [(name, value) for name, value in asked.metadata or ()]
        return grpc.aio.ClientCallDetails(
            asked.method,
            self._terms.timeout(asked.timeout),
            grpc.aio.Metadata(*self._terms.metadata(given)),
            asked.credentials,
            asked.wait_for_ready,
        )


class UnaryUnary(_Applied, grpc.aio.UnaryUnaryClientInterceptor):
    """One request, one reply."""

    async def intercept_unary_unary(
        self,
        continuation: Continuation[Q],
        client_call_details: grpc.aio.ClientCallDetails,
        request: Q,
    ) -> Any:
        """Applies the terms."""
        call = await continuation(self._details(client_call_details), self._terms.request(request))
        return await _reply(call)


class UnaryStream(_Applied, grpc.aio.UnaryStreamClientInterceptor):
    """One request, many replies."""

    async def intercept_unary_stream(
        self,
        continuation: Continuation[Q],
        client_call_details: grpc.aio.ClientCallDetails,
        request: Q,
    ) -> Any:
        """Applies the terms."""
        call = await continuation(self._details(client_call_details), self._terms.request(request))
        return _replies(call)


class StreamUnary(_Applied, grpc.aio.StreamUnaryClientInterceptor):
    """Many requests, one reply."""

    async def intercept_stream_unary(
        self,
        continuation: Continuation[Q],
        client_call_details: grpc.aio.ClientCallDetails,
        request_iterator: Q,
    ) -> Any:
        """Applies the terms."""
        return _Answer(await continuation(self._details(client_call_details), request_iterator))


def interceptors(terms: Terms) -> list[grpc.aio.ClientInterceptor]:
    """One interceptor for each shape of call: grpc.aio uses an object for one shape only."""
    return [UnaryUnary(terms), UnaryStream(terms), StreamUnary(terms)]


class _Answer:
    """A call that raises `Refused`; for this shape an interceptor must return a call."""

    def __init__(self, call: Any) -> None:
        self._call = call

    def __await__(self) -> Generator[Any, None, Any]:
        return _reply(self._call).__await__()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)


async def _reply(call: Any) -> Any:
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        raise from_rpc_error(error) from error


async def _replies(call: AsyncIterator[R]) -> AsyncIterator[R]:
    try:
        async for reply in call:
            yield reply
    except grpc.aio.AioRpcError as error:
        raise from_rpc_error(error) from error
