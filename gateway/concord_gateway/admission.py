"""Authentication: exchanges a caller's API key for the short-lived token that services trust."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import grpc
from concord_chassis.call.failure import Failure
from concord_chassis.call.identity import TokenIssuer, invalid_credential
from concord_chassis.observe import tracing

from concord_gateway.callers import ApiKey, Callers, Refusal
from concord_gateway.credentials import presented_digest
from concord_gateway.errors import GovernanceSilent
from concord_gateway.routes import Audience

Metadata: TypeAlias = Iterable[tuple[str, str | bytes]]

AUTHORIZATION = "authorization"
RENEW_BEFORE = 60.0
"""A token is no longer handed out in its last so many seconds."""

MAX_CACHED = 4096

# Metadata about one connection; the gateway's own connection to the service has its own.
_HOP_BY_HOP = frozenset(
    [
        AUTHORIZATION,
        "connection",
        "content-length",
        "content-type",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
    ]
)
_HOP_BY_HOP_PREFIXES = ("grpc-", "proxy-", ":")


class Tokens:
    """One token per key and audience, minted anew `RENEW_BEFORE` seconds before it expires."""

    def __init__(
        self, issuer: TokenIssuer, ttl: float, *, now: Callable[[], float] = time.time
    ) -> None:
        """`ttl`: a token's life in seconds, more than `RENEW_BEFORE`."""
        self._issuer, self._ttl, self._now = issuer, ttl, now
        self._minted: dict[tuple[ApiKey, Audience], tuple[str, float]] = {}

    @property
    def cached(self) -> int:
        """How many tokens are kept; at most `MAX_CACHED`."""
        return len(self._minted)

    def authorization(self, key: ApiKey, audience: Audience = ()) -> str:
        """The `authorization` value that names the key's caller; it does not outlive the key.

        `audience`: the services that take it; empty: any.
        """
        value, renew_at = self._minted.get((key, audience), ("", 0.0))
        now = self._now()
        if now < renew_at:
            return value
        left = float("inf") if key.expires_at is None else key.expires_at - now
        token = self._issuer.mint(key.caller, min(self._ttl, left), audience=audience)
        value = f"Bearer {token}"
        while len(self._minted) >= MAX_CACHED:
            del self._minted[next(iter(self._minted))]
        self._minted[key, audience] = (value, now + min(self._ttl - RENEW_BEFORE, left))
        return value


@dataclass(frozen=True)
class Admitted:
    """The authenticated caller of a call."""

    key: str
    """The public id of the caller's key, by which calls are counted."""
    authorization: Callable[[Audience], str]
    """Returns the `authorization` value for a call to the first of some services, which may call
    the others with it."""


class Gate:
    """Exchanges a caller's API key for a token."""

    def __init__(self, callers: Callers, tokens: Tokens) -> None:
        self._callers, self._tokens = callers, tokens

    async def admit(self, metadata: Metadata) -> Admitted:
        """Authenticates a call by its one `authorization` value.

        Raises `Failure`: UNAUTHENTICATED without a valid key (CREDENTIAL_INVALID,
        CREDENTIAL_EXPIRED), UNAVAILABLE while governance cannot be asked about the key.
        """
        authorization = presented(metadata)
        if authorization is None:
            raise invalid_credential("Send an API key: `authorization: Bearer ck_...`.")
        digest = presented_digest(authorization)
        if digest is None:
            raise invalid_credential("This is no API key: `authorization: Bearer ck_...`.")
        try:
            key = await self._callers.holder(digest)
        except GovernanceSilent as error:
            raise Failure(
                grpc.StatusCode.UNAVAILABLE,
                "ERROR_REASON_UNAVAILABLE",
                "The gateway cannot check keys at the moment.",
            ) from error
        if key is Refusal.EXPIRED:
            raise Failure(
                grpc.StatusCode.UNAUTHENTICATED,
                "ERROR_REASON_CREDENTIAL_EXPIRED",
                "This API key has expired.",
            )
        if not isinstance(key, ApiKey):
            raise invalid_credential("This API key opens nothing here: unknown, or revoked.")
        return Admitted(key.id, partial(self._tokens.authorization, key))


def onward(metadata: Metadata, authorization: str) -> list[tuple[str, str | bytes]]:
    """The metadata for the call to the service: the caller's without hop-by-hop keys, the token,
    and, if the call is traced, the gateway's trace context instead of the caller's."""
    ours = {AUTHORIZATION: authorization, **tracing.outgoing()}
    kept = [
        (key, value)
        for key, value in metadata
        if key not in _HOP_BY_HOP and not key.startswith(_HOP_BY_HOP_PREFIXES) and key not in ours
    ]
    return [*kept, *ours.items()]


def presented(metadata: Metadata) -> str | None:
    """The one `authorization` value of a call; None when there is none or more than one."""
    values = [value for key, value in metadata if key == AUTHORIZATION]
    return values[0] if len(values) == 1 and isinstance(values[0], str) else None
