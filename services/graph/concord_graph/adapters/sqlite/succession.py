"""The SQL of how items stand, and of rows: the values of one source and functional relation (T2).

What follows from lineage and rows stands in the table `standing`, worked out at the write
(`domain.succession`); here its numbers are compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import Any

from concord_graph.adapters.sqlite.revisions import IDS, by, current, live
from concord_graph.adapters.sqlite.rows import RELATION, qualified
from concord_graph.domain.items import FOREVER, Origin
from concord_graph.domain.succession import Newer, Standing, Value
from concord_graph.ports import ValuesAround

_FLAGS = ("never_held", "is_fixed", "comes_next")
_NUMBERS = ("followed_from", "former", "older")
_COLUMNS = ("replacers", *_NUMBERS, *_FLAGS, "exit_of", "superseded_from")

PUT = (
    "INSERT OR REPLACE INTO standing (space, id, record_from, record_until,"
    f" {', '.join(_COLUMNS)}) VALUES (:space, :id, :time, {FOREVER},"
    f" {', '.join(f':{name}' for name in _COLUMNS)})"
)
DROP = "DELETE FROM standing WHERE space = :space AND id = :id AND record_from = :time"
CLOSE = (
    "UPDATE standing SET record_until = :time WHERE space = :space AND id = :id"
    f" AND record_until = {FOREVER}"
)


def bound(standing: Standing) -> dict[str, Any]:
    """Return a standing's columns."""
    values = {name: getattr(standing, name) for name in (*_NUMBERS, *_FLAGS, "superseded_from")}
    exit_of = standing.exit_of or None
    return values | {"replacers": json.dumps(standing.replacers), "exit_of": exit_of}


def standing_of(row: tuple[Any, ...]) -> Standing:
    """Return the standing of a row of `standings`, but for its id."""
    replacers, followed_from, former, older, never_held, is_fixed, comes_next, exit_of, _ = row
    return Standing(
        replacers=tuple(Newer(*each) for each in json.loads(replacers)),
        followed_from=followed_from,
        never_held=bool(never_held),
        is_fixed=bool(is_fixed),
        comes_next=bool(comes_next),
        former=former,
        older=older,
        exit_of=exit_of or "",
    )


def around_of(rows: Iterable[tuple[Any, ...]]) -> ValuesAround:
    """Return the values of the rows of `values_around`."""
    parts: tuple[list[Value], ...] = ([], [], [])
    for part, value_id, target_id, begins, *flags in rows:
        parts[part].append(Value(value_id, target_id, begins, *map(bool, flags)))
    return ValuesAround(*map(tuple, parts))


@cache
def standings(now: bool) -> str:
    """Select (id, *columns) of how the items among :ids stand."""
    return (
        f"SELECT t.id, {', '.join(f't.{name}' for name in _COLUMNS)} FROM standing t"
        f" WHERE t.space = :space AND t.id IN {IDS} AND {current('t', now)}"
    )


def standing(alias: str, now: bool, name: str = "t") -> str:
    """Return the join with how an item stands, as `name`: NULL for most."""
    return (
        f"LEFT JOIN standing {name} {by('standing_current', now)} ON {name}.space = {alias}.space"
        f" AND {name}.id = {alias}.id AND {current(name, now)}"
    )


def superseded_from(name: str = "t") -> str:
    """Return when another item stands in its place (µs), FOREVER without one."""
    return f"coalesce({name}.superseded_from, {FOREVER})"


def stands(now: bool) -> str:
    """Return the test that no later edge of its triple that holds at :valid stands for edge e (G2).

    No other edge stands for one that is fixed. `t` is how e stands.
    """
    return (
        f"(coalesce(t.is_fixed, 0) OR NOT EXISTS (SELECT 1 FROM edge u {by('edge_triple', now)}"
        f" {standing('u', now, 'k')} WHERE u.space = e.space"
        " AND u.source_id = e.source_id AND u.relation = e.relation AND u.target_id = e.target_id"
        " AND u.effective_from > e.effective_from AND u.effective_from <= :valid"
        f" AND {live('u', now)} AND (u.valid_until IS NULL OR u.valid_until > :valid)"
        f" AND {superseded_from('k')} > :valid))"
    )


@cache
def functional(now: bool) -> str:
    """Select the names of functional relations."""
    return (
        "SELECT r.name FROM relation r WHERE r.space = :space AND r.functional = 1"
        f" AND {current('r', now)}"
    )


def _row(alias: str, name: str, source: str, relation: str, now: bool) -> str:
    """Return the live values of a row as a FROM item with its WHERE; `name`: how each stands."""
    return (
        f"edge {alias} INDEXED BY edge_succession {standing(alias, now, name)}"
        f" WHERE {alias}.seq > 0 AND {alias}.space = :space AND {alias}.source_id = {source}"
        f" AND {alias}.relation = {relation} AND {live(alias, now)}"
        f" AND NOT coalesce({name}.never_held, 0)"
    )


@cache
def values_around(now: bool) -> str:
    """Select (part, *value) of up to :most values before, at and after :begins, nearest first."""
    return " UNION ALL ".join(
        f"SELECT * FROM (SELECT {part}, s.id, s.target_id, s.effective_from,"
        f" coalesce(t.is_fixed, 0), s.origin = {Origin.EXTRACTED:d} OR s.claimed"
        f" FROM {_row('s', 't', ':source', ':relation', now)}"
        f" AND s.effective_from {test} :begins ORDER BY s.effective_from {order} LIMIT :most)"
        for part, (test, order) in enumerate((("<", "DESC"), ("=", "ASC"), (">", "ASC")))
    )


@cache
def exits_of(now: bool) -> str:
    """Select the ids of the edges at which a row of the sources among :ids may be left."""
    return (
        "SELECT t.id FROM standing t INDEXED BY standing_exit WHERE t.space = :space"
        f" AND t.exit_of IN {IDS} AND {current('t', now)}"
    )


_OTHER = (
    f"{_row('s', 'k', 'e.source_id', 'e.relation', True)} AND s.target_id <> e.target_id"
    " AND s.effective_from <> e.effective_from"
)
RIVALS = (
    "SELECT e.id FROM edge e INDEXED BY edge_succession WHERE e.seq > 0 AND e.space = :space"
    f" AND e.relation = :relation AND {live('e', True)} AND EXISTS (SELECT 1 FROM {_OTHER})"
    " LIMIT :limit"
)
"""The live edges of :relation whose source has another target at another instant."""


@cache
def listed_relations(now: bool) -> str:
    """Select the declared relations with a name after :after, by name."""
    return (
        f"SELECT {qualified(RELATION, 'r')} FROM relation r WHERE r.space = :space"
        f" AND {current('r', now)} AND r.name > :after AND r.deleted = 0"
        " ORDER BY r.name LIMIT :limit"
    )


@cache
def declared(now: bool) -> str:
    """Select the declaration of the relation :name."""
    return (
        f"SELECT {qualified(RELATION, 'r')} FROM relation r WHERE r.space = :space"
        f" AND r.name = :name AND {current('r', now)}"
    )
