"""Results of commands, stored in receipts, so that a repeated request gets the same reply."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from concord_graph.domain.claims import ClaimAction
from concord_graph.domain.conflicts import ConflictState
from concord_graph.domain.items import ItemKind, Relation
from concord_graph.domain.sessions import Session


@dataclass(frozen=True, slots=True)
class Ref:
    """A revision of an item, an entry or a relation."""

    kind: ItemKind
    id: str
    revision: int


class Outcome(enum.IntEnum):
    """The outcome of a write for one record; numbers as in the contract."""

    CREATED = 1
    UNCHANGED = 2
    UPDATED = 3
    ERASED = 4
    CLAIMED = 5


@dataclass(frozen=True, slots=True)
class Written:
    """One item, entry or relation."""

    ref: Ref
    outcome: Outcome

    @property
    def is_new(self) -> bool:
        """Whether the command created it."""
        return self.outcome == Outcome.CREATED


@dataclass(frozen=True, slots=True)
class TurnsAppended:
    """Turns of a dialogue, in its order."""

    turns: tuple[Written, ...]


@dataclass(frozen=True, slots=True)
class BatchAdded:
    """Memories in the order of their batch."""

    memories: tuple[Written, ...]


@dataclass(frozen=True, slots=True)
class NodeDeleted:
    """A node, deleted with so many edges."""

    node: Ref
    edge_count: int


@dataclass(frozen=True, slots=True)
class WorkingMemoryPut:
    """An entry of working memory, and the entries that were evicted to make room for it."""

    entry: Ref
    evicted: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class WorkingMemoryRemoved:
    """How many entries of working memory are gone, and how many are left: who put them stands
    above the author."""

    count: int
    left: int = 0


@dataclass(frozen=True, slots=True)
class MemoryErased:
    """An erased memory and the id of its erase receipt."""

    memory: Ref
    erase_id: str


@dataclass(frozen=True, slots=True)
class ItemsReverted:
    """Items that were set back to an earlier revision."""

    items: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class ItemEffect:
    """The effect of a governed change on one item.

    `before`: its revision before the change, 0 if it was not there. `governed`: its revisions that
    needed consent. `cascaded`: the action does not name it.
    """

    after: Ref
    before: int
    governed: tuple[int, ...] = ()
    cascaded: bool = False


@dataclass(frozen=True, slots=True)
class Cascaded:
    """How many items a governed change cascaded to, and the digest of their ids and revisions."""

    count: int
    digest: str


@dataclass(frozen=True, slots=True)
class ChangeApplied:
    """A governed change: its item, its effects, and the ids of the lineage that it orphaned."""

    item: Ref
    effects: tuple[ItemEffect, ...]
    cascaded: Cascaded = Cascaded(0, "")
    orphaned_ids: tuple[str, ...] = ()


class FindingOutcome(enum.IntEnum):
    """The outcome of recording a finding; numbers as in the contract."""

    CREATED = 1
    UPDATED = 2
    UNCHANGED = 3
    STALE = 4


@dataclass(frozen=True, slots=True)
class Recorded:
    """A finding's outcome, with id, state, run and number of its pair's conflict, if it has one."""

    outcome: FindingOutcome
    conflict_id: str = ""
    state: ConflictState | None = None
    run_id: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class ConflictsRecorded:
    """Findings in the order of their batch."""

    findings: tuple[Recorded, ...]


@dataclass(frozen=True, slots=True)
class ConflictsDismissed:
    """How many conflicts were dismissed, or ended, at once; how many are left for single reviews.

    `is_complete`: False if more can be dismissed; then `left` is not counted yet.
    """

    dismissed: int
    left: int
    is_complete: bool


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """A session after the command; it may have gone on instead of ending."""

    session: Session


@dataclass(frozen=True, slots=True)
class ClaimsSettled:
    """Claims that were settled, in the order of their numbers."""

    claims: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A command whose reply is empty."""


Result = (
    Written
    | TurnsAppended
    | BatchAdded
    | NodeDeleted
    | WorkingMemoryPut
    | WorkingMemoryRemoved
    | MemoryErased
    | ItemsReverted
    | ChangeApplied
    | ConflictsRecorded
    | ConflictsDismissed
    | SessionEnded
    | ClaimsSettled
    | Acknowledged
)


def shown(result: Result) -> tuple[Ref, ...]:
    """Return the revisions in a command's reply, in the reply's order; a batch has too many."""
    match result:
        case Written(ref=one) | NodeDeleted(node=one) | MemoryErased(memory=one):
            return (one,)
        case ChangeApplied(item=one):
            return (one,)
        case TurnsAppended(turns=turns):
            return tuple(each.ref for each in turns)
        case ItemsReverted(items=items):
            return items
        case ClaimsSettled(claims=claims):
            return claims
        case WorkingMemoryPut(entry=entry, evicted=evicted):
            return (entry, *evicted)
    return ()


@dataclass(frozen=True, slots=True)
class GivenWay:
    """An item that gave way to another, and how: SUPERSEDES, DEPRECATES or AMENDS.

    `declared_by`: another principal than the author, who declared its relation functional, if that
    is why.
    """

    id: str
    kind: ItemKind
    relation: Relation
    by_id: str
    declared_by: str = ""


@dataclass(frozen=True, slots=True)
class GaveWay:
    """What gave way by a write, by id; `items` are at most 1,000 of `count`.

    `truncated`: more items were affected than were looked at.
    """

    count: int = 0
    items: tuple[GivenWay, ...] = ()
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class ClaimMade:
    """A claim that a write made, or had made before."""

    id: str
    number: int
    action: ClaimAction
    item_id: str
    item_kind: ItemKind
    owner: str
    by_id: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """A request's result, the sequence number of the space's last change at that time, what gave
    way by it, and the claims that it made."""

    result: Result
    seq: int
    gave_way: GaveWay = GaveWay()
    claims: tuple[ClaimMade, ...] = ()
