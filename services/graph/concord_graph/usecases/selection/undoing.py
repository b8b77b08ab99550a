"""Undoing what was looked at, in parts that a crash only interrupts, with one summary (W9).

The plan has ids and revisions. What is done is read off the items themselves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256

from concord_graph.domain.errors import (
    ConstitutiveProtected,
    FieldInvalid,
    GraphError,
    ItemErased,
    ItemExists,
    ItemNotFound,
    ItemState,
    LineageCycle,
    PrincipalsReserved,
    SafeguardViolation,
    SelectionChanged,
    SelectionTooLarge,
    StandsAbove,
    TooManyAffected,
    UndoConflict,
)
from concord_graph.domain.items import Entry, ItemKind, is_erased
from concord_graph.domain.selection import (
    MOST_SELECTED,
    Left,
    UndoBy,
    Undoer,
    UndoItem,
    UndoSelection,
)
from concord_graph.ports import (
    Author,
    ChangeType,
    Clock,
    GraphStore,
    Reads,
    ServiceRecord,
    Writes,
)
from concord_graph.usecases.memory.memories import Memories
from concord_graph.usecases.records import demand_space
from concord_graph.usecases.selection.put_back import (
    as_before,
    before,
    is_as_before,
    is_possible,
    newest,
    put_back,
)
from concord_graph.usecases.selection.touched import REVISING
from concord_graph.usecases.selection.undo_looks import UndoLook, undo_look
from concord_graph.usecases.write.outbox import log
from concord_graph.usecases.write.writer import Writer

METHOD = "UndoOperations"
ITEMS_A_PART = 1_000
_RESERVE = 3.0
"""Seconds of a call's time in which no further item is begun."""
_PROTECTED = (ConstitutiveProtected, SafeguardViolation, PrincipalsReserved)
_LEFT: Sequence[tuple[tuple[type[GraphError], ...], Left]] = (
    (_PROTECTED, Left.PROTECTED),
    ((StandsAbove,), Left.ABOVE),
    ((ItemErased,), Left.ERASED),
    (
        (UndoConflict, ItemExists, ItemNotFound, ItemState, LineageCycle, FieldInvalid),
        Left.NEEDED,
    ),
    ((TooManyAffected,), Left.NEEDED),
)

Row = tuple[int, str, int, int]
"""(kind, id, revision at the look, revision to bring it back to)"""
LeftRow = tuple[int, str, int, int, int, Sequence[str]]
"""A row, why it is left, and who changed it since."""


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """An undo that was begun: what it brings back, how far it is, and what it leaves."""

    digest: str
    undoer: Sequence[str | bool]
    selection: Sequence[int | str | None]
    items: Sequence[Row]
    left: Sequence[LeftRow]
    place: int = 0
    time: int = 0

    @property
    def remaining(self) -> int:
        """How many items it has not come to."""
        return len(self.items) - self.place


@dataclass(frozen=True, slots=True)
class UndoSummary:
    """What an undo did, at a time (µs)."""

    principal: str
    selection: UndoSelection
    time: int
    undone: tuple[UndoItem, ...]
    left: tuple[UndoItem, ...]


@dataclass(frozen=True, slots=True)
class NamedLook:
    """A look, its digest, and that of an undo of the same selection that was cut off."""

    look: UndoLook
    digest: str
    unfinished: str


class Undoing:
    """Looks, and undoes."""

    def __init__(
        self,
        store: GraphStore,
        clock: Clock,
        memories: Memories,
        *,
        time_left: Callable[[], float | None],
    ) -> None:
        """`time_left`: seconds until the call's deadline; None without one."""
        self._store = store
        self._clock = clock
        self._memories = memories
        self._time_left = time_left

    async def look(self, space: str, selection: UndoSelection, undoer: Undoer) -> NamedLook:
        """Return what an undo would bring back, of one consistent view of the space."""

        async def work(tx: Reads) -> NamedLook:
            look = await undo_look(tx, selection, undoer)
            return NamedLook(
                look, _digest(look, selection, undoer), await _unfinished(tx, selection, undoer)
            )

        return await self._store.export(space, work)

    async def undo(self, space: str, undoer: Undoer, selection: UndoSelection, digest: str) -> int:
        """Begin or go on with the undo of what was looked at; return how many items remain.

        Raises:
            SelectionChanged: what would be undone is not what the digest names.
            SelectionTooLarge: that is more than `MOST_SELECTED` items.
        """
        author = Author(undoer.principal, METHOD, digest, undoer.kind)
        done = await self._store.read(
            space, lambda tx: tx.service_record(ServiceRecord.UNDO_SUMMARY, digest)
        )
        if done:
            _demand_same(_plan(done), undoer, selection)
            return 0
        plan = await self._store.read(space, lambda tx: _plan_of(tx, digest))
        if plan is None:
            plan = await self._begin(space, author, undoer, selection, digest)
        _demand_same(plan, undoer, selection)
        plan = await self._do_part(space, author, plan)
        await self._store.write(space, lambda tx: self._keep(tx, plan), author=author)
        return plan.remaining

    async def summary(self, space: str, digest: str) -> UndoSummary | None:
        """Return the summary of an undo; None: there is none, or it is not complete."""
        body = await self._store.read(
            space, lambda tx: tx.service_record(ServiceRecord.UNDO_SUMMARY, digest)
        )
        if not body:
            return None
        plan = _plan(body)
        left = tuple(
            UndoItem(ItemKind(row[0]), row[1], row[2], row[3], "", Left(row[4]), tuple(row[5]))
            for row in plan.left
        )
        stays = {each.id for each in left}
        undone = tuple(
            UndoItem(ItemKind(kind), item_id, revision, back_to)
            for kind, item_id, revision, back_to in plan.items
            if item_id not in stays
        )
        return UndoSummary(str(plan.undoer[0]), _selection(plan.selection), plan.time, undone, left)

    async def _begin(
        self, space: str, author: Author, undoer: Undoer, selection: UndoSelection, digest: str
    ) -> UndoPlan:
        named = await self.look(space, selection, undoer)
        if named.digest != digest:
            raise SelectionChanged
        if len(named.look.undone) > MOST_SELECTED:
            raise SelectionTooLarge(MOST_SELECTED)
        plan = UndoPlan(
            digest,
            undoer,
            selection,
            items=[(int(e.kind), e.id, e.revision, e.back_to) for e in named.look.undone],
            left=[_left_row(each) for each in named.look.left if each.left],
        )

        async def work(tx: Writes) -> UndoPlan:
            demand_space(tx)
            if begun := await _plan_of(tx, digest):  # by the same request, meanwhile
                return begun
            await _put_plan(tx, ServiceRecord.UNDO_PLAN, plan)
            return plan

        return await self._store.write(space, work, author=author)

    async def _do_part(self, space: str, author: Author, plan: UndoPlan) -> UndoPlan:
        """Bring items back while the call has time; return the plan with how far it is."""
        place, left = plan.place, [*plan.left]
        for row in plan.items[place : place + ITEMS_A_PART]:
            time = self._time_left()
            if time is not None and time < _RESERVE:
                break
            why = await self._undo_item(space, author, row)
            if why is not None:
                left.append((*row, int(why), ()))
            place += 1
        return replace(plan, place=place, left=left)

    async def _undo_item(self, space: str, author: Author, row: Row) -> Left | None:
        """Bring an item back, unless it is; return why it is left."""

        async def work(tx: Writes) -> Left | None:
            demand_space(tx)
            return await self._bring_back(tx, author, row)

        try:
            return await self._store.write(space, work, author=author)
        except GraphError as error:
            why = next((why for kinds, why in _LEFT if isinstance(error, kinds)), None)
            if why is None:
                raise
            if isinstance(error, _PROTECTED):
                await self._record(space, author, row, error.reason)
            return why

    async def _bring_back(self, tx: Writes, author: Author, row: Row) -> Left | None:
        kind, item_id, revision, back_to = ItemKind(row[0]), *row[1:]
        stored = await newest(tx, kind, item_id)
        if stored is None or is_erased(stored):
            return Left.ERASED
        after = as_before(stored, await before(tx, kind, item_id, back_to))
        if is_as_before(stored, after):
            return None
        number = stored.revision.number
        if number != revision and not await _is_own(tx, author, item_id, number - revision):
            return Left.CHANGED
        if not await is_possible(tx, stored, after):
            return Left.NEEDED
        writer = Writer(tx, author, max(self._clock(), tx.last_time + 1))
        await put_back(writer, self._memories, stored, after)
        if writer.claims and not isinstance(stored, Entry):
            # by half: what it would take away stands above its author
            raise StandsAbove(stored, writer.claims[0].action, stored)
        return None

    async def _record(self, space: str, author: Author, row: Row, reason: str) -> None:
        """Record that something protected would have been changed."""

        async def work(tx: Writes) -> None:
            kind = ItemKind(row[0])
            await log(
                tx,
                ChangeType.REFUSED,
                author,
                item_id=row[1],
                item_kind=kind,
                reason=reason,
                needs_consent=True,
            )

        await self._store.write(space, work, author=author)

    async def _keep(self, tx: Writes, plan: UndoPlan) -> None:
        """Store how far an undo is; of one that is complete, its summary."""
        demand_space(tx)
        now = await _plan_of(tx, plan.digest)
        if now is None or now.place > plan.place:
            return  # another call has come further
        if plan.remaining:
            await _put_plan(tx, ServiceRecord.UNDO_PLAN, plan)
            return
        done = replace(plan, time=max(self._clock(), tx.last_time))
        await _put_plan(tx, ServiceRecord.UNDO_SUMMARY, done)
        await tx.put_service_record(ServiceRecord.UNDO_PLAN, "", plan.digest)


async def _is_own(tx: Reads, author: Author, item_id: str, count: int) -> bool:
    """Return whether this undo itself made an item's last revisions, as what followed from others.

    `count`: how many there are since the look.
    """
    filter_ = replace(REVISING, item_id=item_id, oldest_first=False)
    changes = await tx.operations(filter_, None, count)
    return all(each.author == author for each in changes)


def _demand_same(plan: UndoPlan, undoer: Undoer, selection: UndoSelection) -> None:
    """Demand that whoever goes on with an undo is who began it."""
    if tuple(plan.undoer) != undoer or _selection(plan.selection) != selection:
        raise SelectionChanged


def _digest(look: UndoLook, selection: UndoSelection, undoer: Undoer) -> str:
    """Return the digest (hex SHA-256) that an undo must name: of exactly these revisions."""
    rows = sorted((int(e.kind), e.id, e.revision, e.back_to) for e in look.undone)
    return sha256(json.dumps([undoer, selection, rows]).encode()).hexdigest()


async def _unfinished(tx: Reads, selection: UndoSelection, undoer: Undoer) -> str:
    """Return the digest of an undo of the same that was cut off; empty without one."""
    bodies = await tx.service_records(ServiceRecord.UNDO_PLAN, "")
    plans = [_plan(body) for body in bodies.values() if body]
    return next(
        (
            each.digest
            for each in plans
            if tuple(each.undoer) == undoer and _selection(each.selection) == selection
        ),
        "",
    )


async def _plan_of(tx: Reads, digest: str) -> UndoPlan | None:
    body = await tx.service_record(ServiceRecord.UNDO_PLAN, digest)
    return _plan(body) if body else None


async def _put_plan(tx: Writes, kind: ServiceRecord, plan: UndoPlan) -> None:
    await tx.put_service_record(kind, json.dumps(asdict(plan)), plan.digest)


def _plan(body: str) -> UndoPlan:
    return UndoPlan(**json.loads(body))


def _selection(stored: Sequence[int | str | None]) -> UndoSelection:
    by, name, since, before_ = stored
    return UndoSelection(
        UndoBy(int(by or 0)), str(name), int(since or 0), None if before_ is None else int(before_)
    )


def _left_row(item: UndoItem) -> LeftRow:
    return (
        int(item.kind),
        item.id,
        item.revision,
        item.back_to,
        int(item.left or 0),
        item.changed_by,
    )
