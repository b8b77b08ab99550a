"""Graph's reads over one Neo4j transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter

from concord_graph.adapters.merged_rows import page_of_accesses
from concord_graph.adapters.neo4j import filters, records, statements, succession
from concord_graph.adapters.neo4j.conflicts import ConflictReads
from concord_graph.adapters.neo4j.erased_items import ErasureReads
from concord_graph.adapters.neo4j.fact_edges import FactReads
from concord_graph.adapters.neo4j.layers import LayerReads
from concord_graph.adapters.neo4j.patterns import known_at
from concord_graph.adapters.neo4j.records import Fields
from concord_graph.adapters.neo4j.sessions import SessionReads
from concord_graph.adapters.neo4j.transaction import at_instant
from concord_graph.adapters.neo4j.views import ViewReads
from concord_graph.domain.drafts import EndRef
from concord_graph.domain.items import (
    FOREVER,
    DeclaredRelation,
    Edge,
    Instant,
    Item,
    ItemKind,
    Memory,
    Node,
    Record,
)
from concord_graph.domain.relevance import Access
from concord_graph.ports import Author, Counts, EdgeFilter, Founding, Imported, MemoryFilter, Ref

_ACCESSES = (
    "MATCH (a:Access) WHERE a.id > $after RETURN a.id, a.last_time, a.count ORDER BY a.space, a.id"
    " LIMIT $limit"
)


class Neo4jReads(ViewReads, FactReads, LayerReads, ConflictReads, SessionReads, ErasureReads):
    """A view of one space."""

    async def node(self, node_id: str) -> Node | None:
        found = await self._item(node_id)
        return found if isinstance(found, Node) else None

    async def live_node_named(self, name: str) -> Node | None:
        found = await self._items("MATCH (x:Entity {name: $name}) RETURN properties(x)", name=name)
        return records.read(Node, found[0]) if found else None

    async def edge(self, edge_id: str) -> Edge | None:
        found = await self._item(edge_id)
        return found if isinstance(found, Edge) else None

    async def live_edges_of_triple(
        self, source_id: str, relation: str, target_id: str, record: int = FOREVER
    ) -> Sequence[Edge]:
        text = statements.of_triple(known_at(record))
        ends = {"source": source_id, "relation": relation, "target": target_id}
        found = await self._items(text, **ends, asked=[{"record": record}])
        return [records.edge(edge) for edge in found]

    async def memory(self, memory_id: str) -> Memory | None:
        found = await self._item(memory_id)
        return found if isinstance(found, Memory) else None

    async def memory_by_external_id(self, external_id: str, record: int = FOREVER) -> Memory | None:
        text = statements.of_external_id(known_at(record))
        found = await self._items(text, key=external_id, asked=[{"record": record}])
        return records.read(Memory, found[0]) if found else None

    async def live_memories_with_digest(self, content_digest: str) -> Sequence[Memory]:
        text = (
            "MATCH (m:Memory {content_digest: $digest}) RETURN properties(m) ORDER BY m.create_time"
        )
        found = await self._items(text, digest=content_digest)
        return [records.read(Memory, memory) for memory in found]

    async def relation(self, name: str, record: int = FOREVER) -> DeclaredRelation | None:
        text = succession.declared(known_at(record))
        found = await self._items(text, name=name, asked=[{"record": record}])
        return records.read(DeclaredRelation, found[0]) if found else None

    async def list_relations(
        self, at: Instant, after: str, limit: int
    ) -> Sequence[DeclaredRelation]:
        text = succession.listed_relations(known_at(at.record))
        found = await self._items(text, **at_instant(at), after=after, limit=limit)
        return [records.read(DeclaredRelation, relation) for relation in found]

    async def rivals(self, relation: str, limit: int) -> Sequence[str]:
        found = await self.ask(succession.RIVALS, relation=relation, limit=limit)
        return [row[0] for row in found]

    async def items(
        self, ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, Edge | Memory]:
        asked = [{"id": item_id, "record": record} for item_id in ids]
        found = await self._items(statements.items(known_at(record)), asked=asked)
        items = map(records.item, found)
        return {item.id: item for item in items if not isinstance(item, Node)}

    async def revision(self, ref: Ref) -> Record | None:
        (found,) = await self.revisions([ref])
        return found

    async def revisions(self, refs: Sequence[Ref]) -> Sequence[Record | None]:
        found: dict[int, Record] = {}
        for label in sorted({records.version(ref.kind) for ref in refs}):
            asked = [
                {"place": place, "id": ref.id, "revision": ref.revision, "kind": int(ref.kind)}
                for place, ref in enumerate(refs)
                if records.version(ref.kind) == label
            ]
            text = (
                f"UNWIND $asked AS ask MATCH (x:{label} {{id: ask.id, revision: ask.revision}})"
                " WHERE x.kind = ask.kind RETURN ask.place, properties(x)"
            )
            for place, fields in await self.ask(text, asked=asked):
                found[place] = records.revision(fields)
        return [found.get(place) for place in range(len(refs))]

    async def accesses(self, after: str, limit: int) -> Sequence[tuple[str, Access]]:
        async def stored() -> list[tuple[str, Access]]:
            rows = await self.ask(_ACCESSES, after=after, limit=limit)
            return [(item_id, Access(last, count)) for item_id, last, count in rows]

        accesses, pending = await self._pending.beside(stored)
        return page_of_accesses(accesses, pending, self._space_name, after, limit)

    async def nonces(self, after: str, limit: int) -> Sequence[str]:
        found = await self.ask(
            "MATCH (n:Nonce) WHERE n.nonce > $after"
            " RETURN n.nonce ORDER BY n.space, n.nonce LIMIT $limit",
            after=after,
            limit=limit,
        )
        return [row[0] for row in found]

    async def founding(self) -> Founding:
        found = await self.ask(
            "MATCH (s:Space) OPTIONAL MATCH (g:Genesis) OPTIONAL MATCH (i:Imported)"
            " RETURN g.envelope, coalesce(s.enrolment, ''), i.seq, i.restore"
        )
        genesis, enrolment, seq, restore = found[0] if found else (b"", "", None, b"")
        imported = Imported(seq, bytes(restore)) if seq else None
        return Founding(bytes(genesis or b""), enrolment, imported)

    async def early_refusals(self) -> Sequence[tuple[int, Author, str]]:
        rows = await self.ask(
            "MATCH (r:EarlyRefusal) WHERE r.number > 0"
            " RETURN r.time, r.principal, r.method, r.request_id, r.reason ORDER BY r.number"
        )
        return [(time, Author(*author), why) for time, *author, why in rows]

    async def kinds(self, ids: Collection[str], record: int = FOREVER) -> Mapping[str, ItemKind]:
        if not ids:
            return {}
        asked = [{"id": item_id, "record": record} for item_id in ids]
        found = await self.ask(statements.kinds(known_at(record)), asked=asked)
        return {item_id: ItemKind(kind) for item_id, kind in found}

    async def connected(
        self, memory_ids: Collection[str], record: int = FOREVER
    ) -> Collection[str]:
        asked = [{"id": memory_id, "record": record} for memory_id in memory_ids]
        found = await self.ask(statements.connected(known_at(record)), asked=asked)
        return {row[0] for row in found}

    async def find(self, end: EndRef, at: Instant) -> str | None:
        text = statements.found(known_at(at.record), by_name=bool(end.name))
        found = await self.ask(text, asked=[{"name": end.name, "id": end.id, "record": at.record}])
        if not found or (end.id and end.id != found[0][0]):
            return None
        return str(found[0][0])

    async def lineage_edges(self, ids: Collection[str], record: int = FOREVER) -> Sequence[Edge]:
        text = statements.lineage(known_at(record))
        found = await self._items(text, ids=list(ids), asked=[{"record": record}])
        return [records.edge(edge) for edge in sorted(found, key=lambda edge: str(edge["id"]))]

    async def is_pinned(self, item_id: str, record: int = FOREVER) -> bool:
        text = statements.is_pinned(known_at(record))
        return bool((await self.ask(text, asked=[{"id": item_id, "record": record}]))[0][0])

    async def frozen_by_lineage(self) -> frozenset[str]:
        found = await self.ask(statements.frozen_by_lineage())
        return frozenset(item_id for row in found for item_id in row if item_id is not None)

    async def content_edges_from(self, memory_id: str) -> Sequence[Edge]:
        text = "MATCH (e:FromContent {source_id: $id}) RETURN properties(e)"
        return [records.edge(edge) for edge in await self._items(text, id=memory_id)]

    async def list_nodes(self, label: str, at: Instant, after: str, limit: int) -> Sequence[Node]:
        text = statements.listed_nodes(known_at(at.record))
        found = await self._items(text, **at_instant(at), label=label, after=after, limit=limit)
        return [records.read(Node, node) for node in found]

    async def list_edges(
        self, filter_: EdgeFilter, at: Instant, after: str, limit: int
    ) -> Sequence[str]:
        tests, bound = filters.edge_tests(filter_, include_resolutions=True)
        text = statements.listed_edges(
            known_at(at.record), tests, stated=at.stated, by_participant=bool(filter_.participants)
        )
        found = await self.ask(text, **bound, **at_instant(at), after=after, limit=limit)
        return [row[0] for row in found]

    async def list_memories(
        self, filter_: MemoryFilter, at: Instant, before: tuple[int, str] | None, limit: int
    ) -> Sequence[tuple[int, str]]:
        known = known_at(at.record)
        tests, bound = filters.memory_tests(filter_, known)
        before_time, before_id = before or (FOREVER, "")
        bound |= {"before_time": before_time, "before_id": before_id, "limit": limit}
        found = await self.ask(statements.listed_memories(known, tests), **bound, **at_instant(at))
        return [(row[0], row[1]) for row in found]

    async def counts(self, at: Instant) -> Counts:
        text = statements.counted(known_at(at.record), stated=at.stated)
        nodes, edges, memories, turns, deleted = (await self.ask(text, **at_instant(at)))[0]
        episodes, held, stale = await self._entry_counts(at)
        return Counts(nodes, edges, memories, turns, deleted, episodes, held, stale)

    async def live_items(self, kind: ItemKind, at: Instant) -> Sequence[Item]:
        text = statements.live_items(kind, known_at(at.record), stated=at.stated)
        return [records.item(item) for item in await self._items(text, **at_instant(at))]

    async def edges_at(self, item_id: str, *, live: bool) -> Sequence[Edge]:
        label = "Edge" if live else "EdgeVersion"
        text = " UNION ".join(
            f"MATCH (e:{label} {{{end}: $id}}) WHERE e:Item RETURN properties(e) AS edge"
            for end in ("source_id", "target_id")
        )
        found = await self._items(text, id=item_id)
        return sorted(map(records.edge, found), key=attrgetter("id"))

    async def _item(self, item_id: str) -> Item | None:
        found = await self._items("MATCH (x:Item {id: $id}) RETURN properties(x)", id=item_id)
        return known_item(found[0]) if found else None


def known_item(record: Fields | None) -> Item | None:
    """Return the item of a current node's properties; None for a ghost or an entry."""
    if record is None or record["kind"] > ItemKind.MEMORY:
        return None
    return records.item(record)
