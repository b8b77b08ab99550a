"""Sessions, their co-reads, the recall log (a node for each memory that an answer returned), and
the records of services."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Final

from concord_graph.adapters.merged_rows import recalls_of
from concord_graph.adapters.neo4j.transaction import SpaceTransaction
from concord_graph.adapters.stored import record_name
from concord_graph.domain.items import FOREVER
from concord_graph.domain.sessions import (
    MOST_CO_READS,
    CoRead,
    Recall,
    RecallFilter,
    Restated,
    Restatement,
    Session,
    SessionRead,
    SessionRow,
)
from concord_graph.ports import SessionFilter, SessionUses
from concord_graph.ports.reads import SessionRowT

# not of a single space: each row names its own
USE: Final = (
    "UNWIND $uses AS use MATCH (p:Space {space: use.space}) WHERE NOT coalesce(p.deleted, false)"
    " MERGE (s:SessionRecord {space: use.space, id: use.id})"
    " ON CREATE SET s.start_time = use.first, s.last_use_time = use.last, s.end_time = 0"
    " WITH s, use, s.end_time > 0 AND use.last > s.end_time AS anew"
    " SET s.start_time = CASE WHEN anew AND use.first < s.end_time THEN s.end_time"
    " WHEN anew OR use.first < s.start_time THEN use.first ELSE s.start_time END,"
    " s.last_use_time = CASE WHEN use.last > s.last_use_time THEN use.last"
    " ELSE s.last_use_time END"
    " SET s.end_time = CASE WHEN anew THEN 0 ELSE s.end_time END"
    " WITH use CALL (use) { UNWIND use.memories AS read"
    " MATCH (m:Item {space: use.space, id: read.id})"
    " WHERE m.memory_kind IS NOT NULL AND m.erase_time = 0"
    " MERGE (c:CoRead {space: use.space, session_id: use.id, memory_id: read.id})"
    " SET c.time = CASE WHEN c.time > read.time THEN c.time ELSE read.time END"
    " WITH DISTINCT use MATCH (c:CoRead {space: use.space, session_id: use.id})"
    " WITH c ORDER BY c.time DESC, c.memory_id SKIP $most DELETE c }"
)
_SESSION: Final = "s.id, s.start_time, s.last_use_time, s.end_time"
_ONE: Final = f"MATCH (s:SessionRecord {{id: $id}}) RETURN {_SESSION}"
_LISTED: Final = (
    "MATCH (s:SessionRecord) WHERE s.last_use_time < $idle_since"
    " AND (s.last_use_time < $time OR s.last_use_time = $time AND s.id > $last)"
    " AND ($ended IS NULL OR (s.end_time > 0) = $ended)"
    f" RETURN {_SESSION} ORDER BY s.last_use_time DESC, s.id LIMIT $limit"
)
_CO_READS: Final = (
    "MATCH (mine:CoRead {session_id: $session}) MATCH (a:CoRead {memory_id: mine.memory_id})"
    " MATCH (b:CoRead {session_id: a.session_id}) WHERE b.memory_id <> a.memory_id"
    " RETURN a.memory_id AS one, b.memory_id AS other, count(*),"
    " max(CASE WHEN a.time > b.time THEN a.time ELSE b.time END) AS last"
    " ORDER BY last DESC, one, other LIMIT $limit"
)
_RESTATED: Final = (
    "CALL () { MATCH (m:Memory) WHERE m.session_id IN $sessions"
    " RETURN m.id AS id, m.session_id AS session"
    " UNION MATCH (r:Restatement) WHERE r.session_id IN $sessions"
    " MATCH (m:Memory {id: r.memory_id}) RETURN m.id AS id, r.session_id AS session }"
    " WITH id, session ORDER BY session WITH id, collect(session) AS sessions"
    " WHERE size(sessions) >= $least"
    " RETURN id, sessions ORDER BY size(sessions) DESC, id LIMIT $limit"
)
_END: Final = "MATCH (s:SessionRecord {id: $id}) SET s.end_time = $time"
_DROP_CO_READS: Final = "MATCH (c:CoRead) WHERE c.time < $before DELETE c"
_RECORD: Final = "MATCH (r:ServiceRecord {kind: $kind}) RETURN r.body"
_RECORDS: Final = "MATCH (r:ServiceRecord) WHERE r.kind STARTS WITH $prefix RETURN r.kind, r.body"
_DROP_RECORDS: Final = "MATCH (r:ServiceRecord) WHERE r.kind > $start AND r.kind < $end DELETE r"
_PUT_RECORD: Final = "MERGE (r:ServiceRecord {kind: $kind}) SET r.body = $body"
_PUT_RECALL: Final = (
    "UNWIND $places AS at MATCH (m:Item {id: at.id})"
    " WHERE m.memory_kind IS NOT NULL AND m.erase_time = 0"
    " MERGE (r:Recall {query_id: $query_id, place: at.place}) ON CREATE SET r.memory_id = at.id,"
    " r.principal = $principal, r.session_id = $session_id, r.time = $time"
)
_RECALLS: Final = (
    "CALL () { MATCH (r:Recall) WHERE ($before = '' OR r.query_id < $before)"
    " AND $query_id IN ['', r.query_id] AND $memory_id IN ['', r.memory_id]"
    " AND $principal IN ['', r.principal] AND $session_id IN ['', r.session_id]"
    " WITH DISTINCT r.query_id AS query ORDER BY query DESC LIMIT $limit RETURN query }"
    " MATCH (r:Recall {query_id: query})"
    " RETURN r.query_id, r.principal, r.session_id, r.time, r.memory_id"
    " ORDER BY r.query_id DESC, r.place"
)
_DROP_RECALLS: Final = "MATCH (r:Recall) WHERE r.query_id < $before DELETE r"
_DROP_RECALLS_OF: Final = "UNWIND $ids AS id MATCH (r:Recall {query_id: id}) DELETE r"

_KEPT: Final = {
    Session: ("SessionRecord", ("id", "id")),
    SessionRead: ("CoRead", ("session_id", "memory_id")),
    Restatement: ("Restatement", ("memory_id", "session_id")),
}
"""For each kind of row: label, and the two properties of its key; a session has but one."""


def rows(uses: SessionUses) -> dict[str, Any]:
    """Return the values that USE binds, sorted, so that concurrent writes cannot deadlock."""
    return {
        "most": MOST_CO_READS,
        "uses": [
            {
                "space": space,
                "id": session_id,
                "first": use.first,
                "last": use.last,
                "memories": [{"id": i, "time": time} for i, time in sorted(use.memories.items())],
            }
            for (space, session_id), use in sorted(uses.items())
        ],
    }


class SessionReads(SpaceTransaction):
    """The part of a view that reads sessions, recalls and records of services."""

    async def session(self, session_id: str) -> Session | None:
        found = await self.ask(_ONE, id=session_id)
        return Session(*found[0]) if found else None

    async def sessions(
        self, filter_: SessionFilter, before: tuple[int, str] | None, limit: int
    ) -> Sequence[Session]:
        time, last = before or (FOREVER, "")
        bound = {"time": time, "last": last, "limit": limit}
        bound |= {"idle_since": filter_.idle_since, "ended": filter_.ended}
        return [Session(*row) for row in await self.ask(_LISTED, **bound)]

    async def co_reads(self, session_id: str, limit: int) -> Sequence[CoRead]:
        found = await self.ask(_CO_READS, session=session_id, limit=limit)
        return [CoRead(*row) for row in found]

    async def session_rows(
        self, kind: type[SessionRowT], after: tuple[str, str], limit: int
    ) -> Sequence[SessionRowT]:
        label, (first, second) = _KEPT[kind]
        names = [each.name for each in fields(kind)]
        beyond = "false" if first == second else f"r.{first} = $first AND r.{second} > $second"
        text = (
            f"MATCH (r:{label}) WHERE r.{first} > $first OR {beyond}"
            f" RETURN {', '.join(f'r.{name}' for name in names)}"
            f" ORDER BY r.{first}, r.{second} LIMIT $limit"
        )
        found = await self.ask(text, first=after[0], second=after[1], limit=limit)
        return [kind(*row) for row in found]

    async def restated(
        self, session_ids: Sequence[str], least: int, limit: int
    ) -> Sequence[Restated]:
        found = await self.ask(_RESTATED, sessions=list(session_ids), least=least, limit=limit)
        return [Restated(memory_id, tuple(stated)) for memory_id, stated in found]

    async def service_record(self, kind: str, key: str = "") -> str:
        found = await self.ask(_RECORD, kind=record_name(kind, key))
        return str(found[0][0]) if found else ""

    async def service_records(self, kind: str, prefix: str) -> Mapping[str, str]:
        before = len(record_name(kind, " ")) - 1
        found = await self.ask(_RECORDS, prefix=record_name(kind, prefix))
        return {name[before:]: body for name, body in found}

    async def recalls(self, filter_: RecallFilter, before: str, limit: int) -> Sequence[Recall]:
        rows = await self.ask(_RECALLS, **asdict(filter_), before=before, limit=limit)
        return recalls_of(rows)


class SessionWrites(SessionReads):
    """The part of a transaction that writes sessions, recalls and records of services."""

    async def put_session_rows(self, rows_: Sequence[SessionRow]) -> None:
        label, names = _KEPT[type(rows_[0])]
        key = ", ".join(f"{name}: fields.{name}" for name in dict.fromkeys(names))
        text = f"UNWIND $rows AS fields MERGE (r:{label} {{{key}}}) ON CREATE SET r += fields"
        await self.ask(text, rows=[asdict(row) for row in rows_])

    async def end_session(self, session_id: str, time: int) -> None:
        await self.ask(_END, id=session_id, time=time)

    async def drop_co_reads(self, before: int) -> None:
        await self.ask(_DROP_CO_READS, before=before)

    async def drop_service_records(self, kind: str, before: str) -> None:
        await self.ask(_DROP_RECORDS, start=record_name(kind, " "), end=record_name(kind, before))

    async def put_service_record(self, kind: str, body: str, key: str = "") -> None:
        await self.ask(_PUT_RECORD, kind=record_name(kind, key), body=body)

    async def put_recall(self, recall: Recall) -> None:
        places = [{"place": place, "id": each} for place, each in enumerate(recall.memory_ids)]
        await self.ask(
            _PUT_RECALL,
            places=places,
            query_id=recall.query_id,
            principal=recall.principal,
            session_id=recall.session_id,
            time=recall.time,
        )

    async def drop_recalls(self, before: str) -> None:
        await self.ask(_DROP_RECALLS, before=before)

    async def drop_recalls_of(self, query_ids: Collection[str]) -> None:
        await self.ask(_DROP_RECALLS_OF, ids=list(query_ids))
