"""Suggesting that a new memory amends a near-identical one: a proposal, nothing is written (T6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from concord_graph.domain.edits import Edit, Text, small_edit
from concord_graph.domain.items import Instant, ItemKind, Memory, Relation
from concord_graph.ports import Reads, Ref
from concord_graph.usecases.writer import ref

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


async def suggest(tx: Reads, memory: Memory, now: int) -> tuple[Ref, ...]:
    """Return references to the memories that a new one may amend, the nearest first."""
    near = await tx.memories_like(memory, MOST_COMPARED)
    text = Text(memory.content) if near else None
    edits = {i: small_edit(Text(content), text) for i, content in near} if text else {}
    found = {older_id: edit for older_id, edit in edits.items() if edit is not None}
    if not found:
        return ()
    current = await _current(tx, memory, list(found), Instant(now))
    alike = Counter(found[older.id].places for older in current)
    kept = [older for older in current if alike[found[older.id].places] <= MOST_ALIKE]
    kept.sort(key=lambda older: -found[older.id].similarity)
    return tuple(ref(older, _AMENDS) for older in kept[:MOST_SUGGESTED])


def without_suggestions(refs: Sequence[Ref]) -> list[Ref]:
    """Return the references to what a request wrote or found itself."""
    return [each for each in refs if each.outcome != _AMENDS]


async def suggestions_of(tx: Reads, refs: Sequence[Ref]) -> Mapping[str, Sequence[Suggestion]]:
    """Return what a request suggested of each memory, from the very versions that it compared.

    References to older memories stand after the one that may amend them. What was erased since is
    left out.
    """
    found: dict[str, list[Suggestion]] = {}
    newer_id, text = "", Text("")
    for before, each in pairwise(refs):
        if each.outcome != _AMENDS:
            continue
        if before.outcome != _AMENDS:
            newer_id, text = before.id, await _text(tx, before)
        edit = small_edit(await _text(tx, each), text)
        if edit is not None:
            found.setdefault(newer_id, []).append(Suggestion(each.id, edit))
    return found


async def _text(tx: Reads, ref_: Ref) -> Text:
    item = await tx.revision(ref_)
    return Text(item.content if isinstance(item, Memory) else "")


async def _current(tx: Reads, memory: Memory, ids: Sequence[str], at: Instant) -> list[Memory]:
    """Return those of the ids, in their order, that the memory could still amend.

    Current, not related to it by lineage, and not amended by another one already.
    """
    views = await tx.views(ItemKind.MEMORY, ids, at)
    taken = await _taken(tx, memory.id, ids)
    found = [views[i] for i in ids if i in views and i not in taken]
    return [
        view.item
        for view in found
        if isinstance(view.item, Memory) and view.standing.is_current(at.valid)
    ]


async def _taken(tx: Reads, memory_id: str, ids: Sequence[str]) -> set[str]:
    taken = set()
    for edge in await tx.lineage_edges(ids):
        ends = {edge.source.id, edge.target.id}
        if memory_id in ends:
            taken |= ends
        elif edge.relation == Relation.AMENDS and edge.target.id in ids:
            newer = await tx.memory(edge.source.id)
            if newer is not None and not newer.deleted:
                taken.add(edge.target.id)
    return taken
