"""Calls to other services: their tokens, their pages, and the translation of their failures."""

from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Protocol, TypeVar

import grpc
from concord_chassis.call.failure import from_rpc_error
from concord_chassis.call.identity import Caller, RenewedToken, TokenIssuer
from google.protobuf.message import Message

from concord_dissonance.domain.errors import ServiceRefused, ServiceUnavailable
from concord_dissonance.ports.calls import PRINCIPAL, Credential

REMEMBERED_SPACES = 1_000
TRANSIENT = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.UNAUTHENTICATED,
    }
)
Metadata = tuple[tuple[str, str], ...]

T = TypeVar("T")


class Page(Protocol):
    """A reply with a part of a list."""

    next_page_token: str


P = TypeVar("P", bound=Page)


class OwnCalls:
    """Calls to a service under dissonance's own name, with one token a space of the same scopes."""

    def __init__(self, service: str, issuer: TokenIssuer, scopes: frozenset[str]) -> None:
        self._service, self._issuer, self._scopes = service, issuer, scopes
        self._tokens: OrderedDict[str, RenewedToken] = OrderedDict()

    def metadata(self, space: str) -> Metadata:
        """The metadata of a call about a space."""
        token = self._tokens.get(space)
        if token is None:
            who = Caller(space, PRINCIPAL, self._scopes, "SYSTEM")
            token = self._tokens[space] = RenewedToken(self._issuer, who)
        self._tokens.move_to_end(space)
        if len(self._tokens) > REMEMBERED_SPACES:
            self._tokens.popitem(last=False)
        return (("authorization", f"Bearer {token()}"),)

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
    return RenewedToken(issuer, Caller("", PRINCIPAL, frozenset({"feed:all"}), "SYSTEM", PRINCIPAL))


async def own(service: str, call: Awaitable[T]) -> T:
    """The reply to a call under dissonance's own name.

    Raises `ServiceUnavailable` or `ServiceRefused`.
    """
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        failure = from_rpc_error(error)
        if failure.code in TRANSIENT:
            raise ServiceUnavailable(service, failure.summary) from error
        raise ServiceRefused(service, failure.reason) from error


async def in_name_of(who: Credential, method: Callable[..., Awaitable[T]], request: Message) -> T:
    """The reply to a call in a caller's name. Raises `Failure`, as the service refused it."""
    try:
        return await method(request, metadata=(("authorization", who),))
    except grpc.aio.AioRpcError as error:
        raise from_rpc_error(error) from error
