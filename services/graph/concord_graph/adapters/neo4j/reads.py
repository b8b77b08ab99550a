"""Graph's reads over one Neo4j transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from concord_attestation.consent import GenesisRecord
from concord_attestation.parties import verify_genesis

from concord_graph.adapters.neo4j import (
    conflicts,
    erased_items,
    fact_edges,
    filters,
    layers,
    recalls,
    records,
    sessions,
    statements,
    succession,
    transfer,
)
from concord_graph.adapters.neo4j.patterns import known_at
from concord_graph.adapters.neo4j.records import Fields
from concord_graph.adapters.neo4j.views import Neo4jViews
from concord_graph.adapters.supports import supports_of
from concord_graph.adapters.unstored import page_of_accesses
from concord_graph.domain.drafts import EndRef
from concord_graph.domain.erasure import Erasure
from concord_graph.domain.facts import Support
from concord_graph.domain.items import (
    FOREVER,
    Access,
    DeclaredRelation,
    Edge,
    Entry,
    Instant,
    Item,
    ItemKind,
    Memory,
    Node,
    Record,
)
from concord_graph.domain.open_conflicts import OpenConflicts
from concord_graph.domain.recalls import Recall, RecallFilter
from concord_graph.domain.sessions import CoRead, Restated, Session
from concord_graph.domain.spelling import NameKind
from concord_graph.ports import (
    Author,
    Change,
    Counts,
    EdgeFilter,
    EntryFilter,
    Imported,
    MemoryFilter,
    OperationFilter,
    Ref,
    SessionFilter,
)
from concord_graph.ports.reads import SessionRowT


class Neo4jReads(Neo4jViews):
    """A view of one space."""

    async def node(self, node_id: str) -> Node | None:
        found = await self._item(node_id)
        return found if isinstance(found, Node) else None

    async def live_node_named(self, name: str) -> Node | None:
        found = await self._items("MATCH (x:Entity {name: $name}) RETURN properties(x)", name=name)
        return records.node(found[0]) if found else None

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
        return records.memory(found[0]) if found else None

    async def live_memories_with_digest(self, content_digest: str) -> Sequence[Memory]:
        text = (
            "MATCH (m:Memory {content_digest: $digest}) RETURN properties(m) ORDER BY m.create_time"
        )
        found = await self._items(text, digest=content_digest)
        return [records.memory(memory) for memory in found]

    async def relation(self, name: str, record: int = FOREVER) -> DeclaredRelation | None:
        text = succession.declared(known_at(record))
        found = await self._items(text, name=name, asked=[{"record": record}])
        return records.relation(found[0]) if found else None

    async def list_relations(
        self, at: Instant, after: str, limit: int
    ) -> Sequence[DeclaredRelation]:
        text = succession.listed_relations(known_at(at.record))
        found = await self._items(text, **_at(at), after=after, limit=limit)
        return [records.relation(relation) for relation in found]

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

    async def facts_of(self, memory_id: str, record: int = FOREVER) -> Sequence[str]:
        return (await self.facts_of_each([memory_id], record)).get(memory_id, ())

    async def facts_of_each(
        self, memory_ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, Sequence[str]]:
        """Return the ids of facts' edges; no statement if no memory ever had facts."""
        if not self._stated:
            return {}
        asked = [{"id": memory_id, "record": record} for memory_id in memory_ids]
        text = fact_edges.facts_of_each(known_at(record))
        found: dict[str, list[str]] = {}
        for memory_id, edge_id in await self.ask(text, asked=asked):
            found.setdefault(memory_id, []).append(edge_id)
        return found

    async def stating(
        self, edge_ids: Collection[str], after: str = "", limit: int | None = None
    ) -> Sequence[tuple[str, int]]:
        """Return live memories that state any of the edges; no statement if none ever had facts."""
        if not self._stated:
            return ()
        bound = {"ids": list(edge_ids), "after": after, "limit": limit or FOREVER}
        return [(row[0], row[1]) for row in await self.ask(fact_edges.STATING, **bound)]

    async def ever_facts_of(self, memory_id: str) -> Sequence[str]:
        if not self._stated:
            return ()
        return [row[0] for row in await self.ask(fact_edges.EVER_FACTS, id=memory_id)]

    async def ever_stating(self, edge_id: str) -> Sequence[str]:
        return [row[0] for row in await self.ask(fact_edges.EVER_STATING, id=edge_id)]

    async def is_named(self, item_id: str) -> bool:
        return bool(await self.ask(fact_edges.IS_NAMED, id=item_id))

    async def supports(self, since: int, until: int) -> Sequence[Support]:
        return supports_of(await self.ask(fact_edges.SUPPORTS, since=since, until=until))

    async def revision(self, ref: Ref) -> Record | None:
        (found,) = await self.revisions([ref])
        return found

    async def revisions(self, refs: Sequence[Ref]) -> Sequence[Record | None]:
        return await transfer.revisions(self, refs)

    async def accesses(self, after: str, limit: int) -> Sequence[tuple[str, Access]]:
        stored, pending = await self._pending.beside(lambda: transfer.accesses(self, after, limit))
        return page_of_accesses(stored, pending, self._space_name, after, limit)

    async def nonces(self, after: str, limit: int) -> Sequence[str]:
        return await transfer.nonces(self, after, limit)

    async def enrolment(self) -> str:
        return await transfer.enrolment(self)

    async def genesis_envelope(self) -> bytes:
        return await transfer.genesis_envelope(self)

    async def early_refusals(self) -> Sequence[tuple[int, Author, str]]:
        return await transfer.early_refusals(self)

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

    async def live_edge_ids_at(self, item_id: str) -> Sequence[str]:
        found = await self.ask(
            "MATCH (e:Edge {source_id: $id}) RETURN e.id AS id"
            " UNION MATCH (e:Edge {target_id: $id}) RETURN e.id AS id",
            id=item_id,
        )
        return sorted(row[0] for row in found)

    async def content_edges_from(self, memory_id: str) -> Sequence[Edge]:
        text = "MATCH (e:FromContent {source_id: $id}) RETURN properties(e)"
        return [records.edge(edge) for edge in await self._items(text, id=memory_id)]

    async def list_nodes(self, label: str, at: Instant, after: str, limit: int) -> Sequence[Node]:
        text = statements.listed_nodes(known_at(at.record))
        found = await self._items(text, **_at(at), label=label, after=after, limit=limit)
        return [records.node(node) for node in found]

    async def list_edges(
        self, filter_: EdgeFilter, at: Instant, after: str, limit: int
    ) -> Sequence[str]:
        tests, bound = filters.edge_tests(filter_, include_resolutions=True)
        text = statements.listed_edges(
            known_at(at.record), tests, stated=at.stated, by_participant=bool(filter_.participants)
        )
        found = await self.ask(text, **bound, **_at(at), after=after, limit=limit)
        return [row[0] for row in found]

    async def list_memories(
        self, filter_: MemoryFilter, at: Instant, before: tuple[int, str] | None, limit: int
    ) -> Sequence[tuple[int, str]]:
        known = known_at(at.record)
        tests, bound = filters.memory_tests(filter_, known)
        before_time, before_id = before or (FOREVER, "")
        bound |= {"before_time": before_time, "before_id": before_id, "limit": limit}
        found = await self.ask(statements.listed_memories(known, tests), **bound, **_at(at))
        return [(row[0], row[1]) for row in found]

    async def turns(
        self, session_id: str, at: Instant, after: tuple[int, int, str] | None, limit: int
    ) -> Sequence[tuple[int, int, str]]:
        return await layers.turns(self, session_id, at, after, limit)

    async def last_turn_order(self, session_id: str) -> int:
        return await layers.last_turn_order(self, session_id)

    async def names_near(self, kind: NameKind, asked: str, most: int) -> Sequence[str]:
        return await layers.names_near(self, kind, asked, most)

    async def entries(
        self,
        filter_: EntryFilter,
        at: Instant,
        *,
        before: tuple[int, int] | None = None,
        skip: int = 0,
        limit: int,
    ) -> tuple[Sequence[Entry], int]:
        return await layers.entries(self, filter_, at, before=before, skip=skip, limit=limit)

    async def entry(self, entry_id: str, record: int = FOREVER) -> Entry | None:
        return await conflicts.entry(self, entry_id, record)

    async def conflicts_between(
        self, pairs: Collection[tuple[str, str]], record: int = FOREVER
    ) -> Mapping[tuple[str, str], Entry]:
        return await conflicts.between(self, pairs, record)

    async def triggered(self, limit: int) -> Sequence[tuple[str, Sequence[str]]]:
        return await conflicts.triggered(self, limit)

    async def derived_from(self, memory_ids: Collection[str], limit: int) -> Sequence[str]:
        return await conflicts.derived_from(self, memory_ids, limit)

    async def open_conflicts(
        self, ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, OpenConflicts]:
        """Return the open conflicts; no statement in a space that never had a conflict."""
        if not self._disputed:
            return {}
        return await conflicts.open_at(self, ids, record)

    async def history(
        self, memory_id: str, before_revision: int, limit: int, record: int = FOREVER
    ) -> Sequence[Memory]:
        found = await self._items(
            "MATCH (x:MemoryVersion {id: $id}) WHERE x.revision < $before"
            " AND x.record_from <= $record"
            " RETURN properties(x) ORDER BY x.revision DESC LIMIT $limit",
            id=memory_id,
            before=before_revision,
            record=record,
            limit=limit,
        )
        return [records.memory(memory) for memory in found]

    async def operations(
        self, filter_: OperationFilter, beyond: int | None, limit: int
    ) -> Sequence[Change]:
        """Return operations in the order that the filter asks for."""
        return await layers.operations(self, filter_, beyond, limit)

    async def counts(self, at: Instant) -> Counts:
        text = statements.counted(known_at(at.record), stated=at.stated)
        nodes, edges, memories, turns, deleted = (await self.ask(text, **_at(at)))[0]
        episodes, held, stale = await layers.entry_counts(self, at)
        return Counts(nodes, edges, memories, turns, deleted, episodes, held, stale)

    async def live_items(self, kind: ItemKind, at: Instant) -> Sequence[Item]:
        text = statements.live_items(kind, known_at(at.record), stated=at.stated)
        return [records.item(item) for item in await self._items(text, **_at(at))]

    async def edges_at(self, item_id: str) -> Sequence[Edge]:
        found = await self._items(
            "MATCH (e:EdgeVersion {source_id: $id}) WHERE e:Item RETURN properties(e) AS edge"
            " UNION MATCH (e:EdgeVersion {target_id: $id}) WHERE e:Item"
            " RETURN properties(e) AS edge",
            id=item_id,
        )
        return [records.edge(edge) for edge in sorted(found, key=lambda edge: str(edge["id"]))]

    async def erasure(self, *, erase_id: str = "", memory_id: str = "") -> Erasure | None:
        return await erased_items.erasure(self, erase_id=erase_id, memory_id=memory_id)

    async def genesis(self) -> GenesisRecord | None:
        found = await self.ask("MATCH (g:Genesis) RETURN g.envelope")
        return verify_genesis(bytes(found[0][0]), self.space) if found else None

    async def imported(self) -> Imported | None:
        found = await self.ask("MATCH (i:Imported) RETURN i.seq, i.restore")
        return Imported(found[0][0], bytes(found[0][1])) if found else None

    async def _item(self, item_id: str) -> Item | None:
        found = await self._items("MATCH (x:Item {id: $id}) RETURN properties(x)", id=item_id)
        return known_item(found[0]) if found else None

    async def _items(self, text: str, **bound: Any) -> list[Fields]:
        return [row[0] for row in await self.ask(text, **bound)]

    async def session(self, session_id: str) -> Session | None:
        return await sessions.session(self, session_id)

    async def sessions(
        self, filter_: SessionFilter, before: tuple[int, str] | None, limit: int
    ) -> Sequence[Session]:
        return await sessions.sessions(self, filter_, before, limit)

    async def co_reads(self, session_id: str, limit: int) -> Sequence[CoRead]:
        return await sessions.co_reads(self, session_id, limit)

    async def session_rows(
        self, kind: type[SessionRowT], after: tuple[str, str], limit: int
    ) -> Sequence[SessionRowT]:
        return await sessions.session_rows(self, kind, after, limit)

    async def restated(
        self, session_ids: Sequence[str], least: int, limit: int
    ) -> Sequence[Restated]:
        return await sessions.restated(self, session_ids, least, limit)

    async def service_record(self, kind: str, key: str = "") -> str:
        return await sessions.service_record(self, kind, key)

    async def service_records(self, kind: str, prefix: str) -> Mapping[str, str]:
        return await sessions.service_records(self, kind, prefix)

    async def recalls(self, filter_: RecallFilter, before: str, limit: int) -> Sequence[Recall]:
        """Return recalls, the newest query ids first."""
        return await recalls.recalls(self, filter_, before, limit)


def known_item(record: Fields | None) -> Item | None:
    """Return the item of a current node's properties; None for a ghost or an entry."""
    if record is None or record["kind"] > ItemKind.MEMORY:
        return None
    return records.item(record)


def _at(at: Instant) -> dict[str, Any]:
    return {"asked": [{"record": at.record}], "valid": at.valid}
