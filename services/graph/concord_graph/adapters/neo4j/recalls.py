"""The recall log: a node for each memory that an answer returned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Final

from concord_graph.adapters.neo4j.layers import Door
from concord_graph.domain.recalls import Recall, RecallFilter

_PUT: Final = (
    "UNWIND $places AS at MATCH (m:Item {id: at.id})"
    " WHERE m.memory_kind IS NOT NULL AND m.erase_time = 0"
    " MERGE (r:Recall {query_id: $query_id, place: at.place}) ON CREATE SET r.memory_id = at.id,"
    " r.principal = $principal, r.session_id = $session_id, r.time = $time"
)
_LISTED: Final = (
    "CALL () { MATCH (r:Recall) WHERE ($before = '' OR r.query_id < $before)"
    " AND $query_id IN ['', r.query_id] AND $memory_id IN ['', r.memory_id]"
    " AND $principal IN ['', r.principal] AND $session_id IN ['', r.session_id]"
    " WITH DISTINCT r.query_id AS query ORDER BY query DESC LIMIT $limit RETURN query }"
    " MATCH (r:Recall {query_id: query})"
    " RETURN r.query_id, r.principal, r.session_id, r.time, r.memory_id"
    " ORDER BY r.query_id DESC, r.place"
)
_DROP: Final = "MATCH (r:Recall) WHERE r.query_id < $before DELETE r"


async def recalls(door: Door, filter_: RecallFilter, before: str, limit: int) -> Sequence[Recall]:
    """Return recalls, the newest query ids first; only those below `before` if it is given."""
    rows = await door.ask(_LISTED, **asdict(filter_), before=before, limit=limit)
    return [
        Recall(said[0], said[1], said[2], tuple(row[4] for row in of_one), said[3])
        for said, of_one in groupby(rows, key=lambda row: tuple(row[:4]))
    ]


async def put_recall(door: Door, recall: Recall) -> None:
    """Store a recall, without the memories in it that were erased."""
    places = [{"place": place, "id": each} for place, each in enumerate(recall.memory_ids)]
    await door.ask(
        _PUT,
        places=places,
        query_id=recall.query_id,
        principal=recall.principal,
        session_id=recall.session_id,
        time=recall.time,
    )


async def drop_recalls(door: Door, before: str) -> None:
    """Delete the recalls whose query ids sort before `before`."""
    await door.ask(_DROP, before=before)
