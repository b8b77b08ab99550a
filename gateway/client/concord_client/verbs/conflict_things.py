"""Conflicts, their checks and reviews, as plain data; enum values by contract name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from concord_client.verbs.things import GivenWay

ConflictClass: TypeAlias = Literal["EVOLUTION", "CONTRADICTION", "NUANCE", "UNDECIDED"]
ConflictState: TypeAlias = Literal["POTENTIAL", "CONFIRMED", "DISMISSED", "EXCEPTION", "RESOLVED"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two items that disagree, as its `etag` names it.

    `number`: short, and taken in place of the id, in decimal; 0 if it was not recorded.
    `older_id`: of an evolution, the side that was true earlier; `run_id`: the check that recorded
    it; `group_id`: the findings in texts that it belongs to; `context`: why it was reviewed as it
    was, by `reviewed_by`. `etag`: "" in a check's result.
    """

    id: str
    conflict_class: str
    state: str
    first_id: str
    first_says: str
    second_id: str
    second_says: str
    confidence: float
    older_id: str
    judge: str
    rule: str
    run_id: str
    group_id: str
    reviewed_by: str
    context: str
    etag: str
    number: int


@dataclass(frozen=True, slots=True)
class Check:
    """The conflicts that a check found; `status`: the contract's `CheckStatus` by name.

    `unrecorded`: new findings in texts that were too many to be recorded unasked.
    """

    status: str
    conflicts: tuple[Conflict, ...]
    judged: int
    abstained: Mapping[str, int] = field(hash=False)
    unrecorded: int = 0
    is_node_known: bool = True


@dataclass(frozen=True, slots=True)
class Decision:
    """A conflict after a review or a resolution.

    `proposal_id`: the proposal that it became, since a side is constitutive; "" if it took effect.
    `dependent_ids`: items that depend on the side that gave way. `gave_way`: what gave way by it.
    """

    conflict: Conflict
    proposal_id: str
    proposal_number: int
    dependent_ids: tuple[str, ...]
    gave_way: tuple[GivenWay, ...]


@dataclass(frozen=True, slots=True)
class Dismissed:
    """How many conflicts were dismissed at once, and how many must be reviewed alone."""

    dismissed: int
    left: int


@dataclass(frozen=True, slots=True)
class RecurringFact:
    """A fact of each of the last five sessions, and the proposal to make it constitutive."""

    item_id: str
    proposal_number: int


@dataclass(frozen=True, slots=True)
class EndedSession:
    """A session that has ended, and the check of what it wrote."""

    id: str
    started: datetime | None
    ended: datetime | None
    check: Check
    recurring: tuple[RecurringFact, ...]
