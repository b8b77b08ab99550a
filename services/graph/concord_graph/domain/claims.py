"""Claims (spec W9): what a lower writer's change would do to another principal's item.

A claim does nothing. Its item stays as it is until somebody who may settles the claim.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from concord_graph.domain.errors import ItemState
from concord_graph.domain.items import (
    Edge,
    Entry,
    Importance,
    Item,
    ItemKind,
    Memory,
    Node,
    Record,
    Relation,
    is_erased,
)

MOST_SHOWN = 20
"""How many of its open claims an item shows."""
MOST_SHOWN_OF_ONE = 3
"""How many of one claimant's it shows: many of one hide nobody else's."""
_ADDED_TO = ("importance", "tags", "concepts", "concepts_stated", "revision")
"""The fields of a memory that a change which harms nothing may change."""


class Rank(enum.IntEnum):
    """How high a principal stands, by its kind. NOBODY: no live memory states an edge of facts."""

    NOBODY = 0
    TOOL = 1
    AGENT = 2
    HUMAN = 3


_RANKS: Mapping[str, Rank] = {"HUMAN": Rank.HUMAN, "AGENT": Rank.AGENT, "SYSTEM": Rank.TOOL}


_ITEMS = (Node, Edge, Memory)


def rank_of(kind: str) -> Rank:
    """Return the rank of a principal's kind; without one, as of older records, it is a person's."""
    return _RANKS.get(kind, Rank.HUMAN)


class Stand(NamedTuple):
    """How high an item stands, and the principals by whom it stands so high."""

    rank: Rank
    principals: frozenset[str]

    def owner(self, author: str) -> str:
        """Return one of the principals: another one than the author of a claim, if there is."""
        return min(self.principals - {author} or self.principals, default="")


class ClaimAction(enum.IntEnum):
    """What a claim would do to its item; numbers as in the contract."""

    SUPERSEDE = 1
    DEPRECATE = 2
    AMEND = 3
    FOLLOW = 4
    UPDATE = 5
    FORGET = 6
    ERASE = 7
    RESTORE = 8
    DELETE = 9
    DECLARE = 10
    RESOLVE = 11
    CONFIRM = 12
    DECIDE = 13


LINEAGE: Mapping[str, ClaimAction] = {
    Relation.SUPERSEDES: ClaimAction.SUPERSEDE,
    Relation.DEPRECATES: ClaimAction.DEPRECATE,
    Relation.AMENDS: ClaimAction.AMEND,
}
OF_EDGES = frozenset({*LINEAGE.values(), ClaimAction.FOLLOW})
"""The claims of which an edge is there already, and makes nothing give way."""


class ClaimState(enum.IntEnum):
    """The state of a claim; numbers as in the contract."""

    OPEN = 1
    ACCEPTED = 2
    REFUSED = 3
    WITHDRAWN = 4


class ClaimReason(enum.IntEnum):
    """Why a claim that was accepted is refused all the same; numbers as in the contract."""

    NONE = 0
    ITEM_CHANGED = 1
    ITEM_GONE = 2


@dataclass(frozen=True, slots=True)
class Target:
    """An item that a claim names; `kind` GHOST and an empty id: none."""

    id: str = ""
    kind: ItemKind = ItemKind.GHOST


NOTHING = Target()


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim on `item`.

    `by`: what would take its place, if anything. `edge_id`: the edge that is there and does
    nothing yet. `owner`, `rank`: whose the item is, and how high it stands. `method`, `request`:
    the RPC and its request, base64, that accepting runs; empty with `edge_id`. `time` (µs): when it
    was settled.
    """

    item: Target
    action: ClaimAction
    claimant: str
    claimant_kind: str
    owner: str
    rank: Rank
    by: Target = NOTHING
    edge_id: str = ""
    method: str = ""
    request: str = ""
    state: ClaimState = ClaimState.OPEN
    settled_by: str = ""
    time: int = 0
    reason: ClaimReason = ClaimReason.NONE

    def settled(
        self, state: ClaimState, by: str, time: int, reason: ClaimReason = ClaimReason.NONE
    ) -> Claim:
        """Return the claim in another state.

        Raises:
            ItemState: it is settled already.
        """
        if self.state != ClaimState.OPEN:
            raise ItemState(f"the claim is {self.state.name} already")
        return replace(self, state=state, settled_by=by, time=time, reason=reason)


def to_entry(claim: Claim, entry: Entry) -> Entry:
    """Return the entry with a claim as its content; its request is erased with its item."""
    body = asdict(claim)
    del body["state"]
    if not claim.reason:
        del body["reason"]  # as claims were kept before there were reasons
    request = body.pop("request")
    body["first"], body["second"] = body.pop("item"), body.pop("by")
    return replace(
        entry, body=body, words={"request": request} if request else {}, shelf=claim.state.name
    )


def claim_of(entry: Entry) -> Claim:
    """Return the claim that is stored in an entry.

    Raises:
        KeyError, TypeError, ValueError: the entry holds no claim.
    """
    body = dict(entry.body)
    item, by = _target(body.pop("first")), _target(body.pop("second"))
    return Claim(
        item=item,
        by=by,
        action=ClaimAction(body.pop("action")),
        rank=Rank(body.pop("rank")),
        state=ClaimState[entry.shelf],
        reason=ClaimReason(body.pop("reason", 0)),
        request=entry.words.get("request", ""),
        **body,
    )


class OpenClaim(NamedTuple):
    """An open claim at an item, as a store finds it; `rank`: its number."""

    rank: int
    at_id: str
    claim_id: str
    item_id: str
    by_id: str
    action: int
    claimant: str


class OpenClaims(NamedTuple):
    """Some of an item's open claims, newest first, and the number of all."""

    shown: tuple[OpenClaim, ...] = ()
    total: int = 0


def by_item(found: Iterable[OpenClaim]) -> Mapping[str, OpenClaims]:
    """Return the open claims at each item: at most MOST_SHOWN_OF_ONE of each claimant."""
    at: dict[str, list[OpenClaim]] = defaultdict(list)
    for each in sorted(set(found), reverse=True):
        at[each.at_id].append(each)
    return {item_id: _bounded(claims) for item_id, claims in at.items()}


def _bounded(claims: list[OpenClaim]) -> OpenClaims:
    of_one: dict[str, int] = defaultdict(int)
    shown = []
    for each in claims:
        of_one[each.claimant] += 1
        if of_one[each.claimant] <= MOST_SHOWN_OF_ONE:
            shown.append(each)
    return OpenClaims(tuple(shown[:MOST_SHOWN]), len(claims))


def harms(before: Item, after: Item) -> bool:
    """Return whether a change of an item is more than an addition to it.

    Additions are a tag, a concept, a property that was not there, a label of a node without one,
    and a higher importance. All else takes it out of default reads, or changes what it says.
    """
    if before.deleted or after.deleted or is_erased(after):
        return before.deleted != after.deleted or is_erased(after)
    if isinstance(before, Node) or isinstance(after, Node):
        return isinstance(before, Node) and isinstance(after, Node) and _harms_node(before, after)
    if before.importance != after.importance and after.importance == Importance.LOW:
        return True
    if isinstance(before, Edge):
        return isinstance(after, Edge) and _harms_edge(before, after)
    return isinstance(after, Memory) and _harms_memory(before, after)


def is_touched(before: Record, after: Record, names: frozenset[str] | None) -> bool:
    """Return whether a write of an item changed one of these fields; None: whether it harmed it.

    What is no field of the item's own, as a memory's facts, counts as changed.
    """
    if names is None and isinstance(before, _ITEMS) and isinstance(after, _ITEMS):
        return harms(before, after)
    if names is None:
        return True
    own = before.__dataclass_fields__
    return any(n not in own or getattr(before, n) != getattr(after, n) for n in names)


def _harms_node(before: Node, after: Node) -> bool:
    relabelled = before.label not in (after.label, Node("", "").label)
    moved = before.vector_id not in ("", after.vector_id)
    return before.name != after.name or relabelled or moved or _loses(before, after)


def _harms_edge(before: Edge, after: Edge) -> bool:
    names = ("source", "relation", "target", "weight", "valid_from", "valid_until", "edge_type")
    return _loses(before, after) or any(getattr(before, n) != getattr(after, n) for n in names)


def _harms_memory(before: Memory, after: Memory) -> bool:
    if not set(before.tags) <= set(after.tags) or not set(before.concepts) <= set(after.concepts):
        return True
    same = {name: getattr(before, name) for name in _ADDED_TO}
    return replace(after, **same) != before


def _loses(before: Node | Edge, after: Node | Edge) -> bool:
    """Return whether a property is gone or has another value."""
    return any(
        key not in after.properties or after.properties[key] != value
        for key, value in before.properties.items()
    )


def _target(body: Mapping[str, Any]) -> Target:
    return Target(body["id"], ItemKind(body["kind"]))
