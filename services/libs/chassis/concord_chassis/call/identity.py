"""The caller's identity: short-lived EdDSA tokens, and the caller that a verified token names.

A service takes the caller from no other header than the token's. So a test can call a service
without a gateway, with a token that it mints.
"""

import enum
import hashlib
import re
import time
from collections.abc import Callable, Collection, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache, partial

import grpc
import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from concord_chassis.call.failure import Failure

ALGORITHM = "EdDSA"
KINDS = frozenset({"AGENT", "HUMAN", "SYSTEM"})
ORIGINS = frozenset({"", "HUMAN", "AGENT", "TOOL", "IMPORT"})
DEFAULT_TTL = 300.0
MAX_TTL = 3600.0
"""Longest life of a token in seconds. It is short because no token can be revoked."""
CLOCK_SKEW = 60.0
"""Seconds by which an issuer's clock may be ahead of a verifier's."""
MAX_TOKEN_CHARACTERS = 4096
MOST_VERIFIED = 4096
REMEMBERED_TOKENS = 1_000
"""Tokens that a service keeps for its own calls, one for each space and its permissions there."""
REQUIRED_CLAIMS = ("iss", "sub", "space", "scope", "kind", "exp")
_REPLICA = re.compile(r"-[0-9]+$")

Claims = Mapping[str, frozenset[str]]
"""By the name of a service, the permissions that it may claim with a key of its own."""

_CALLER: ContextVar["Caller"] = ContextVar("concord_caller")


class Reach(enum.Enum):
    """What of the items that are there a call may change: all, its principal's own, or none."""

    ALL = "write"
    OWN = "own"
    NONE = "append"


@dataclass(frozen=True)
class Caller:
    """The caller: a principal, its space, and the scopes of its credential.

    `kind` is AGENT, HUMAN or SYSTEM. `space` is empty only for a SYSTEM that belongs to no space.
    `issuer` is the name of the token's signer: empty for a caller without a verified token, and not
    compared. `origin` is the origin of the memories written with the credential: HUMAN, AGENT, TOOL
    or IMPORT; empty for a credential without one, such as a service's own. `reach` is what the
    permission that let the call in says, and not compared. `key_id` is the public id of the API key
    that the credential is, in a gateway's tokens for governance alone.
    """

    space: str
    principal: str
    scopes: frozenset[str]
    kind: str
    issuer: str = field(default="", compare=False)
    origin: str = ""
    reach: Reach = field(default=Reach.ALL, compare=False)
    key_id: str = ""


def caller() -> Caller:
    """Returns the current call's verified caller. Raises `LookupError` outside of a call."""
    return _CALLER.get()


def enter(who: Caller) -> None:
    """Makes `who` the caller for the rest of the running task."""
    _CALLER.set(who)


class TokenIssuer:
    """Signs tokens under one issuer name, by which verifiers find the public key."""

    def __init__(
        self,
        private_key: Ed25519PrivateKey,
        name: str,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._key = private_key
        self._now = now
        self.name = name

    @property
    def public_key(self) -> Ed25519PublicKey:
        """The key that verifies what this issuer signs."""
        return self._key.public_key()

    def mint(
        self, caller: Caller, ttl: float = DEFAULT_TTL, *, audience: Collection[str] = ()
    ) -> str:
        """Returns a token for `caller` that expires `ttl` seconds from now, rounded down to a whole
        second. `ttl` is not checked here: verifiers refuse tokens that live longer than `MAX_TTL`.

        `audience`: the services that it is for, which the others refuse; empty: any.
        """
        claims = {
            "iss": self.name,
            "sub": caller.principal,
            "space": caller.space,
            "scope": " ".join(sorted(caller.scopes)),
            "kind": caller.kind,
            **({"origin": caller.origin} if caller.origin else {}),
            **({"key": caller.key_id} if caller.key_id else {}),
            **({"aud": sorted(audience)} if audience else {}),
            "exp": int(self._now() + ttl),
        }
        return jwt.encode(claims, self._key, algorithm=ALGORITHM)

    def secret_of(self, text: str) -> str:
        """Returns 64 hex digits derived from a text and the private key.

        The same text gives the same digits, and nobody without the key can compute them.
        """
        return hashlib.sha256(self._key.sign(f"concord secret v1\0{text}".encode())).hexdigest()


class RenewedToken:
    """A token source for a channel: one caller's token, minted anew after half of its life."""

    def __init__(
        self,
        issuer: TokenIssuer,
        caller: Caller,
        audience: Collection[str] = (),
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`audience`: as `TokenIssuer.mint` takes it."""
        self._issuer, self._caller, self._now = issuer, caller, now
        self._audience = audience
        self._token = ""
        self._renew_at = 0.0

    def __call__(self) -> str:
        """Returns the token to send now."""
        if self._now() >= self._renew_at:
            self._token = self._issuer.mint(self._caller, audience=self._audience)
            self._renew_at = self._now() + DEFAULT_TTL / 2
        return self._token


class OwnTokens:
    """The tokens with which a service calls another under its own name; the last used are kept."""

    def __init__(self, issuer: TokenIssuer, principal: str, service: str) -> None:
        """`service`: the one that it calls."""
        self._principal = principal
        renewed = partial(RenewedToken, issuer, audience=[service])
        self._token_of = lru_cache(REMEMBERED_TOKENS)(renewed)

    def metadata(
        self, space: str, permissions: frozenset[str], *, origin: str = ""
    ) -> tuple[tuple[str, str]]:
        """Returns the metadata of a call about a space, with a token of these permissions."""
        who = Caller(space, self._principal, permissions, "SYSTEM", origin=origin)
        return (("authorization", f"Bearer {self._token_of(who)()}"),)


class TokenVerifier:
    """Verifies the tokens of the issuers in `keys`: by name, their public keys.

    A verified token is cached, so that a repeated one only needs a look at its expiry. The cache
    holds at most `MOST_VERIFIED` tokens and drops the oldest entry first.
    """

    def __init__(
        self,
        keys: Mapping[str, Ed25519PublicKey],
        *,
        service: str = "",
        claims: Claims | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`service`: the verifier's own name, which a token's audience must have; empty: any will
        do. `claims`: an issuer that it names, or a replica of it such as `search-2`, speaks for
        itself alone, with those permissions, and says for whom its token is; any other, such as a
        gateway, speaks for callers."""
        self._keys = dict(keys)
        self._service, self._claims = service, claims or {}
        self._now = now
        self._verified: dict[str, tuple[Caller, int]] = {}

    def verify(self, token: str) -> Caller:
        """Returns the caller that `token` names.

        Raises `Failure` (UNAUTHENTICATED): CREDENTIAL_INVALID when the token does not verify, or
        expires later than `MAX_TTL` + `CLOCK_SKEW` from now; CREDENTIAL_EXPIRED from its expiry on.
        """
        known = self._verified.get(token)
        caller, expiry = known if known is not None else self._read(token)
        if self._now() >= expiry:
            self._verified.pop(token, None)
            raise _refused("ERROR_REASON_CREDENTIAL_EXPIRED", "The credential has expired.")
        if known is None:
            if expiry > self._now() + MAX_TTL + CLOCK_SKEW:
                raise invalid_credential("The credential is valid for longer than it may be.")
            while len(self._verified) >= MOST_VERIFIED:
                del self._verified[next(iter(self._verified))]
            self._verified[token] = (caller, expiry)
        return caller

    def _read(self, token: str) -> tuple[Caller, int]:
        if len(token) > MAX_TOKEN_CHARACTERS:
            raise invalid_credential()
        try:
            issuer = jwt.decode(token, options={"verify_signature": False}).get("iss")
            key = self._keys.get(issuer) if isinstance(issuer, str) else None
            if key is None:
                raise invalid_credential()
            # `verify` checks the expiry, of a cached token too, against the injected clock.
            claims = jwt.decode(
                token,
                key,
                algorithms=[ALGORITHM],
                options={
                    "require": list(REQUIRED_CLAIMS),
                    "verify_exp": False,
                    "verify_aud": False,
                },
            )
        except jwt.PyJWTError as error:
            raise invalid_credential() from error
        who, expiry = _caller_of(claims)
        self._demand_audience(who, claims.get("aud"))
        self._demand_allowed(who)
        return who, expiry

    def _demand_audience(self, who: Caller, audience: object) -> None:
        """Demands that the token is for this service; that of a service says for which it is."""
        if audience is None and service_of(who.issuer) not in self._claims:
            return
        if not isinstance(audience, list) or (self._service and self._service not in audience):
            raise invalid_credential("The credential is for another service.")

    def _demand_allowed(self, who: Caller) -> None:
        """Demands that a service's token claims no more than the service may."""
        service = service_of(who.issuer)
        allowed = self._claims.get(service)
        if allowed is None:
            return
        is_own = who.kind == "SYSTEM" and who.principal in {service, who.issuer}
        if not is_own or not who.scopes <= allowed:
            raise invalid_credential("The credential claims more than its issuer may.")


def service_of(issuer: str) -> str:
    """Returns the service of an issuer's name: `search` of `search` and of `search-2`."""
    return _REPLICA.sub("", issuer)


def invalid_credential(message: str = "The credential does not verify.") -> Failure:
    """Returns the failure (UNAUTHENTICATED) of a call whose credential does not verify."""
    return _refused("ERROR_REASON_CREDENTIAL_INVALID", message)


def lesser(permission: str, reach: Reach) -> str:
    """Returns the form of a permission ":write" that reaches no further: "memory:own"."""
    return f"{permission.partition(':')[0]}:{reach.value}"


def not_permitted(permission: str, scopes: Collection[str] = ()) -> Failure:
    """Returns the failure (PERMISSION_DENIED) of a call whose credential lacks `permission`.

    `scopes`: what it carries; if a lesser form is among them, the failure says so.
    """
    less = next((each for reach in Reach if (each := lesser(permission, reach)) in scopes), "")
    held = f", but only {less}: ask somebody whose key may write" if less else ""
    return Failure(
        grpc.StatusCode.PERMISSION_DENIED,
        "ERROR_REASON_PERMISSION_MISSING",
        f"The credential does not carry {permission}{held}.",
        metadata={"permission": permission},
    )


def demand_service(name: str, permission: str) -> None:
    """Demands that the caller is the service `name`, with a token that this service has signed.

    A token of another issuer is refused even if its scopes include `permission`.

    Raises `Failure` (PERMISSION_DENIED, PERMISSION_MISSING) for any other caller.
    """
    who = caller()
    if (who.issuer, who.principal, who.kind) != (name, name, "SYSTEM"):
        raise not_permitted(permission)


def _refused(reason: str, message: str) -> Failure:
    return Failure(grpc.StatusCode.UNAUTHENTICATED, reason, message)


def _caller_of(claims: Mapping[str, object]) -> tuple[Caller, int]:
    issuer, principal, space, scope, kind, expiry = (claims[name] for name in REQUIRED_CLAIMS)
    if not (
        isinstance(issuer, str)
        and isinstance(space, str)
        and isinstance(principal, str)
        and isinstance(scope, str)
        and isinstance(kind, str)
        and isinstance(expiry, int)
    ):
        raise invalid_credential()
    if not principal or kind not in KINDS or not (space or kind == "SYSTEM"):
        raise invalid_credential()
    origin, key_id = claims.get("origin", ""), claims.get("key", "")
    if not isinstance(origin, str) or origin not in ORIGINS or not isinstance(key_id, str):
        raise invalid_credential()
    scopes = frozenset(scope.split())
    return Caller(space, principal, scopes, kind, issuer, origin, key_id=key_id), expiry
