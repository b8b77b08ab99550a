"""Patterns and tests that graph's Cypher is made of, for "now" and for "as it was known then".

Every statement passes through `scoped`, which puts the caller's space into each node pattern, so
that no statement can forget it. Aliases: e edge, m memory, n node, l lineage edge, g lineage made
with consent, s value of a row, t how an item stands.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from concord_graph.domain.items import (
    FOREVER,
    LINEAGE_WORDS,
    EdgeType,
    ItemKind,
    MemoryKind,
    Relation,
)

Known = str | None
"""The Cypher expression of the record time (µs) of a read; None = now."""

THEN: Final = "ask.record"
"""The record time in statements for the past: each row of $asked brings its own."""
PLANNED_ONCE: Final = "CYPHER replan=skip "
CONSTITUTIVE: Final = int(EdgeType.CONSTITUTIVE)
ALIAS: Final = {ItemKind.NODE: "n", ItemKind.EDGE: "e", ItemKind.MEMORY: "m"}
LIVE: Final = {ItemKind.NODE: "Entity", ItemKind.EDGE: "Edge", ItemKind.MEMORY: "Memory"}
VERSION: Final = {
    ItemKind.NODE: "NodeVersion",
    ItemKind.EDGE: "EdgeVersion",
    ItemKind.MEMORY: "MemoryVersion",
}

_NODE: Final = re.compile(r"\((\w*:\w+)(?: \{([^{}]*)\})?\)")
_PARAMETER: Final = re.compile(r"\$(\w+)")
# a live label: the label of the revisions that can bear it, and its test of a revision
_LABELS: Final = {
    "Entity": ("NodeVersion", "NOT {0}.deleted"),
    "Memory": ("MemoryVersion", "NOT {0}.deleted"),
    "Turn": ("MemoryVersion", f"NOT {{0}}.deleted AND {{0}}.memory_kind = {int(MemoryKind.TURN)}"),
    "Tombstone": ("MemoryVersion", "{0}.deleted"),
    "Entry": ("EntryVersion", "NOT {0}.deleted"),
    "Conflict": ("EntryVersion", f"NOT {{0}}.deleted AND {{0}}.kind = {int(ItemKind.CONFLICT)}"),
    "Claim": ("EntryVersion", f"NOT {{0}}.deleted AND {{0}}.kind = {int(ItemKind.CLAIM)}"),
    "Support": ("SupportVersion", "true"),
    "Standing": ("StandingVersion", "true"),
    "Relation": ("RelationVersion", "NOT {0}.deleted"),
    "Edge": ("EdgeVersion", "NOT {0}.deleted"),
    "Constitutive": ("EdgeVersion", f"NOT {{0}}.deleted AND {{0}}.edge_type = {CONSTITUTIVE}"),
    "Governed": ("EdgeVersion", "NOT {0}.deleted AND {0}.governed"),
    "Amending": ("EdgeVersion", f"NOT {{0}}.deleted AND {{0}}.relation = '{Relation.AMENDS}'"),
    "Lineage": (
        "EdgeVersion",
        f"NOT {{0}}.deleted AND {{0}}.relation IN {sorted(map(str, LINEAGE_WORDS))}",
    ),
}


@cache
def scoped(text: str) -> str:
    """Return a statement whose every labelled node is of the caller's space.

    Its bound values become one map, $given, with the space as `given.space`: Neo4j plans a
    statement anew for each type of each parameter, and a list's length is part of its type. A
    statement is not planned anew when the store grows: every plan seeks, even one made for an empty
    store, and planning takes seconds.
    """

    def bound(found: re.Match[str]) -> str:
        inner = f"space: $space, {found[2]}" if found[2] else "space: $space"
        return f"({found[1]} {{{inner}}})"

    result, count = _NODE.subn(bound, text)
    if not count:
        raise ValueError(f"a statement without a node of the space: {text}")
    return PLANNED_ONCE + _PARAMETER.sub(r"$given.\1", result)


def seen(alias: str, label: str, known: Known, keys: str = "", *, by: str = "") -> str:
    """Return a pattern of nodes that bore a live label at an instant, up to and with its WHERE.

    `by`: the properties of the index to seek in, after the space. Callers name it if Neo4j, in a
    small store or one with hubs, would read the whole of another index.
    """
    inner = f" {{{keys}}}" if keys else ""
    version, says = (label, "") if known is None else _LABELS[label]
    index = f" USING INDEX SEEK {alias}:{version}(space, {by})" if by else ""
    pattern = f"({alias}:{version}{inner}){index} WHERE"
    if known is None:
        return f"{pattern} true"
    return f"{pattern} {was_known(alias, known)} AND {says.format(alias)}"


def was_known(alias: str, known: str) -> str:
    """Return the test that a revision is the one known then; tombstones pass, too."""
    interval = f"{alias}.record_from <= {known} AND {alias}.record_until > {known}"
    return f"{alias}.revision > 0 AND {interval}"


def item(alias: str, kind: ItemKind, known: Known) -> str:
    """Return the pattern of the item `ask.id`, tombstones too, up to and with its WHERE."""
    if known is None:
        return f"({alias}:Item {{id: ask.id}}) WHERE {alias}.kind = {int(kind)}"
    return f"({alias}:{VERSION[kind]} {{id: ask.id}}) WHERE {was_known(alias, known)}"


def exists(*matches: str) -> str:
    """Return the test that one of the patterns matches."""
    return f"({' OR '.join(f'EXISTS {{ MATCH {match} }}' for match in matches)})"


def governs(alias: str, known: Known) -> str:
    """Return the test that live lineage which was made with consent starts at an edge."""
    if known is None:
        return f"{alias}:Agreed"
    return exists(seen("g", "Governed", known, f"source_id: {alias}.id"))


def rests_on(expression: str, known: Known) -> str:
    """Return the test that a consent depends on an id (spec G4).

    A constitutive edge starts or ends at it, or lineage made with consent starts at it or at an
    edge at it. The test reads the edges; current nodes bear its result as the label `Held`.
    """
    ends = [f"{end}: {expression}" for end in ("source_id", "target_id")]
    constitutive = (seen("c", "Constitutive", known, end) for end in ends)
    agreed = (f"{seen('c', 'Edge', known, end)} AND {governs('c', known)}" for end in ends)
    if known is None:
        agreed = (seen("c", "Agreed", known, end) for end in ends)
    governed = seen("g", "Governed", known, f"source_id: {expression}")
    return exists(governed, *constitutive, *agreed)


ANY_CONFLICT: Final = "EXISTS { MATCH (c:EntryVersion) WHERE c.first_id IS NOT NULL }"
"""Whether the space ever had conflicts or claims."""
ANY_AMENDMENT: Final = "EXISTS { MATCH (a:Amending) WHERE a.target_id IS NOT NULL }"
"""Whether the space has live amendments: most have none, and then reads skip them."""


def in_time(alias: str) -> str:
    """Return the test that $valid is in an edge's or memory's stated interval."""
    until = f"coalesce({alias}.valid_until, {FOREVER})"
    return f"{alias}.effective_from <= $valid AND {until} > $valid"


def is_defined(expression: str) -> str:
    """Return the test that a live constitutive edge starts or ends at an id (as known now)."""
    return f"EXISTS {{ MATCH (d:Item {{id: {expression}}}) WHERE d:Defined }}"


def bringing(known: Known) -> str:
    """Return the clause that brings the record time into scope, in a statement for the past."""
    return "" if known is None else "UNWIND $asked AS ask "


def known_at(record: int) -> Known:
    """Return the record time for a statement: now, or that of each row of $asked."""
    return None if record == FOREVER else THEN
