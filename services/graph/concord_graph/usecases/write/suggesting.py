"""Suggesting that a new memory amends a near-identical one: a proposal, nothing is written (T6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from concord_graph.domain.edits import Edit, Text, small_edit
from concord_graph.domain.items import Instant, ItemKind, Memory, Relation
from concord_graph.ports import Reads, Ref, Writes
from concord_graph.usecases.write.writer import ref

MOST_COMPARED = 8
MOST_SUGGESTED = 3
MOST_ALIKE = 2
"""A place at which more memories than these differ is a list's column: each is another fact."""

_AMENDS = "amends"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A new memory may amend this older one."""

    older_id: str
    edit: Edit


async def suggest(tx: Writes, memory: Memory, now: int) -> Sequence[Ref]:
    """Return references to those that a new memory may amend, the nearest first."""
    text = Text(memory.content)
    near = await tx.memories_like(memory, MOST_COMPARED)
    edits = {older_id: small_edit(Text(content), text) for older_id, content in near}
    small = {older_id: edit for older_id, edit in edits.items() if edit is not None}
    return _chosen(small, await _free(tx, memory, small, Instant(now))) if small else ()


def _chosen(edits: Mapping[str, Edit], free: Sequence[Memory]) -> Sequence[Ref]:
    """Return the nearest of those that are free to be amended, but for the entries of a list."""
    alike = Counter(edits[older.id].places for older in free)
    kept = [older for older in free if alike[edits[older.id].places] <= MOST_ALIKE]
    kept.sort(key=lambda older: (-edits[older.id].similarity, -older.revision.seq))
    return [ref(older, _AMENDS) for older in kept[:MOST_SUGGESTED]]


async def suggestions_of(tx: Reads, refs: Sequence[Ref]) -> Sequence[Suggestion]:
    """Return what a request suggested of the memory that it made, from the very versions that it
    compared.

    References to older memories stand after the new one's. What was erased since is left out.
    """
    older = [each for each in refs if each.outcome == _AMENDS]
    if not older:
        return ()
    text = await _text(tx, refs[0])
    edits = [(each.id, small_edit(await _text(tx, each), text)) for each in older]
    return [Suggestion(older_id, edit) for older_id, edit in edits if edit is not None]


async def _text(tx: Reads, ref_: Ref) -> Text:
    item = await tx.revision(ref_)
    return Text(item.content if isinstance(item, Memory) else "")


async def _free(tx: Reads, memory: Memory, ids: Collection[str], at: Instant) -> Sequence[Memory]:
    """Return those that are current, that no live memory amends already, and that have no lineage
    with the memory.
    """
    views = await tx.views(ItemKind.MEMORY, ids, at)
    free = {
        item_id: view.item
        for item_id, view in views.items()
        if isinstance(view.item, Memory) and view.standing.is_current(at.valid)
    }
    for edge in await tx.lineage_edges(list(free)) if free else ():
        if memory.id in (edge.source.id, edge.target.id):
            free.pop(edge.source.id, None)
            free.pop(edge.target.id, None)
        elif edge.relation == Relation.AMENDS and edge.target.id in free:
            newer = await tx.memory(edge.source.id)
            if newer is not None and not newer.deleted:
                del free[edge.target.id]
    return list(free.values())
