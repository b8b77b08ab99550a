"""Views of items, walks and states over Neo4j: items with data from their surroundings."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence

from concord_graph.adapters.merged_rows import with_pending
from concord_graph.adapters.neo4j import filters, records, statements, succession
from concord_graph.adapters.neo4j.patterns import known_at
from concord_graph.adapters.neo4j.records import Fields
from concord_graph.adapters.neo4j.transaction import Row, SpaceTransaction
from concord_graph.adapters.seen import Seen, sought_ends
from concord_graph.domain.items import FOREVER, Edge, EdgeType, Importance, Instant, ItemKind, Node
from concord_graph.domain.succession import Standing, Value
from concord_graph.domain.supersession import Supersession
from concord_graph.ports import (
    Hop,
    Place,
    ReadCounts,
    State,
    Step,
    ValuesAround,
    View,
    Walk,
)

_HOPS_AT_ONCE = 500
_LATEST_CHANGE = (
    "UNWIND $asked AS ask CALL (ask) { MATCH (c:StateChange {item_id: ask.id})"
    " USING INDEX SEEK c:StateChange(space, item_id, seq) WHERE c.seq <= ask.seq"
    " AND c.record_time <= ask.record"
    " RETURN c ORDER BY c.space DESC, c.item_id DESC, c.seq DESC LIMIT 1 }"
    " RETURN ask.place, c.seq, c.record_time"
)


class ViewReads(SpaceTransaction):
    """The part of a view of one space that shows items with their supersession."""

    async def views(self, kind: ItemKind, ids: Collection[str], at: Instant) -> Mapping[str, View]:
        found = await self._views(kind, _asked(ids, at.record), at.record, at.valid)
        return {view.item.id: view for _, view in found}

    async def functional(self, record: int = FOREVER) -> Collection[str]:
        if record == FOREVER:
            return self._functional
        if self._ever_functional is None:
            self._ever_functional = await self.ask(succession.EVER_FUNCTIONAL)
        return {name for name, since, until in self._ever_functional if since <= record < until}

    async def values_around(
        self, places: Sequence[Place], most: int, record: int = FOREVER
    ) -> Sequence[ValuesAround]:
        asked = [
            {"place": number, "source": source, "relation": relation, "begins": begins}
            | {"record": record}
            for number, (source, relation, begins) in enumerate(places)
        ]
        text = succession.values_around(known_at(record))
        rows = await self.ask(text, asked=asked, most=most)
        parts = {row[0]: row[1:] for row in rows}
        return [
            ValuesAround(*(tuple(Value(*value) for value in part) for part in parts[number]))
            for number in range(len(places))
        ]

    async def exits_of(self, source_ids: Collection[str], record: int = FOREVER) -> Collection[str]:
        text = succession.exits_of(known_at(record))
        return [row[0] for row in await self.ask(text, asked=_asked(source_ids, record))]

    async def standings(
        self, ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, Standing]:
        found = await self.ask(succession.standings(known_at(record)), asked=_asked(ids, record))
        return {fields["id"]: succession.standing_of(fields) for (fields,) in found}

    async def amendments(self, ids: Collection[str], record: int = FOREVER) -> Sequence[Edge]:
        """Return the live AMENDS edges at the ids; no statement if the space has none."""
        if record == FOREVER and not self._amended:
            return []
        text = statements.amendments(known_at(record))
        return [records.edge(row[0]) for row in await self.ask(text, asked=_asked(ids, record))]

    async def steps(self, ids: Collection[str], walk: Walk, limit: int) -> Sequence[Step]:
        text, bound = self._walked(ids, walk, limit, Seen.STEP)
        rows, pending = await self._pending.beside(lambda: self.ask(text, **bound))
        return [self._step(row, pending) for row in rows]

    async def edges_at_hand(self, item_id: str, walk: Walk, most: int) -> Sequence[View] | None:
        text, bound = self._walked([item_id], walk, most + 1, Seen.WHOLE)
        rows, pending = await self._pending.beside(lambda: self.ask(text, **bound))
        if len(rows) > most:
            return None
        return [self._view(row, walk.at.valid, pending) for row in rows]

    async def hops(self, ids: Collection[str], walk: Walk) -> AsyncGenerator[Sequence[Hop]]:
        result = await self._run(*self._walked(ids, walk, FOREVER, Seen.HOP))
        while some := await result.fetch(_HOPS_AT_ONCE):
            try:
                yield [Hop(*row.values()) for row in some]
            except GeneratorExit:
                await result.consume()  # the server drops the rows that were not fetched
                raise

    async def degrees(self, ids: Collection[str], walk: Walk, cap: int) -> Mapping[str, int]:
        text = statements.degrees(known_at(walk.at.record), sought_ends(walk))
        found = await self.ask(text, ids=list(ids), asked=[{"record": walk.at.record}], limit=cap)
        return {row[0]: row[1] for row in found}

    async def states(
        self, refs: Sequence[tuple[str, int]], valid: int, record: int = FOREVER
    ) -> Sequence[State | None]:
        asked = [
            {
                **{"id": memory_id, "place": place, "seq": seq or FOREVER},
                "record": FOREVER if seq else record,
            }
            for place, (memory_id, seq) in enumerate(refs)
        ]
        states: list[State | None] = [None] * len(refs)
        now: list[tuple[Fields, Instant]] = []
        then: list[tuple[Fields, Instant]] = []
        changes: dict[int, tuple[int, int]] = {}
        for place, seq, time in await self.ask(_LATEST_CHANGE, asked=asked):
            changes[place] = (seq, time)
            memory_id, wanted = refs[place]
            known = time if wanted else record
            one = {"id": memory_id, "place": place, "record": known}
            (now if known == FOREVER else then).append((one, Instant(valid, known)))
        for some, at in ((now, FOREVER), (then, 0)):
            instants = {one["place"]: instant for one, instant in some}
            views = await self._views(ItemKind.MEMORY, [one for one, _ in some], at, valid)
            for place, view in views:
                states[place] = State(view, *changes[place], instants[place])
        return states

    async def _views(
        self, kind: ItemKind, asked: Sequence[Fields], record: int, valid: int
    ) -> list[tuple[int, View]]:
        """Return (place, view) of the asked items; if `record` is FOREVER, as known now."""
        if not asked:
            return []
        rows, pending = await self._view_rows(kind, asked, record)
        return [(row[-1], self._view(row, valid, pending)) for row in rows]

    async def _view_rows(
        self, kind: ItemKind, asked: Sequence[Fields], record: int
    ) -> tuple[list[Row], Sequence[ReadCounts]]:
        text = statements.views(kind, known_at(record), facts=self._stated)
        return await self._pending.beside(lambda: self.ask(text, asked=list(asked)))

    def _walked(
        self, ids: Collection[str], walk: Walk, limit: int, seen: Seen
    ) -> tuple[str, Fields]:
        tests, bound = filters.edge_tests(walk.filter, include_resolutions=walk.include_resolutions)
        text = statements.walked(
            known_at(walk.at.record),
            sought_ends(walk),
            tests,
            # a whole view says when its edge is superseded: its reader tests that
            hide_superseded=not (walk.include_superseded or seen == Seen.WHOLE),
            seen_as=seen,
            standing_only=not walk.include_superseded,
            constitutive=walk.filter.edge_types == (EdgeType.CONSTITUTIVE,),
            facts=self._stated,
        )
        bound |= {
            "ids": list(ids),
            "valid": walk.at.valid,
            "asked": [{"record": walk.at.record}],
            "limit": limit,
        }
        return text, bound

    def _view(self, row: Row, valid: int, pending: Sequence[ReadCounts]) -> View:
        record, superseded, predecessors, last_time, reads, near, source, target, sources = row[:9]
        item = records.item(record)
        superseded = _or_forever(superseded)
        names: dict[str, str] = {}
        if isinstance(item, Edge):
            ends = ((item.source, source), (item.target, target))
            names = {end.id: name for end, name in ends if name is not None}
        effective = item.create_time if isinstance(item, Node) else item.effective_from
        until = None if isinstance(item, Node) else item.valid_until
        return View(
            item=item,
            supersession=Supersession(
                effective_from=effective,
                stated_until=_or_forever(until),
                superseded_from=superseded,
                head_ids=() if item.deleted or superseded <= valid else (item.id,),
                predecessor_count=predecessors,
            ),
            access=with_pending(
                last_time or item.create_time,
                reads or 0,
                pending,
                self._space_name,
                item.id,
            ),
            near_constitutive=near,
            names=names,
            sources=tuple(sources),
        )

    def _step(self, row: Row, pending: Sequence[ReadCounts]) -> Step:
        return Step(
            id=row[0],
            source_id=row[1],
            target_id=row[2],
            weight=row[3],
            edge_type=EdgeType(row[4]),
            importance=Importance(row[5]),
            near_constitutive=row[6],
            access=with_pending(row[7], row[8], pending, self._space_name, row[0]),
        )


def _asked(ids: Collection[str], record: int) -> list[Fields]:
    return [{"id": item_id, "record": record} for item_id in ids]


def _or_forever(instant: int | None) -> int:
    return FOREVER if instant is None else instant
