"""Who is let in, and as whom they go on: an API key outside, a short-lived token inside."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import grpc
from concord_chassis.failure import Failure
from concord_chassis.identity import Caller, TokenIssuer, invalid_credential

from concord_gateway.credentials import Keyring, KeysFileError, digest_of

AUTHORIZATION = "authorization"
RENEW_BEFORE = 60.0
"""Seconds before a token's expiry from which it is not handed out any more."""

MAX_CACHED = 4096

# What one connection says about itself, and what this gateway says anew on the next one.
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
    """One token per caller, minted anew `RENEW_BEFORE` seconds before it expires."""

    def __init__(
        self, issuer: TokenIssuer, ttl: float, *, now: Callable[[], float] = time.time
    ) -> None:
        """`ttl`: a token's life in seconds, more than `RENEW_BEFORE`."""
        self._issuer, self._ttl, self._now = issuer, ttl, now
        self._minted: dict[Caller, tuple[str, float]] = {}

    @property
    def cached(self) -> int:
        """How many callers' tokens are kept; at most `MAX_CACHED`."""
        return len(self._minted)

    def authorization(self, caller: Caller) -> str:
        """The `authorization` value that names `caller` to the services."""
        value, renew_at = self._minted.get(caller, ("", 0.0))
        if self._now() < renew_at:
            return value
        renew_at = self._now() + self._ttl - RENEW_BEFORE
        value = f"Bearer {self._issuer.mint(caller, self._ttl)}"
        while len(self._minted) >= MAX_CACHED:
            del self._minted[next(iter(self._minted))]
        self._minted[caller] = (value, renew_at)
        return value


@dataclass(frozen=True)
class Admitted:
    """A caller who was let in."""

    key: str
    """The digest of the caller's key: what is counted for each key is counted by it."""
    authorization: str
    """The `authorization` value to go on with."""


class Gate:
    """Turns what a caller presents into what the services trust."""

    def __init__(self, keyring: Keyring, tokens: Tokens) -> None:
        self._keyring, self._tokens = keyring, tokens

    def admit(self, authorization: str | None) -> Admitted:
        """Who calls.

        Raises `Failure`: UNAUTHENTICATED without a key of ours, UNAVAILABLE while the keys file
        cannot be used.
        """
        try:
            caller = self._keyring.authenticate(authorization)
        except KeysFileError as error:
            raise Failure(
                grpc.StatusCode.UNAVAILABLE,
                "ERROR_REASON_UNAVAILABLE",
                "The gateway cannot check keys at the moment.",
            ) from error
        if authorization is None or caller is None:
            raise invalid_credential("Send an API key: `authorization: Bearer ck_...`.")
        _, _, key = authorization.partition(" ")
        return Admitted(digest_of(key), self._tokens.authorization(caller))


def onward(
    metadata: Iterable[tuple[str, str | bytes]], authorization: str
) -> list[tuple[str, str | bytes]]:
    """The caller's metadata as it goes on: without what concerns one hop, with the new token."""
    kept = [
        (key, value)
        for key, value in metadata
        if key not in _HOP_BY_HOP and not key.startswith(_HOP_BY_HOP_PREFIXES)
    ]
    kept.append((AUTHORIZATION, authorization))
    return kept


def presented(metadata: Iterable[tuple[str, str | bytes]]) -> str | None:
    """The one `authorization` value of a call; None when there is none or more than one."""
    values = [value for key, value in metadata if key == AUTHORIZATION]
    return values[0] if len(values) == 1 and isinstance(values[0], str) else None
