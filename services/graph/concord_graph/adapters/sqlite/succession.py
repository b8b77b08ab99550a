"""The SQL of succession by time: edges that give way because a later one follows (T2).

All edges of one source with one functional relation form a *row*. An edge is followed by the next
ones with another target; several of one instant stand side by side. Edges of one triple never end
one another. A constitutive edge gives way to none, nor does an edge at which governed lineage
starts. An edge that lineage replaced by an earlier one of its row never held: it belongs to no row
(decision 0043).
"""

from __future__ import annotations

from functools import cache

from concord_graph.adapters.sqlite.revisions import IDS, by, current, live, rests
from concord_graph.adapters.sqlite.rows import EDGE, RELATION, qualified
from concord_graph.domain.items import FOREVER

MOST_COUNTED = 100  # former values of one edge: counting a hub's would slow down every reader of it
_EVER = -(2**63)


def functional(now: bool) -> str:
    """Return a query for the names of functional relations, which SQLite runs once a statement."""
    return (
        "(SELECT r.name FROM relation r WHERE r.space = :space AND r.functional = 1"
        f" AND {current('r', now)})"
    )


def next_from(now: bool) -> str:
    """Return the instant (µs) at which the next edge follows edge e; NULL without one."""
    first = (
        f"SELECT s.effective_from FROM {_row('s', 'e', now)} AND s.target_id <> e.target_id"
        f" AND s.effective_from > e.effective_from"
        f" AND {live('s', now)} AND {_is_followed('e', now)} ORDER BY s.effective_from LIMIT 1"
    )
    return f"CASE WHEN e.relation IN {functional(now)} THEN ({first}) END"


def stands(now: bool, replaced_from: str) -> str:
    """Return the test that no later edge of its triple that holds at :valid stands for edge e (G2).

    `replaced_from` selects when lineage replaces edge u: if no edge follows e in time, none follows
    the later edges of its triple. No other edge stands for a constitutive or pinned one.
    """
    return (
        f"NOT EXISTS (SELECT 1 FROM edge u {by('edge_triple', now)} WHERE u.space = e.space"
        " AND u.source_id = e.source_id AND u.relation = e.relation AND u.target_id = e.target_id"
        " AND u.effective_from > e.effective_from AND u.effective_from <= :valid"
        f" AND {live('u', now)} AND (u.valid_until IS NULL OR u.valid_until > :valid)"
        f" AND e.edge_type <> 2 AND NOT {rests('edge', 'e.id', 'u.space', now)}"
        f" AND coalesce(({replaced_from}), {FOREVER}) > :valid)"
    )


def _gives_way(alias: str, now: bool) -> str:
    """Return the test that an edge may have successors by time (G4)."""
    held = rests("edge", f"{alias}.id", f"{alias}.space", now)
    return f"{alias}.edge_type <> 2 AND NOT {held}"


def _is_followed(alias: str, now: bool) -> str:
    """Return the test that an edge, in a row or not, gives way to a next one and has held."""
    return f"{_gives_way(alias, now)} AND NOT {_never_held(alias, now)}"


def former_count(now: bool) -> str:
    """Return the number of edges that edge e directly follows, at most MOST_COUNTED."""
    former = _former("e", "e.target_id", "e.effective_from", now)
    counted = f"SELECT 1 FROM {former} AND {_gives_way('s', now)} LIMIT {MOST_COUNTED}"
    count = f"SELECT count(*) FROM ({counted})"
    in_row = f"e.relation IN {functional(now)} AND NOT {_never_held('e', now)}"
    return f"CASE WHEN {in_row} THEN ({count}) ELSE 0 END"


def _former(other: str, target: str, since: str, now: bool, but: str = "") -> str:
    """Return, as a FROM item, the edges s that an edge to `target` at `since` would follow.

    They are in the row of `other` ("" = of :source and :relation), before the instant, with no edge
    to another target between: the edges of the last instant, and earlier edges with one of their
    targets, back to the last edge with another one.
    """

    def earlier(alias: str) -> str:
        return (
            f"{_row(alias, other, now)} AND {live(alias, now)} AND {alias}.effective_from < {since}"
            + (f" AND {alias}.id <> {but}" if but else "")
        )

    newest = "ORDER BY {0}.effective_from DESC LIMIT 1"
    last, value = (
        f"(SELECT w.{column} FROM {earlier('w')} {newest.format('w')})"
        for column in ("effective_from", "target_id")
    )
    back = f"SELECT u.effective_from FROM {earlier('u')} AND u.target_id <> {value}"
    return (
        f"{earlier('s')} AND s.target_id <> {target}"
        f" AND s.effective_from >= coalesce(({back} {newest.format('u')}), {_EVER})"
        f" AND (s.target_id = {value} OR s.effective_from = {last})"
    )


def is_former(older: str, now: bool) -> str:
    """Return the test that edge e directly follows another edge."""
    between = (
        f"SELECT 1 FROM {_row('s', 'e', now)} AND s.effective_from < e.effective_from"
        f" AND s.effective_from > {older}.effective_from AND s.target_id <> {older}.target_id"
        f" AND {live('s', now)}"
    )
    return (
        f"({older}.source_id = e.source_id AND {older}.relation = e.relation"
        f" AND {older}.target_id <> e.target_id AND {older}.effective_from < e.effective_from"
        f" AND e.relation IN {functional(now)} AND {_is_followed(older, now)}"
        f" AND NOT {_never_held('e', now)} AND NOT EXISTS ({between}))"
    )


def _row(alias: str, other: str, now: bool) -> str:
    """Return the edges in the row of another edge, or of :source and :relation without one."""
    space, source, relation = (
        (f"{other}.space", f"{other}.source_id", f"{other}.relation")
        if other
        else (":space", ":source", ":relation")
    )
    return (
        f"edge {alias} INDEXED BY edge_succession WHERE {alias}.seq > 0 AND {alias}.space = {space}"
        f" AND {alias}.source_id = {source} AND {alias}.relation = {relation}"
        f" AND NOT {_never_held(alias, now)}"
    )


def _never_held(alias: str, now: bool) -> str:
    """Return the test that valid lineage replaced an edge by an earlier one of its row.

    Nested one level only: SQLite's parser takes no more depth in the statements around it.
    """
    return (
        f"EXISTS (SELECT 1 FROM edge k {by('edge_replaces', now)} JOIN edge v ON v.space = k.space"
        f" AND v.id = k.source_id AND {live('v', now)}"
        f" LEFT JOIN edge h {by('edge_governed', now)} ON h.space = k.space"
        f" AND h.source_id = k.target_id AND h.governed = 1 AND {live('h', now)}"
        f" WHERE k.space = {alias}.space AND k.target_id = {alias}.id AND k.replaces = 1"
        f" AND {live('k', now)} AND v.source_id = {alias}.source_id"
        f" AND v.relation = {alias}.relation AND v.effective_from < {alias}.effective_from"
        f" AND (k.governed = 1 OR {alias}.edge_type <> 2 AND h.id IS NULL))"
    )


def next_ones(now: bool, ids: str) -> str:
    """Select (id, follower's id) of edges whose next ones in time have begun at :valid."""
    return (
        "SELECT e.id AS id, s.id AS follower FROM edge e JOIN edge s INDEXED BY edge_succession"
        " ON s.seq > 0 AND s.space = e.space AND s.relation = e.relation"
        f" AND s.source_id = e.source_id AND s.effective_from = {next_from(now)}"
        f" AND s.target_id <> e.target_id AND {live('s', now)} AND NOT {_never_held('s', now)}"
        f" WHERE e.space = :space AND e.id IN {ids} AND {current('e', now)}"
        " AND s.effective_from <= :valid"
    )


@cache
def followers(now: bool, ids: str = IDS) -> str:
    """Select (id, follower's id) of edges among the ids: some of the followers begun by :valid.

    Only followers at which a walk to the heads goes on: edges that no other has followed by then,
    and between them edges that give way to none, or to another by lineage. So a walk along a long
    row is one step. An edge with the same target as the one before it is nobody's next one.
    """
    # + keeps the planner from reading a relation from end to end
    asked = (
        f"SELECT e.space, e.id, e.source_id, e.relation, e.effective_from FROM edge e"
        f" WHERE e.space = :space AND e.id IN {ids} AND {current('e', now)}"
        f" AND {_is_followed('e', now)} AND +e.relation IN {functional(now)}"
    )
    grouped = (
        "SELECT space, source_id, relation, min(effective_from) AS since FROM asked"
        " GROUP BY source_id, relation"
    )
    before = (
        f"SELECT q.effective_from FROM {_row('q', 's', now)}"
        f" AND q.effective_from < s.effective_from AND {live('q', now)}"
        " ORDER BY q.effective_from DESC LIMIT 1"
    )
    follows = (
        f"EXISTS (SELECT 1 FROM {_row('p', 's', now)} AND p.effective_from = ({before})"
        f" AND p.target_id <> s.target_id AND {live('p', now)})"
    )
    followed = (
        f"EXISTS (SELECT 1 FROM {_row('x', 's', now)} AND x.effective_from > s.effective_from"
        f" AND x.effective_from <= :valid AND x.target_id <> s.target_id AND {live('x', now)})"
    )
    replaced = (
        f"EXISTS (SELECT 1 FROM edge l {by('edge_replaces', now)}"
        " WHERE l.space = s.space AND l.target_id = s.id"
        f" AND l.replaces = 1 AND {live('l', now)})"
    )
    beyond = (
        "SELECT s.id, s.source_id, s.relation, s.effective_from FROM grouped g"
        f" CROSS JOIN {_row('s', 'g', now)}"
        f" AND s.effective_from > g.since AND s.effective_from <= :valid AND {live('s', now)}"
        f" AND {follows} AND (NOT {followed} OR {replaced} OR NOT ({_gives_way('s', now)}))"
    )
    return (
        f"SELECT * FROM (WITH asked AS MATERIALIZED ({asked}), grouped AS MATERIALIZED ({grouped}),"
        f" beyond AS MATERIALIZED ({beyond})"
        " SELECT a.id AS id, b.id AS follower FROM asked a JOIN beyond b"
        " ON b.source_id = a.source_id AND b.relation = a.relation"
        " AND b.effective_from > a.effective_from)"
    )


@cache
def row(now: bool) -> str:
    """Select up to :limit live edges of the row of :source and :relation, by valid_from."""
    return (
        f"SELECT {qualified(EDGE, 's')} FROM {_row('s', '', now)}"
        f" AND {live('s', now)} ORDER BY s.effective_from, s.id LIMIT :limit"
    )


@cache
def beside() -> str:
    """Select the live edges right before and right after an edge to :target at :from in its row.

    Not the neighbours that another edge than :id at :from has, too.
    """
    there = f"{_row('u', '', True)} AND u.id <> :id AND {live('u', True)}"
    at_once = f"SELECT 1 FROM {there} AND u.effective_from = :from"
    after = f"SELECT u.effective_from FROM {there} AND u.effective_from > :from{{}}"
    after += " ORDER BY u.effective_from LIMIT 1"
    columns = qualified(EDGE, "s")
    former = _former("", ":target", ":from", True, ":id")
    return (
        f"SELECT {columns} FROM {former}"
        f" AND NOT EXISTS ({at_once} AND u.target_id <> s.target_id)"
        f" UNION ALL SELECT {columns} FROM {_row('s', '', True)}"
        f" AND s.effective_from IN (({after.format('')}),"
        f" ({after.format(' AND u.target_id <> :target')}))"
        f" AND s.id <> :id AND {live('s', True)} AND NOT EXISTS ({at_once})"
    )


RIVALS = (
    "SELECT e.id FROM edge e INDEXED BY edge_succession WHERE e.seq > 0 AND e.space = :space"
    f" AND e.relation = :relation AND {live('e', True)}"
    f" AND EXISTS (SELECT 1 FROM {_row('s', 'e', True)} AND s.target_id <> e.target_id"
    f" AND s.effective_from <> e.effective_from AND {live('s', True)}) LIMIT :limit"
)
"""The live edges of :relation whose source has another target at another instant."""


@cache
def listed_relations(now: bool) -> str:
    """Select the declared relations with a name after :after, by name."""
    return (
        f"SELECT {qualified(RELATION, 'r')} FROM relation r WHERE r.space = :space"
        f" AND {current('r', now)} AND r.name > :after ORDER BY r.name LIMIT :limit"
    )


@cache
def declared(now: bool) -> str:
    """Select the declaration of the relation :name."""
    return (
        f"SELECT {qualified(RELATION, 'r')} FROM relation r WHERE r.space = :space"
        f" AND r.name = :name AND {current('r', now)}"
    )
