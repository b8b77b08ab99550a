"""Suggesting that a new memory amends a near-identical one: a proposal, nothing is written (T6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from concord_graph.domain.edits import Edit, Text, small_edit
from concord_graph.domain.items import Instant, ItemKind, Memory, Relation
from concord_graph.ports import Reads, Ref, Writes
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


async def suggest(tx: Writes, memories: Sequence[Memory], now: int) -> Mapping[str, Sequence[Ref]]:
    """Return for each new memory references to those that it may amend, the nearest first."""
    texts = {memory.id: Text(memory.content) for memory in memories}
    edits: dict[str, dict[str, Edit]] = {newer_id: {} for newer_id in texts}
    known = dict(texts)  # many of a batch are compared with the same older ones
    for newer_id, near in (await tx.memories_like(list(texts), MOST_COMPARED)).items():
        for older_id, content in near:
            if older_id not in known:
                known[older_id] = Text(content)
            edit = small_edit(known[older_id], texts[newer_id])
            if edit is not None:
                edits[newer_id][older_id] = edit
    current = await _current(tx, {i for found in edits.values() for i in found}, Instant(now))
    related = await _related(tx, current)
    return {
        newer_id: _chosen(found, [o for i, o in current.items() if (newer_id, i) not in related])
        for newer_id, found in edits.items()
    }


def _chosen(edits: Mapping[str, Edit], free: Sequence[Memory]) -> Sequence[Ref]:
    """Return the nearest of those that are free to be amended, but for the entries of a list."""
    edited = [older for older in free if older.id in edits]
    alike = Counter(edits[older.id].places for older in edited)
    kept = [older for older in edited if alike[edits[older.id].places] <= MOST_ALIKE]
    kept.sort(key=lambda older: (-edits[older.id].similarity, -older.revision.seq))
    return [ref(older, _AMENDS) for older in kept[:MOST_SUGGESTED]]


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


async def _current(tx: Reads, ids: Collection[str], at: Instant) -> dict[str, Memory]:
    """Return those that are current and that no live memory amends already."""
    if not ids:
        return {}
    views = await tx.views(ItemKind.MEMORY, ids, at)
    current = {
        item_id: view.item
        for item_id, view in views.items()
        if isinstance(view.item, Memory) and view.standing.is_current(at.valid)
    }
    for edge in await tx.lineage_edges(list(current)):
        if edge.relation == Relation.AMENDS and edge.target.id in current:
            newer = await tx.memory(edge.source.id)
            if newer is not None and not newer.deleted:
                del current[edge.target.id]
    return current


async def _related(tx: Reads, ids: Collection[str]) -> set[tuple[str, str]]:
    """Return the pairs, either way round, that lineage has at these ids already."""
    edges = await tx.lineage_edges(list(ids)) if ids else ()
    pairs = [(edge.source.id, edge.target.id) for edge in edges]
    return {*pairs, *((target, source) for source, target in pairs)}
