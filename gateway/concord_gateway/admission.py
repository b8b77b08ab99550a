"""Authentication: exchanges a caller's API key for the short-lived token that services trust."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import grpc
from concord_chassis.call.failure import Failure
from concord_chassis.call.identity import Caller, TokenIssuer, invalid_credential
from concord_chassis.observe import tracing

from concord_gateway.callers import ApiKey, Callers, Refusal
from concord_gateway.credentials import presented_digest
from concord_gateway.errors import GovernanceSilent
from concord_gateway.routes import Audience

Metadata: TypeAlias = Iterable[tuple[str, str | bytes]]

AUTHORIZATION = "authorization"
SESSION = "x-concord-session"
"""The HTTP header with a session's secret, one half of its credential; the other is a cookie."""
GOVERNANCE_ALONE: Audience = ("governance",)
RENEW_BEFORE = 60.0
"""A token is no longer handed out in its last so many seconds."""

MAX_CACHED = 4096
LET_IN_EVERY = 1.0
"""Seconds between two checks of an open stream's key, whether or not a message moves."""

# Credentials, and metadata about one connection: the gateway's own to the service has its own.
_HOP_BY_HOP = frozenset(
    [
        AUTHORIZATION,
        SESSION,
        "connection",
        "content-length",
        "content-type",
        "cookie",
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
        token = self._issuer.mint(_named(key, audience), min(self._ttl, left), audience=audience)
        value = f"Bearer {token}"
        while len(self._minted) >= MAX_CACHED:
            del self._minted[next(iter(self._minted))]
        self._minted[key, audience] = (value, now + min(self._ttl - RENEW_BEFORE, left))
        return value


def _named(key: ApiKey, audience: Audience) -> Caller:
    """The key's caller, for governance alone with the key's id: with that it opens sessions of the
    key. A session opens no other, and no service that forwards a token may open one."""
    if audience != GOVERNANCE_ALONE or key.is_session:
        return key.caller
    return replace(key.caller, key_id=key.id)


@dataclass(frozen=True)
class Admitted:
    """The authenticated caller of a call."""

    key: str
    """The public id of the caller's key, by which calls are counted."""
    authorization: Callable[[Audience], str]
    """Returns the `authorization` value for a call to the first of some services, which may call
    the others with it."""
    by_session: bool = False
    """Whether the call came with a session's credential."""


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
        return await self._admitted(digest, is_session=False)

    async def admit_session(self, digest: str) -> Admitted:
        """Authenticates a call by the digest of its session. Raises as `admit`."""
        return await self._admitted(digest, is_session=True)

    def forget(self, digest: str) -> None:
        """Has the next call with this key or session ask governance again."""
        self._callers.forget(digest)

    async def _admitted(self, digest: str, *, is_session: bool) -> Admitted:
        name = "session" if is_session else "API key"
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
                f"This {name} has expired.",
            )
        if not isinstance(key, ApiKey):
            raise invalid_credential(f"This {name} opens nothing here: unknown, or revoked.")
        key = replace(key, is_session=is_session)
        return Admitted(key.id, partial(self._tokens.authorization, key), by_session=is_session)


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
