"""The SQL of memories' facts: which edges a memory states, and which memories an edge (M1)."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence

from concord_graph.adapters.merged_rows import supports_of
from concord_graph.adapters.sqlite.revisions import IDS, current, ids_of, live
from concord_graph.domain.facts import Support
from concord_graph.domain.items import FOREVER

MOST_SOURCES = 100


def _support(alias: str, end: str, now: bool) -> str:
    """Return the support rows as a FROM item, indexed by `end`: "memory" or "edge"."""
    return f"support {alias} INDEXED BY support_of_{end}{'' if now else '_then'}"


def _any(now: bool) -> str:
    """Return the test that any memory states a fact: evaluated once, it may save the rest."""
    source = _support("z", "memory", now)
    return f"EXISTS (SELECT 1 FROM {source} WHERE z.space = :space AND {current('z', now)})"


EVER_FACTS = (
    "SELECT DISTINCT edge_id FROM support INDEXED BY support_of_memory_then"
    " WHERE space = :space AND memory_id = :id ORDER BY edge_id"
)
EVER_STATING = (
    "SELECT DISTINCT memory_id FROM support INDEXED BY support_of_edge_then"
    " WHERE space = :space AND edge_id = :id ORDER BY memory_id"
)
IS_NAMED = " UNION ALL ".join(
    f"SELECT * FROM (SELECT 1 FROM edge WHERE space = :space"
    f" AND {end}_id = :id AND record_until = {FOREVER} AND erase_time = 0 LIMIT 1)"
    for end in ("source", "target")
)
SUPPORTS = (
    "SELECT record_from AS time, memory_id, place, edge_id FROM support INDEXED BY support_opened"
    " WHERE space = :space AND record_from BETWEEN :since AND :until"
    " AND record_until > record_from"
    " UNION ALL SELECT DISTINCT record_until, memory_id, -1, ''"
    " FROM support INDEXED BY support_closed WHERE space = :space"
    f" AND record_until BETWEEN :since AND :until AND record_until <> {FOREVER}"
    " ORDER BY time, memory_id, place"
)
"""(time, memory's id, place, edge's id) of facts that began between :since and :until (µs) and
lasted, and of facts that ended then, with the place -1."""


STATING = (
    f"SELECT p.memory_id, p.place FROM {_support('p', 'edge', True)}"
    f" CROSS JOIN memory d ON d.space = p.space AND d.id = p.memory_id AND {live('d', True)}"
    f" WHERE p.space = :space AND p.edge_id IN {IDS} AND p.memory_id > :after"
    f" AND {current('p', True)} ORDER BY p.memory_id, p.place LIMIT :limit"
)
"""(id, place) of the live memories after :after that state an edge among :ids."""


class FactReads:
    """The part of a view that reads which memories state which edges."""

    _db: sqlite3.Connection
    _space: int

    async def facts_of(self, memory_id: str, record: int = FOREVER) -> Sequence[str]:
        return (await self.facts_of_each([memory_id], record)).get(memory_id, ())

    async def facts_of_each(
        self, memory_ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, Sequence[str]]:
        bound = {"space": self._space, "ids": ids_of(memory_ids), "record": record}
        found: dict[str, list[str]] = {}
        for memory_id, edge_id in self._db.execute(facts_of_each(record == FOREVER), bound):
            found.setdefault(memory_id, []).append(edge_id)
        return found

    async def stating(
        self, edge_ids: Collection[str], after: str = "", limit: int | None = None
    ) -> Sequence[tuple[str, int]]:
        bound = {"space": self._space, "ids": ids_of(edge_ids), "after": after}
        return self._db.execute(STATING, bound | {"limit": limit or -1}).fetchall()

    async def ever_facts_of(self, memory_id: str) -> Sequence[str]:
        return [
            row[0] for row in self._db.execute(EVER_FACTS, {"space": self._space, "id": memory_id})
        ]

    async def ever_stating(self, edge_id: str) -> Sequence[str]:
        return [
            row[0] for row in self._db.execute(EVER_STATING, {"space": self._space, "id": edge_id})
        ]

    async def is_named(self, item_id: str) -> bool:
        found = self._db.execute(IS_NAMED, {"space": self._space, "id": item_id})
        return found.fetchone() is not None

    async def supports(self, since: int, until: int) -> Sequence[Support]:
        bound = {"space": self._space, "since": since, "until": until}
        return supports_of(self._db.execute(SUPPORTS, bound))


def facts_of_each(now: bool) -> str:
    """Select (memory's id, edge's id) of the facts of the memories among :ids, in order."""
    return (
        f"SELECT p.memory_id, p.edge_id FROM {_support('p', 'memory', now)}"
        f" WHERE p.space = :space AND p.memory_id IN {IDS} AND {current('p', now)}"
        " ORDER BY p.memory_id, p.place"
    )


def sources(now: bool) -> str:
    """Return the live memories that state edge e, as JSON; NULL where no memory states facts."""
    ids = (
        f"SELECT p.memory_id FROM {_support('p', 'edge', now)}"
        f" CROSS JOIN memory d ON d.space = p.space AND d.id = p.memory_id AND {live('d', now)}"
        f" WHERE p.space = e.space AND p.edge_id = e.id AND {current('p', now)}"
        f" ORDER BY p.memory_id LIMIT {MOST_SOURCES}"
    )
    return f"CASE WHEN {_any(now)} THEN (SELECT json_group_array(memory_id) FROM ({ids})) END"
