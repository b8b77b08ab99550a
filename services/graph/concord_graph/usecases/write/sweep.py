"""A space's record gone through once, to work out how items stood at each time of it (G16, T2).

An import and a store that was written before standings were kept have the whole record at hand. The
space is kept in memory as it was at each of its times, so that no step reads the store.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from operator import itemgetter

from concord_graph.domain.items import (
    DeclaredRelation,
    Edge,
    EdgeType,
    ItemKind,
    Memory,
    Record,
)
from concord_graph.domain.succession import UNTOUCHED, Standing, Value
from concord_graph.ports import Place, Ref, ValuesAround
from concord_graph.usecases.write import standings

_Row = list[tuple[int, str]]
_BEGINS = itemgetter(0)


class Sweep:
    """Goes through the record of a space in the order in which it was written."""

    def __init__(self) -> None:
        self._space = _Remembered()

    async def settle(self, item: Record, time: int) -> None:
        """Go on to the next revision, written at a record time (µs)."""
        space = self._space
        if isinstance(item, DeclaredRelation):
            before = space.declared.get(item.name)
            space.declared[item.name] = item
            await standings.settle_declaration(space, before, item, time)
        elif isinstance(item, (Edge, Memory)):
            await standings.settle(space, space.follow(item), item, time)

    async def settle_facts(self, memory_id: str, edge_ids: Sequence[str], time: int) -> None:
        """Go on to the edges that a memory's facts are from a record time (µs) on."""
        self._space.state(memory_id, edge_ids)
        await standings.settle_facts(self._space, memory_id, edge_ids, time)

    def drain(self) -> list[tuple[int, Mapping[str, Standing]]]:
        """Return (record time, how items stand from then on) of what was settled since."""
        put, self._space.put = self._space.put, []
        return put


class _Remembered:
    """A space as its record had it at one time, and how its items stood then."""

    def __init__(self) -> None:
        self.declared: dict[str, DeclaredRelation] = {}
        self.put: list[tuple[int, Mapping[str, Standing]]] = []
        self._items: dict[str, Edge | Memory] = {}
        self._firsts: dict[str, Edge | Memory] = {}
        self._lineage: dict[str, dict[str, Edge]] = defaultdict(dict)  # by either end
        self._at: dict[str, dict[str, Edge]] = defaultdict(dict)  # all edges, by ends but nodes
        self._rows: dict[str, dict[str, _Row]] = defaultdict(lambda: defaultdict(list))
        self._facts: dict[str, Sequence[str]] = {}
        self._stating: dict[str, set[str]] = defaultdict(set)
        self._standings: dict[str, Standing] = {}

    def state(self, memory_id: str, edge_ids: Sequence[str]) -> None:
        """Let a memory's facts be these edges."""
        for edge_id in self._facts.pop(memory_id, ()):
            self._stating[edge_id].discard(memory_id)
        self._facts[memory_id] = edge_ids
        for edge_id in edge_ids:
            self._stating[edge_id].add(memory_id)

    def follow(self, item: Edge | Memory) -> Edge | Memory | None:
        """Let a revision take the place of the one before, and return that."""
        before = self._items.get(item.id)
        if isinstance(item, Memory):
            item = replace(item, content="", concepts=(), sources=(), facts=())
        if isinstance(before, Edge) and not before.deleted:
            for edges in self._ends(before):
                edges.pop(before.id)
            if not before.is_lineage:
                self._row(before).remove((before.effective_from, before.id))
        if isinstance(item, Edge) and not item.deleted:
            for edges in self._ends(item):
                edges[item.id] = item
            if not item.is_lineage:
                insort(self._row(item), (item.effective_from, item.id))
        self._items[item.id] = item
        self._firsts.setdefault(item.id, item)
        return before

    def _ends(self, edge: Edge) -> Iterator[dict[str, Edge]]:
        """Return the edges by id at each end of an edge, as far as it is asked for there."""
        for end in {edge.source, edge.target}:
            if end.kind != ItemKind.NODE:
                yield self._at[end.id]
            if edge.is_lineage:
                yield self._lineage[end.id]

    def _row(self, edge: Edge) -> _Row:
        return self._rows[edge.relation][edge.source.id]

    def _values(self, row: Iterable[tuple[int, str]]) -> Iterator[Value]:
        """Return the values of a row but for those that never held."""
        for begins, edge_id in row:
            standing, edge = self._standings.get(edge_id, UNTOUCHED), self._items[edge_id]
            if isinstance(edge, Edge) and not standing.never_held:
                yield Value(edge_id, edge.target.id, begins, standing.is_fixed, edge.is_extracted)

    async def functional(self) -> Collection[str]:
        return {name for name, declared in self.declared.items() if declared.functional}

    async def values_around(self, places: Sequence[Place], most: int) -> Sequence[ValuesAround]:
        return [self._around(place, most) for place in places]

    def _around(self, place: Place, most: int) -> ValuesAround:
        row = self._rows[place.relation][place.source_id]
        start = bisect_left(row, place.begins, key=_BEGINS)
        end = bisect_right(row, place.begins, key=_BEGINS)
        parts = (range(start - 1, -1, -1), range(start, end), range(end, len(row)))
        values = (self._values(row[i] for i in part) for part in parts)
        return ValuesAround(*(tuple(islice(each, most)) for each in values))

    async def standings(self, ids: Collection[str]) -> Mapping[str, Standing]:
        return {i: self._standings[i] for i in ids if i in self._standings}

    async def items(self, ids: Collection[str]) -> Mapping[str, Edge | Memory]:
        return {i: self._items[i] for i in ids if i in self._items}

    async def revisions(self, refs: Sequence[Ref]) -> Sequence[Record | None]:
        return [self._firsts.get(ref.id) for ref in refs]

    async def rivals(self, relation: str, limit: int) -> Sequence[str]:
        rows = [list(self._values(row)) for row in self._rows[relation].values() if len(row) > 1]
        return [
            each.id
            for row in rows
            for each in row
            if any(o.target_id != each.target_id and o.begins != each.begins for o in row)
        ][:limit]

    async def facts_of_each(self, memory_ids: Collection[str]) -> Mapping[str, Sequence[str]]:
        return {i: edges for i in memory_ids if (edges := self._facts.get(i))}

    async def stating(self, edge_ids: Collection[str]) -> Sequence[tuple[str, int]]:
        found = {i for edge_id in edge_ids for i in self._stating.get(edge_id, ())}
        live = (i for i in sorted(found) if i in self._items and not self._items[i].deleted)
        return [(i, 0) for i in live]

    async def lineage_edges(self, ids: Collection[str]) -> Sequence[Edge]:
        found = {each.id: each for i in ids for each in self._lineage.get(i, {}).values()}
        return [found[edge_id] for edge_id in sorted(found)]

    async def is_pinned(self, item_id: str) -> bool:
        return any(
            edge.edge_type == EdgeType.CONSTITUTIVE
            or self._is_agreed(edge, item_id)
            or any(self._is_agreed(each, edge.id) for each in self._at.get(edge.id, {}).values())
            for edge in self._at.get(item_id, {}).values()
        )

    def _is_agreed(self, edge: Edge, source_id: str) -> bool:
        return edge.governed and edge.source.id == source_id

    async def put_standings(self, standings_: Mapping[str, Standing], time: int) -> None:
        self.put.append((time, standings_))
        for item_id, standing in standings_.items():
            if standing == UNTOUCHED:
                self._standings.pop(item_id, None)
            else:
                self._standings[item_id] = standing
