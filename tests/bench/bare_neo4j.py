"""Graph's Neo4j database without graph: filled by plain nodes, and asked by the bare driver.

As `bare_sqlite`: the same rows under the same filters, and the same things left out.
"""

import heapq
import re
import uuid
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice
from typing import Any

from concord_stores.neo4j_config import Neo4jConfig
from neo4j import AsyncDriver, AsyncGraphDatabase, AsyncManagedTransaction

from tests.bench.bare_sqlite import FOREVER, MOST_EDGES, Said, relevance

_CHUNK = 5_000
_FILTERS = (
    f"e.edge_type <> 3 AND e.effective_from <= $now AND coalesce(e.valid_until, {FOREVER}) > $now"
    " AND NOT EXISTS { MATCH (s:Edge {space: 'bench', source_id: e.source_id,"
    " relation: e.relation, target_id: e.target_id}) WHERE s.effective_from > e.effective_from }"
    " AND NOT EXISTS { MATCH (:Replacing {space: 'bench', target_id: e.id}) }"
)
_NEAR = (
    "EXISTS { MATCH (d:Item {space: 'bench', id: e.source_id}) WHERE d:Defined }"
    " OR EXISTS { MATCH (d:Item {space: 'bench', id: e.target_id}) WHERE d:Defined }"
)
_AT = (
    "CALL () {{ MATCH (e:Edge {{space: 'bench'}}) WHERE e.source_id IN {0} RETURN e UNION ALL"
    " MATCH (e:Edge {{space: 'bench'}}) WHERE e.target_id IN {0} AND NOT e.source_id IN {0}"
    " RETURN e }} WITH e WHERE " + _FILTERS.replace("{", "{{").replace("}", "}}")
)
_STEPS = (
    f"{_AT.format('$ids')} WITH e LIMIT $limit"
    " OPTIONAL MATCH (a:Access {space: 'bench', id: e.id})"
    " RETURN e.id, e.source_id, e.target_id, e.edge_type, e.importance,"
    f" e.importance = 0 AND ({_NEAR}), coalesce(a.last_time, e.create_time), coalesce(a.count, 0)"
)
_OTHER = "CASE WHEN e.source_id = {0} THEN e.target_id ELSE e.source_id END"
_PATHS = (
    f"CALL () {{ {_AT.format('[$start]')} RETURN collect([e.id, {_OTHER.format('$start')},"
    " e.weight]) AS near }"
    f" CALL () {{ {_AT.format('[$end]')} RETURN collect([e.id, {_OTHER.format('$end')},"
    " e.weight]) AS far }"
    " CALL (near, far) { UNWIND near AS n WITH n WHERE n[1] = $end"
    " RETURN 1 AS length, n[0] AS a, '' AS b, n[2] AS product UNION ALL"
    " UNWIND near AS n UNWIND far AS f WITH n, f WHERE n[1] = f[1]"
    " RETURN 2 AS length, n[0] AS a, f[0] AS b, n[2] * f[2] AS product }"
    " RETURN length, a, b, product ORDER BY length, product DESC, a, b LIMIT 10"
)
_WHOLE = (
    "MATCH (e:Edge {space: 'bench'}) WHERE e.id IN $ids"
    " OPTIONAL MATCH (s:Item {space: 'bench', id: e.source_id})"
    " OPTIONAL MATCH (t:Item {space: 'bench', id: e.target_id})"
    " OPTIONAL MATCH (a:Access {space: 'bench', id: e.id})"
    " RETURN properties(e), s.name, t.name, a.last_time, a.count"
)
_SAID = (
    "MATCH (m:Memory {space: 'bench'}) USING INDEX m:Memory(space, content_digest)"
    " WHERE m.content_digest IN $digests RETURN m.content_digest"
)
_NAMED = "MATCH (n:Entity {space: 'bench', name: $name}) RETURN n.id"


class BareNeo4j:
    """The database that the settings name, with one node and one edge in it that graph made."""

    is_called = "the bare driver, by hand"

    def __init__(self, given: Neo4jConfig) -> None:
        self._like = ""
        login = (given.user, given.password.get_secret_value())
        self._driver: AsyncDriver = AsyncGraphDatabase.driver(
            given.uri, auth=login, notifications_min_severity="OFF"
        )

    async def close(self) -> None:
        """Close the driver."""
        await self._driver.close()

    async def fill(self, names: Sequence[str], triples: Iterable[tuple[str, str, str]]) -> None:
        """Write nodes of these names, and edges between them, like the ones there."""
        ids = {name: str(uuid.uuid4()) for name in names}
        rows = iter([{"id": ids[name], "name": name} for name in names])
        while chunk := list(islice(rows, _CHUNK)):
            await self._run(
                "MATCH (n:Entity {space: 'bench', name: 'first'}) UNWIND $rows AS row"
                " CREATE (x:Item:NodeVersion:Entity) SET x = n {.*, id: row.id, name: row.name}",
                rows=chunk,
            )
        edges, like = iter(triples), await self._edge_like()
        while some := list(islice(edges, _CHUNK)):
            await self._run(
                "MATCH (e:Item {space: 'bench', id: $like}) UNWIND $rows AS row"
                " CREATE (x:Item:EdgeVersion:Edge)"
                " SET x = e {.*, id: row.id, source_id: row.source,"
                " relation: row.relation, target_id: row.target} WITH row"
                " MATCH (a:Item {space: 'bench', id: row.source})"
                " MERGE (b:Item {space: 'bench', id: row.target}) ON CREATE SET b:Ghost"
                " CREATE (a)-[r:$(row.relation)]->(b) SET r.id = row.id",
                like=like,
                rows=[
                    {
                        "id": str(uuid.uuid4()),
                        "source": ids.get(source, source),
                        "relation": relation,
                        "target": ids.get(target, target),
                    }
                    for source, relation, target in some
                ],
            )

    async def around(self, name: str, depth: int, now: int) -> int:
        """Read what surrounds a node up to `depth` hops, the 20 most relevant whole."""
        start = (await self._run(_NAMED, name=name))[0][0]
        met, frontier, steps = {start}, [start], dict[str, list[Any]]()
        for _ in range(depth):
            limit = MOST_EDGES + len(steps) + 1
            found = await self._run(_STEPS, ids=frontier, now=now, limit=limit)
            new = sorted(row for row in found if row[0] not in steps)[: MOST_EDGES - len(steps)]
            steps |= {row[0]: row for row in new}
            beyond = {end for row in new for end in row[1:3]} - met
            met |= beyond
            frontier = list(beyond)
        best = heapq.nsmallest(20, ((-relevance(row, now), row[0]) for row in steps.values()))
        await self._run(_WHOLE, ids=[item_id for _, item_id in best])
        return len(steps)

    async def paths(self, start: str, end: str, now: int) -> int:
        """Read the ten best paths of one or two edges, whole."""
        ends = [(await self._run(_NAMED, name=name))[0][0] for name in (start, end)]
        found = await self._run(_PATHS, start=ends[0], end=ends[1], now=now)
        await self._run(_WHOLE, ids=[edge_id for row in found for edge_id in row[1:3] if edge_id])
        return len(found)

    async def write(self, number: int) -> None:
        """Write one edge, its relationship, one change and one receipt, in one statement."""
        await self._run(
            "MATCH (s:Space {space: 'bench'}) SET s.seq = s.seq + 1 WITH s"
            " MATCH (e:Item {space: 'bench', id: $like})"
            " CREATE (x:Item:EdgeVersion:Edge) SET x = e {.*, id: $id, relation: 'OWN',"
            " target_id: $target, seq: s.seq} CREATE (b:Item:Ghost {space: 'bench', id: $target})"
            " WITH s, e, b MATCH (a:Item {space: 'bench', id: e.source_id})"
            " CREATE (a)-[r:OWN]->(b) SET r.id = $id"
            " CREATE (:Change {space: 'bench', seq: s.seq, item_id: $id, record_time: s.last_time})"
            " CREATE (:Request {space: 'bench', principal: 'bare', method: 'm', request_id: $id})",
            id=str(uuid.uuid4()),
            like=await self._edge_like(),
            target=f"written-{number}",
        )

    async def add(self, memories: Sequence[Said]) -> None:
        """Ask which texts are there; write memories like the one there, their changes, and a
        receipt."""
        async with self._driver.session() as session:
            await session.execute_write(self._add, memories)

    async def _add(self, tx: AsyncManagedTransaction, memories: Sequence[Said]) -> None:
        await self._in(tx, _SAID, digests=[each.digest for each in memories])
        await self._in(
            tx,
            "MATCH (s:Space {space: 'bench'}) SET s.seq = s.seq + size($rows)"
            " WITH s MATCH (m:Memory {space: 'bench'}) WITH s, m LIMIT 1"
            " CALL (s, m) { UNWIND $rows AS row"
            " CREATE (x:Item:MemoryVersion:Memory) SET x = m {.*, id: row.id,"
            " seq: s.seq - row.back}, x += row.said"
            " CREATE (:Change {space: 'bench', seq: s.seq - row.back, item_id: row.id,"
            " record_time: s.last_time}) }"
            " CREATE (:Request {space: 'bench', principal: 'bare', method: 'm', request_id: $id})",
            id=str(uuid.uuid4()),
            rows=[
                {
                    "id": str(uuid.uuid4()),
                    "said": {
                        "content": each.content,
                        "concepts": list(each.concepts),
                        "content_digest": each.digest,
                    },
                    "back": len(memories) - at,
                }
                for at, each in enumerate(memories, 1)
            ],
        )

    async def _edge_like(self) -> str:
        """Return the id of the edge that others are made like: found once, as no index has it."""
        if not self._like:
            made = "MATCH (e:Edge {space: 'bench', relation: 'LIKE'}) RETURN e.id"
            self._like = str((await self._run(made))[0][0])
        return self._like

    async def _run(self, text: str, **bound: object) -> list[list[Any]]:
        async with self._driver.session() as session:
            return await session.execute_write(self._in, text, **bound)

    @staticmethod
    async def _in(tx: AsyncManagedTransaction, text: str, /, **bound: object) -> list[list[Any]]:
        return list(await (await tx.run(_bound(text), given=bound)).values())


@cache
def _bound(text: str) -> str:
    """Return a statement that Neo4j does not plan anew for each length of each list."""
    return re.sub(r"[$]([a-z]+)", r"$given.\1", text)
