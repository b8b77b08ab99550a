"""What a change would touch: it is made, looked at, and taken back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from concord_graph.domain.items import (
    DEFAULT_LABEL,
    Edge,
    End,
    Item,
    ItemKind,
    Memory,
    Node,
    etag,
)
from concord_graph.ports import Author, Clock, GraphStore, Ref, Result, Writes
from concord_graph.usecases.governed.apply import demand_etags
from concord_graph.usecases.read.by_id import item_by_id
from concord_graph.usecases.write.cascade import Scope
from concord_graph.usecases.write.commands import Command
from concord_graph.usecases.write.writer import Effect, Rehearsal, Writer


@dataclass(frozen=True, slots=True)
class Touched:
    """An item that a change would touch or that it takes its words from.

    Without an etag it would be made, or must not be there. `statement`: what it says now, of one
    that needs consent; what it would say, of one that would be made.
    `rests_on`: it is not written. `after`: what one that needs consent will say, if that is not
    what it says, or if it is not there now.
    """

    id: str
    kind: ItemKind
    etag: str
    needs_consent: bool
    statement: str = ""
    rests_on: bool = False
    after: str = ""


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What papers name of a change, by id, and how many others it takes along.

    `final`: more than an undo could bring back.
    """

    items: tuple[Touched, ...]
    taken_along: int
    final: bool


class _TakenBack(Exception):
    """Ends a rehearsal's transaction without keeping it."""

    def __init__(self, seen: Rehearsed) -> None:
        super().__init__()
        self.seen = seen


class Rehearsing:
    """Runs changes that are never kept."""

    def __init__(self, store: GraphStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def touched(
        self,
        space: str,
        author: Author,
        command: Command[Result],
        etags: Mapping[str, str],
        scope: Scope,
    ) -> Rehearsed:
        """Return what the command would touch; its own refusals are raised.

        Raises:
            GrantInvalid: an item is not as `etags` says, by id; "" = there is none.
        """

        async def transaction(tx: Writes) -> None:
            await demand_etags(tx, etags)
            now = max(self._clock(), tx.last_time)
            writer = Writer(tx, author, now, Rehearsal())
            await tx.open_grant("rehearsal")
            item, *_ = (await command(writer)).shown
            raise _TakenBack(await _Sight(tx, writer, scope.naming(item.id)).seen())

        try:
            await self._store.write(space, transaction)
        except _TakenBack as rehearsal:
            return rehearsal.seen
        raise AssertionError("a rehearsal is always taken back")


class _Sight:
    """What a rehearsed change has done, beside what was there before it."""

    def __init__(self, tx: Writes, writer: Writer, scope: Scope) -> None:
        self._tx = tx
        self._scope = scope
        self._effects = {effect.id: effect for effect in writer.effects}
        self._consented = writer.consented

    async def seen(self) -> Rehearsed:
        """Return what was written and what the parties would consent to."""
        along = {each.id for each in self._effects.values() if self._scope.cascades_to(each)}
        along -= self._consented
        ids = sorted((self._effects.keys() | self._consented) - along)
        return Rehearsed(
            tuple([await self._one(item_id) for item_id in ids]),
            len(along),
            self._scope.is_beyond_undo(len(along)),
        )

    async def _one(self, item_id: str) -> Touched:
        effect = self._effects.get(item_id)
        needs_consent = item_id in self._consented or (effect is not None and effect.needs_consent)
        if effect is None:
            return await self._unwritten(item_id)
        if not needs_consent:
            return Touched(item_id, effect.kind, effect.etag, needs_consent)
        before, after = await self._before(effect), await self._after(effect)
        said, will_say = await self._statement(before), await self._statement(after, now=True)
        there = isinstance(after, Item) and not after.deleted
        was_there = isinstance(before, Item) and not before.deleted
        is_news = there and not (was_there and said == will_say)
        return Touched(
            item_id, effect.kind, effect.etag, True, said, after=will_say if is_news else ""
        )

    async def _unwritten(self, item_id: str) -> Touched:
        item = await item_by_id(self._tx, item_id)
        if item is None:  # a memory that is named before there is one
            return Touched(item_id, ItemKind.MEMORY, "", needs_consent=True, rests_on=True)
        said = await self._statement(item)
        return Touched(item_id, item.kind, etag(item), True, said, rests_on=True)

    async def _before(self, effect: Effect) -> Item | None:
        """Return an item as it was before the change; one that it made, as it made it."""
        number = effect.before or effect.after
        found = await self._tx.revision(Ref(effect.kind, effect.id, number))
        return found if isinstance(found, Item) else None

    async def _after(self, effect: Effect) -> Item | None:
        found = await self._tx.revision(Ref(effect.kind, effect.id, effect.after))
        return found if isinstance(found, Item) else None

    async def _statement(self, item: Item | None, *, now: bool = False) -> str:
        """Return all that an item says, as far as its words go; an edge's ends by their names
        before the change, or `now`, when it is made."""
        match item:
            case Memory():
                return item.content
            case Node():
                label = f" ({item.label})" if item.label != DEFAULT_LABEL else ""
                return f"{item.name}{label}{_properties(item)}"
            case Edge():
                ends = [await self._named(end, now=now) for end in (item.source, item.target)]
                weight = f" (weight {item.weight:g})" if item.weight != 1 else ""
                return f"{ends[0]} {item.relation} {ends[1]}{weight}{_properties(item)}"
        return ""

    async def _named(self, end: End, *, now: bool) -> str:
        """Return an end by its name; what is no node has a line of its own."""
        if end.kind != ItemKind.NODE:
            return end.id
        effect = None if now else self._effects.get(end.id)
        node = await self._before(effect) if effect else await item_by_id(self._tx, end.id)
        return node.name if isinstance(node, Node) else end.id


def _properties(item: Node | Edge) -> str:
    if not item.properties:
        return ""
    return " " + json.dumps(dict(item.properties), ensure_ascii=False, sort_keys=True)
