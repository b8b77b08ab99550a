"""Calls to other services: their tokens, their pages, and the translation of their failures."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Protocol, TypeVar

import grpc
from concord_chassis.call.failure import TRANSIENT, from_rpc_error
from concord_chassis.call.identity import Caller, OwnTokens, RenewedToken, TokenIssuer
from google.protobuf.message import Message

from concord_dissonance.domain.errors import ServiceRefused, ServiceUnavailable
from concord_dissonance.ports.calls import PRINCIPAL, Credential

_TRANSIENT = TRANSIENT | {grpc.StatusCode.ABORTED}
Metadata = tuple[tuple[str, str], ...]

T = TypeVar("T")


class Page(Protocol):
    """A reply with a part of a list."""

    next_page_token: str


P = TypeVar("P", bound=Page)


class OwnCalls:
    """Calls to a service under dissonance's own name, with the same scopes in each space."""

    def __init__(self, service: str, issuer: TokenIssuer, scopes: frozenset[str]) -> None:
        self._service, self._scopes = service, scopes
        self._tokens = OwnTokens(issuer, PRINCIPAL, service)

    def metadata(self, space: str) -> Metadata:
        """The metadata of a call about a space."""
        return self._tokens.metadata(space, self._scopes)

    async def __call__(
        self, space: str, method: Callable[..., Awaitable[T]], request: Message
    ) -> T:
        """The reply about a space. Raises `ServiceUnavailable` or `ServiceRefused`."""
        return await own(self._service, method(request, metadata=self.metadata(space)))

    async def pages(
        self, space: str, method: Callable[..., Awaitable[P]], request: Any
    ) -> AsyncIterator[P]:
        """Every page of a list, from the request's own on. Raises as a call does."""
        while True:
            page = await self(space, method, request)
            yield page
            request.page_token = page.next_page_token
            if not request.page_token:
                return


def feed_token(issuer: TokenIssuer) -> RenewedToken:
    """Dissonance's own token for graph's feed, which is of no space."""
    feed = Caller("", PRINCIPAL, frozenset({"feed:all"}), "SYSTEM", PRINCIPAL)
    return RenewedToken(issuer, feed, ["graph"])


async def own(service: str, call: Awaitable[T]) -> T:
    """The reply to a call under dissonance's own name.

    Raises `ServiceUnavailable` or `ServiceRefused`.
    """
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        failure = from_rpc_error(error)
        if failure.code in _TRANSIENT:
            raise ServiceUnavailable(service, failure.summary) from error
        raise ServiceRefused(service, failure.reason) from error


async def in_name_of(who: Credential, method: Callable[..., Awaitable[T]], request: Message) -> T:
    """The reply to a call in a caller's name. Raises `Failure`, as the service refused it."""
    try:
        return await method(request, metadata=(("authorization", who),))
    except grpc.aio.AioRpcError as error:
        raise from_rpc_error(error) from error
