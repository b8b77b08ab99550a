"""What a change would touch: it is made, looked at, and taken back."""

from __future__ import annotations

from dataclasses import dataclass

from concord_graph.domain.items import Item, ItemKind, etag
from concord_graph.ports import Author, Clock, GraphStore, Writes
from concord_graph.usecases.commands import Work
from concord_graph.usecases.writer import Rehearsal, Rules, Writer


@dataclass(frozen=True, slots=True)
class Touched:
    """An item that a change would touch; without an etag it would be made."""

    id: str
    kind: ItemKind
    etag: str
    needs_consent: bool


class _TakenBack(Exception):
    """Ends a rehearsal's transaction without keeping it."""

    def __init__(self, touched: tuple[Touched, ...]) -> None:
        super().__init__()
        self.touched = touched


class Rehearsing:
    """Runs changes that are never kept."""

    def __init__(self, store: GraphStore, clock: Clock, rules: Rules) -> None:
        self._store = store
        self._clock = clock
        self._rules = rules

    async def touched(self, space: str, author: Author, work: Work) -> tuple[Touched, ...]:
        """Return what the work would touch, by id; its own refusals are raised."""

        async def transaction(tx: Writes) -> None:
            now = max(self._clock(), tx.last_time)
            writer = Writer(tx, author, self._rules, now, Rehearsal())
            await tx.open_grant("rehearsal")
            await work(writer)
            raise _TakenBack(await _touched(tx, writer))

        try:
            await self._store.write(space, transaction)
        except _TakenBack as seen:
            return seen.touched
        raise AssertionError("a rehearsal is always taken back")


async def _touched(tx: Writes, writer: Writer) -> tuple[Touched, ...]:
    found = {
        effect.id: Touched(effect.id, effect.kind, effect.etag, effect.needs_consent)
        for effect in writer.effects
    }
    for item_id in writer.consented:
        if item_id in found:
            known = found[item_id]
            found[item_id] = Touched(known.id, known.kind, known.etag, needs_consent=True)
            continue
        item: Item | None = (
            await tx.memory(item_id) or await tx.edge(item_id) or await tx.node(item_id)
        )
        if item is not None:
            found[item_id] = Touched(item_id, item.kind, etag(item), needs_consent=True)
    return tuple(found[item_id] for item_id in sorted(found))
