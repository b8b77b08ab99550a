"""The SQL of succession by time: edges that give way because a later one follows (G2, T2).

The edges of one triple follow one another, and of a relation declared functional all edges of one
source: its *row*. Edges of one instant stand side by side. A constitutive edge gives way to none,
nor does one that lineage rests on which was made with consent.
"""

from __future__ import annotations

from functools import cache

from concord_graph.adapters.sqlite.revisions import IDS, by, current, live, rests
from concord_graph.adapters.sqlite.rows import EDGE, RELATION, qualified

MOST_COUNTED = 100  # former values of one instant: to count a hub's would cost every reader of it


def functional(now: bool) -> str:
    """Return the names of the functional relations: a list that SQLite makes once a statement."""
    return (
        "(SELECT r.name FROM relation r WHERE r.space = :space AND r.functional = 1"
        f" AND {current('r', now)})"
    )


def next_from(now: bool) -> str:
    """Return from when the next edge follows edge e (µs), NULL without one."""
    return _in_its_row(
        now,
        "SELECT s.effective_from FROM {row} AND s.effective_from > e.effective_from"
        f" AND {live('s', now)} AND {_gives_way('e', now)} ORDER BY s.effective_from LIMIT 1",
    )


def _gives_way(alias: str, now: bool) -> str:
    """Return the test that an edge has successors by time at all (G4)."""
    held = rests("edge", f"{alias}.id", f"{alias}.space", now)
    return f"{alias}.edge_type <> 2 AND NOT {held}"


def former_count(now: bool) -> str:
    """Return how many edges edge e is the next one of, at most MOST_COUNTED; NULL for none."""
    before = (
        "SELECT s.effective_from FROM {row} AND s.effective_from < e.effective_from"
        f" AND {live('s', now)} ORDER BY s.effective_from DESC LIMIT 1"
    )
    return _in_its_row(
        now,
        f"SELECT count(*) FROM (SELECT 1 FROM {{row}} AND s.effective_from = ({before})"
        f" AND {live('s', now)} AND {_gives_way('s', now)} LIMIT {MOST_COUNTED})",
    )


def is_former(older: str, now: bool) -> str:
    """Return the test that edge e is the next one of another edge."""
    between = (
        "SELECT 1 FROM {row} AND s.effective_from < e.effective_from"
        f" AND s.effective_from > {older}.effective_from AND {live('s', now)}"
    )
    same_target = f"({older}.target_id = e.target_id OR e.relation IN {functional(now)})"
    return (
        f"({older}.source_id = e.source_id AND {older}.relation = e.relation AND {same_target}"
        f" AND {older}.effective_from < e.effective_from AND {_gives_way(older, now)}"
        f" AND {_in_its_row(now, between)} IS NULL)"
    )


def _in_its_row(now: bool, question: str) -> str:
    """Return the answer from the row of edge e."""
    whole, triple = (
        question.replace("{row}", _row("s", "e", now, whole=whole)) for whole in (True, False)
    )
    return f"CASE WHEN e.relation IN {functional(now)} THEN ({whole}) ELSE ({triple}) END"


def _row(alias: str, other: str, now: bool, *, whole: bool) -> str:
    """Return the edges in the row of another edge, as what follows FROM."""
    same = f"{alias}.space = {other}.space AND {alias}.source_id = {other}.source_id"
    same += f" AND {alias}.relation = {other}.relation"
    if whole:
        return f"edge {alias} INDEXED BY edge_succession WHERE {alias}.seq > 0 AND {same}"
    index = by("edge_triple", now)
    return f"edge {alias} {index} WHERE {same} AND {alias}.target_id = {other}.target_id"


def next_ones(now: bool, ids: str) -> str:
    """Select (id, follower's id) of edges for the next ones in time that have begun at :valid."""
    return (
        "SELECT e.id AS id, s.id AS follower FROM edge e JOIN edge s INDEXED BY edge_succession"
        " ON s.seq > 0 AND s.space = e.space AND s.relation = e.relation"
        f" AND s.source_id = e.source_id AND s.effective_from = {next_from(now)}"
        f" AND (s.target_id = e.target_id OR e.relation IN {functional(now)}) AND {live('s', now)}"
        f" WHERE e.space = :space AND e.id IN {ids} AND {current('e', now)}"
        " AND s.effective_from <= :valid"
    )


@cache
def followers(now: bool, ids: str = IDS) -> str:
    """Select (id, follower's id) of edges among the ids: what has begun by :valid, not all of it.

    Only those from which a walk to the heads goes on: the latest of the row, and in between those
    that give way to none or to another by lineage. So a walk along a long row is one step.
    """
    return " UNION ".join(_followers(now, ids, whole=whole) for whole in (True, False))


def _followers(now: bool, ids: str, *, whole: bool) -> str:
    target = "" if whole else ", target_id"
    # + keeps the planner from reading a relation from end to end
    asked = (
        f"SELECT e.space, e.id, e.source_id, e.relation, e.target_id, e.effective_from FROM edge e"
        f" WHERE e.space = :space AND e.id IN {ids} AND {current('e', now)}"
        f" AND {_gives_way('e', now)}"
        f" AND +e.relation {'IN' if whole else 'NOT IN'} {functional(now)}"
    )
    latest = (
        f"SELECT u.effective_from FROM {_row('u', 'a', now, whole=whole)}"
        f" AND u.effective_from <= :valid AND {live('u', now)}"
        " ORDER BY u.effective_from DESC LIMIT 1"
    )
    grouped = (
        f"SELECT a.*, ({latest}) AS latest FROM (SELECT space, source_id, relation, target_id,"
        f" min(effective_from) AS since FROM asked GROUP BY source_id, relation{target}) a"
    )
    replaced = (
        f"EXISTS (SELECT 1 FROM edge l {by('edge_replaces', now)}"
        " WHERE l.space = s.space AND l.target_id = s.id"
        f" AND l.replaces = 1 AND {live('l', now)})"
    )
    turns = f"{replaced} OR NOT ({_gives_way('s', now)})"
    beyond = (
        "SELECT s.id, s.source_id, s.relation, s.target_id, s.effective_from FROM grouped g"
        f" CROSS JOIN {_row('s', 'g', now, whole=whole)}"
        f" AND s.effective_from > g.since AND s.effective_from <= g.latest AND {live('s', now)}"
        f" AND (s.effective_from = g.latest OR {turns})"
    )
    same_target = "" if whole else " AND b.target_id = a.target_id"
    return (
        f"SELECT * FROM (WITH asked AS MATERIALIZED ({asked}), grouped AS MATERIALIZED ({grouped}),"
        f" beyond AS MATERIALIZED ({beyond})"
        " SELECT a.id AS id, b.id AS follower FROM asked a JOIN beyond b"
        f" ON b.source_id = a.source_id AND b.relation = a.relation{same_target}"
        " AND b.effective_from > a.effective_from)"
    )


def _this_row(alias: str, now: bool, *, whole: bool) -> str:
    """Return the edges in the row of :source, :relation and :target, as what follows FROM."""
    same = f"{alias}.space = :space AND {alias}.source_id = :source"
    same += f" AND {alias}.relation = :relation"
    if whole:
        return f"edge {alias} INDEXED BY edge_succession WHERE {alias}.seq > 0 AND {same}"
    return f"edge {alias} {by('edge_triple', now)} WHERE {same} AND {alias}.target_id = :target"


@cache
def row(now: bool, *, whole: bool) -> str:
    """Select up to :limit live edges of a row, by effective valid_from."""
    return (
        f"SELECT {qualified(EDGE, 's')} FROM {_this_row('s', now, whole=whole)}"
        f" AND {live('s', now)} ORDER BY s.effective_from, s.id LIMIT :limit"
    )


@cache
def beside(*, whole: bool) -> str:
    """Select the live edges of a row at the last instant before :from and the first after it.

    None of them when another edge than :id stands at :from.
    """
    there = f"{_this_row('u', True, whole=whole)} AND u.id <> :id AND {live('u', True)}"
    before, after = (
        f"SELECT u.effective_from FROM {there} AND u.effective_from {test} :from"
        f" ORDER BY u.effective_from {order} LIMIT 1"
        for test, order in (("<", "DESC"), (">", "ASC"))
    )
    return (
        f"SELECT {qualified(EDGE, 's')} FROM {_this_row('s', True, whole=whole)}"
        f" AND s.effective_from IN (({before}), ({after})) AND s.id <> :id AND {live('s', True)}"
        f" AND NOT EXISTS (SELECT 1 FROM {there} AND u.effective_from = :from)"
        " ORDER BY s.effective_from, s.id"
    )


RIVALS = (
    "SELECT e.id FROM edge e INDEXED BY edge_succession WHERE e.seq > 0 AND e.space = :space"
    f" AND e.relation = :relation AND {live('e', True)}"
    f" AND EXISTS (SELECT 1 FROM {_row('s', 'e', True, whole=True)} AND s.target_id <> e.target_id"
    f" AND s.effective_from <> e.effective_from AND {live('s', True)}) LIMIT :limit"
)
"""The live edges of :relation whose source has another value of it at another instant."""


@cache
def listed_relations(now: bool) -> str:
    """Select the relations that are declared, with a name after :after, by name."""
    return (
        f"SELECT {qualified(RELATION, 'r')} FROM relation r WHERE r.space = :space"
        f" AND {current('r', now)} AND r.name > :after ORDER BY r.name LIMIT :limit"
    )


@cache
def declared(now: bool) -> str:
    """Select what is declared about the relation :name."""
    return (
        f"SELECT {qualified(RELATION, 'r')} FROM relation r WHERE r.space = :space"
        f" AND r.name = :name AND {current('r', now)}"
    )
