"""The feed by partitions in Neo4j: each commit takes the next numbers of its space's one.

A partition's node is the last that a transaction locks, and stays locked until the commit: so
commits are numbered in their order, and the writers of other spaces wait only that long.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, Final

from concord_chassis.channel.partitions import partition_of
from neo4j import AsyncManagedTransaction, AsyncSession

from concord_graph.adapters.neo4j import layers
from concord_graph.adapters.neo4j.patterns import PLANNED_ONCE, scoped
from concord_graph.adapters.stored import change_of
from concord_graph.ports import FeedChange, Imported

_A_PAGE: Final = 1_000
_MAKE: Final = (
    "MERGE (p:FeedPartition {partition: 0}) ON CREATE SET p.number = 0, p.count = $count"
    " SET p.holder = randomUUID() WITH p.count AS count"
    " CALL (count) { UNWIND range(1, count - 1) AS each"
    " MERGE (q:FeedPartition {partition: each}) ON CREATE SET q.number = 0 } RETURN count"
)
_UNNUMBERED: Final = (
    "MATCH (s:Space) WHERE s.partition IS NULL WITH s.space AS space LIMIT $limit"
    " RETURN space ORDER BY space"
)
_HOLD_SPACES: Final = (
    "UNWIND $spaces AS space MATCH (s:Space {space: space}) SET s.holder = randomUUID()"
    " WITH s WHERE s.partition IS NULL CALL (s) {"
    " OPTIONAL MATCH (c:Change) WHERE c.space = s.space AND c.seq > 0"
    " RETURN c.seq AS last ORDER BY c.space DESC, c.seq DESC LIMIT 1 } RETURN s.space, last"
)
_HOLD: Final = (
    "UNWIND $partitions AS each MATCH (p:FeedPartition {partition: each})"
    " SET p.holder = randomUUID() WITH p RETURN p.partition, p.number"
)
_PLACE: Final = (
    "UNWIND $rows AS row MATCH (s:Space {space: row.space}) SET s.partition = row.partition"
)
_KEEP: Final = (
    "CALL () { UNWIND $commits AS fields CREATE (f:FeedCommit) SET f = fields }"
    " CALL () { UNWIND $numbers AS row MATCH (p:FeedPartition {partition: row[0]})"
    " SET p.number = row[1] }"
)

_NUMBER: Final = (
    "MATCH (p:FeedPartition {partition: $given.partition})"
    " SET p.holder = randomUUID()"  # takes the node's lock before the read
    " WITH p SET p.number = p.number + $given.count WITH p.number AS number"
    " CREATE (f:FeedCommit {partition: $given.partition, number: number, space: $given.space,"
    " seq: $given.changed, count: $given.count}) RETURN number"
)
NUMBER: Final = f"{PLANNED_ONCE}{_NUMBER}"
"""Number the last changes of a space; the last statement of a transaction."""
NUMBERS: Final = (
    f"{PLANNED_ONCE}MATCH (p:FeedPartition) WHERE p.partition >= 0"
    " RETURN p.number ORDER BY p.partition"
)
SPACES: Final = (
    f"{PLANNED_ONCE}MATCH (s:Space) WHERE s.partition = $given.partition AND s.space > $given.after"
    " AND s.seq > 0 RETURN s.space, s.seq ORDER BY s.partition, s.space LIMIT $given.limit"
)
COMMITS: Final = (
    f"{PLANNED_ONCE}MATCH (f:FeedCommit) WHERE f.partition = $given.partition"
    " AND f.number > $given.after RETURN f.number, f.space, f.seq, f.count"
    " ORDER BY f.partition, f.number LIMIT $given.limit"
)
CHANGES: Final = (
    f"{PLANNED_ONCE}UNWIND $given.parts AS part MATCH (s:Space {{space: part.space}})"
    " OPTIONAL MATCH (i:Imported {space: part.space}) WITH part, s, i"
    " MATCH (c:Change) WHERE c.space = part.space AND c.seq > part.after AND c.seq <= part.last"
    " RETURN part.offset + c.seq AS number, s.space, s.seq, i.seq,"
    f" CASE WHEN c.seq = i.seq THEN i.restore END, {layers.CHANGE} ORDER BY number"
)
NUMBERED: Final = (
    f"{PLANNED_ONCE}UNWIND $given.cursors AS a CALL (a) {{ MATCH (f:FeedCommit)"
    " WHERE f.partition = a[0] AND f.number >= a[1]"
    " RETURN f ORDER BY f.partition, f.number LIMIT 1 }"
    " WITH a, f WHERE f.number - a[1] < f.count"
    " MATCH (c:Change {space: f.space, seq: f.seq - (f.number - a[1])})"
    f" RETURN a[0], a[1], {layers.CHANGE}"
)
AT: Final = (
    f"{PLANNED_ONCE}UNWIND $given.places AS a MATCH (c:Change {{space: a[0], seq: a[1]}})"
    f" RETURN a[0], a[1], {layers.CHANGE}"
)


@cache
def numbering(text: str) -> str:
    """Return a statement of the space that also numbers the last changes, at its end.

    It saves a transaction's last round trip, a fifth of what a commit costs beside others.
    """
    reads, _, columns = scoped(text).rpartition(" RETURN ")
    return f"{reads} CALL () {{ {_NUMBER} }} RETURN {columns}, number"


async def prepare(session: AsyncSession, partitions: int) -> tuple[int, int]:
    """Make the partitions of a store that has none, and number what was written before it had.

    Two processes may do so at once. Return how many partitions there are, and how many spaces were
    numbered. A space's changes get its partition's next numbers together: only their order in the
    space counts.
    """
    ((count,),) = await session.execute_write(_rows, _MAKE, count=partitions)
    numbered = 0
    while found := await session.execute_read(_rows, _UNNUMBERED, limit=_A_PAGE):
        numbered += await session.execute_write(_number_old, [space for (space,) in found], count)
    return count, numbered


async def _rows(tx: AsyncManagedTransaction, /, text: str, **bound: Any) -> list[list[Any]]:
    return await (await tx.run(text, bound)).values()


async def _number_old(tx: AsyncManagedTransaction, spaces: list[str], count: int) -> int:
    held = await _rows(tx, _HOLD_SPACES, spaces=spaces)
    placed = [{"space": space, "partition": partition_of(space, count)} for space, _ in held]
    partitions = sorted({row["partition"] for row in placed})
    numbers = dict(await _rows(tx, _HOLD, partitions=partitions))
    commits = []
    for row, (_, seq) in zip(placed, held, strict=True):
        if seq:
            numbers[row["partition"]] += seq
            number = numbers[row["partition"]]
            commits.append({**row, "number": number, "seq": seq, "count": seq})
    await _rows(tx, _PLACE, rows=placed)
    await _rows(tx, _KEEP, commits=commits, numbers=[[*each] for each in numbers.items()])
    return len(held)


def parts(commits: Sequence[Sequence[Any]], after: int, limit: int) -> list[dict[str, Any]]:
    """Return what of the commits are the next `limit` changes after a number: of each its space,
    its first sequence number but one, its last one, and what its numbers are greater by."""
    found = []
    for number, space, seq, count in commits:
        first = seq - min(count, number - after)
        last = min(seq, first + limit)
        found.append({"space": space, "after": first, "last": last, "offset": number - seq})
        limit -= last - first
        if not limit:
            break
    return found


def page(rows: Collection[Sequence[Any]]) -> list[FeedChange]:
    """Return the changes of the rows of `CHANGES`."""
    return [
        FeedChange(
            number,
            space,
            head_seq,
            change_of(change),
            None if imported is None else Imported(imported, bytes(restore or b"")),
        )
        for number, space, head_seq, imported, restore, *change in rows
    ]
