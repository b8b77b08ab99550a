"""A look at what an undo of a selection would bring back, and what it would leave and why (W9)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from concord_graph.domain import protection
from concord_graph.domain.claims import LINEAGE, ClaimState, claim_of
from concord_graph.domain.conflicts import conflict_of
from concord_graph.domain.items import (
    FOREVER,
    Edge,
    EdgeType,
    Entry,
    Instant,
    ItemKind,
    Memory,
    Node,
    Origin,
    Record,
    is_erased,
)
from concord_graph.domain.selection import Left, Undoer, UndoItem, UndoSelection
from concord_graph.domain.selection_scan import label_of
from concord_graph.ports import EntryFilter, Reads, Ref
from concord_graph.usecases.governed.undo_conflicts import (
    Plan,
    Planned,
    changed_dependencies,
    in_the_way,
)
from concord_graph.usecases.selection.put_back import as_before, is_as_before
from concord_graph.usecases.selection.touched import PAGE, Touched, records, touched_by


@dataclass(frozen=True, slots=True)
class UndoLook:
    """What an undo would bring back, in the order in which it does, and what it would leave."""

    undone: tuple[UndoItem, ...]
    left: tuple[UndoItem, ...]


async def undo_look(tx: Reads, selection: UndoSelection, undoer: Undoer) -> UndoLook:
    """Look at all operations since the selection's time, in one consistent view."""
    touched = await touched_by(tx, selection)
    newest = await records(tx, [each.newest for each in touched.values()])
    earlier = [Ref(each.kind, each.id, each.back_to) for each in touched.values() if each.back_to]
    before = await records(tx, earlier)
    looked = _Looked(tx, undoer, await tx.frozen_by_lineage())
    for each in touched.values():
        stored = newest.get(each.newest)
        if stored is not None:
            after = as_before(stored, before.get(Ref(each.kind, each.id, each.back_to)))
            await looked.take(each, stored, after)
    await looked.leave_what_others_need()
    return looked.sorted_out()


class _Looked:
    """The items of a selection: those to bring back (`plan`), and those that are left."""

    def __init__(self, tx: Reads, undoer: Undoer, frozen: frozenset[str]) -> None:
        """`frozen`: the ids of what both principals replaced."""
        self._tx = tx
        self._frozen = frozen
        self._undoer = undoer
        self._touched: dict[str, Touched] = {}
        self._stored: dict[str, Record] = {}
        self._left: dict[str, tuple[Left, tuple[str, ...]]] = {}
        self._plan: dict[str, Planned] = {}
        self._follow: dict[str, Planned] = {}
        self._late: set[str] = set()

    async def take(self, touched: Touched, stored: Record, after: Record) -> None:
        """Plan to bring an item back, or leave it. An edge of facts follows its memories."""
        if follows_facts(stored):
            gone = replace(stored, deleted=True)
            self._follow[stored.id] = Planned(stored, gone, stored.revision)
            return
        if is_as_before(stored, after) and not _is_of_settled_claim(stored):
            return
        self._touched[stored.id], self._stored[stored.id] = touched, stored
        why = await self._why_left(touched, stored, after)
        if why is None:
            self._plan[stored.id] = Planned(stored, after, stored.revision)
        else:
            self._left[stored.id] = why, touched.changed_by if why == Left.CHANGED else ()

    async def _why_left(self, touched: Touched, stored: Record, after: Record) -> Left | None:
        if is_erased(stored) or is_erased(after):
            return Left.ERASED
        if not touched.may_undo(self._undoer):
            return Left.FORBIDDEN
        if touched.is_governed or await self._is_protected(stored, after):
            return Left.PROTECTED
        if isinstance(stored, Entry) and stored.kind == ItemKind.CLAIM:
            is_own = touched.back_to == 0 and claim_of(stored).state == ClaimState.OPEN
            return None if is_own else Left.SETTLED
        return Left.CHANGED if touched.others else None

    async def _is_protected(self, stored: Record, after: Record) -> bool:
        if isinstance(stored, Entry):
            is_conflict = stored.kind == ItemKind.CONFLICT
            return is_conflict and conflict_of(stored).consented
        items = [each for each in (stored, after) if isinstance(each, (Node, Edge, Memory))]
        if any(protection.is_constitutive(each) for each in items):
            return True
        if any(isinstance(each, Edge) and each.governed for each in items):
            return True
        return stored.id in self._frozen or await self._tx.is_pinned(stored.id)

    async def leave_what_others_need(self) -> None:
        """Leave what others put something else in the place of, what settled claims belong to, and
        what stands in the way; and what belongs to something that is left."""
        await self._leave_settled()
        await self._leave_replaced()
        self._spread()
        while blocked := [each async for each in self._blocked()]:
            for item_id in blocked:
                self._leave(item_id, Left.NEEDED)
            self._spread()

    def _leave(self, item_id: str, why: Left, by: Iterable[str] = ()) -> None:
        if self._plan.pop(item_id, None) is not None:
            self._left[item_id] = why, tuple(by)

    def _new(self) -> list[str]:
        """Return the items that the undo takes away, as the selection made them."""
        return [item_id for item_id in self._plan if not self._touched[item_id].back_to]

    async def _leave_settled(self) -> None:
        """Leave the items of claims that were accepted: whoever did so decided about them."""
        new = self._new()
        for page in _pages(new):
            filter_ = EntryFilter(ItemKind.CLAIM, ClaimState.ACCEPTED.name, sides=page)
            accepted, _ = await self._tx.entries(filter_, Instant(0, FOREVER))
            for entry in accepted:
                claim = claim_of(entry)
                for side in (claim.item.id, claim.by.id, claim.edge_id):
                    if side in self._plan and not self._touched[side].back_to:
                        self._leave(side, Left.SETTLED)

    async def _leave_replaced(self) -> None:
        """Leave what somebody else put something in the place of: what it replaced itself would
        come back beside that."""
        for page in _pages(self._new()):
            for edge in await self._tx.lineage_edges(page):
                replaces = edge.relation in LINEAGE and not edge.claimed
                if replaces and edge.target.id in page and edge.id not in self._plan:
                    self._leave(edge.target.id, Left.CHANGED, [edge.revision.principal])

    def _spread(self) -> None:
        """Leave the links of what is left, and what these replace: else it would come back."""
        of_source: dict[str, list[Edge]] = {}
        for item_id in self._new():
            edge = self._stored[item_id]
            if isinstance(edge, Edge) and (edge.is_lineage or edge.origin == Origin.CONTENT):
                of_source.setdefault(edge.source.id, []).append(edge)
        waiting = [item_id for item_id in self._left if not self._touched[item_id].back_to]
        while waiting:
            item_id = waiting.pop()
            stored = self._stored[item_id]
            why, by = self._left[item_id]
            for edge in of_source.get(item_id, ()):
                if edge.id in self._plan:
                    self._leave(edge.id, why, by)
                    waiting.append(edge.id)
            if isinstance(stored, Edge) and stored.relation in LINEAGE and not stored.deleted:
                target = stored.target.id
                if target in self._plan and not self._touched[target].back_to:
                    self._leave(target, Left.NEEDED)
                    waiting.append(target)

    async def _blocked(self) -> AsyncIterator[str]:
        plan: Plan = {**await self._following(), **self._plan}
        for item_id, planned in self._plan.items():
            if isinstance(planned.before, Entry):
                continue
            if (
                await self._is_stated(planned)
                or await in_the_way(self._tx, planned, plan)
                or await changed_dependencies(self._tx, planned, plan)
            ):
                yield item_id

    async def _is_stated(self, planned: Planned) -> bool:
        """Return whether an edge would go that a memory states which stays as it is."""
        if not (planned.is_removed and isinstance(planned.before, Edge)):
            return False
        stating = await self._tx.stating([planned.before.id], limit=PAGE)
        return any(memory_id not in self._plan for memory_id, _ in stating)

    async def _following(self) -> Mapping[str, Planned]:
        """Return the edges of facts that no memory states any more once all is undone.

        Nodes at an edge that goes only when a memory is brought back go late.
        """
        gone = {
            item_id for item_id, planned in self._plan.items() if isinstance(planned.before, Memory)
        }
        found = {}
        for edge_id, planned in self._follow.items():
            stating = await self._tx.stating([edge_id], limit=PAGE)
            if all(memory_id in gone for memory_id, _ in stating):
                found[edge_id] = planned
                comes_back = [i for i, _ in stating if not self._plan[i].is_removed]
                if comes_back and isinstance(edge := planned.before, Edge):
                    self._late |= {edge.source.id, edge.target.id}
        return found

    def sorted_out(self) -> UndoLook:
        """Return the outcome: what is brought back in an order in which each step can be taken."""
        names = {each.id: {each.name} for each in self._stored.values() if isinstance(each, Node)}

        def item(item_id: str) -> UndoItem:
            why, by = self._left.get(item_id, (None, ()))
            touched, stored = self._touched[item_id], self._stored[item_id]
            return UndoItem(
                kind=touched.kind,
                id=item_id,
                revision=stored.revision.number,
                back_to=touched.back_to,
                label=label_of(stored, names),
                left=why,
                changed_by=by,
            )

        ordered = sorted(
            self._plan.values(), key=lambda each: _step(each, late=each.before.id in self._late)
        )
        return UndoLook(
            tuple(item(each.before.id) for each in ordered), tuple(map(item, self._left))
        )


def follows_facts(record: Record) -> bool:
    """Return whether memories' facts alone decide about an edge."""
    return (
        isinstance(record, Edge)
        and record.is_of_facts
        and record.edge_type == EdgeType.DESCRIPTIVE
        and not record.governed
    )


def _is_of_settled_claim(record: Record) -> bool:
    """Return whether a record is a claim that somebody accepted: it is listed, as it is left."""
    return (
        isinstance(record, Entry)
        and record.kind == ItemKind.CLAIM
        and record.shelf == ClaimState.ACCEPTED.name
    )


def _step(planned: Planned, *, late: bool) -> int:
    """Return the place of an item in the order: claims and conflicts first, as edges move them;
    then what goes, edges before their ends; then what comes back, ends before their edges.

    `late`: a node that goes only once a memory is back, which states another fact now.
    """
    kind = planned.before.kind
    if kind in (ItemKind.CLAIM, ItemKind.CONFLICT):
        return 0 if kind == ItemKind.CLAIM else 1
    if planned.is_removed and late and kind == ItemKind.NODE:
        return 10
    if planned.is_removed:
        return {ItemKind.EDGE: 2, ItemKind.MEMORY: 3, ItemKind.NODE: 4}.get(kind, 5)
    return {ItemKind.NODE: 7, ItemKind.MEMORY: 8, ItemKind.EDGE: 9}.get(kind, 6)


def _pages(ids: list[str]) -> Iterator[tuple[str, ...]]:
    for start in range(0, len(ids), PAGE):
        yield tuple(ids[start : start + PAGE])
