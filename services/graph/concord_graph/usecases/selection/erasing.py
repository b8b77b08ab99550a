"""Erasing what was looked at, in parts that a crash only interrupts, with one receipt (M4).

What is done is read off the items themselves: an item is erased, or it is not.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import rfc8785
from concord_attestation.instants import format_time

from concord_graph.domain.erasure import Erasure
from concord_graph.domain.errors import (
    ConstitutiveProtected,
    SelectionChanged,
    SelectionTooLarge,
)
from concord_graph.domain.items import ItemKind, Record, is_erased
from concord_graph.domain.selection import (
    MOST_SELECTED,
    By,
    Found,
    Kept,
    Options,
    Part,
    Selection,
    Why,
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
from concord_graph.usecases.memory.erase import Erasing
from concord_graph.usecases.memory.erase_items import current, erase_record, is_needed
from concord_graph.usecases.records import demand_space
from concord_graph.usecases.selection.asked import Asked, asked_by
from concord_graph.usecases.selection.looks import Look, look_at
from concord_graph.usecases.selection.plans import (
    Order,
    Plan,
    erased_before,
    keep_plan,
    plan_of,
    planned,
)
from concord_graph.usecases.write.outbox import log
from concord_graph.usecases.write.writer import Writer

METHOD = "EraseSelection"
ITEMS_A_CALL = 500
_RESERVE = 3.0
"""Seconds of a call's time in which no further item is begun."""
_FORM = 1


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an erasure is; `left`: items that are not erased yet."""

    erase_id: str
    left: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left."""
        return self.left == 0


@dataclass(frozen=True, slots=True)
class SelectionReceipt:
    """The receipt's bytes, and the row that the stores confirm."""

    text: bytes
    erasure: Erasure


class SelectionErasing:
    """Looks and erases. `erased` runs after each erasure; `flush` stores what waits in memory."""

    def __init__(
        self,
        store: GraphStore,
        clock: Clock,
        erasing: Erasing,
        *,
        erased: Callable[[], None],
        flush: Callable[[], Awaitable[None]],
        backups: Callable[[], Sequence[int] | None],
        time_left: Callable[[], float | None],
    ) -> None:
        """`backups`: the times (µs) of the backups that are known here; None: none are recorded.
        `time_left`: seconds until the call's deadline; None without one."""
        self._store = store
        self._clock = clock
        self._erasing = erasing
        self._erased = erased
        self._flush = flush
        self._backups = backups
        self._time_left = time_left

    async def look(self, space: str, selection: Selection, options: Options) -> Look:
        """Return what an erasure would take, of one consistent view of the whole space."""
        await self._flush()
        return await self._store.export(space, lambda tx: look_at(tx, selection, options))

    async def erase(self, space: str, author: Author, order: Order) -> Progress:
        """Begin or go on with the erasure of what was looked at; return how far it is.

        Raises:
            SelectionChanged: what would be erased is not what the order's digest names.
            SelectionTooLarge: that is more than `MOST_SELECTED` items.
        """
        await self._flush()
        if done := await self._store.read(space, lambda tx: erased_before(tx, order.digest)):
            return Progress(done)
        plan = await self._store.read(space, lambda tx: plan_of(tx, order.digest))
        if plan is None:
            plan = await self._begin(space, author, order)
        left = await self._erase_items(space, author, plan)
        if not left:
            asked = await self._store.read(space, lambda tx: asked_by(tx, order.selection))
            await self._store.write(
                space, lambda tx: self._end(tx, author, plan, asked), author=author
            )
            self._erased()
        return Progress(plan.erase_id, left)

    async def receipt(self, space: str, erase_id: str) -> SelectionReceipt | None:
        """Return the receipt of an erasure; None: there is none, or it is not complete."""

        async def work(tx: Reads) -> SelectionReceipt | None:
            text = await tx.service_record(ServiceRecord.ERASURE_RECEIPT, erase_id)
            erasure = await tx.erasure(erase_id=erase_id)
            if not text or erasure is None:
                return None
            return SelectionReceipt(text.encode(), erasure)

        return await self._store.read(space, work)

    async def _begin(self, space: str, author: Author, order: Order) -> Plan:
        look = await self.look(space, order.selection, order.options)
        if look.digest != order.digest:
            raise SelectionChanged
        if len(look.selected.erased) > MOST_SELECTED:
            raise SelectionTooLarge(MOST_SELECTED)

        async def work(tx: Writes) -> Plan:
            demand_space(tx)
            if begun := await plan_of(tx, order.digest):  # by the same request, meanwhile
                return begun
            plan = planned(tx.new_id(), order, look.selected)
            await keep_plan(tx, plan)
            return plan

        return await self._store.write(space, work, author=author)

    async def _erase_items(self, space: str, author: Author, plan: Plan) -> int:
        """Erase the plan's items while the call has time; return how many it did not come to."""
        founds = plan.founds()
        done = 0
        for place, found in enumerate(founds):
            time = self._time_left()
            if done >= ITEMS_A_CALL or (time is not None and time < _RESERVE):
                return len(founds) - place
            done += await self._erase_item(space, author, plan, found)
        return 0

    async def _erase_item(self, space: str, author: Author, plan: Plan, found: Found) -> bool:
        """Erase an item unless it is erased, or changed since the look; return whether it went."""

        async def work(tx: Writes) -> bool:
            demand_space(tx)
            record = await current(tx, found.id, found.kind)
            if record is None or record.revision.number != found.revision:
                return False
            writer = Writer(tx, author, max(self._clock(), tx.last_time + 1))
            return await erase_record(self._erasing, writer, record, plan.reason)

        try:
            return await self._store.write(space, work, author=author)
        except ConstitutiveProtected as error:
            why = error.reason

            async def refused(tx: Writes) -> bool:
                await log(
                    tx,
                    ChangeType.REFUSED,
                    author,
                    item_id=found.id,
                    item_kind=found.kind,
                    reason=why,
                    needs_consent=True,
                )
                return False

            return await self._store.write(space, refused, author=author)

    async def _end(self, tx: Writes, author: Author, plan: Plan, asked: Asked) -> None:
        """Blank the queries, put the receipt, and take away the plan."""
        demand_space(tx)
        if await tx.service_record(ServiceRecord.ERASURE_RECEIPT, plan.erase_id):
            return  # another call has ended it
        await asked.blank(tx)
        erased, kept = await _outcome(tx, plan)
        now = max(self._clock(), tx.last_time + 1)
        backups = self._backups()
        text = rfc8785.dumps(
            {
                "kind": "concord.erasure",
                "version": _FORM,
                "space": tx.space,
                "erase_id": plan.erase_id,
                "erase_time": format_time(now),
                "principal": author.principal,
                "reason": plan.reason,
                "by": By(plan.by).name.lower(),
                "options": dict(plan.options),
                "look_digest": plan.digest,
                "erased": [_row(each) | {"part": each.part.name} for each in erased],
                "derived_not_made_again": sum(each.part == Part.DERIVED for each in erased),
                "queries_blanked": asked.count,
                "proposals": list(plan.proposal_ids),
                "kept": [_row(each.found) | {"why": each.why.name} for each in kept],
                "kept_ids": list(plan.ids),
                "backups_before": None if backups is None else [format_time(t) for t in backups],
            }
        )
        change = await log(
            tx,
            ChangeType.SELECTION_ERASED,
            author,
            item_id=plan.erase_id,
            digest=sha256(text).hexdigest(),
            needs_consent=True,
        )
        await self._erasing.open(
            tx,
            Erasure(
                id=plan.erase_id,
                memory_id=plan.erase_id,  # the services confirm it by this
                time=change.record_time,
                principal=author.principal,
                reason=plan.reason,
                digest=change.digest,
                edge_count=len(erased),
            ),
        )
        await tx.put_service_record(ServiceRecord.ERASURE_RECEIPT, text.decode(), plan.erase_id)
        await tx.put_service_record(ServiceRecord.ERASURE_PLAN, "", plan.erase_id)


async def _outcome(tx: Reads, plan: Plan) -> tuple[Sequence[Found], Sequence[Kept]]:
    """Return what of a plan is erased, and what stays and why."""
    erased: list[Found] = []
    kept = [*plan.stays()]
    for found in plan.founds():
        record = await current(tx, found.id, found.kind)
        if record is None or is_erased(record):
            erased.append(found)
        else:
            kept.append(Kept(found, await _why(tx, found, record)))
    return erased, kept


async def _why(tx: Reads, found: Found, record: Record) -> Why:
    if record.revision.number != found.revision:
        return Why.CHANGED
    if not await is_needed(tx, record):
        return Why.CONSTITUTIVE
    return Why.NAMED if found.kind == ItemKind.NODE else Why.SHARED


def _row(found: Found) -> dict[str, Any]:
    return {"kind": found.kind.name, "id": found.id}
