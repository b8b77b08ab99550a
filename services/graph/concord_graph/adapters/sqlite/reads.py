"""Graph's reads over one SQLite transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter
from typing import Any

from concord_graph.adapters.counters import Counters
from concord_graph.adapters.merged_rows import page_of_accesses
from concord_graph.adapters.sqlite import (
    filters,
    lists,
    rows,
    statements,
    succession,
)
from concord_graph.adapters.sqlite.conflicts import DISPUTED, ConflictReads
from concord_graph.adapters.sqlite.erased_items import ErasureReads
from concord_graph.adapters.sqlite.fact_edges import FactReads
from concord_graph.adapters.sqlite.layers import LayerReads
from concord_graph.adapters.sqlite.revisions import ids_of
from concord_graph.adapters.sqlite.sessions import SessionReads
from concord_graph.adapters.sqlite.views import Pending, ViewReads
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
from concord_graph.domain.succession import Standing
from concord_graph.ports import (
    Author,
    Counts,
    EdgeFilter,
    Founding,
    Imported,
    MemoryFilter,
    Place,
    Ref,
    ValuesAround,
)

SPACE = f"SELECT id, seq, last_time, deleted, {DISPUTED} FROM space s WHERE name = ?"
"""The space with this name, and whether it ever had a conflict or a claim."""


class SqliteReads(
    ViewReads, FactReads, LayerReads, ConflictReads, SessionReads, ErasureReads, Counters
):
    """A consistent view of one space. Its coroutines never wait: SQLite answers in the thread."""

    def __init__(
        self, connection: sqlite3.Connection, space: str, *, epoch: str, pending: Pending
    ) -> None:
        self._db = connection
        self._space_name = space
        self._epoch = epoch
        self._pending = pending
        found: tuple[int, int, int, int, int] = self._one(SPACE, (space,)) or (0, 0, 0, 0, 0)
        self._space, self._seq, self._last_time = found[:3]
        self._deleted, self._disputed = map(bool, found[3:])

    async def node(self, node_id: str) -> Node | None:
        row = self._current(ItemKind.NODE, "id = ?", node_id)
        return rows.read(Node, row) if row else None

    async def live_node_named(self, name: str) -> Node | None:
        row = self._current(ItemKind.NODE, "name = ? AND deleted = 0", name)
        return rows.read(Node, row) if row else None

    async def edge(self, edge_id: str) -> Edge | None:
        row = self._current(ItemKind.EDGE, "id = ?", edge_id)
        return rows.edge(row) if row else None

    async def live_edges_of_triple(
        self, source_id: str, relation: str, target_id: str, record: int = FOREVER
    ) -> Sequence[Edge]:
        bound = {
            "space": self._space,
            "source": source_id,
            "relation": relation,
            "target": target_id,
            "record": record,
        }
        return [rows.edge(row) for row in self._all(statements.of_triple(record == FOREVER), bound)]

    async def memory(self, memory_id: str) -> Memory | None:
        row = self._current(ItemKind.MEMORY, "id = ?", memory_id)
        return rows.read(Memory, row) if row else None

    async def memory_by_external_id(self, external_id: str, record: int = FOREVER) -> Memory | None:
        bound = {"space": self._space, "key": external_id, "record": record}
        row = self._one(statements.of_external_id(record == FOREVER), bound)
        return rows.read(Memory, row) if row else None

    async def live_memories_with_digest(self, content_digest: str) -> Sequence[Memory]:
        # without this hint, SQLite walks the whole space by create_time so as not to sort one row
        sql = (
            f"SELECT {rows.MEMORY} FROM memory INDEXED BY memory_says WHERE space = ?"
            f" AND record_until = {FOREVER} AND deleted = 0 AND content_digest = ?"
            " ORDER BY create_time"
        )
        return [rows.read(Memory, row) for row in self._all(sql, (self._space, content_digest))]

    async def relation(self, name: str, record: int = FOREVER) -> DeclaredRelation | None:
        bound = {"space": self._space, "name": name, "record": record}
        row = self._one(succession.declared(record == FOREVER), bound)
        return rows.read(DeclaredRelation, row) if row else None

    async def list_relations(
        self, at: Instant, after: str, limit: int
    ) -> Sequence[DeclaredRelation]:
        sql = succession.listed_relations(at.record == FOREVER)
        found = self._all(sql, {**self._at(at), "after": after, "limit": limit})
        return [rows.read(DeclaredRelation, row) for row in found]

    async def rivals(self, relation: str, limit: int) -> Sequence[str]:
        bound = {"space": self._space, "relation": relation, "limit": limit}
        return [row[0] for row in self._all(succession.RIVALS, bound)]

    async def functional(self, record: int = FOREVER) -> Collection[str]:
        bound = {"space": self._space, "record": record}
        return {row[0] for row in self._all(succession.functional(record == FOREVER), bound)}

    async def values_around(
        self, places: Sequence[Place], most: int, record: int = FOREVER
    ) -> Sequence[ValuesAround]:
        text = succession.values_around(record == FOREVER)
        bound = {"space": self._space, "most": most, "record": record}
        return [succession.around_of(self._all(text, bound | _row_at(each))) for each in places]

    async def exits_of(self, source_ids: Collection[str], record: int = FOREVER) -> Collection[str]:
        bound = {"space": self._space, "ids": ids_of(source_ids), "record": record}
        return [row[0] for row in self._all(succession.exits_of(record == FOREVER), bound)]

    async def standings(
        self, ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, Standing]:
        bound = {"space": self._space, "ids": ids_of(ids), "record": record}
        found = self._all(succession.standings(record == FOREVER), bound)
        return {row[0]: succession.standing_of(row[1:]) for row in found}

    async def items(
        self, ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, Edge | Memory]:
        now, bound = record == FOREVER, {"space": self._space, "record": record}
        sql = statements.items(ItemKind.EDGE, now)
        found: dict[str, Edge | Memory] = {
            row[0]: rows.edge(row) for row in self._all(sql, bound | {"ids": ids_of(ids)})
        }
        if others := [item_id for item_id in ids if item_id not in found]:
            sql = statements.items(ItemKind.MEMORY, now)
            for row in self._all(sql, bound | {"ids": ids_of(others)}):
                found[row[0]] = rows.read(Memory, row)
        return found

    async def revision(self, ref: Ref) -> Record | None:
        sql = (
            f"SELECT {rows.COLUMNS[ref.kind]} FROM {rows.table(ref.kind)}"
            " WHERE space = ? AND id = ? AND revision = ?"
        )
        row = self._one(sql, (self._space, ref.id, ref.revision))
        found = rows.record(ref.kind, row) if row else None
        return found if found and found.kind == ref.kind else None

    async def revisions(self, refs: Sequence[Ref]) -> Sequence[Record | None]:
        found: dict[Ref, Record] = {}
        for kind in dict.fromkeys(ref.kind for ref in refs):
            wanted = json.dumps([(ref.id, ref.revision) for ref in refs if ref.kind == kind])
            sql = (
                f"SELECT {rows.qualified(rows.COLUMNS[kind], 't')} FROM json_each(:refs) r"
                f" CROSS JOIN {rows.table(kind)} t ON t.space = :space AND t.id = r.value ->> 0"
                " AND t.revision = r.value ->> 1"
            )
            for row in self._all(sql, {"space": self._space, "refs": wanted}):
                record = rows.record(kind, row)
                found[Ref(record.kind, record.id, record.revision.number)] = record
        return [found.get(ref) for ref in refs]

    async def kinds(self, ids: Collection[str], record: int = FOREVER) -> Mapping[str, ItemKind]:
        if not ids:
            return {}
        bound = {"space": self._space, "ids": ids_of(ids), "record": record}
        named = self._all(statements.kinds(record == FOREVER), bound)
        return {item_id: ItemKind(kind) for item_id, kind in named}

    async def connected(
        self, memory_ids: Collection[str], record: int = FOREVER
    ) -> Collection[str]:
        bound = {"space": self._space, "ids": ids_of(memory_ids), "record": record}
        return {row[0] for row in self._all(statements.connected(record == FOREVER), bound)}

    async def amendments(self, ids: Collection[str], record: int = FOREVER) -> Sequence[Edge]:
        """Return the live AMENDS edges at the ids; one seek in a space without amendments."""
        if record == FOREVER and not self._one(statements.ANY_AMENDMENT, (self._space,)):
            return []
        bound = {"space": self._space, "ids": ids_of(ids), "record": record}
        return [
            rows.edge(row) for row in self._all(statements.amendments(record == FOREVER), bound)
        ]

    async def find(self, end: EndRef, at: Instant) -> str | None:
        sql = statements.found(at.record == FOREVER, by_name=bool(end.name))
        bound = {"space": self._space, "name": end.name, "id": end.id, "record": at.record}
        row = self._one(sql, bound)
        if row is None or (end.id and end.id != row[0]):
            return None
        return str(row[0])

    async def lineage_edges(self, ids: Collection[str], record: int = FOREVER) -> Sequence[Edge]:
        bound = {"space": self._space, "ids": ids_of(ids), "record": record}
        found = {row[0]: row for row in self._all(statements.lineage(record == FOREVER), bound)}
        return [rows.edge(row) for _, row in sorted(found.items())]

    async def is_pinned(self, item_id: str, record: int = FOREVER) -> bool:
        sql = statements.is_pinned(record == FOREVER)
        row = self._one(sql, {"space": self._space, "id": item_id, "record": record})
        return bool(row and row[0])

    async def frozen_by_lineage(self) -> frozenset[str]:
        found = self._all(statements.frozen_by_lineage(), {"space": self._space})
        return frozenset(item_id for row in found for item_id in row if item_id is not None)

    async def content_edges_from(self, memory_id: str) -> Sequence[Edge]:
        sql = (
            f"SELECT {rows.EDGE} FROM edge WHERE space = ? AND source_id = ? AND origin = 2"
            f" AND record_until = {FOREVER} AND deleted = 0"
        )
        return [rows.edge(row) for row in self._all(sql, (self._space, memory_id))]

    async def list_nodes(self, label: str, at: Instant, after: str, limit: int) -> Sequence[Node]:
        sql = lists.listed_nodes(at.record == FOREVER)
        bound = {**self._at(at), "label": label, "after": after, "limit": limit}
        return [rows.read(Node, row) for row in self._all(sql, bound)]

    async def list_edges(
        self, filter_: EdgeFilter, at: Instant, after: str, limit: int
    ) -> Sequence[str]:
        tests, bound = filters.edge_tests(filter_, include_resolutions=True)
        sql = lists.listed_edges(
            at.record == FOREVER, at.stated, tests, by_participant=bool(filter_.participants)
        )
        bound |= {**self._at(at), "after": after, "limit": limit}
        return [row[0] for row in self._all(sql, bound)]

    async def list_memories(
        self, filter_: MemoryFilter, at: Instant, before: tuple[int, str] | None, limit: int
    ) -> Sequence[tuple[int, str]]:
        now = at.record == FOREVER
        tests, bound = filters.memory_tests(filter_)
        before_time, before_id = before or (FOREVER, "")
        bound |= {**self._at(at), "before_time": before_time, "before_id": before_id}
        found = self._all(lists.listed_memories(now, tests), bound | {"limit": limit})
        return [(row[0], row[1]) for row in found]

    async def counts(self, at: Instant) -> Counts:
        nodes, edges, memories = (self._count(kind, at) for kind in statements.ALIAS)
        episodes, held, stale, removed = self._entry_counts(at)
        return Counts(
            nodes=nodes[0],
            edges=edges[0],
            memories=memories[0] - memories[1],
            raw_dialogues=memories[1],
            deleted=nodes[2] + edges[2] + memories[2] + removed,
            episodes=episodes,
            working_memory=held,
            working_memory_stale=stale,
        )

    def _count(self, kind: ItemKind, at: Instant) -> tuple[int, int, int]:
        """Return the numbers of live items of a kind, of turns among them, and of deleted ones."""
        sql = lists.counted(kind, at.record == FOREVER, at.stated)
        row = self._one(sql, self._at(at))
        return (row[0], row[1], row[2]) if row else (0, 0, 0)

    async def live_items(self, kind: ItemKind, at: Instant) -> Sequence[Item]:
        sql = lists.live_items(kind, at.record == FOREVER, at.stated)
        return [rows.item(kind, row) for row in self._all(sql, self._at(at))]

    def _at(self, at: Instant) -> dict[str, Any]:
        return {"space": self._space, "valid": at.valid, "record": at.record}

    async def edges_at(self, item_id: str, *, live: bool) -> Sequence[Edge]:
        found = self._all(statements.edges_at(live), {"space": self._space, "id": item_id})
        return sorted(map(rows.edge, found), key=attrgetter("id"))

    async def founding(self) -> Founding:
        sql = (
            "SELECT g.envelope, s.enrolment, i.seq, i.restore FROM space s"
            " LEFT JOIN genesis g ON g.space = s.id LEFT JOIN imported i ON i.space = s.id"
            " WHERE s.id = ?"
        )
        genesis, enrolment, seq, restore = self._one(sql, (self._space,)) or (b"", "", None, b"")
        return Founding(genesis or b"", enrolment, Imported(seq, restore) if seq else None)

    async def accesses(self, after: str, limit: int) -> Sequence[tuple[str, Access]]:
        sql = (
            "SELECT id, last_time, count FROM access WHERE space = ? AND id > ? ORDER BY id LIMIT ?"
        )
        rows = self._db.execute(sql, (self._space, after, limit)).fetchall()
        stored = [(item_id, Access(last, count)) for item_id, last, count in rows]
        return page_of_accesses(stored, self._pending, self._space_name, after, limit)

    async def nonces(self, after: str, limit: int) -> Sequence[str]:
        sql = "SELECT nonce FROM nonce WHERE space = ? AND nonce > ? ORDER BY nonce LIMIT ?"
        return [row[0] for row in self._db.execute(sql, (self._space, after, limit)).fetchall()]

    async def early_refusals(self) -> Sequence[tuple[int, Author, str]]:
        sql = (
            "SELECT time, principal, method, request_id, reason FROM early_refusal"
            " WHERE space = ? ORDER BY rowid"
        )
        rows = self._db.execute(sql, (self._space,)).fetchall()
        return [(time, Author(*author), why) for time, *author, why in rows]

    def _current(self, kind: ItemKind, test: str, value: str) -> rows.Row | None:
        sql = (
            f"SELECT {rows.COLUMNS[kind]} FROM {rows.TABLE[kind]}"
            f" WHERE space = ? AND record_until = {FOREVER} AND {test}"
        )
        return self._one(sql, (self._space, value))


def _row_at(place: Place) -> dict[str, Any]:
    return {"source": place.source_id, "relation": place.relation, "begins": place.begins}
