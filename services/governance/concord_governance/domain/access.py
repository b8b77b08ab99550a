"""Spaces and their API keys (W7): the permissions of each scope, and who may grant which."""

from __future__ import annotations

import enum
import hashlib
import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from concord_governance.domain.entries import Actor
from concord_governance.domain.errors import KeyRefused, LooksReserved, ReservedName
from concord_governance.domain.look_alikes import (
    OWN,
    SERVICES,
    is_like_a_service,
    is_like_the_system_space,
)

SYSTEM_SPACE = "concord:system"
"""The reserved space of this installation's operators."""
MOST_SPACES = 50_000
"""Spaces on record, deleted ones among them, from which on no more are made: so many were
measured (services/decisions/0123)."""
OVERLAP_DAYS = 90
"""The most days for which a replaced key may stay valid."""

MOST_SIGN_INS = 100
"""Open codes and sessions of a key; the oldest gives way to another."""

SECRET_BYTES = 32
_SPACE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class Scope(enum.IntEnum):
    """A named set of permissions of a key; numbers as in the contract."""

    READ = 1
    WRITE = 2
    GOVERN = 3
    ADMIN = 4
    OPERATOR = 5
    APPEND = 6
    OWN = 7

    @property
    def word(self) -> str:
        """The scope's name as stored with a key: unlike a permission's, it has no colon."""
        return self.name.lower()


_PROPOSING = frozenset({"feedback:write", "proposals:write"})
"""What changes no item: votes on results, and proposals, which others decide about."""

PERMISSIONS: Mapping[Scope, frozenset[str]] = MappingProxyType(
    {
        Scope.READ: frozenset(
            {
                "access:read",
                "audit:read",
                "dissonance:read",
                "governance:read",
                "governed:read",
                "graph:read",
                "memory:read",
                "search:read",
            }
        ),
        Scope.WRITE: frozenset(
            {
                "dissonance:write",
                "feedback:write",
                "graph:write",
                "memory:write",
                "operations:undo",
                "proposals:write",
                "space:write",
            }
        ),
        Scope.GOVERN: frozenset({"decisions:write", "governed:write"}),
        Scope.ADMIN: frozenset(
            {
                "conflict:admin",
                "enrolment:write",
                "erasure:admin",
                "keys:list",
                "keys:write",
                "recall:admin",
                "search:admin",
            }
        ),
        Scope.OPERATOR: frozenset({"keys:list", "keys:write", "spaces:list", "spaces:write"}),
        Scope.APPEND: _PROPOSING | {"dissonance:append", "graph:append", "memory:append"},
        Scope.OWN: _PROPOSING | {"dissonance:own", "graph:own", "memory:own"},
    }
)
"""The one table from scopes to the permissions that the contracts name."""

SERVICE_PERMISSIONS = frozenset(
    {
        "callers:resolve",
        "confirm:write",
        "conflict:write",
        "feed:all",
        "granted:write",
        "record:all",
    }
)
"""The permissions of Concord's own services alone: no key carries one."""

_SYSTEM_SCOPES = frozenset({Scope.OPERATOR, Scope.READ})
_SCOPES = {scope.word: scope for scope in Scope}


class Origin(enum.IntEnum):
    """The origin of memories that are written with a key; numbers as in the contract."""

    HUMAN = 1
    AGENT = 2
    TOOL = 3
    IMPORT = 4


ORIGINS: Mapping[Actor, Origin] = MappingProxyType(
    {Actor.HUMAN: Origin.HUMAN, Actor.AGENT: Origin.AGENT, Actor.SYSTEM: Origin.TOOL}
)


class KeyStatus(enum.IntEnum):
    """The state of a key; numbers as in the contract."""

    ACTIVE = 1
    EXPIRED = 2
    REVOKED = 3


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key without its secret. Times in µs; `scopes`: scopes' words or bare permissions."""

    id: str
    digest: str
    space: str
    principal: str
    kind: Actor
    scopes: tuple[str, ...]
    origin: Origin
    create_time: int
    created_by: str = ""
    expire_time: int | None = None
    revoke_time: int | None = None
    last_use_time: int | None = None

    def status(self, now: int) -> KeyStatus:
        """Return the key's state at `now` (µs); a revoked key never counts as expired."""
        if self.revoke_time is not None:
            return KeyStatus.REVOKED
        if self.expire_time is not None and self.expire_time <= now:
            return KeyStatus.EXPIRED
        return KeyStatus.ACTIVE

    @property
    def permissions(self) -> frozenset[str]:
        """All that its scopes grant."""
        return permissions_of(self.scopes)


@dataclass(frozen=True, slots=True)
class SignIn:
    """A one-time code, or the session that it became, by the digest of its secret. Times in µs."""

    digest: str
    key_id: str
    is_session: bool
    create_time: int
    expire_time: int


@dataclass(frozen=True, slots=True)
class Space:
    """A space on record, deleted or not. Times in µs.

    `statement`: both slots' signed statement of its deletion. `erased`: nothing is left to erase.
    """

    name: str
    create_time: int
    created_by: str = ""
    delete_time: int | None = None
    statement: bytes = b""
    erased: bool = False


@dataclass(frozen=True, slots=True)
class ListedKey:
    """A key's entry in a keys file, which lists it under its digest."""

    space: str
    principal: str
    kind: Actor
    scopes: tuple[str, ...]


def new_secret() -> str:
    """Return 43 base64url characters of 256 random bits."""
    return secrets.token_urlsafe(SECRET_BYTES)


def digest_of(secret: str) -> str:
    """Return the hex SHA-256 of a key or secret, of which nothing else is stored."""
    return hashlib.sha256(secret.encode()).hexdigest()


def permissions_of(scopes: Collection[str]) -> frozenset[str]:
    """Return all permissions that scopes' words and bare permissions grant."""
    granted = frozenset(scope for scope in scopes if scope not in _SCOPES)
    return granted.union(*(PERMISSIONS[_SCOPES[word]] for word in scopes if word in _SCOPES))


def scopes_of(words: Collection[str]) -> tuple[Sequence[Scope], Sequence[str]]:
    """Return the scopes among a key's words, and its bare permissions."""
    scopes = sorted(_SCOPES[word] for word in words if word in _SCOPES)
    return scopes, sorted(word for word in words if word not in _SCOPES)


def is_space_name(name: str) -> bool:
    """Return whether a space can have this name; the reserved space alone has another."""
    return _SPACE_NAME.fullmatch(name) is not None


def demand_free_space_name(name: str) -> None:
    """Demand that a new space's name does not look like that of the reserved space.

    Raises:
        ReservedName: it does.
    """
    if is_like_the_system_space(name):
        raise LooksReserved("space", f"looks like {SYSTEM_SPACE}")


def demand_free_principal(name: str) -> None:
    """Demand that a principal is named neither like a service nor "concord:...", nor alike.

    Raises:
        ReservedName: it is.
    """
    if name.lower() in SERVICES or name.lower().startswith(f"{OWN}:"):
        raise ReservedName("principal", "is one of Concord's own")
    if is_like_a_service(name):
        raise LooksReserved("principal", "looks like one of Concord's own")


def is_operator(space: str, permissions: Collection[str]) -> bool:
    """Return whether a caller is an operator, who may manage every space."""
    return space == SYSTEM_SPACE and PERMISSIONS[Scope.OPERATOR] <= set(permissions)


def demand_operator(space: str, permissions: Collection[str]) -> None:
    """Demand that a caller of a space is an operator.

    Raises:
        KeyRefused: it is not.
    """
    if not is_operator(space, permissions):
        raise KeyRefused(f"spaces are for operators, whose keys are of {SYSTEM_SPACE}")


def may_manage_keys(of: str, own: str, permissions: Collection[str]) -> bool:
    """Return whether a caller of the space `own` may manage keys of the space `of`.

    Only an operator may if `of` is another space or the reserved one.
    """
    return is_operator(own, permissions) or of == own != SYSTEM_SPACE


def demand_may_manage_keys(of: str, own: str, permissions: Collection[str]) -> None:
    """Demand that a caller of the space `own` may manage keys of the space `of`.

    Raises:
        KeyRefused: it may not.
    """
    if not may_manage_keys(of, own, permissions):
        raise KeyRefused("these keys are of a space that the caller may not manage")


def demand_allowed_scopes(scopes: Collection[str], space: str, *, deleted: bool) -> None:
    """Demand that a key of a space may have these scopes.

    Raises:
        KeyRefused: it may not.
    """
    found, bare = scopes_of(scopes)
    if not found and not bare:
        raise KeyRefused("a key has at least one scope")
    if SERVICE_PERMISSIONS & permissions_of(scopes):
        raise KeyRefused("a key cannot carry what services alone may do")
    if space == SYSTEM_SPACE:
        if bare or not set(found) <= _SYSTEM_SCOPES:
            raise KeyRefused(f"keys of {SYSTEM_SPACE} have the scopes OPERATOR and READ alone")
    elif Scope.OPERATOR in found or any(name.startswith("spaces:") for name in bare):
        raise KeyRefused(f"the scope OPERATOR is on keys of {SYSTEM_SPACE} alone")
    if deleted and (bare or set(found) != {Scope.READ}):
        raise KeyRefused("keys of a deleted space have the scope READ alone")
