"""Reverting items to earlier revisions, all of them or none (V8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from concord_graph.domain.conflicts import conflict_of
from concord_graph.domain.digests import stated
from concord_graph.domain.errors import ItemNotFound, UndoConflict
from concord_graph.domain.items import DeclaredRelation, Edge, Entry, Memory, Node, Record
from concord_graph.ports import ItemsReverted, Ref
from concord_graph.usecases.governed.undo_conflicts import Planned, conflicts
from concord_graph.usecases.memory.facts import move_facts_back, restate, state_again
from concord_graph.usecases.read.items import record_by_id
from concord_graph.usecases.write.writer import Writer, existing, ref


@dataclass(frozen=True, slots=True)
class Reversion:
    """An item, the revision to restore (0: the item did not exist), and its expected revision."""

    item_id: str
    revision: int
    expected: int


async def revert_items(writer: Writer, reversions: Sequence[Reversion]) -> ItemsReverted:
    """Write each item as it was before; delete the items that did not exist.

    Raises:
        UndoConflict: names the items that differ from the revision expected, or that conflict.
    """
    stored = {
        each.item_id: existing(await record_by_id(writer.tx, each.item_id), each.item_id)
        for each in reversions
    }
    left = {each.item_id: await _as_left(writer, stored[each.item_id], each) for each in reversions}
    if changed := [item_id for item_id, record in left.items() if record is None]:
        raise UndoConflict(changed)
    plan = {
        each.item_id: Planned(
            before, await _as_before(writer, before, each.revision), since.revision
        )
        for each in reversions
        for before, since in [(stored[each.item_id], left[each.item_id])]
        if since is not None
    }
    if in_the_way := await conflicts(writer.tx, plan):
        raise UndoConflict(in_the_way)
    # removals come first: they free the names and triples of restored items. Edges are removed
    # before their ends. Conflicts are written before edges, whose write changes a conflict that
    # does not agree with them
    found = [each for each in plan.values() if isinstance(each.before, Entry)]
    removed = [each for each in plan.values() if each.is_removed and each not in found]
    restored = [each for each in plan.values() if not each.is_removed and each not in found]
    removed.sort(key=lambda each: isinstance(each.before, Node))
    restored.sort(key=lambda each: isinstance(each.before, Edge))
    async with writer.together():
        every = (*found, *removed, *restored)
        written = [await put_as_before(writer, each.before, each.after) for each in every]
        await restate(writer, written)
    return ItemsReverted(tuple(map(ref, written)))


async def _as_left(writer: Writer, stored: Record, reversion: Reversion) -> Record | None:
    """Return the revision that is to be undone; None if the item says something else by now.

    An item that was changed and changed back says the same (0020).
    """
    if stored.revision.number == reversion.expected:
        return stored
    left = await writer.tx.revision(Ref(stored.kind, stored.id, reversion.expected))
    return left if left is not None and stated(left) == stated(stored) else None


async def _as_before(writer: Writer, stored: Record, revision: int) -> Record:
    """Return an item as an earlier revision had it; revision 0 = it did not exist."""
    if revision == 0:
        return gone(stored)
    return existing(await writer.tx.revision(Ref(stored.kind, stored.id, revision)), stored.id)


def gone(stored: Record) -> Record:
    """Return the revision that stands for a missing item, or for an undeclared relation."""
    if isinstance(stored, DeclaredRelation):
        blank = DeclaredRelation(stored.id, stored.name, functional=False, deleted=True)
        return replace(blank, create_time=stored.create_time, revision=stored.revision)
    return replace(stored, deleted=True)


async def put_as_before(writer: Writer, stored: Record, after: Record) -> Record:
    """Write the next revision of an item or conflict: it says what an earlier one said."""
    match stored, after:
        case (Node(), Node()):
            return await writer.put(stored, after)
        case (Edge(), Edge()):
            edge = await writer.put(stored, after)
            if stored.deleted and not edge.deleted:
                await move_facts_back(writer, edge, stored.revision.record_from - 1)
            return edge
        case (Memory(), Memory()):
            then = after.revision.record_from
            return await state_again(writer, await writer.put(stored, after), then)
        case (DeclaredRelation(), DeclaredRelation()):
            return await writer.declare(stored, after)
        case (Entry(), Entry()):
            conflict = conflict_of(after)
            consent = await writer.demand_decidable(stored, conflict)
            return await writer.put_conflict(
                stored, conflict, needs_consent=consent, deleted=after.deleted
            )
    raise ItemNotFound(stored.id)
