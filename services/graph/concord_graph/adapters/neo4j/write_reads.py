"""Graph's reads within a transaction that writes: the store's answers, with its puts laid over.

All that a use case may ask of an id, a name or a key is fetched at once and only once. The
transaction holds the space's lock, so an answer stays true but for its own puts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from neo4j import AsyncManagedTransaction

from concord_graph.adapters.neo4j import records
from concord_graph.adapters.neo4j.patterns import rests_on
from concord_graph.adapters.neo4j.pending import PendingReads
from concord_graph.adapters.neo4j.reads import Neo4jReads, known_item
from concord_graph.adapters.neo4j.records import Fields
from concord_graph.adapters.neo4j.succession import standing_of
from concord_graph.adapters.neo4j.transaction import Row
from concord_graph.adapters.neo4j.working_set import Around, WorkingSet
from concord_graph.domain.drafts import EndRef
from concord_graph.domain.items import FOREVER, Edge, Item, ItemKind, Memory, Node, Record
from concord_graph.domain.succession import UNTOUCHED, Standing
from concord_graph.ports import Expected, ReadCounts, Ref

_IDS_A_STATEMENT = 2_000
_RINGS_AHEAD = 2
"""How far the lineage around asked items is fetched ahead: their lineage's ends, and the ends'
own. Code that follows a chain further reads on its way, from the side that ends sooner."""

_LEARNT: Final = (
    "CALL () { UNWIND $ids AS id OPTIONAL MATCH (i:Item {id: id})"
    " OPTIONAL MATCH (s:Standing {id: id})"
    f" WITH id, properties(i) AS item, properties(s) AS standing, {rests_on('id', None)} AS held,"
    " COLLECT { MATCH (l:Lineage {source_id: id}) RETURN properties(l) } +"
    " COLLECT { MATCH (l:Lineage {target_id: id}) RETURN properties(l) } AS lineage,"
    " COLLECT { MATCH (l:FromContent {source_id: id}) RETURN properties(l) } AS content"
    " RETURN collect([id, item, held, lineage, content, standing]) AS around }"
    " CALL () { MATCH (n:Entity) WHERE n.name IN $names RETURN collect(properties(n)) AS named }"
    " CALL () { MATCH (x:Item) WHERE x.external_id IN $external_ids"
    " RETURN collect(properties(x)) AS keyed }"
    " CALL () { MATCH (m:Memory) WHERE m.content_digest IN $digests"
    " RETURN collect(properties(m)) AS saying }"
    " CALL () { UNWIND $triples AS t OPTIONAL MATCH (a:Entity {name: t.source_name})"
    " OPTIONAL MATCH (b:Entity {name: t.target_name})"
    " WITH coalesce(t.source_id, a.id) AS source, t.relation AS relation,"
    " coalesce(t.target_id, b.id) AS target WHERE source IS NOT NULL AND target IS NOT NULL"
    " RETURN collect([source, relation, target, COLLECT { MATCH"
    " (e:Edge {source_id: source, relation: relation, target_id: target})"
    " RETURN properties(e) }]) AS triples }"
    " RETURN around, named, keyed, saying, triples"
)
"""Select all that a write reads of ids (item, held, lineage, edges of its content, how it stands),
names, keys and triples, whose ends have an id or a name."""


class LearntReads(Neo4jReads):
    """Reads of one transaction that writes. `ask` is that of the writes: it sees the puts."""

    def __init__(
        self, tx: AsyncManagedTransaction, space: str, *, epoch: str, pending: PendingReads
    ) -> None:
        super().__init__(tx, space, epoch=epoch, pending=pending)
        self._known = WorkingSet()
        self._viewed: tuple[dict[str, Row], Sequence[ReadCounts]] = ({}, ())
        self._last_turns: dict[str, int] = {}
        self._granted = False

    async def expect(self, expected: Callable[[], Expected]) -> None:
        """Fetch the expected items, and the lineage next to them, in a few statements."""
        will = expected()
        await self._learn(
            will.ids, will.node_names, will.external_ids, will.content_digests, will.triples
        )
        known = self._known
        said = [m.id for digest in will.content_digests for m in known.saying[digest]]
        keyed = [m.id for key in will.external_ids if (m := known.external[key])]
        unknown = known.unknown([*said, *keyed, *self._lineage_ends(will.ids)])
        for _ in range(_RINGS_AHEAD):
            await self._learn(unknown)
            unknown = known.unknown(self._lineage_ends(unknown))
        if said:
            await self._view_ahead(said)

    async def live_node_named(self, name: str) -> Node | None:
        await self._learn(names=[name])
        return self._known.node_named(name)

    async def memory_by_external_id(self, external_id: str, record: int = FOREVER) -> Memory | None:
        if record != FOREVER:
            return await super().memory_by_external_id(external_id, record)
        await self._learn(external_ids=[external_id])
        return self._known.memory_by_external_id(external_id)

    async def live_memories_with_digest(self, content_digest: str) -> Sequence[Memory]:
        await self._learn(digests=[content_digest])
        return self._known.memories_saying(content_digest)

    async def live_edges_of_triple(
        self, source_id: str, relation: str, target_id: str, record: int = FOREVER
    ) -> Sequence[Edge]:
        if record != FOREVER:
            return await super().live_edges_of_triple(source_id, relation, target_id, record)
        triple = (source_id, relation, target_id)
        if triple not in self._known.triples and not self._known.has_all_of(triple):
            self._known.triples[triple] = tuple(await super().live_edges_of_triple(*triple))
        return self._known.edges_of(triple)

    async def kinds(self, ids: Collection[str], record: int = FOREVER) -> Mapping[str, ItemKind]:
        if record != FOREVER:
            return await super().kinds(ids, record)
        await self._learn(ids)
        found = {item_id: self._known.item(item_id) for item_id in ids}
        return {item_id: item.kind for item_id, item in found.items() if item is not None}

    async def items(
        self, ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, Edge | Memory]:
        if record != FOREVER:
            return await super().items(ids, record)
        await self._learn(item_id for item_id in ids if not self._known.was_put(item_id))
        found = {item_id: self._known.item(item_id) for item_id in ids}
        return {i: item for i, item in found.items() if isinstance(item, (Edge, Memory))}

    async def standings(
        self, ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, Standing]:
        if record != FOREVER:
            return await super().standings(ids, record)
        await self._learn(item_id for item_id in ids if item_id not in self._known.stood)
        found = {item_id: self._known.standing(item_id) for item_id in ids}
        return {i: standing for i, standing in found.items() if standing != UNTOUCHED}

    async def lineage_edges(self, ids: Collection[str], record: int = FOREVER) -> Sequence[Edge]:
        if record != FOREVER:
            return await super().lineage_edges(ids, record)
        await self._learn(ids)
        return self._known.lineage_at(ids)

    async def content_edges_from(self, memory_id: str) -> Sequence[Edge]:
        await self._learn([memory_id])
        return self._known.content_edges_from(memory_id)

    async def is_pinned(self, item_id: str, record: int = FOREVER) -> bool:
        if self._granted or record != FOREVER:  # without a grant, no write changes the answer
            return await super().is_pinned(item_id, record)
        await self._learn([item_id])
        return self._known.of(item_id).held

    async def last_turn_order(self, session_id: str) -> int:
        if session_id not in self._last_turns:
            self._last_turns[session_id] = await super().last_turn_order(session_id)
        return self._last_turns[session_id]

    async def revisions(self, refs: Sequence[Ref]) -> Sequence[Record | None]:
        newest = (self._known.item(ref.id) for ref in refs)
        put = {Ref(each.kind, each.id, each.revision.number): each for each in newest if each}
        left = [ref for ref in refs if ref not in put]
        stored = dict(zip(left, await super().revisions(left), strict=True)) if left else {}
        return [put.get(ref) or stored[ref] for ref in refs]

    async def _view_rows(
        self, kind: ItemKind, asked: Sequence[Fields], record: int
    ) -> tuple[list[Row], Sequence[ReadCounts]]:
        rows, pending = self._viewed
        about_now = kind == ItemKind.MEMORY and record == FOREVER
        if about_now and all(one["id"] in rows and "place" not in one for one in asked):
            return [rows[one["id"]] for one in asked], pending
        return await super()._view_rows(kind, asked, record)

    async def _item(self, item_id: str) -> Item | None:
        if not self._known.was_put(item_id):
            await self._learn([item_id])
        return self._known.item(item_id)

    async def _learn(
        self,
        ids: Iterable[str] = (),
        names: Collection[str] = (),
        external_ids: Collection[str] = (),
        digests: Collection[str] = (),
        triples: Collection[tuple[EndRef, str, EndRef]] = (),
    ) -> None:
        """Fetch the answers that are not known yet, in one statement or, of many ids, in a few."""
        known = self._known
        left = known.unknown(ids)
        while len(left) > _IDS_A_STATEMENT:
            await self._learn(left[:_IDS_A_STATEMENT])
            left = left[_IDS_A_STATEMENT:]
        wanted: dict[str, list[Any]] = {
            "ids": left,
            "names": [name for name in dict.fromkeys(names) if name not in known.named],
            "external_ids": [i for i in dict.fromkeys(external_ids) if i not in known.external],
            "digests": [digest for digest in dict.fromkeys(digests) if digest not in known.saying],
            "triples": [_triple(*triple) for triple in triples],
        }
        if not any(wanted.values()):
            return
        ((around, nodes, keyed, saying, stored),) = await super().ask(_LEARNT, **wanted)
        known.around |= {row[0]: _around(row) for row in around}
        known.named |= dict.fromkeys(wanted["names"])
        known.named |= {record["name"]: records.read(Node, record) for record in nodes}
        known.external |= dict.fromkeys(wanted["external_ids"])
        known.external |= {record["external_id"]: records.read(Memory, record) for record in keyed}
        known.saying |= dict.fromkeys(wanted["digests"], ())
        for record in saying:
            known.saying[record["content_digest"]] += (records.read(Memory, record),)
        for source, relation, target, edges in stored:
            known.triples[source, relation, target] = tuple(map(records.edge, edges))

    async def _view_ahead(self, ids: Collection[str]) -> None:
        """Fetch the views of memories: a draft of a stored text only reads the stored memory."""
        asked = [{"id": memory_id} for memory_id in ids]
        rows, pending = await super()._view_rows(ItemKind.MEMORY, asked, FOREVER)
        self._viewed = {row[0]["id"]: row for row in rows}, pending

    def _lineage_ends(self, ids: Iterable[str]) -> set[str]:
        """Return the other ends of the lineage at the ids."""
        edges = (edge for item_id in ids for edge in self._known.of(item_id).lineage)
        return {end.id for edge in edges for end in (edge.source, edge.target)}


def _triple(source: EndRef, relation: str, target: EndRef) -> Fields:
    """Return a triple as the statement of `_learn` takes it."""
    ends = {"source": source, "target": target}
    ids = {f"{end}_id": one.id or None for end, one in ends.items()}
    names = {f"{end}_name": None if one.id else one.name for end, one in ends.items()}
    return {"relation": relation, **ids, **names}


def _around(row: Row) -> Around:
    _, record, held, lineage, from_content, standing = row
    return Around(
        item=known_item(record),
        held=held,
        lineage=tuple(records.edge(edge) for edge in lineage),
        from_content=tuple(records.edge(edge) for edge in from_content),
        standing=standing_of(standing) if standing else UNTOUCHED,
    )
