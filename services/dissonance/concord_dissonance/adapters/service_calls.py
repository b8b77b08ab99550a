"""The tokens of calls to other services, and the translation of their failures."""

from collections import OrderedDict
from collections.abc import Awaitable
from typing import TypeVar

import grpc
from concord_chassis.call.failure import from_rpc_error
from concord_chassis.call.identity import Caller, RenewedToken, TokenIssuer

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


class OwnTokens:
    """Dissonance's own tokens, one a space, each with the same scopes."""

    def __init__(self, issuer: TokenIssuer, scopes: frozenset[str]) -> None:
        self._issuer, self._scopes = issuer, scopes
        self._tokens: OrderedDict[str, RenewedToken] = OrderedDict()

    def of(self, space: str) -> Metadata:
        """The metadata of a call about a space."""
        token = self._tokens.get(space)
        if token is None:
            who = Caller(space, PRINCIPAL, self._scopes, "SYSTEM")
            token = self._tokens[space] = RenewedToken(self._issuer, who)
        self._tokens.move_to_end(space)
        if len(self._tokens) > REMEMBERED_SPACES:
            self._tokens.popitem(last=False)
        return (("authorization", f"Bearer {token()}"),)


def in_name_of(who: Credential) -> Metadata:
    """The metadata of a call in a caller's name."""
    return (("authorization", who),)


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


async def of_caller(call: Awaitable[T]) -> T:
    """The reply to a call in a caller's name. Raises `Failure`, as the service refused it."""
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        raise from_rpc_error(error) from error
