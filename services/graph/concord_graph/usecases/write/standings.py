"""How items stand once a write has changed one of them, and which other ones to announce (T2).

The write finds what stands around the items that it affects; `domain.succession` says what follows.
In a row only the neighbours are affected: values further away keep the successor that they had.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from concord_graph.domain import succession
from concord_graph.domain.errors import TooManyAffected
from concord_graph.domain.items import (
    FOREVER,
    REPLACING,
    DeclaredRelation,
    Edge,
    EdgeType,
    Item,
    ItemKind,
    Memory,
    Node,
)
from concord_graph.domain.succession import (
    MOST_FORMER,
    UNTOUCHED,
    Replacement,
    Standing,
    former_values,
    next_values,
)
from concord_graph.ports import ValuesAround
from concord_graph.ports.space_to_settle import SpaceToSettle
from concord_graph.usecases.read.succession import makers_of, value_of
from concord_graph.usecases.write.rows import Rows

MOST_AFFECTED = 100_000
_A_PAGE = 1_000
_ALONE = ValuesAround((), (), ())

Affected = Mapping[str, ItemKind]


async def settle(
    tx: SpaceToSettle, before: Item | None, after: Item, time: int, rows: Rows | None = None
) -> Affected:
    """Store how items stand from `time` (µs) on, as `before` became `after`.

    Return the other items to announce. `rows`: those that the write has looked at.
    """
    if isinstance(after, Node):
        return {}
    weighs = _weight(before) != _weight(after)
    if not weighs and _interval(before) == _interval(after):
        return {}
    settling = Settling(tx, time, rows)
    if before is None and not await settling.has_neighbours(after):
        if succession.is_constitutive(after):
            await tx.put_standings({after.id: Standing(is_fixed=True)}, time)
        return {}
    affected, more = await settling.around(before, after) if weighs else ({}, {after.id})
    edges = [item_id for item_id, kind in affected.items() if kind == ItemKind.EDGE]
    if isinstance(after, Edge) and not is_drawn(before, after):
        edges.append(after.id)
    affected |= await _stating(tx, edges)
    affected |= await settling.settle({*affected, *more})
    affected.pop(after.id, None)
    return affected


async def settle_facts(
    tx: SpaceToSettle, memory_id: str, edge_ids: Sequence[str], time: int
) -> None:
    """Store how a memory stands once its facts are these edges."""
    kept = await tx.standings([memory_id, *edge_ids])
    before = kept.get(memory_id, UNTOUCHED)
    if kept.keys() <= {memory_id} and (before.followed_from, before.former) == (FOREVER, 0):
        edges = await tx.items(edge_ids) if edge_ids else {}
        live = [edge for edge in edges.values() if not edge.deleted]
        if not live or any(edge.valid_until is None for edge in live):
            return  # as most memories: no fact of it ends
    await Settling(tx, time).settle({memory_id})


async def settle_declaration(
    tx: SpaceToSettle, before: DeclaredRelation | None, after: DeclaredRelation, time: int
) -> Affected:
    """Store how the values of a relation stand once it is declared, or no longer; return them.

    Raises:
        TooManyAffected: they are too many for one write.
    """
    if (before is not None and before.functional) == after.functional:
        return {}
    rivals = await tx.rivals(after.name, MOST_AFFECTED + 1)
    if len(rivals) > MOST_AFFECTED:
        raise TooManyAffected(MOST_AFFECTED)
    affected = dict.fromkeys(rivals, ItemKind.EDGE) | await _stating(tx, rivals)
    if len(affected) > MOST_AFFECTED:
        raise TooManyAffected(MOST_AFFECTED)
    await Settling(tx, time).settle(affected)
    return affected


def is_drawn(before: Item | None, after: Item) -> bool:
    """Return whether this write drew the item's id: then no other item can name it yet."""
    return before is None and not (isinstance(after, Memory) and after.id_stated)


async def _stating(tx: SpaceToSettle, edge_ids: Sequence[str]) -> dict[str, ItemKind]:
    """Return the memories that state these edges: they are superseded with them (M1)."""
    stating = await tx.stating(edge_ids) if edge_ids else ()
    return {memory_id: ItemKind.MEMORY for memory_id, _ in stating}


class Settling:
    """Finds what stands around items, and stores how they stand."""

    def __init__(self, tx: SpaceToSettle, time: int, rows: Rows | None = None) -> None:
        self._tx = tx
        self._time = time
        self._items: dict[str, Edge | Memory] = {}
        self._lineage: dict[str, dict[str, Edge]] = defaultdict(dict)  # by either end
        self._kept: dict[str, Standing] = {}
        self._now: dict[str, Standing] = {}
        self._flagged: set[str] = set()
        self._moved: dict[str, ItemKind] = {}
        self._rows = rows or Rows(tx)

    async def has_neighbours(self, item: Edge | Memory) -> bool:
        """Return whether a new item may affect others, or they it."""
        if isinstance(item, Memory):  # an id that was not drawn may be a ghost's
            if not item.id_stated:
                return False
            named = await self._tx.lineage_edges([item.id])
            return bool(named) or await self._tx.is_pinned(item.id)
        if item.is_lineage or succession.is_constitutive(item):
            return True
        return await self._rows.is_functional(item.relation)

    async def around(
        self, before: Item | None, after: Edge | Memory
    ) -> tuple[dict[str, ItemKind], set[str]]:
        """Return the items to announce, of each the kind, and the ids of others that are affected.

        Among the latter are values that follow one of several that begin at once: how many values
        they follow changes, and nothing else.
        """
        tx = self._tx
        versions = [each for each in (before, after) if isinstance(each, Edge)]
        pinned = {end for edge in versions for end in await self._pinned_by(edge)}
        at = set(pinned)  # lineage at these takes effect, or loses it
        lineage: list[Edge] = []
        if isinstance(after, Edge) and after.is_lineage:
            lineage += [edge for edge in versions if edge.relation in REPLACING]
        elif not is_drawn(before, after):
            at.add(after.id)
        found = await tx.lineage_edges(at) if at else ()
        lineage += [edge for edge in found if edge.relation in REPLACING]
        ends = {end.id: end.kind for edge in lineage for end in (edge.source, edge.target)}
        if is_drawn(before, after):
            self._items[after.id] = after
            self._kept[after.id] = self._now[after.id] = UNTOUCHED
        await self._look_at({after.id, *pinned, *ends})
        flipped = [self._items[edge_id] for edge_id in await self._settle_flags()]
        values = [edge for edge in versions if not edge.is_lineage]
        values += self._edges(edge.target.id for edge in lineage)
        affected: dict[str, ItemKind] = {
            item_id: kind for item_id, kind in ends.items() if kind != ItemKind.GHOST
        }
        more = {after.id, *pinned}
        found_near = await self._rows.neighbours(values)
        for near in found_near:
            affected |= dict.fromkeys(near.beside, ItemKind.EDGE)
            more |= near.following
        if is_drawn(before, after) and values == [after] and not any(map(any, found_near)):
            more.discard(after.id)  # the only value of its row
        for near in await self._rows.neighbours(self._edges(each.id for each in flipped)):
            more |= near.former | near.following
        return affected, more

    async def settle(self, ids: Collection[str]) -> Affected:
        """Work out how these items stand, and the memories that state a changed edge; store it.

        Return those that are superseded from another time on, or no longer.
        """
        await self._look_at(ids)
        await self._settle_flags()
        edges = self._edges(ids)
        for start in range(0, len(edges), _A_PAGE):
            await self._settle_edges(edges[start : start + _A_PAGE])
        changed = [edge.id for edge in edges if self._is_changed(edge.id)]
        await self._put(changed)
        stating = await _stating(self._tx, changed)
        await self._look_at(stating)
        memories = self._memories({*ids, *stating})
        await self._settle_flags()
        await self._settle_memories(memories)
        await self._put([memory.id for memory in memories if self._is_changed(memory.id)])
        return self._moved

    def _edges(self, ids: Iterable[str]) -> list[Edge]:
        found = (self._items.get(item_id) for item_id in ids)
        return [item for item in found if isinstance(item, Edge)]

    def _memories(self, ids: Iterable[str]) -> list[Memory]:
        found = (self._items.get(item_id) for item_id in ids)
        return [item for item in found if isinstance(item, Memory)]

    def _is_changed(self, item_id: str) -> bool:
        return self._now[item_id] != self._kept.get(item_id, UNTOUCHED)

    async def _put(self, ids: Collection[str]) -> None:
        if ids:
            now = {item_id: self._now[item_id] for item_id in ids}
            await self._tx.put_standings(now, self._time)
            self._moved |= {
                item_id: self._items[item_id].kind
                for item_id, standing in now.items()
                if standing.superseded_from != self._kept[item_id].superseded_from
            }
            self._kept |= now

    async def _look_at(self, ids: Collection[str]) -> None:
        """Read items that were not looked at, their lineage and its other ends."""
        unread = [item_id for item_id in ids if item_id not in self._now]
        if not unread:
            return
        for edge in await self._tx.lineage_edges(unread):
            for end in (edge.source, edge.target):
                self._lineage[end.id][edge.id] = edge
        lineage = [edge for item_id in unread for edge in self._lineage[item_id].values()]
        await self._read({*unread, *(end.id for e in lineage for end in (e.source, e.target))})
        self._now |= {i: self._kept[i] for i in unread if i in self._items}

    async def _read(self, ids: Collection[str]) -> None:
        """Read items, and how they stand."""
        unread = [item_id for item_id in ids if item_id not in self._kept]
        found = await self._tx.items(unread) if unread else {}
        kept = await self._tx.standings(found) if found else {}
        self._items |= found
        self._kept |= {item_id: kept.get(item_id, UNTOUCHED) for item_id in found}

    async def _settle_flags(self) -> list[str]:
        """Work out what is fixed and what never held, and store it, for rows are read by it.

        Return the edges of which it changed.
        """
        flipped = []
        for item_id in self._now.keys() - self._flagged:
            item, standing = self._items[item_id], self._now[item_id]
            fixed = await self._is_fixed(item)
            newer = await self._replacements(item, fixed=fixed)
            never = isinstance(item, Edge) and succession.never_held(
                item, [each.newer for each in newer]
            )
            replacers = succession.replacers(newer)
            flags = (standing.is_fixed, standing.never_held) != (fixed, never)
            if flags or standing.replacers != replacers:
                self._now[item_id] = standing._replace(
                    is_fixed=fixed, never_held=never, replacers=replacers
                )
            if flags and isinstance(item, Edge) and not item.is_lineage:
                flipped.append(item_id)
        self._flagged |= self._now.keys()
        await self._put(flipped)
        return flipped

    async def _is_fixed(self, item: Edge | Memory) -> bool:
        if succession.is_constitutive(item):
            return True
        if isinstance(item, Memory):
            return await self._tx.is_pinned(item.id)
        at = self._lineage[item.id].values()
        return any(edge.governed and edge.source.id == item.id for edge in at)

    async def _replacements(self, older: Edge | Memory, *, fixed: bool) -> list[Replacement]:
        """Return the lineage that replaces an item, with its live newer sides."""
        found = []
        for edge in self._lineage[older.id].values():
            newer = self._items.get(edge.source.id)
            if edge.relation not in REPLACING or edge.target.id != older.id:
                continue
            if newer is None or newer.deleted or newer.kind != older.kind:
                continue
            found.append(Replacement(edge, newer, await makers_of(self._tx.revisions, edge, older)))
        return [each for each in found if succession.counts(each, older, fixed=fixed)]

    async def _settle_edges(self, edges: Sequence[Edge]) -> None:
        values = [edge for edge in edges if await self._is_value(edge)]
        looked = await self._rows.around(values, all_=False)
        around = {edge.id: found for edge, found in zip(values, looked, strict=True)}
        for edge in edges:
            standing, value = self._now[edge.id], value_of(edge)
            earlier, _, later = around.get(edge.id, _ALONE)
            former = former_values(value, earlier)
            following = () if standing.is_fixed else next_values(value, later)
            leaves = bool(former) and (standing.is_fixed or bool(standing.replacers))
            counted = {each.id for each in former if not each.is_fixed}
            self._now[edge.id] = standing._replace(
                followed_from=following[0].begins if following else FOREVER,
                comes_next=bool(former),
                exit_of=edge.source.id if leaves else "",
                former=min(len(counted), MOST_FORMER),
                older=len(await self._older(edge) - counted),
            )

    async def _is_value(self, edge: Edge) -> bool:
        """Return whether an edge is a value of a row."""
        if edge.deleted or edge.is_lineage or self._now[edge.id].never_held:
            return False
        return await self._rows.is_functional(edge.relation)

    async def _older(self, item: Edge | Memory) -> set[str]:
        """Return the live items that lineage replaces by an item."""
        found = set()
        for edge in self._lineage[item.id].values():
            older = self._items.get(edge.target.id)
            if edge.relation not in REPLACING or edge.source.id != item.id:
                continue
            if older is None or older.deleted or older.kind != item.kind:
                continue
            standing = self._now.get(older.id) or self._kept[older.id]
            each = Replacement(edge, item, await makers_of(self._tx.revisions, edge, older))
            if succession.counts(each, older, fixed=standing.is_fixed):
                found.add(older.id)
        return found

    async def _settle_memories(self, memories: Sequence[Memory]) -> None:
        tx = self._tx
        live = [memory.id for memory in memories if not memory.deleted]
        facts = await tx.facts_of_each(live) if live else {}
        stated = {edge_id for edges in facts.values() for edge_id in edges}
        await self._read(stated)
        for memory in memories:
            edges = [
                (edge, self._kept[edge.id])
                for edge in self._edges(facts.get(memory.id, ()))
                if not edge.deleted
            ]
            standing = self._now[memory.id]
            ended = FOREVER if standing.is_fixed else succession.ended_from(edges)
            self._now[memory.id] = standing._replace(
                followed_from=ended,
                former=sum(of_fact.former for _, of_fact in edges),
                older=len(await self._older(memory)),
            )

    async def _pinned_by(self, edge: Edge) -> set[str]:
        """Return the items that this edge pins while it is live (G4)."""
        if edge.edge_type == EdgeType.CONSTITUTIVE:
            return {edge.source.id, edge.target.id}
        if not edge.governed:
            return set()
        newer = (await self._tx.items([edge.source.id])).get(edge.source.id)
        ends = {newer.source.id, newer.target.id} if isinstance(newer, Edge) else set()
        return {edge.source.id} | ends


def _weight(item: Item | None) -> object:
    """Return the fields of an item on which the supersession of other items depends."""
    if item is None or isinstance(item, Node):
        return None
    defines = item.edge_type == EdgeType.CONSTITUTIVE
    said = (item.source, item.target, item.governed) if isinstance(item, Edge) else None
    ends_none = isinstance(item, Edge) and item.ends_none
    return (item.deleted, item.effective_from, defines, said, ends_none)


def _interval(item: Item | None) -> object:
    """Return the fields of an edge on which the supersession of its memories depends."""
    return (_weight(item), item.valid_until) if isinstance(item, Edge) else None
