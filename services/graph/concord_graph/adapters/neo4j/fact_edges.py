"""The Cypher of memories' facts: their edges, and the supersession that follows (M1, T2).

A `Support` node says that a memory states an edge; a closed one is a `SupportVersion` only.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from concord_graph.adapters.neo4j import succession
from concord_graph.adapters.neo4j.patterns import (
    CONSTITUTIVE,
    Known,
    item,
    replaced,
    rests_on,
    seen,
)
from concord_graph.domain.items import FOREVER, ItemKind

MOST_SOURCES: Final = 100

FACTS: Final = (
    "MATCH (p:Support {memory_id: $id}) WHERE p.place IS NOT NULL RETURN p.edge_id ORDER BY p.place"
)
"""The edges of the facts of memory $id."""
FACTS_THEN: Final = (
    "MATCH (p:SupportVersion {memory_id: $id})"
    " WHERE p.record_from <= $record AND p.record_until > $record"
    " RETURN p.edge_id ORDER BY p.place"
)
"""The edges of the facts of memory $id, as known at $record."""
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
    "MATCH (p:Support) WHERE p.edge_id IN $ids AND p.memory_id > $after"
    " MATCH (d:Memory {id: p.memory_id})"
    " RETURN p.memory_id AS id, p.place AS place ORDER BY id, place LIMIT $limit"
)
"""(id, place) of the live memories that state an edge among $ids."""
PUT: Final = (
    "CALL () { MATCH (p:Support {memory_id: $id}) WHERE p.place IS NOT NULL"
    " SET p.record_until = $time REMOVE p:Support }"
    " CALL () { UNWIND $edges AS edge CREATE (n:SupportVersion {memory_id: $id})"
    " SET n:Support, n.place = edge.place, n.edge_id = edge.id, n.revision = 1,"
    f" n.record_from = $time, n.record_until = {FOREVER} }}"
    " MATCH (s:Space) SET s.stated = true"
)
"""Close the supports of memory $id, and open those of its facts from $time on."""


def sources(known: Known) -> str:
    """Return the live memories that state edge e, by id, at most MOST_SOURCES."""
    return (
        f"COLLECT {{ MATCH {seen('p', 'Support', known, 'edge_id: e.id', by='edge_id')}"
        f" MATCH {seen('d', 'Memory', known, 'id: p.memory_id')}"
        f" RETURN d.id AS id ORDER BY id LIMIT {MOST_SOURCES} }}"
    )


def ended_from(known: Known) -> str:
    """Return the end of memory m's last fact (µs); null when it has no live fact.

    A constitutive memory, or one that a consent depends on, does not end with its facts.
    """
    lineage = f"COLLECT {{ {replaced('e', ItemKind.EDGE, known)} RETURN n.effective_from AS t"
    ends = (
        f"COLLECT {{ {_facts(known)}"
        f" WITH *, coalesce({succession.next_from(known)}, {FOREVER}) AS follows,"
        f" coalesce({lineage} ORDER BY t LIMIT 1 }}[0], {FOREVER}) AS other"
        " WITH *, CASE WHEN other < follows THEN other ELSE follows END AS taken"
        " WITH *, CASE WHEN taken < e.effective_from THEN e.effective_from ELSE taken END AS taken_"
        f" WITH *, coalesce(e.valid_until, {FOREVER}) AS stated"
        " RETURN CASE WHEN stated < taken_ THEN stated ELSE taken_ END AS t"
        " ORDER BY t DESC LIMIT 1 }[0]"
    )
    keeps = f"m.edge_type = {CONSTITUTIVE} OR {rests_on('m.id', known)}"
    return f"CASE WHEN {keeps} THEN null ELSE {ends} END"


def former_count(known: Known) -> str:
    """Return the number of edges that the facts of memory m follow."""
    counts = (
        f"COLLECT {{ {_facts(known)} {succession.with_former(known)}"
        f" RETURN {succession.former_count(known)} AS count }}"
    )
    return f"reduce(total = 0, one IN {counts} | total + one)"


@cache
def supersession(known: Known) -> str:
    """Select (id, place, end of the last fact, number of edges that they follow) of $asked."""
    return (
        f"UNWIND $asked AS ask MATCH {item('m', ItemKind.MEMORY, known)}"
        f" RETURN m.id, ask.place, {ended_from(known)}, {former_count(known)}"
    )


@cache
def followers(known: Known) -> str:
    """Select (id, follower's id) of $asked memories, whose facts others follow at $valid.

    The followers state edges that follow the memories' edges: the next in time, and edges from
    which a walk to the heads goes on.
    """
    record = "" if known is None else ", ask"
    return (
        f"UNWIND $asked AS ask MATCH {item('m', ItemKind.MEMORY, known)} {_facts(known)}"
        f" WITH m, e{record} {succession.with_followers(known, f'm, e{record}')}"
        f" MATCH {seen('q', 'Support', known, 'edge_id: successor', by='edge_id')}"
        f" MATCH {seen('d', 'Memory', known, 'id: q.memory_id')} AND d.id <> m.id"
        " RETURN DISTINCT m.id AS id, d.id AS successor"
    )


def _facts(known: Known) -> str:
    """Return the clauses that find the live edges e of the facts of memory m.

    They name both indexes: else Neo4j reads every live edge of every space for each memory.
    """
    first = "memory_id, place" if known is None else "memory_id"
    then = "id" if known is None else "id, revision"
    return (
        f"MATCH {seen('p', 'Support', known, 'memory_id: m.id', by=first)}"
        " AND p.place IS NOT NULL"
        f" MATCH {seen('e', 'Edge', known, 'id: p.edge_id', by=then)}"
    )
