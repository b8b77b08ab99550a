"""The SQL of graph's reads, built once for "now" and once for "as it was known at :record".

Every statement binds :space. Aliases: e edge, m memory, l lineage edge, n newer side, s sibling.
"""

from __future__ import annotations

from functools import cache

from concord_graph.adapters.seen import Seen
from concord_graph.adapters.sqlite import fact_edges
from concord_graph.adapters.sqlite.revisions import (
    AT_END,
    CONSTITUTIVE_AT_END,
    IDS,
    by,
    current,
    live,
)
from concord_graph.adapters.sqlite.rows import COLUMNS, TABLE, qualified
from concord_graph.adapters.sqlite.succession import standing, stands, superseded_from
from concord_graph.domain.items import (
    FOREVER,
    LINEAGE_WORDS,
    EdgeType,
    Importance,
    ItemKind,
    Relation,
)

ALIAS = {ItemKind.NODE: "n", ItemKind.EDGE: "e", ItemKind.MEMORY: "m"}


def in_time(alias: str) -> str:
    """Return the test that :valid is in an edge's or memory's stated interval."""
    until = f"coalesce({alias}.valid_until, {FOREVER})"
    return f"{alias}.effective_from <= :valid AND {until} > :valid"


def held(kind: ItemKind) -> str:
    """Return the test that an item (e, m or n) held at :valid: in time, and not superseded.

    `t` is how it stands.
    """
    if kind == ItemKind.NODE:
        return "TRUE"  # a node has no valid time
    return f"{in_time(ALIAS[kind])} AND {superseded_from()} > :valid"


@cache
def is_pinned(now: bool) -> str:
    """Select whether a consent depends on the item of :id."""
    governed = (
        f"SELECT 1 FROM edge g {by('edge_governed', now)} WHERE g.space = :space"
        f" AND g.source_id = {{}} AND {live('g', now)} AND g.governed = 1"
    )
    tests = [governed.format(":id")]
    for end in ("source_id", "target_id"):
        at_end = f"WHERE c.space = :space AND c.{end} = :id AND {live('c', now)}"
        constitutive, any_edge = by(CONSTITUTIVE_AT_END[end], now), by(AT_END[end], now)
        tests.append(f"SELECT 1 FROM edge c {constitutive} {at_end} AND c.edge_type = 2")
        resting = governed.format("c.id")
        tests.append(f"SELECT 1 FROM edge c {any_edge} {at_end} AND EXISTS ({resting})")
    return f"SELECT {' OR '.join(f'EXISTS ({test})' for test in tests)}"


@cache
def frozen_by_lineage() -> str:
    """Select (id, source's id, target's id) of the items at which governed lineage ends. Only a
    live edge has the two ids of its ends."""
    return (
        "SELECT g.target_id, c.source_id, c.target_id FROM edge g"
        f" {by('edge_governed', now=True)} LEFT JOIN edge c ON c.space = g.space"
        f" AND c.id = g.target_id AND {live('c', now=True)}"
        f" WHERE g.space = :space AND g.governed = 1 AND {live('g', now=True)}"
    )


ANY_AMENDMENT = (
    f"SELECT 1 FROM edge l {by('edge_amends', True)} WHERE l.space = ?"
    f" AND l.relation = '{Relation.AMENDS}' AND {live('l', True)} LIMIT 1"
)


@cache
def amendments(now: bool) -> str:
    """Select the live AMENDS edges that end at :ids."""
    return (
        f"SELECT {qualified(COLUMNS[ItemKind.EDGE], 'l')} FROM edge l {by('edge_amends', now)}"
        f" WHERE l.space = :space AND l.target_id IN {IDS}"
        f" AND l.relation = '{Relation.AMENDS}' AND {live('l', now)}"
    )


@cache
def items(kind: ItemKind, now: bool) -> str:
    """Select the items of a kind among :ids, deleted ones too."""
    alias = ALIAS[kind]
    return (
        f"SELECT {qualified(COLUMNS[kind], alias)} FROM {TABLE[kind]} {alias}"
        f" WHERE {alias}.space = :space AND {alias}.id IN {IDS} AND {current(alias, now)}"
    )


@cache
def found(now: bool, *, by_name: bool) -> str:
    """Select the id of the live node of :name, or of the live item of :id."""
    if by_name:
        return (
            "SELECT n.id FROM node n WHERE n.space = :space AND n.name = :name"
            f" AND {live('n', now)}"
        )
    return " UNION ALL ".join(
        f"SELECT n.id FROM {name} n WHERE n.space = :space AND n.id = :id AND {live('n', now)}"
        for name in TABLE.values()
    )


def has_constitutive(expression: str, space: str) -> str:
    """Return the test that a live constitutive edge starts or ends at an id (as known now)."""
    tests = [
        f"EXISTS (SELECT 1 FROM edge c {by(CONSTITUTIVE_AT_END[end], True)}"
        f" WHERE c.space = {space} AND c.{end} = {expression}"
        f" AND {live('c', True)} AND c.edge_type = 2)"
        for end in ("source_id", "target_id")
    ]
    are_any = (  # evaluated once a statement, it saves opening the index for every row
        f"EXISTS (SELECT 1 FROM edge z {by(CONSTITUTIVE_AT_END['source_id'], True)}"
        f" WHERE z.space = :space AND {live('z', True)} AND z.edge_type = 2)"
    )
    return f"({are_any} AND ({' OR '.join(tests)}))"


def _near_constitutive_edge(source: str = "e.source_id", target: str = "e.target_id") -> str:
    return f"({has_constitutive(source, ':space')} OR {has_constitutive(target, ':space')})"


IMPORTANCE = (
    "CASE WHEN e.importance <> 0 THEN e.importance"
    f" WHEN e.edge_type = {EdgeType.RESOLUTION} OR {_near_constitutive_edge()}"
    f" THEN {Importance.HIGH}"
    " WHEN e.create_time < :unread AND NOT EXISTS (SELECT 1 FROM access a"
    " WHERE a.space = e.space AND a.id = e.id AND a.last_time >= :unread)"
    f" THEN {Importance.LOW} ELSE {Importance.MEDIUM} END"
)
"""The importance of edge e that a reader sees (G8), as `domain.relevance.default_importance`."""


def _near_constitutive_memory() -> str:
    outgoing = (
        f"EXISTS (SELECT 1 FROM edge x {by('edge_triple', True)}"
        " WHERE x.space = m.space AND x.source_id = m.id"
        f" AND {live('x', True)} AND {has_constitutive('x.target_id', 'x.space')})"
    )
    incoming = (
        f"EXISTS (SELECT 1 FROM edge x {by('edge_target', True)}"
        " WHERE x.space = m.space AND x.target_id = m.id"
        f" AND {live('x', True)} AND {has_constitutive('x.source_id', 'x.space')})"
    )
    return f"({outgoing} OR {incoming})"


_STANDING = f"{superseded_from()}, coalesce(t.former + t.older, 0)"


def _edge_view_columns(now: bool, source: str = "e.source_id", target: str = "e.target_id") -> str:
    """Return the columns of an edge's view. SQLite looks up an end only once if it is bound."""
    name = (
        "(SELECT name FROM node WHERE node.space = :space AND node.id = {end}"
        f" AND {current('node', now)})"
    )
    return (
        f"{qualified(COLUMNS[ItemKind.EDGE], 'e')}, {_STANDING}, a.last_time, a.count,"
        f" {_near_constitutive_edge(source, target)},"
        f" {name.format(end=source)}, {name.format(end=target)}, {fact_edges.sources(now)}"
    )


def _step_columns() -> str:
    return (
        "e.id, e.source_id, e.target_id, e.weight, e.edge_type, e.importance,"
        f" e.importance = 0 AND {_near_constitutive_edge()},"
        " coalesce(a.last_time, e.create_time), coalesce(a.count, 0)"
    )


@cache
def edge_views(now: bool) -> str:
    """Select edges by :ids with supersession, access and the names of their end nodes."""
    return (
        f"SELECT {_edge_view_columns(now)}"
        f" FROM edge e {standing('e', now)}"
        " LEFT JOIN access a ON a.space = e.space AND a.id = e.id"
        f" WHERE e.space = :space AND e.id IN {IDS} AND {current('e', now)}"
    )


@cache
def memory_views(now: bool) -> str:
    """Select memories by :ids with supersession and access."""
    return (
        f"SELECT {qualified(COLUMNS[ItemKind.MEMORY], 'm')}, {_STANDING}, a.last_time, a.count,"
        f" {_near_constitutive_memory()}, NULL, NULL FROM memory m {standing('m', now)}"
        " LEFT JOIN access a ON a.space = m.space AND a.id = m.id"
        f" WHERE m.space = :space AND m.id IN {IDS} AND {current('m', now)}"
    )


@cache
def node_views(now: bool) -> str:
    """Select nodes by :ids."""
    return (
        f"SELECT {qualified(COLUMNS[ItemKind.NODE], 'n')}, {FOREVER}, 0, NULL, 0, 0, NULL, NULL"
        f" FROM node n WHERE n.space = :space AND n.id IN {IDS} AND {current('n', now)}"
    )


VIEWS = {ItemKind.NODE: node_views, ItemKind.EDGE: edge_views, ItemKind.MEMORY: memory_views}


@cache
def walked(
    now: bool,
    ends: tuple[str, ...],
    hide_superseded: bool,
    tests: str,
    *,
    seen: Seen,
    constitutive: bool,
    standing_only: bool,
) -> str:
    """Select up to :limit edges at :ids; if `seen` is WHOLE, at :id.

    `standing_only`: if several edges of a triple hold at :valid, only the one that stands for them
    (G2); `ends`: the columns to seek the ids in, "source_id" and "target_id"; `tests`: conditions;
    `constitutive`: such edges only, which have their own index, for hubs.
    """
    conditions = [f"e.space = :space AND {live('e', now)}", _ends_are_there(now), in_time("e")]
    index = CONSTITUTIVE_AT_END if constitutive else AT_END
    if constitutive:
        conditions.append("e.edge_type = 2")
    if hide_superseded:
        conditions.append(f"{superseded_from()} > :valid")
    if standing_only:
        conditions.append(stands(now))
    if tests:
        conditions.append(tests)
    access = " LEFT JOIN access a ON a.space = e.space AND a.id = e.id"
    branches = []
    for place, end in enumerate(ends):
        met = "(:id)" if seen == Seen.WHOLE else IDS
        once = f" AND e.source_id NOT IN {met}" if place else ""
        branches.append(
            f"SELECT {_seen_columns(seen, now, end)} FROM edge e {by(index[end], now)}"
            f" {standing('e', now)}{'' if seen == Seen.HOP else access}"
            f" WHERE e.{end} IN {met} AND {' AND '.join(conditions)}{once}"
        )
    return " UNION ALL ".join(branches) + " LIMIT :limit"


def _seen_columns(seen: Seen, now: bool, end: str) -> str:
    if seen == Seen.HOP:
        return "e.id, e.source_id, e.target_id, e.weight"
    if seen == Seen.STEP:
        return _step_columns()
    return _edge_view_columns(now, **{end.removesuffix("_id"): ":id"})


@cache
def degrees(now: bool, ends: tuple[str, ...]) -> str:
    """Select (id, number of its live edges, at most :limit) of :ids."""
    branches = [
        f"SELECT 1 FROM edge e {by(AT_END[end], now)}"
        f" WHERE e.space = :space AND e.{end} = i.value AND {live('e', now)}"
        for end in ends
    ]
    edges = f"SELECT count(*) FROM ({' UNION ALL '.join(branches)} LIMIT :limit)"
    return f"SELECT i.value, ({edges}) FROM json_each(:ids) i"


def _ends_are_there(now: bool) -> str:
    tests = [
        f"(e.{end}_kind <> {ItemKind.MEMORY} OR NOT EXISTS (SELECT 1 FROM memory d WHERE"
        f" d.space = e.space AND d.id = e.{end}_id AND {current('d', now)} AND d.deleted = 1))"
        for end in ("source", "target")
    ]
    return " AND ".join(tests)


@cache
def of_triple(now: bool) -> str:
    """Select the live edges from :source over :relation to :target, by effective valid_from."""
    return (
        f"SELECT {qualified(COLUMNS[ItemKind.EDGE], 'e')} FROM edge e {by('edge_triple', now)}"
        " WHERE e.space = :space AND e.source_id = :source AND e.relation = :relation"
        " AND e.target_id = :target"
        f" AND {live('e', now)} ORDER BY e.effective_from"
    )


@cache
def edges_at(alive: bool) -> str:
    """Select the edges that start or end at :id; unless `alive`, deleted ones too."""
    return " UNION ".join(
        f"SELECT {qualified(COLUMNS[ItemKind.EDGE], 'e')} FROM edge e {by(index, alive)}"
        f" WHERE e.space = :space AND e.{end} = :id"
        f" AND {live('e', True) if alive else current('e', True)}"
        for end, index in AT_END.items()
    )


@cache
def of_external_id(now: bool) -> str:
    """Select the memory of the importer's :key, live or forgotten."""
    return (
        f"SELECT {qualified(COLUMNS[ItemKind.MEMORY], 'm')} FROM memory m"
        f" WHERE m.space = :space AND m.external_id = :key AND {current('m', now)}"
    )


@cache
def connected(now: bool) -> str:
    """Select those of :ids that are linked with a live item."""
    tests = []
    for end, other in (("source", "target"), ("target", "source")):
        there = (
            f"SELECT 1 FROM memory m WHERE m.space = :space AND m.id = e.{other}_id"
            f" AND {live('m', now)}"
        )
        tests.append(
            f"EXISTS (SELECT 1 FROM edge e {by(AT_END[f'{end}_id'], now)}"
            f" WHERE e.space = :space AND e.{end}_id = i.value AND {live('e', now)}"
            f" AND (e.{other}_kind <> {ItemKind.MEMORY:d} OR EXISTS ({there})))"
        )
    return f"SELECT i.value FROM json_each(:ids) i WHERE {' OR '.join(tests)}"


@cache
def kinds(now: bool) -> str:
    """Select (id, kind) of the items among :ids, deleted ones too."""
    return " UNION ALL ".join(
        f"SELECT n.id, {kind:d} FROM {name} n WHERE n.space = :space AND n.id IN {IDS}"
        f" AND {current('n', now)}"
        for kind, name in TABLE.items()
    )


@cache
def lineage(now: bool) -> str:
    """Select the live lineage edges that start or end at :ids; one between two of them twice."""
    words = ", ".join(f"'{word}'" for word in sorted(LINEAGE_WORDS))
    return " UNION ALL ".join(
        f"SELECT {qualified(COLUMNS[ItemKind.EDGE], 'e')} FROM edge e {by(AT_END[end], now)}"
        f" WHERE e.space = :space AND e.{end} IN {IDS} AND e.relation IN ({words})"
        f" AND {live('e', now)}"
        for end in ("source_id", "target_id")
    )
