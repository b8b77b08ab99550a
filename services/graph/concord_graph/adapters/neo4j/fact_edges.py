"""The Cypher of memories' facts: which edges a memory states, and which memories an edge (M1).

A `Support` node says that a memory states an edge; a closed one is a `SupportVersion` only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Final

from concord_graph.adapters.merged_rows import supports_of
from concord_graph.adapters.neo4j.patterns import Known, known_at, seen
from concord_graph.adapters.neo4j.transaction import SpaceTransaction
from concord_graph.domain.facts import Support
from concord_graph.domain.items import FOREVER

MOST_SOURCES: Final = 100

EVER_FACTS: Final = (
    "MATCH (p:SupportVersion {memory_id: $id}) WHERE p.place IS NOT NULL"
    " RETURN DISTINCT p.edge_id AS id ORDER BY id"
)
EVER_STATING: Final = (
    "MATCH (p:SupportVersion {edge_id: $id}) WHERE p.place IS NOT NULL"
    " RETURN DISTINCT p.memory_id AS id ORDER BY id"
)
IS_NAMED: Final = " UNION ALL ".join(
    f"CALL () {{ MATCH (e:EdgeVersion {{{end}_id: $id}}) WHERE e:Item AND e.erase_time = 0"
    " RETURN e LIMIT 1 } RETURN true AS found"
    for end in ("source", "target")
)
SUPPORTS: Final = (
    "CALL () { MATCH (p:SupportVersion)"
    " WHERE p.record_from >= $since AND p.record_from <= $until"
    " AND p.record_until > p.record_from"
    " RETURN p.record_from AS time, p.memory_id AS id, p.place AS place, p.edge_id AS edge"
    " UNION MATCH (p:SupportVersion)"
    " WHERE p.record_until >= $since AND p.record_until <= $until"
    f" AND p.record_until <> {FOREVER}"
    " RETURN DISTINCT p.record_until AS time, p.memory_id AS id, -1 AS place, '' AS edge }"
    " RETURN time, id, place, edge ORDER BY time, id, place"
)
"""(time, memory's id, place, edge's id) of facts that began between $since and $until (µs) and
lasted, and of facts that ended then, with the place -1."""
STATING: Final = (
    f"MATCH {seen('p', 'Support', None, by='edge_id')}"
    " AND p.edge_id IN $ids AND p.memory_id > $after"
    " MATCH (d:Memory {id: p.memory_id})"
    " RETURN p.memory_id AS id, p.place AS place ORDER BY id, place LIMIT $limit"
)
"""(id, place) of the live memories after $after that state an edge among $ids."""
PUT: Final = (
    "CALL () { MATCH (p:Support {memory_id: $id}) WHERE p.place IS NOT NULL"
    " SET p.record_until = $time REMOVE p:Support }"
    " CALL () { UNWIND $edges AS edge CREATE (n:SupportVersion {memory_id: $id})"
    " SET n:Support, n.place = edge.place, n.edge_id = edge.id, n.revision = 1,"
    f" n.record_from = $time, n.record_until = {FOREVER} }}"
    " MATCH (s:Space) SET s.stated = true"
)
"""Close the supports of memory $id, and open those of its facts from $time on."""


class FactReads(SpaceTransaction):
    """The part of a view that reads which memories state which edges."""

    async def facts_of(self, memory_id: str, record: int = FOREVER) -> Sequence[str]:
        return (await self.facts_of_each([memory_id], record)).get(memory_id, ())

    async def facts_of_each(
        self, memory_ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, Sequence[str]]:
        """Return the ids of facts' edges; no statement if no memory ever had facts."""
        if not self._stated:
            return {}
        asked = [{"id": memory_id, "record": record} for memory_id in memory_ids]
        text = facts_of_each(known_at(record))
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
        return [(row[0], row[1]) for row in await self.ask(STATING, **bound)]

    async def ever_facts_of(self, memory_id: str) -> Sequence[str]:
        if not self._stated:
            return ()
        return [row[0] for row in await self.ask(EVER_FACTS, id=memory_id)]

    async def ever_stating(self, edge_id: str) -> Sequence[str]:
        return [row[0] for row in await self.ask(EVER_STATING, id=edge_id)]

    async def is_named(self, item_id: str) -> bool:
        return bool(await self.ask(IS_NAMED, id=item_id))

    async def supports(self, since: int, until: int) -> Sequence[Support]:
        return supports_of(await self.ask(SUPPORTS, since=since, until=until))


def sources(known: Known) -> str:
    """Return the live memories that state edge e, by id, at most MOST_SOURCES."""
    return (
        f"COLLECT {{ MATCH {seen('p', 'Support', known, 'edge_id: e.id', by='edge_id')}"
        f" MATCH {seen('d', 'Memory', known, 'id: p.memory_id')}"
        f" RETURN d.id AS id ORDER BY id LIMIT {MOST_SOURCES} }}"
    )


@cache
def facts_of_each(known: Known) -> str:
    """Select (memory's id, edge's id) of the facts of the $asked memories, in order."""
    by = "memory_id, place" if known is None else "memory_id"
    return (
        f"UNWIND $asked AS ask MATCH {seen('p', 'Support', known, 'memory_id: ask.id', by=by)}"
        " AND p.place IS NOT NULL RETURN p.memory_id AS id, p.edge_id ORDER BY id, p.place"
    )
