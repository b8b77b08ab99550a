"""Proposals as plain values: immutable revisions, and the state of a proposal.

Times are integer microseconds since 1970 UTC.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

HOUR = 3_600_000_000
DAY = 24 * HOUR
Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"


class Level(enum.IntEnum):
    """Who must agree; numbers as in the contract."""

    AGENT = 1
    BILATERAL = 2


class Status(enum.IntEnum):
    """The state of a proposal; numbers as in the contract."""

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
    """The cause of a proposal; numbers as in the contract."""

    DISSONANCE = 1
    SESSION_END = 2
    MANUAL = 3
    PROACTIVE = 4


class Kind(enum.IntEnum):
    """The kind of a proposal's action; numbers as in the contract."""

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


class Settlement(enum.IntEnum):
    """How a proposal is settled where nobody can sign; numbers as in the contract."""

    APPROVE = 1
    REJECT = 2


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
    `statement`: its text or fact, if it needs consent or the action makes it. `pinned`: the action
    does not write it, but the agreed change depends on its words. `statement_after`: its statement
    after the action, if that differs from the present one or the item does not exist yet.
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
    """The template's words for an action and its consequences (V3)."""

    detected: str
    affected: str
    if_approved: str
    if_rejected: str
    neutral_summary: str


@dataclass(frozen=True, slots=True)
class Revision:
    """An immutable revision of a proposal: what is signed. `canonical`: its RFC 8785 JSON."""

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
    """The proposer's own words."""
    session_id: str = ""
    """The session that caused it."""
    origin: str = ""
    """The origin of a memory that the action adds, from the proposer's credential."""
    undo_of: str = ""
    cascaded_count: int = 0
    """The number of cascaded items: they need no consent, and no envelope names them."""
    irreversible: bool = False
    """The action cannot be undone; the principals sign this too."""
    canonical: bytes = b""
    digest: str = ""

    @property
    def etags(self) -> dict[str, str]:
        """Item id to the etag that consents name."""
        return {item.id: item.etag for item in self.affected}


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a decision on one item.

    `before`, `after`: its revision before (0: it did not exist) and after. `governed`: the
    revisions that needed consent; each has an entry in the audit log. `cascaded`: changed because
    of the others; no envelope names it.
    """

    item_id: str
    item_kind: int
    before: int
    after: int
    governed: tuple[int, ...] = ()
    cascaded: bool = False

    @classmethod
    def of(cls, parts: Sequence[Any]) -> Effect:
        """Return the effect from its fields in order, as a ledger stores it."""
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
    """A decision, executed or still to be executed. `grant`: empty if the action needs none."""

    id: str
    time: int
    grant: bytes
    effects: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a decided proposal was not executed.

    `reason`: the name of an ErrorReason; `check`: the failed check, if any; `slot`: "AGENT" or
    "HUMAN" when the check is about that slot's envelope.
    """

    reason: str
    check: str = ""
    slot: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal in its present state."""

    newest: Revision
    status: Status
    create_time: int
    consents: tuple[GivenConsent, ...] = ()
    """The consents to the newest revision."""
    decision: Decision | None = None
    resolve_time: int | None = None
    resolved_by: tuple[str, ...] = ()
    """The principals that decided, rejected or withdrew it, sorted; empty when it expired."""
    resolution: str = ""
    """The reason that a rejection states."""
    failure: Failure | None = None
    undone_by: str = ""
    undo_until: int | None = None
    orphaned: tuple[str, ...] = ()
    """For an executed undo: ids of the lineage and resolutions that it orphaned."""
    version: int = field(default=0)
    """Grows with every write of the proposal; compare-and-set compares it."""

    @property
    def id(self) -> str:
        """Its id."""
        return self.newest.proposal_id

    def is_expired(self, now: int) -> bool:
        """Return whether the proposal expired unanswered (V4), even if no sweep has noted it."""
        return self.status in OPEN and now >= self.newest.expire_time

    def missing_slots(self, required: Mapping[Level, tuple[str, ...]], now: int) -> tuple[str, ...]:
        """Return the required slots without a consent that still holds."""
        given = {c.slot for c in self.consents if not c.revoked and now < c.expire_time}
        return tuple(slot for slot in required[self.newest.level] if slot not in given)
