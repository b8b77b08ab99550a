"""The Cypher of graph's reads, built once for "now" and once for "as it was known then".

Every statement passes through `scoped`, which puts the caller's space into each node pattern: there
is no statement that could forget it. Aliases: e edge, m memory, l lineage edge, n newer side,
s sibling, a access.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from concord_graph.domain.items import FOREVER, EdgeType, ItemKind, MemoryKind, Relation

Known = str | None
"""The Cypher expression of the record time (µs) that is asked about; None = what is known now."""

PLANNED_ONCE: Final = "CYPHER replan=skip "
"""Keeps a plan when sizes change: each starts with seeks in an index, in any store (a test looks),
and planning one costs more than a thousand of its runs."""
THEN: Final = "ask.record"
"""What a statement for the past asks about: each of its $asked brings an instant along."""
_NODE: Final = re.compile(r"\((\w*:\w+)(?: \{([^{}]*)\})?\)")
_PARAMETER: Final = re.compile(r"\$(\w+)")
_REPLACING: Final = f"['{Relation.SUPERSEDES}', '{Relation.DEPRECATES}']"
_CONSTITUTIVE: Final = int(EdgeType.CONSTITUTIVE)
_THEN: Final = {
    "Item": "",
    "Entity": "NOT {0}.deleted",
    "Memory": "NOT {0}.deleted",
    "Edge": "NOT {0}.deleted",
    "Replacing": f"NOT {{0}}.deleted AND {{0}}.relation IN {_REPLACING}",
    "Tombstone": "{0}.deleted",
}
_VERSIONS: Final = {
    "Entity": "NodeVersion",
    "Memory": "MemoryVersion",
    "Tombstone": "MemoryVersion",
}
_VERSION: Final = {
    ItemKind.NODE: "NodeVersion",
    ItemKind.EDGE: "EdgeVersion",
    ItemKind.MEMORY: "MemoryVersion",
}
_LIVE: Final = {ItemKind.NODE: "Entity", ItemKind.EDGE: "Edge", ItemKind.MEMORY: "Memory"}


@cache
def scoped(text: str) -> str:
    """Return a statement whose every labelled node is of the caller's space.

    What it binds becomes one map, $given, `given.space` among it: Neo4j plans a statement anew for
    each type of each parameter, and counts a list's length to its type.
    """

    def bound(found: re.Match[str]) -> str:
        inner = f"space: $space, {found[2]}" if found[2] else "space: $space"
        return f"({found[1]} {{{inner}}})"

    result, count = _NODE.subn(bound, text)
    if not count:
        raise ValueError(f"a statement without a node of the space: {text}")
    return PLANNED_ONCE + _PARAMETER.sub(r"$given.\1", result)


def seen(alias: str, label: str, known: Known, keys: str = "") -> str:
    """Return a pattern of nodes as known at an instant, up to and with its WHERE.

    `label` is one of the live labels, `Tombstone` (of a memory), or `Item` for any edge.
    """
    inner = f" {{{keys}}}" if keys else ""
    if known is None:
        return f"({alias}:{label}{inner}) WHERE true"
    version = _VERSIONS.get(label, "EdgeVersion")
    tests = [was_known(alias, known), _THEN[label].format(alias)]
    return f"({alias}:{version}{inner}) WHERE {' AND '.join(filter(None, tests))}"


def was_known(alias: str, known: str) -> str:
    """Return the test that a version is the one that was known, tombstones among them."""
    interval = f"{alias}.record_from <= {known} AND {alias}.record_until > {known}"
    return f"{alias}.revision > 0 AND {interval}"


def _item(alias: str, kind: ItemKind, known: Known) -> str:
    """Return the pattern of the item `ask.id`, tombstones too, up to and with its WHERE."""
    if known is None:
        return f"({alias}:Item {{id: ask.id}}) WHERE {alias}.kind = {int(kind)}"
    return f"({alias}:{_VERSION[kind]} {{id: ask.id}}) WHERE {was_known(alias, known)}"


_TRIPLE = "source_id: e.source_id, relation: e.relation, target_id: e.target_id"


def _later_sibling(known: Known) -> str:
    """Return the later edges of the triple of e, as s: its successors unless it is constitutive."""
    return (
        f"MATCH {seen('s', 'Edge', known, _TRIPLE)} AND s.effective_from > e.effective_from"
        f" AND e.edge_type <> {_CONSTITUTIVE}"
    )


def _replaced(alias: str, live: str, known: Known) -> str:
    """Return the newer sides, as n, of the lineage that counts at an item."""
    return (
        f"MATCH {seen('l', 'Replacing', known, f'target_id: {alias}.id')}"
        f" AND ({alias}.edge_type <> {_CONSTITUTIVE} OR l.governed)"
        f" MATCH {seen('n', live, known, 'id: l.source_id')}"
    )


def _earliest(match: str, alias: str) -> str:
    return f"COLLECT {{ {match} RETURN {alias}.effective_from AS t ORDER BY t LIMIT 1 }}[0]"


def superseded(kind: ItemKind, alias: str, known: Known) -> str:
    """Return the test that a successor of e or m has begun at $valid."""
    tests = [f"EXISTS {{ {_replaced(alias, _LIVE[kind], known)} AND n.effective_from <= $valid }}"]
    if kind == ItemKind.EDGE:
        tests.append(f"EXISTS {{ {_later_sibling(known)} AND s.effective_from <= $valid }}")
    return f"({' OR '.join(tests)})"


@cache
def successors(kind: ItemKind, known: Known) -> str:
    """Select (id, successor's id) of $asked items for successors that have begun at $valid."""
    alias = "e" if kind == ItemKind.EDGE else "m"
    start = f"UNWIND $asked AS ask MATCH {_item(alias, kind, known)}"
    resolved = f"{_replaced(alias, _LIVE[kind], known)} AND n.effective_from <= $valid"
    text = f"{start} {resolved} RETURN {alias}.id AS id, n.id AS successor"
    if kind != ItemKind.EDGE:
        return text
    sibling = f"{_later_sibling(known)} AND s.effective_from <= $valid"
    return f"{text} UNION {start} {sibling} RETURN e.id AS id, s.id AS successor"


@cache
def found(known: Known, *, by_name: bool) -> str:
    """Select the id of the live node of $name, or of the live item of $id."""
    start = "UNWIND $asked AS ask MATCH"
    if by_name:
        return f"{start} {seen('x', 'Entity', known, 'name: ask.name')} RETURN x.id AS id"
    if known is None:
        return f"{start} (x:Item {{id: ask.id}}) WHERE x.deleted = false RETURN x.id AS id"
    return " UNION ".join(
        f"{start} {_item('x', kind, known)} AND NOT x.deleted RETURN x.id AS id"
        for kind in _VERSION
    )


def has_constitutive(expression: str) -> str:
    """Return the test that a live constitutive edge starts or ends at an id (as known now)."""
    return " OR ".join(
        f"EXISTS {{ MATCH (:Constitutive {{{end}: {expression}}}) }}"
        for end in ("source_id", "target_id")
    )


_NEAR_EDGE = f"({has_constitutive('e.source_id')} OR {has_constitutive('e.target_id')})"
_NEAR_MEMORY = (
    "(EXISTS { MATCH (x:Edge {source_id: m.id})"
    f" WHERE {has_constitutive('x.target_id')} }} OR "
    f"EXISTS {{ MATCH (x:Edge {{target_id: m.id}}) WHERE {has_constitutive('x.source_id')} }})"
)
_ACCESS_E = "OPTIONAL MATCH (a:Access {id: e.id})"
_ACCESS_M = "OPTIONAL MATCH (a:Access {id: m.id})"


def _predecessors(alias: str, live: str, known: Known) -> str:
    """Return how many live items have this one as a successor, whether it has begun or not."""
    resolved = (
        f"COUNT {{ MATCH {seen('l', 'Replacing', known, f'source_id: {alias}.id')}"
        f" MATCH {seen('n', live, known, 'id: l.target_id')}"
        f" AND (n.edge_type <> {_CONSTITUTIVE} OR l.governed) }}"
    )
    if alias != "e":
        return resolved
    return (
        f"{resolved} + COUNT {{ MATCH {seen('s', 'Edge', known, _TRIPLE)}"
        f" AND s.effective_from < e.effective_from AND s.edge_type <> {_CONSTITUTIVE} }}"
    )


def _name(end: str, known: Known) -> str:
    if known is None:
        return f"COLLECT {{ MATCH (x:Item {{id: e.{end}}}) RETURN x.name }}[0]"
    return (
        f"COLLECT {{ MATCH (x:NodeVersion {{id: e.{end}}}) WHERE {was_known('x', known)}"
        " RETURN x.name }[0]"
    )


def _edge_columns(known: Known) -> str:
    return (
        "properties(e) AS item,"
        f" {_earliest(_later_sibling(known), 's')} AS sibling,"
        f" {_earliest(_replaced('e', 'Edge', known), 'n')} AS replaced,"
        f" {_predecessors('e', 'Edge', known)} AS predecessors,"
        f" a.last_time AS last_time, a.count AS reads, {_NEAR_EDGE} AS near,"
        f" {_name('source_id', known)} AS source, {_name('target_id', known)} AS target"
    )


@cache
def views(kind: ItemKind, known: Known) -> str:
    """Select $asked items with standing, access and the names of an edge's end nodes."""
    if kind == ItemKind.EDGE:
        return (
            f"UNWIND $asked AS ask MATCH {_item('e', kind, known)} {_ACCESS_E}"
            f" RETURN {_edge_columns(known)}, ask.place AS place"
        )
    if kind == ItemKind.NODE:
        return (
            f"UNWIND $asked AS ask MATCH {_item('n', kind, known)} RETURN properties(n) AS item,"
            " null AS sibling, null AS replaced, 0 AS predecessors, null AS last_time, 0 AS reads,"
            " false AS near, null AS source, null AS target, ask.place AS place"
        )
    return (
        f"UNWIND $asked AS ask MATCH {_item('m', kind, known)} {_ACCESS_M}"
        " RETURN properties(m) AS item, null AS sibling,"
        f" {_earliest(_replaced('m', 'Memory', known), 'n')} AS replaced,"
        f" {_predecessors('m', 'Memory', known)} AS predecessors,"
        f" a.last_time AS last_time, a.count AS reads, {_NEAR_MEMORY} AS near,"
        " null AS source, null AS target, ask.place AS place"
    )


_STEP = (
    "e.id, e.source_id, e.target_id, e.weight, e.edge_type, e.importance,"
    f" CASE WHEN e.importance = 0 THEN {_NEAR_EDGE} ELSE false END,"
    " coalesce(a.last_time, e.create_time), coalesce(a.count, 0)"
)


@cache
def walked(
    known: Known,
    ends: tuple[str, ...],
    tests: str,
    *,
    hide_superseded: bool,
    in_time: bool,
    whole: bool,
) -> str:
    """Select up to $limit edges at $ids as walk steps, or whole as `views` does.

    `ends`: which property meets the ids, of "source_id" and "target_id"; `tests`: more conditions.
    """
    conditions = [_ends_are_there(known)]
    if in_time:
        conditions.append(
            f"e.effective_from <= $valid AND coalesce(e.valid_until, {FOREVER}) > $valid"
        )
    if tests:
        conditions.append(tests)
    if hide_superseded:
        conditions.append(f"NOT {superseded(ItemKind.EDGE, 'e', known)}")
    columns = _edge_columns(known) if whole else _STEP
    return (
        f"{_at_ends(known, ends, ' AND '.join(conditions), 'e')}"
        f" {_ask(known)} {_ACCESS_E} RETURN {columns}"
    )


@cache
def degree(known: Known, ends: tuple[str, ...]) -> str:
    """Count up to $limit live edges at $ids."""
    return f"{_at_ends(known, ends, 'true', '1 AS e')} RETURN count(e)"


def _at_ends(known: Known, ends: tuple[str, ...], conditions: str, result: str) -> str:
    """Return up to $limit live edges at $ids as e, each once."""
    branches = []
    for place, end in enumerate(ends):
        once = " AND NOT e.source_id IN $ids" if place and result == "e" else ""
        branches.append(
            f"{_ask(known)} MATCH {seen('e', 'Edge', known)}"
            f" AND e.{end} IN $ids{once} AND {conditions} RETURN {result}"
        )
    return f"CALL () {{ {' UNION ALL '.join(branches)} }} WITH e LIMIT $limit"


def _ask(known: Known) -> str:
    """Bring the record time into scope, where there is one."""
    return "" if known is None else "UNWIND $asked AS ask"


def _ends_are_there(known: Known) -> str:
    return " AND ".join(
        f"(e.{end}_kind <> {int(ItemKind.MEMORY)} OR NOT EXISTS {{ MATCH "
        f"{seen('d', 'Tombstone', known, f'id: e.{end}_id')} }})"
        for end in ("source", "target")
    )


def listed_memories(tests: str) -> str:
    """Select (create_time, id) of live memories, newest first, older than ($time, $id)."""
    return (
        "MATCH (m:Memory) WHERE m.create_time <= $before_time AND m.id IS NOT NULL"
        f" AND (m.create_time < $before_time OR m.id < $before_id){tests}"
        " RETURN m.create_time, m.id ORDER BY m.create_time DESC, m.id DESC LIMIT $limit"
    )


COUNTS: Final = (
    "RETURN COUNT { MATCH (x:Entity) WHERE x.name IS NOT NULL },"
    " COUNT { MATCH (x:Edge) WHERE x.id IS NOT NULL },"
    " COUNT { MATCH (x:Memory) WHERE x.create_time IS NOT NULL AND x.id IS NOT NULL"
    f" AND x.memory_kind <> {int(MemoryKind.TURN)} }},"
    " COUNT { MATCH (x:Memory) WHERE x.create_time IS NOT NULL AND x.id IS NOT NULL"
    f" AND x.memory_kind = {int(MemoryKind.TURN)} }},"
    " COUNT { MATCH (x:Tombstone) WHERE x.id IS NOT NULL }"
)


def held(expression: str) -> str:
    """Return the test that what both parties agreed to rests on an id (spec G4).

    `Agreed` is on live edges that start lineage made with consent: their ends are held with them.
    """
    agreed = (
        f"EXISTS {{ MATCH (:{label} {{{end}: {expression}}}) }}"
        for label, end in (
            ("Constitutive", "source_id"),
            ("Constitutive", "target_id"),
            ("Governed", "source_id"),
            ("Agreed", "source_id"),
            ("Agreed", "target_id"),
        )
    )
    return f"({' OR '.join(agreed)})"


LIVE_ITEMS: Final = {
    ItemKind.NODE: "MATCH (x:Entity) WHERE x.name IS NOT NULL RETURN properties(x)",
    ItemKind.EDGE: "MATCH (x:Edge) WHERE x.id IS NOT NULL RETURN properties(x)",
    ItemKind.MEMORY: "MATCH (x:Memory) WHERE x.create_time IS NOT NULL AND x.id IS NOT NULL"
    " RETURN properties(x)",
}

LEARNT: Final = (
    "CALL () { UNWIND $ids AS id OPTIONAL MATCH (i:Item {id: id})"
    f" WITH id, properties(i) AS item, {held('id')} AS held,"
    " COLLECT { MATCH (l:Lineage {source_id: id}) RETURN properties(l) } +"
    " COLLECT { MATCH (l:Lineage {target_id: id}) RETURN properties(l) } AS lineage,"
    " COLLECT { MATCH (l:FromContent {source_id: id}) RETURN properties(l) } AS content"
    " RETURN collect([id, item, held, lineage, content]) AS around }"
    " CALL () { MATCH (n:Entity) WHERE n.name IN $names RETURN collect(properties(n)) AS named }"
    " CALL () { MATCH (x:Item) WHERE x.external_id IN $external_ids"
    " RETURN collect(properties(x)) AS keyed }"
    " CALL () { MATCH (m:Memory) WHERE m.content_digest IN $digests"
    " RETURN collect(properties(m)) AS saying }"
    " RETURN around, named, keyed, saying"
)
"""Select what a write asks of ids (item, held, lineage, edges of its content), names and keys."""
