"""The Cypher of graph's reads of items, walks and lists, built from `patterns`."""

from __future__ import annotations

from functools import cache
from typing import Final

from concord_graph.adapters.neo4j import fact_edges, succession
from concord_graph.adapters.neo4j.patterns import (
    ALIAS,
    LIVE,
    VERSION,
    Known,
    bringing,
    exists,
    in_time,
    is_defined,
    item,
    rests_on,
    seen,
    was_known,
)
from concord_graph.adapters.seen import Seen
from concord_graph.domain.items import EdgeType, Importance, ItemKind, MemoryKind

_ASK: Final = "UNWIND $asked AS ask "
_NEAR_EDGE: Final = f"({is_defined('e.source_id')} OR {is_defined('e.target_id')})"
_STEP: Final = (
    "e.id, e.source_id, e.target_id, e.weight, e.edge_type, e.importance,"
    f" CASE WHEN e.importance = 0 THEN {_NEAR_EDGE} ELSE false END,"
    " coalesce(a.last_time, e.create_time), coalesce(a.count, 0)"
)
_STANDING: Final = (
    "t.superseded_from AS superseded, coalesce(t.former + t.older, 0) AS predecessors,"
    " a.last_time AS last_time, a.count AS reads"
)
_MEMORY_COLUMNS: Final = (
    f"properties(m) AS item, {_STANDING},"
    " EXISTS { MATCH (i:Item {id: m.id})--(:Defined) } AS near,"
    " null AS source_name, null AS target_name, [] AS sources"
)

IMPORTANCE: Final = (
    "CASE WHEN e.importance <> 0 THEN e.importance"
    f" WHEN e.edge_type = {int(EdgeType.RESOLUTION)} OR {_NEAR_EDGE} THEN {int(Importance.HIGH)}"
    " WHEN e.create_time < $unread"
    " AND NOT EXISTS { MATCH (a:Access {id: e.id}) WHERE a.last_time >= $unread }"
    f" THEN {int(Importance.LOW)} ELSE {int(Importance.MEDIUM)} END"
)
"""The importance of edge e that a reader sees (G8), as `domain.relevance.default_importance`."""


@cache
def of_triple(known: Known) -> str:
    """Select the live edges from $source over $relation to $target, by effective valid_from."""
    keys = "source_id: $source, relation: $relation, target_id: $target"
    return (
        f"{bringing(known)}MATCH {seen('e', 'Edge', known, keys)} AND e.effective_from IS NOT NULL"
        " RETURN properties(e) ORDER BY e.effective_from"
    )


@cache
def of_external_id(known: Known) -> str:
    """Select the memory of the importer's $key, live or forgotten."""
    if known is None:
        return "MATCH (m:Item {external_id: $key}) RETURN properties(m)"
    return (
        f"{bringing(known)}MATCH (m:MemoryVersion {{external_id: $key}})"
        f" WHERE {was_known('m', known)} RETURN properties(m)"
    )


@cache
def connected(known: Known) -> str:
    """Select those of $asked that are linked with a live item."""
    tests = [
        f"{seen('e', 'Edge', known, f'{end}_id: ask.id')} AND"
        f" (e.{other}_kind <> {ItemKind.MEMORY:d}"
        f" OR {exists(seen('m', 'Memory', known, f'id: e.{other}_id'))})"
        for end, other in (("source", "target"), ("target", "source"))
    ]
    return f"UNWIND $asked AS ask WITH ask WHERE {exists(*tests)} RETURN ask.id"


@cache
def kinds(known: Known) -> str:
    """Select (id, kind) of the items that $asked name, deleted ones too."""
    if known is None:
        last = int(ItemKind.MEMORY)
        return f"{_ASK}MATCH (x:Item {{id: ask.id}}) WHERE x.kind <= {last} RETURN x.id, x.kind"
    return " UNION ".join(
        f"{_ASK}MATCH {item('x', kind, known)} RETURN x.id AS id, x.kind AS kind" for kind in LIVE
    )


@cache
def found(known: Known, *, by_name: bool) -> str:
    """Select the id of the live node with the $asked name, or of the live item with that id."""
    if by_name:
        return f"{_ASK}MATCH {seen('x', 'Entity', known, 'name: ask.name')} RETURN x.id AS id"
    if known is None:
        live = f"x.kind <= {int(ItemKind.MEMORY)} AND NOT x.deleted"
        return f"{_ASK}MATCH (x:Item {{id: ask.id}}) WHERE {live} RETURN x.id AS id"
    return " UNION ".join(
        f"{_ASK}MATCH {item('x', kind, known)} AND NOT x.deleted RETURN x.id AS id" for kind in LIVE
    )


@cache
def lineage(known: Known) -> str:
    """Select the live lineage edges that start or end at $ids."""
    return " UNION ".join(
        f"{bringing(known)}MATCH {seen('l', 'Lineage', known, by=end)} AND l.{end} IN $ids"
        " RETURN properties(l) AS edge"
        for end in ("source_id", "target_id")
    )


@cache
def is_pinned(known: Known) -> str:
    """Select whether a consent depends on the $asked item."""
    return f"{_ASK}RETURN {rests_on('ask.id', known)}"


@cache
def frozen_by_lineage() -> str:
    """Select (id, source's id, target's id) of the items at which governed lineage ends. Only a
    live edge has the two ids of its ends."""
    return (
        "MATCH (g:Governed) OPTIONAL MATCH (c:Edge {id: g.target_id})"
        " RETURN g.target_id AS id, c.source_id AS source, c.target_id AS target"
    )


@cache
def amendments(known: Known) -> str:
    """Select the live AMENDS edges that end at $asked."""
    amending = seen("l", "Amending", known, "target_id: ask.id", by="target_id")
    return f"{_ASK}MATCH {amending} RETURN properties(l)"


@cache
def items(known: Known) -> str:
    """Select the $asked edges and memories, deleted ones too."""
    kinds_ = (ItemKind.EDGE, ItemKind.MEMORY)
    if known is None:
        wanted = f"x.kind IN {list(map(int, kinds_))}"
        return f"{_ASK}MATCH (x:Item {{id: ask.id}}) WHERE {wanted} RETURN properties(x) AS item"
    return " UNION ALL ".join(
        f"{_ASK}MATCH {item('x', kind, known)} RETURN properties(x) AS item" for kind in kinds_
    )


@cache
def views(kind: ItemKind, known: Known, *, facts: bool) -> str:
    """Select $asked items with supersession, access and the names of an edge's end nodes.

    `facts`: also select the memories that state an edge.
    """
    alias = ALIAS[kind]
    start = f"{_ASK}MATCH {item(alias, kind, known)}"
    if kind == ItemKind.NODE:
        return (
            f"{start} RETURN properties(n) AS item, null AS superseded,"
            " 0 AS predecessors, null AS last_time, 0 AS reads, false AS near, null AS source_name,"
            " null AS target_name, [] AS sources, ask.place AS place"
        )
    if kind == ItemKind.EDGE:
        columns = _edge_columns(known, facts=facts)
        return f"{start} {_around_edge(known)} RETURN {columns}, ask.place AS place"
    around = f"OPTIONAL MATCH (a:Access {{id: m.id}}) {succession.standing('m', known)}"
    return f"{start} {around} RETURN {_MEMORY_COLUMNS}, ask.place AS place"


@cache
def walked(
    known: Known,
    ends: tuple[str, ...],
    tests: str,
    *,
    hide_superseded: bool,
    seen_as: Seen,
    constitutive: bool,
    standing_only: bool,
    facts: bool,
) -> str:
    """Select up to $limit edges at $ids, in the form in which the walk sees them.

    `standing_only`: if several edges of a triple hold at $valid, only the one that stands for them
    (G2); `ends`: the properties to seek the ids in, "source_id" and "target_id"; `tests`: more
    conditions; `constitutive`: such edges only, which have their own index, for hubs; `facts` as in
    `views`.
    """
    conditions = _is_walked(
        known, tests, hide_superseded=hide_superseded, standing_only=standing_only
    )
    shown = {
        Seen.HOP: "RETURN e.id, e.source_id, e.target_id, e.weight",
        Seen.STEP: f"OPTIONAL MATCH (a:Access {{id: e.id}}) RETURN {_STEP}",
        Seen.WHOLE: f"{_around_edge(known)} RETURN {_edge_columns(known, facts=facts)}",
    }[seen_as]
    label = "Constitutive" if constitutive else "Edge"
    scope = "e" if known is None else "e, ask"
    return f"{_at_ends(known, label, ends, conditions)} WITH {scope} LIMIT $limit {shown}"


@cache
def degrees(known: Known, ends: tuple[str, ...]) -> str:
    """Select (id, number of its live edges, at most $limit) of $ids."""
    scope = "id" if known is None else "id, ask"
    branches = " UNION ALL ".join(
        f"MATCH {seen('e', 'Edge', known, f'{end}: id', by=end)} RETURN 1 AS one" for end in ends
    )
    return (
        f"UNWIND $ids AS id {bringing(known)}CALL ({scope}) {{ CALL ({scope}) {{ {branches} }}"
        " WITH one LIMIT $limit RETURN count(one) AS edges } RETURN id, edges"
    )


@cache
def listed_nodes(known: Known) -> str:
    """Select live nodes of $label ('' = any) with a name after $after, by name."""
    return (
        f"{bringing(known)}MATCH {seen('n', 'Entity', known)} AND n.name > $after"
        " AND ($label = '' OR n.label = $label)"
        " RETURN properties(n) ORDER BY n.space, n.name LIMIT $limit"
    )


@cache
def listed_edges(known: Known, tests: str, *, stated: bool, by_participant: bool) -> str:
    """Select ids of live edges after $after, by id; `stated`: only edges that held at $valid.

    `by_participant`: only edges that have, or ever had, the first of $participants.
    """
    start, keys = bringing(known), ""
    if by_participant:
        start += (
            "MATCH (p:Participation {name: $participants[0]})"
            " USING INDEX SEEK p:Participation(space, name, edge_id) WHERE p.edge_id > $after"
            f" WITH p{'' if known is None else ', ask'} ORDER BY p.space, p.name, p.edge_id "
        )
        keys = "id: p.edge_id"
    conditions = [seen("e", "Edge", known, keys), "e.id > $after"]
    conditions += [tests] if tests else []
    conditions += [held_then(ItemKind.EDGE, known)] if stated else []
    return (
        f"{start}MATCH {' AND '.join(conditions)} RETURN e.id ORDER BY e.space, e.id LIMIT $limit"
    )


@cache
def listed_memories(known: Known, tests: str) -> str:
    """Select (create_time, id) of live memories that pass the tests, newest first."""
    page = (
        f"MATCH {seen('m', 'Memory', known, by='create_time, id')}"
        " AND m.create_time <= $before_time AND m.id IS NOT NULL"
        f" AND (m.create_time < $before_time OR m.id < $before_id){tests}"
        " RETURN m.create_time AS time, m.id AS id"
        " ORDER BY m.space DESC, m.create_time DESC, m.id DESC LIMIT $limit"
    )
    if known is None:
        return page
    # the page is read in the order of the index only in a subquery
    return f"{bringing(known)}CALL (ask) {{ {page} }} RETURN time, id"


@cache
def live_items(kind: ItemKind, known: Known, *, stated: bool) -> str:
    """Select every live item of a kind; `stated`: only items that held at $valid (`held_then`)."""
    then = f" AND {held_then(kind, known)}" if stated else ""
    return f"{bringing(known)}MATCH {_all_of(kind, known)}{then} RETURN properties({ALIAS[kind]})"


@cache
def counted(known: Known, *, stated: bool) -> str:
    """Count nodes, edges, memories but turns, turns, and deleted items.

    `stated`: live ones that held at $valid (`held_then`).
    """

    def count(kind: ItemKind, test: str = "") -> str:
        then = f" AND {held_then(kind, known)}" if stated else ""
        return f"COUNT {{ MATCH {_all_of(kind, known)}{test}{then} }}"

    turn = f"m.memory_kind = {int(MemoryKind.TURN)}"
    if known is None:
        deleted = "COUNT { MATCH (x:Tombstone) WHERE x.id IS NOT NULL }"
    else:
        deleted = " + ".join(
            f"COUNT {{ MATCH (x:{version}) WHERE x.id IS NOT NULL AND {was_known('x', known)}"
            " AND x.deleted }"
            for version in (*VERSION.values(), "EntryVersion")
        )
    return (
        f"{bringing(known)}RETURN {count(ItemKind.NODE)}, {count(ItemKind.EDGE)},"
        f" {count(ItemKind.MEMORY, f' AND NOT {turn}')},"
        f" {count(ItemKind.MEMORY, f' AND {turn}')}, {deleted}"
    )


def held_then(kind: ItemKind, known: Known) -> str:
    """Return the test that an item (e, m or n) held at $valid: in time, not superseded."""
    if kind == ItemKind.NODE:
        return "true"  # a node has no valid time
    return f"{in_time(ALIAS[kind])} AND NOT {succession.superseded(ALIAS[kind], known)}"


def _all_of(kind: ItemKind, known: Known) -> str:
    """Return the pattern of every live item of a kind, up to and with its WHERE."""
    alias = ALIAS[kind]
    return f"{seen(alias, LIVE[kind], known)} AND {alias}.id IS NOT NULL"


def _around_edge(known: Known) -> str:
    """Return the clauses that bring an edge's end nodes, as source and target, its access and how
    it stands."""
    ends = " ".join(
        f"OPTIONAL MATCH ({end}:Item {{id: e.{end}_id}})" for end in ("source", "target")
    )
    return f"OPTIONAL MATCH (a:Access {{id: e.id}}) {ends} {succession.standing('e', known)}"


def _name(end: str, known: Known) -> str:
    if known is None:
        return f"{end}.name"
    return (
        f"COLLECT {{ MATCH (x:NodeVersion {{id: e.{end}_id}}) WHERE {was_known('x', known)}"
        " RETURN x.name }[0]"
    )


def _edge_columns(known: Known, *, facts: bool) -> str:
    return (
        f"properties(e) AS item, {_STANDING},"
        " coalesce(source:Defined OR target:Defined, false) AS near,"
        f" {_name('source', known)} AS source_name, {_name('target', known)} AS target_name,"
        f" {fact_edges.sources(known) if facts else '[]'} AS sources"
    )


def _at_ends(known: Known, label: str, ends: tuple[str, ...], conditions: str) -> str:
    """Return the clauses that find the live edges e at $ids that meet the conditions, each once."""
    branches = (
        f"{bringing(known)}MATCH {seen('e', label, known, by=end)} AND e.{end} IN $ids"
        f"{' AND NOT e.source_id IN $ids' if place else ''} RETURN e"
        for place, end in enumerate(ends)
    )
    there = f"CALL () {{ {' UNION ALL '.join(branches)} }}"
    return f"{there} {bringing(known)}WITH * WHERE {conditions}"


def _is_walked(known: Known, tests: str, *, hide_superseded: bool, standing_only: bool) -> str:
    conditions = [_ends_are_there(known), in_time("e")]
    if tests:
        conditions.append(tests)
    if hide_superseded:
        conditions.append(f"NOT {succession.superseded('e', known)}")
    if standing_only:
        conditions.append(succession.stands(known))
    return " AND ".join(conditions)


def _ends_are_there(known: Known) -> str:
    return " AND ".join(
        f"(e.{end}_kind <> {int(ItemKind.MEMORY)} OR NOT EXISTS {{ MATCH "
        f"{seen('d', 'Tombstone', known, f'id: e.{end}_id')} }})"
        for end in ("source", "target")
    )
