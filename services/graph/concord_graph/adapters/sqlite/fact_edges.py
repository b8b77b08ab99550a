"""The SQL of memories' facts: their edges, and the supersession that follows (M1, T2)."""

from __future__ import annotations

from concord_graph.adapters.sqlite.revisions import IDS, current, live, rests
from concord_graph.domain.items import FOREVER

MOST_SOURCES = 100


def _support(alias: str, end: str, now: bool) -> str:
    """Return the support rows as a FROM item, indexed by `end`: "memory" or "edge"."""
    return f"support {alias} INDEXED BY support_of_{end}{'' if now else '_then'}"


def _any(now: bool) -> str:
    """Return the test that any memory states a fact: evaluated once, it may save the rest."""
    source = _support("z", "memory", now)
    return f"EXISTS (SELECT 1 FROM {source} WHERE z.space = :space AND {current('z', now)})"


FACTS = (
    f"SELECT p.edge_id FROM {_support('p', 'memory', True)}"
    f" WHERE p.space = :space AND p.memory_id = :id AND {current('p', True)} ORDER BY p.place"
)
"""The edges of the facts of memory :id."""

FACTS_THEN = (
    f"SELECT p.edge_id FROM {_support('p', 'memory', False)}"
    " WHERE p.space = :space AND p.memory_id = :id AND p.record_from <= :record"
    " AND p.record_until > :record ORDER BY p.place"
)
"""The edges of the facts of memory :id, as known at :record."""
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
"""(id, place) of the live memories that state an edge among :ids."""


def sources(now: bool) -> str:
    """Return the live memories that state edge e, as JSON; NULL where no memory states facts."""
    ids = (
        f"SELECT p.memory_id FROM {_support('p', 'edge', now)}"
        f" CROSS JOIN memory d ON d.space = p.space AND d.id = p.memory_id AND {live('d', now)}"
        f" WHERE p.space = e.space AND p.edge_id = e.id AND {current('p', now)}"
        f" ORDER BY p.memory_id LIMIT {MOST_SOURCES}"
    )
    return f"CASE WHEN {_any(now)} THEN (SELECT json_group_array(memory_id) FROM ({ids})) END"


def ended_from(superseded_from: str, now: bool) -> str:
    """Return the end of memory m's last fact (µs); NULL when it has no live fact.

    `superseded_from`: the same of edge e. A constitutive memory, or one that a consent depends on,
    does not end with its facts (G4).
    """
    until = f"min(coalesce(e.valid_until, {FOREVER}), max(e.effective_from, {superseded_from}))"
    held = rests("memory", "m.id", "m.space", now)
    last = f"SELECT max({until}) FROM {_facts('m', now)} AND NOT {held}"
    return f"CASE WHEN {_any(now)} AND m.edge_type <> 2 THEN ({last}) END"


def former_count(former: str, now: bool) -> str:
    """Return the number of edges that memory m's facts follow; `former` is that of edge e."""
    return (
        f"CASE WHEN {_any(now)} THEN (SELECT coalesce(sum({former}), 0) FROM {_facts('m', now)})"
        " ELSE 0 END"
    )


def _facts(memory: str, now: bool) -> str:
    """Return the live edges e of a memory's facts, as a FROM item."""
    return (
        f"{_support('p', 'memory', now)} CROSS JOIN edge e"
        f" ON e.space = p.space AND e.id = p.edge_id AND {live('e', now)}"
        f" WHERE p.space = {memory}.space AND p.memory_id = {memory}.id AND {current('p', now)}"
    )


def edges_of(ids: str, now: bool) -> str:
    """Return the ids of the edges of memories' facts."""
    return (
        f"(SELECT p.edge_id FROM {_support('p', 'memory', now)}"
        f" WHERE p.space = :space AND p.memory_id IN {ids} AND {current('p', now)})"
    )


def followers(edges: str, next_ones: str, ended: str, now: bool) -> str:
    """Select (id, follower's id) of memories among :ids whose facts have all ended at :valid.

    `edges` selects (id, successor's id) of the edges of their facts, `next_ones` the successors
    that are next in time; `ended` is `ended_from`.
    """
    return (
        f"SELECT m.id, q.memory_id FROM memory m CROSS JOIN {_support('p', 'memory', now)}"
        f" ON p.space = m.space AND p.memory_id = m.id AND {current('p', now)}"
        f" CROSS JOIN (SELECT * FROM ({edges}) UNION {next_ones}) f ON f.id = p.edge_id"
        f" CROSS JOIN {_support('q', 'edge', now)}"
        f" ON q.space = p.space AND q.edge_id = f.follower AND {current('q', now)}"
        f" CROSS JOIN memory d ON d.space = q.space AND d.id = q.memory_id AND {live('d', now)}"
        f" WHERE m.space = :space AND m.id IN {IDS} AND {current('m', now)}"
        f" AND q.memory_id <> m.id AND coalesce({ended}, {FOREVER}) <= :valid"
    )
