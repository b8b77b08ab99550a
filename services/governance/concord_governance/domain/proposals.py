"""Proposals as plain values: immutable revisions, and where a proposal stands.

Times are integer microseconds since 1970 UTC.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"


class Level(enum.IntEnum):
    """Who must agree; numbers as in the contract."""

    AGENT = 1
    BILATERAL = 2


class Status(enum.IntEnum):
    """Where a proposal stands; numbers as in the contract."""

    PENDING = 1
    PENDING_REVIEW = 2
    APPROVED = 3
    REJECTED = 4
    EXPIRED = 5
    WITHDRAWN = 6
    EXECUTED = 7
    FAILED = 8
    UNDONE = 9


OPEN = frozenset({Status.PENDING, Status.PENDING_REVIEW})


class Trigger(enum.IntEnum):
    """What caused a proposal; numbers as in the contract."""

    DISSONANCE = 1
    SESSION_END = 2
    MANUAL = 3
    PROACTIVE = 4


class Kind(enum.IntEnum):
    """What a proposal does; numbers as in the contract."""

    RESOLVE = 1
    ADD = 2
    UPDATE = 3
    FORGET = 4
    RESTORE = 5
    DELETE = 6
    ERASE = 7
    PROMOTE = 8
    DEMOTE = 9
    ADD_LINEAGE = 10
    DECLARE_RELATION = 11
    UNDO = 12
    CHANGE_KEY = 13
    RECLASSIFY = 14
    CONFIRM = 15
    DISMISS = 16
    EXCEPT = 17
    REOPEN = 18
    MERGE = 19


class FramingCheck(enum.IntEnum):
    """Who found a proposer's note neutral; numbers as in the contract."""

    TEMPLATE = 1
    LEXICON = 2
    MODEL = 3
    MODEL_SILENT = 4


@dataclass(frozen=True, slots=True)
class Affected:
    """An item that an action touches or depends on, as it was when the revision was made.

    `etag` is empty for an item that the action makes; `kind` is the contract's ItemKind.
    `statement`: what it says, of one that needs consent. `pinned`: it is not written, but
    the agreed change depends on its words. `statement_after`: what it will say, if that is not what
    it says, or if it is not there now.
    """

    id: str
    kind: int
    etag: str
    needs_consent: bool
    statement: str = ""
    pinned: bool = False
    statement_after: str = ""


@dataclass(frozen=True, slots=True)
class Framing:
    """What is to be done and what follows, in the template's words (V3)."""

    detected: str
    affected: str
    if_approved: str
    if_rejected: str
    neutral_summary: str


@dataclass(frozen=True, slots=True)
class Revision:
    """What is signed: never changes once it is made. `canonical` is all of it as RFC 8785 JSON."""

    space: str
    proposal_id: str
    number: int
    revision: int
    proposer: str
    trigger: Trigger
    kind: Kind
    level: Level
    action: Mapping[str, Json]
    """The typed action: protobuf JSON with the contract's field names."""
    action_digest: str
    affected: tuple[Affected, ...]
    framing: Framing
    framing_check: FramingCheck
    policy_digest: str
    create_time: int
    expire_time: int
    note: str = ""
    """What the proposer adds, in words of its own."""
    session_id: str = ""
    """The session that caused it."""
    origin: str = ""
    """Of the memory that it adds: that of the proposer's credential."""
    undo_of: str = ""
    cascaded_count: int = 0
    """How many items the action cascades to that need no consent: no envelope names them."""
    irreversible: bool = False
    """It cannot be undone, which is part of what is signed."""
    canonical: bytes = b""
    digest: str = ""

    @property
    def etags(self) -> dict[str, str]:
        """Item id to the etag that consents name."""
        return {item.id: item.etag for item in self.affected}


@dataclass(frozen=True, slots=True)
class Effect:
    """What a decision did to one item: from which revision (0 = it was not there) to which.

    `governed`: those of the revisions that needed consent, each of them an entry of the audit log.
    `cascaded`: changed because of the others; no envelope names it.
    """

    item_id: str
    item_kind: int
    before: int
    after: int
    governed: tuple[int, ...] = ()
    cascaded: bool = False

    @classmethod
    def of(cls, parts: Sequence[Any]) -> Effect:
        """Return the effect that a ledger kept as its fields in order."""
        item_id, item_kind, before, after, governed, cascaded = parts
        return cls(item_id, item_kind, before, after, tuple(governed), cascaded)


@dataclass(frozen=True, slots=True)
class GivenConsent:
    """A verified consent in the ledger, with the envelope that proves it."""

    slot: str
    principal: str
    nonce: str
    receive_time: int
    expire_time: int
    envelope: bytes
    revoked: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided and is to be done, or was. `grant` is empty for what needs none."""

    id: str
    time: int
    grant: bytes
    effects: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal as it stands."""

    newest: Revision
    status: Status
    create_time: int
    consents: tuple[GivenConsent, ...] = ()
    """Those to the newest revision."""
    decision: Decision | None = None
    resolve_time: int | None = None
    resolved_by: str = ""
    resolution: str = ""
    """Why it ended; of a failure the reason's name and, after a blank, the check that failed."""
    undone_by: str = ""
    undo_until: int | None = None
    orphaned: tuple[str, ...] = ()
    """Of an executed undo: the lineage and resolutions that hung on what it took away."""
    version: int = field(default=0)
    """Grows with every write of it: what compare-and-set compares."""

    @property
    def id(self) -> str:
        """Its id."""
        return self.newest.proposal_id

    def is_expired(self, now: int) -> bool:
        """Return whether silence has become rejection (V4), whatever a sweep has done."""
        return self.status in OPEN and now >= self.newest.expire_time

    def missing_slots(self, required: Mapping[Level, tuple[str, ...]], now: int) -> tuple[str, ...]:
        """Return the required slots without a consent that still holds."""
        given = {c.slot for c in self.consents if not c.revoked and now < c.expire_time}
        return tuple(slot for slot in required[self.newest.level] if slot not in given)
