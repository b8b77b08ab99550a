"""The SQL of lists and counts of items, built as in `statements`."""

from __future__ import annotations

from functools import cache

from concord_graph.adapters.sqlite.revisions import by, current, live
from concord_graph.adapters.sqlite.rows import COLUMNS, TABLE, qualified
from concord_graph.adapters.sqlite.statements import ALIAS, held
from concord_graph.adapters.sqlite.succession import standing
from concord_graph.domain.items import ItemKind, MemoryKind

_BY_ID = {
    ItemKind.NODE: "node_current",
    ItemKind.EDGE: "edge_current",
    ItemKind.MEMORY: "memory_current",
}


@cache
def listed_nodes(now: bool) -> str:
    """Select live nodes of :label ('' = any) with a name after :after, by name."""
    return (
        f"SELECT {qualified(COLUMNS[ItemKind.NODE], 'n')} FROM node n {by('node_name', now)}"
        f" WHERE n.space = :space AND {live('n', now)} AND n.name > :after"
        " AND (:label = '' OR n.label = :label)"
        " ORDER BY n.name LIMIT :limit"
    )


@cache
def listed_edges(now: bool, stated: bool, tests: str, *, by_participant: bool) -> str:
    """Select ids of live edges after :after, by id; `stated`: only edges that held at :valid.

    `by_participant`: only edges that ever had :participant_0, of which there are few.
    """
    ever = (
        " AND e.id IN (SELECT c.edge FROM participant c"
        " WHERE c.space = :space AND c.name = :participant_0)"
    )
    beyond = f"+e.id > :after{ever}" if by_participant else "e.id > :after"
    conditions = [f"e.space = :space AND {beyond} AND {live('e', now)}"]
    conditions += [tests] if tests else []
    conditions += [held(ItemKind.EDGE)] if stated else []
    start = f"edge e {standing('e', now)}" if stated else "edge e"
    return f"SELECT e.id FROM {start} WHERE {' AND '.join(conditions)} ORDER BY e.id LIMIT :limit"


@cache
def listed_memories(now: bool, tests: str) -> str:
    """Select (create_time, id) of live memories that pass the tests, newest first."""
    return (
        f"SELECT m.create_time, m.id FROM memory m {by('memory_newest', now)} {standing('m', now)}"
        f" WHERE m.space = :space AND {live('m', now)}"
        f" AND (m.create_time, m.id) < (:before_time, :before_id){tests}"
        " ORDER BY m.create_time DESC, m.id DESC LIMIT :limit"
    )


@cache
def live_items(kind: ItemKind, now: bool, stated: bool) -> str:
    """Select every live item of a kind; `stated`: only items that held at :valid."""
    alias = ALIAS[kind]
    return (
        f"SELECT {qualified(COLUMNS[kind], alias)} FROM {TABLE[kind]} {alias}"
        f" {by(_BY_ID[kind], now)} {standing(alias, now)}"
        f" WHERE {alias}.space = :space AND {live(alias, now)}"
        f"{' AND ' + held(kind) if stated else ''}"
    )


@cache
def counted(kind: ItemKind, now: bool, stated: bool) -> str:
    """Count (live items, turns among them, deleted items); `stated`: live ones held at :valid."""
    alias = ALIAS[kind]
    alive = f"{alias}.deleted = 0{' AND ' + held(kind) if stated else ''}"
    turn = f"{alias}.memory_kind = {MemoryKind.TURN:d}" if kind == ItemKind.MEMORY else "FALSE"
    return (
        f"SELECT count(*) FILTER (WHERE {alive}), count(*) FILTER (WHERE {alive} AND {turn}),"
        f" count(*) FILTER (WHERE {alias}.deleted = 1) FROM {TABLE[kind]} {alias}"
        f" {by(_BY_ID[kind], now)} {standing(alias, now) if stated else ''}"
        f" WHERE {alias}.space = :space AND {current(alias, now)}"
    )
