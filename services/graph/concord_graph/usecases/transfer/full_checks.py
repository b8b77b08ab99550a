"""Checks that the lines of a full export are consistent: revisions, changes, references (G15).

A fault is reported at the line of the change, which follows the line of its revision.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from concord_graph.domain import protection
from concord_graph.domain.claims import Rank, claim_of, rank_of
from concord_graph.domain.conflicts import conflict_of
from concord_graph.domain.digests import digest
from concord_graph.domain.erasure import (
    Erasure,
    erased_edge,
    erased_entry,
    erased_memory,
    erased_node,
)
from concord_graph.domain.facts import Support
from concord_graph.domain.items import (
    FOREVER,
    DeclaredRelation,
    Edge,
    End,
    Entry,
    Item,
    ItemKind,
    Memory,
    MemoryOrigin,
    Node,
    Record,
    is_erased,
)
from concord_graph.ports import Change, ChangeType, Ref, Writes
from concord_graph.usecases.transfer.full_export import REVISING
from concord_graph.usecases.write.commands import IMPORT


class Sequence:
    """Checks that changes come in sequence, and yields earlier imports' changes in their place."""

    def __init__(self, imports: tuple[Change, ...]) -> None:
        self.left = deque(imports)
        self._seq = self._time = 0

    def due(self) -> Iterator[Change]:
        """Yield the earlier imports' changes whose numbers come next."""
        while self.left and self.takes(self.left[0]):
            yield self.left.popleft()

    def takes(self, change: Change) -> bool:
        """Advance to a change; return whether its number is the next and its time no earlier."""
        if change.seq != self._seq + 1 or change.record_time < self._time:
            return False
        self._seq, self._time = change.seq, change.record_time
        return True


def as_put(item: Record) -> Record:
    """Return a revision as it was first written: the newest, with an open end.

    An erased revision is written as it is now. Erased ones lost the fields that distinguish them,
    so several open ones would clash.
    """
    if not isinstance(item, DeclaredRelation) and is_erased(item):
        return item if item.revision.record_until == FOREVER else replace(item, erase_time=0)
    return replace(item, revision=replace(item.revision, record_until=FOREVER))


def misfit(change: Change, item: Record | None, *, consented: bool) -> str:
    """Return why a change cannot come with this revision, or with none; "" = it can.

    `consented`: whether a genesis came before, whose keys can have signed consents.
    """
    if (change.type in REVISING) != (item is not None):
        return "has no revision, or one that such a change does not make"
    if change.author.method == IMPORT:
        return "is of an import: such stand in the first line"
    if (change.type == ChangeType.REVOKED) != bool(change.paper):
        return "is a revocation without its envelope, or has one and is none"
    if change.paper and not consented:
        return "takes back a consent where nobody consents"
    return ""


def mismatch(item: Record, before: Record | None, change: Change) -> str:
    """Return why a revision does not belong to its change or follow `before`; "" = it does."""
    revision = item.revision
    stated = (change.item_id, change.item_kind, change.revision, change.seq, change.record_time)
    if stated != (item.id, item.kind, revision.number, revision.seq, revision.record_from):
        return "is not the change that the line before belongs to"
    if revision.principal != change.author.principal:
        return "is of another principal than the revision"
    if is_erased(item) and not _is_bare(item):
        return "belongs to an erased revision that says something"
    if not _digests_match(item, before, change):
        return "has a digest that is not the revision's"
    begun = revision.record_from if before is None else before.create_time
    salt = (before or item).revision.salt
    if item.create_time != begun or (revision.salt != salt and not is_erased(item)):
        return "belongs to a revision of another item than the one before"
    return ""


def unattested(item: Record, change: Change) -> str:
    """Return why a change lacks the digests that an audit needs; "" = it has them.

    It names the ends of a constitutive item, and of no other.
    """
    if not isinstance(item, (Edge, Memory)) or is_erased(item):
        return ""
    if (change.ends is not None) != protection.is_constitutive(item):
        return "says otherwise than its revision whether both principals agreed to that"
    return ""


def is_receipt(erasure: Erasure, change: Change) -> bool:
    """Return whether a receipt belongs to the change that erased a memory."""
    stated = (change.item_id, change.record_time, change.author.principal, change.before_digest)
    return stated == (erasure.memory_id, erasure.time, erasure.principal, erasure.digest)


async def missing(tx: Writes, item: Record) -> str:
    """Return why an item names another that does not exist; "" = none. Edges may name ghosts."""
    if isinstance(item, Edge) and not await _has_ends(tx, item):
        return "belongs to an edge with an end that is not there"
    if isinstance(item, Entry) and not await _is_sound(tx, item):
        return "belongs to an entry that says nothing or names what is not there"
    return ""


async def states(tx: Writes, support: Support) -> bool:
    """Return whether these edges can be a memory's facts; after an erasure any edges can."""
    memory = await tx.memory(support.memory_id) or await _first(
        tx, ItemKind.MEMORY, support.memory_id
    )
    found = [await tx.edge(i) or await _first(tx, ItemKind.EDGE, i) for i in support.edges]
    edges = [edge for edge in found if isinstance(edge, Edge) and not edge.is_lineage]
    if not isinstance(memory, Memory) or not len(found) == len(edges) == len(set(support.edges)):
        return False
    if not memory.revision.salt:
        return True
    return len(edges) == len(memory.facts) and all(
        edge.relation == fact.relation or not edge.revision.salt
        for edge, fact in zip(edges, memory.facts, strict=True)
    )


async def _first(tx: Writes, kind: ItemKind, item_id: str) -> Record | None:
    """Return the first revision of an item, whose newest may be an erased one further on."""
    return (await tx.revisions([Ref(kind, item_id, 1)]))[0]


def _digests_match(item: Record, before: Record | None, change: Change) -> bool:
    """Return whether a change's digests are those of its revisions; erased ones have none."""
    if is_erased(item) and change.type != ChangeType.ERASED:
        return True
    if change.digest != digest(item):
        return False
    return is_erased(item) or change.before_digest == (digest(before) if before else "")


def _is_bare(item: Record) -> bool:
    """Return whether an erased item has no words left."""
    if item.revision.salt or isinstance(item, DeclaredRelation):
        return False
    time = item.erase_time
    match item:
        case Node():
            bare: Item | Entry = erased_node(item, time)
        case Memory():
            bare = erased_memory(item, time)
        case Edge():
            bare = erased_edge(item, time, ())
        case Entry():
            bare = erased_entry(item, time)
    return replace(bare, deleted=item.deleted) == item


async def _has_ends(tx: Writes, edge: Edge) -> bool:
    ends = [edge.source, edge.target]
    if is_erased(edge):  # a ghost that only an erased memory named
        ends = [end for end in ends if end.id != edge.id]
    return await _are_there(tx, ends)


async def _are_there(tx: Writes, ends: list[End]) -> bool:
    kinds = await tx.kinds([end.id for end in ends])
    for end in ends:
        ghost = ItemKind.MEMORY if end.kind == ItemKind.MEMORY else None
        if kinds.get(end.id, ghost) != end.kind and await _first(tx, end.kind, end.id) is None:
            return False
    return True


async def _is_sound(tx: Writes, entry: Entry) -> bool:
    if entry.kind == ItemKind.CONFLICT:
        return await _has_sides(tx, entry)
    if entry.kind == ItemKind.CLAIM:
        return await _is_about_items(tx, entry)
    body = entry.body
    if entry.kind == ItemKind.WORKING_MEMORY:
        return isinstance(body.get("content"), str)
    ids = body.get("memory_ids")
    texts = (body.get("query"), body.get("reflection"))
    if not isinstance(ids, list) or not all(isinstance(one, str) for one in (*ids, *texts)):
        return False
    return isinstance(body.get("reward"), float) and await _are_memories(tx, ids)


async def _has_sides(tx: Writes, entry: Entry) -> bool:
    """Return whether an entry is a conflict between existing items or ghosts."""
    try:
        conflict = conflict_of(entry)
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    if conflict.first.id >= conflict.second.id:
        return False
    ends = [End(side.id, side.kind) for side in conflict.sides]
    if {end.kind for end in ends} not in ({ItemKind.MEMORY}, {ItemKind.EDGE}):
        return False
    return await _are_there(tx, ends)


async def _is_about_items(tx: Writes, entry: Entry) -> bool:
    """Return whether an entry is a claim on something that exists, or existed."""
    try:
        claim = claim_of(entry)
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    if claim.item.kind == ItemKind.RELATION:
        return await _first(tx, ItemKind.RELATION, claim.item.id) is not None
    ends = [End(each.id, each.kind) for each in (claim.item, claim.by) if each.id]
    return await _are_there(tx, ends)


async def _are_memories(tx: Writes, ids: list[str]) -> bool:
    """Return whether ids name memories, among them those that are erased further on."""
    kinds = await tx.kinds(ids)
    for one in ids:
        kind = kinds.get(one, ItemKind.GHOST)
        erased_later = kind == ItemKind.GHOST and await _first(tx, ItemKind.MEMORY, one) is not None
        if kind != ItemKind.MEMORY and not erased_later:
            return False
    return True


def rank_said(change: Change, item: Record | None) -> Rank:
    """Return how high whoever made a change stands, or whose words a memory is said to be: no file
    of a lower principal's makes anything a higher one's (W9)."""
    said = [rank_of(change.author.kind)]
    if isinstance(item, Memory):
        said += [_RANKS.get(each, Rank.NOBODY) for each in (item.origin, item.words_origin)]
    return max(said)


_RANKS = {MemoryOrigin.HUMAN: Rank.HUMAN, MemoryOrigin.AGENT: Rank.AGENT}
