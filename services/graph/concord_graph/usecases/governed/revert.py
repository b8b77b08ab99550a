"""Bringing earlier revisions back, all of them or none (V8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from concord_graph.domain.errors import ItemNotFound, UndoConflict
from concord_graph.domain.items import DeclaredRelation, Edge, Memory, Node, Record, stated
from concord_graph.ports import ItemsReverted, Ref
from concord_graph.usecases.governed.undo_conflicts import Planned, conflicts
from concord_graph.usecases.memory.facts import restate, state_again
from concord_graph.usecases.read.by_id import record_by_id
from concord_graph.usecases.write.writer import Writer, ref


@dataclass(frozen=True, slots=True)
class Reversion:
    """An item, the revision whose content comes back (0 = it was not there), and the one it has."""

    item_id: str
    revision: int
    expected: int


async def revert_items(writer: Writer, reversions: Sequence[Reversion]) -> ItemsReverted:
    """Write each item as it was before; what was not there goes.

    Raises:
        UndoConflict: items say something else than in the revision expected, or something stands
            in the way; names them.
    """
    stored = {each.item_id: await _existing(writer, each) for each in reversions}
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
    # what goes makes room, a name or a place of a triple, for what comes back; edges go before ends
    going = [each for each in plan.values() if each.goes]
    coming = [each for each in plan.values() if not each.goes]
    going.sort(key=lambda each: isinstance(each.before, Node))
    coming.sort(key=lambda each: isinstance(each.before, Edge))
    async with writer.together():
        written = [await _put(writer, each.before, each.after) for each in (*going, *coming)]
        await restate(writer, written)
    return ItemsReverted(tuple(map(ref, written)))


async def _as_left(writer: Writer, stored: Record, reversion: Reversion) -> Record | None:
    """Return the revision that is to be undone; None when an item says something else by now.

    What was changed since, and changed back, is in nobody's way (0020).
    """
    if stored.revision.number == reversion.expected:
        return stored
    left = await writer.tx.revision(Ref(stored.kind, stored.id, reversion.expected))
    return left if left is not None and stated(left) == stated(stored) else None


async def _as_before(writer: Writer, stored: Record, revision: int) -> Record:
    """Return an item as a revision had it; 0 = it was not there."""
    if revision == 0:
        return _gone(stored)
    before = await writer.tx.revision(Ref(stored.kind, stored.id, revision))
    if before is None:
        raise ItemNotFound(stored.id)
    return before


def _gone(stored: Record) -> Record:
    """Return what stands for something that was not there; of a relation nothing was declared."""
    if isinstance(stored, DeclaredRelation):
        return replace(stored, functional=False)
    return replace(stored, deleted=True)


async def _put(writer: Writer, stored: Record, after: Record) -> Record:
    match stored, after:
        case (Node(), Node()):
            return await writer.put(stored, after)
        case (Edge(), Edge()):
            return await writer.put(stored, after)
        case (Memory(), Memory()):
            then = after.revision.record_from
            return await state_again(writer, await writer.put(stored, after), then)
        case (DeclaredRelation(), DeclaredRelation()):
            return await writer.declare(stored, after)
    raise ItemNotFound(stored.id)


async def _existing(writer: Writer, reversion: Reversion) -> Record:
    item = await record_by_id(writer.tx, reversion.item_id)
    if item is None:
        raise ItemNotFound(reversion.item_id)
    return item
