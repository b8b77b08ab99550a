"""The Cypher of succession by time: edges that give way because a later one follows (T2).

All edges of one source with one functional relation form a *row*. An edge is followed by the next
ones with another target; several of one instant stand side by side. Edges of one triple never end
one another. A constitutive edge gives way to none, nor does an edge at which governed lineage
starts. An edge that lineage replaced by an earlier one of its row never held: it belongs to no row
(decision 0043).
"""

from __future__ import annotations

from functools import cache
from typing import Final

from concord_graph.adapters.neo4j.patterns import (
    CONSTITUTIVE,
    Known,
    bringing,
    counts,
    exists,
    governs,
    in_time,
    item,
    replaced,
    seen,
)
from concord_graph.domain.items import ItemKind

MOST_COUNTED: Final = 100  # former values of one edge: a hub's would take every reader's time
_EVER: Final = -(2**63)
_ROW: Final = "relation, source_id, effective_from"


def functional(name: str, known: Known) -> str:
    """Return the test that the relation of an expression is declared functional.

    $functional, which every statement binds, has the relations that are functional now.
    """
    if known is None:
        return f"{name} IN $functional"
    return exists(seen("f", "Functional", known, f"name: {name}"))


def gives_way(alias: str, known: Known) -> str:
    """Return the test that an edge may have successors by time (G4)."""
    return f"{alias}.edge_type <> {CONSTITUTIVE} AND NOT {governs(alias, known)}"


def _is_followed(alias: str, known: Known) -> str:
    """Return the test that an edge, in a row or not, gives way to a next one and has held."""
    return f"{gives_way(alias, known)} AND NOT {_never_held(alias, known)}"


def next_from(known: Known) -> str:
    """Return the instant (µs) at which the next edge follows edge e; null without one.

    It ignores whether e ever held: if not, lineage replaced e from an earlier instant anyway.
    """
    follows = f"{functional('e.relation', known)} AND {gives_way('e', known)}"
    return f"CASE WHEN {follows} THEN {_next(_row('s', 'e', known))} ELSE null END"


def _next(row: str) -> str:
    """Return when the first edge s of a row begins that is after e and has another target."""
    return (
        f"COLLECT {{ MATCH {row} AND s.target_id <> e.target_id"
        " AND s.effective_from > e.effective_from"
        " RETURN s.effective_from AS t ORDER BY t LIMIT 1 }[0]"
    )


def stands(known: Known) -> str:
    """Return the test that no later edge of its triple that holds at $valid stands for edge e (G2).

    No other edge stands for a constitutive or pinned one. If no edge follows e in time, none
    follows the later edges of its triple: only lineage can have replaced these.
    """
    keys = "source_id: e.source_id, relation: e.relation, target_id: e.target_id"
    return (
        f"NOT EXISTS {{ MATCH {seen('u', 'Edge', known, keys)}"
        f" AND u.effective_from > e.effective_from AND {in_time('u')}"
        f" AND {gives_way('e', known)}"
        f" AND NOT EXISTS {{ {replaced('u', ItemKind.EDGE, known)}"
        " AND n.effective_from <= $valid } }"
    )


def with_former(known: Known) -> str:
    """Return the clauses that find the edges that edge e directly follows, for `former_count`.

    `last` is (instant, target) of the last edge before e in its row, and `back` the instant of the
    last edge before e with another target than that.
    """
    earlier = f"{_row('u', 'e', known)} AND u.effective_from < e.effective_from"
    newest = "ORDER BY u.effective_from DESC LIMIT 1 }[0]"
    last = f"COLLECT {{ MATCH {earlier} RETURN [u.effective_from, u.target_id] {newest}"
    back = f"COLLECT {{ MATCH {earlier} AND u.target_id <> last[1] RETURN u.effective_from {newest}"
    in_row = f"{functional('e.relation', known)} AND NOT {_never_held('e', known)}"
    return (
        f"WITH *, CASE WHEN {in_row} THEN {last} ELSE null END AS last"
        f" WITH *, CASE WHEN last IS NULL THEN null ELSE coalesce({back}, {_EVER}) END AS back"
    )


def former_count(known: Known) -> str:
    """Return the number of edges e directly follows, to MOST_COUNTED; after `with_former`."""
    return (
        f"CASE WHEN last IS NULL THEN 0 ELSE COUNT {{ MATCH {_row('s', 'e', known)}"
        f" AND {_is_earlier('s')} AND {gives_way('s', known)} RETURN s LIMIT {MOST_COUNTED} }} END"
    )


def is_former(older: str, known: Known) -> str:
    """Return the test that edge e directly follows another edge, after `with_former`."""
    return (
        f"({older}.source_id = e.source_id AND {older}.relation = e.relation"
        f" AND {_is_earlier(older)} AND {_is_followed(older, known)})"
    )


def _is_earlier(alias: str) -> str:
    """Return the test that between an edge of e's row and e all edges have the former's target."""
    return (
        f"{alias}.effective_from < e.effective_from AND {alias}.effective_from >= back"
        f" AND {alias}.target_id <> e.target_id"
        f" AND (last[0] = {alias}.effective_from OR last[1] = {alias}.target_id)"
    )


def followers(known: Known) -> str:
    """Select (id, follower's id) of $asked edges: some of the followers begun by $valid.

    Only followers at which a walk to the heads goes on: edges that no other has followed by then,
    and between them edges that give way to none, or to another by lineage. So a walk along a long
    row is one step. An edge with the same target as the one before it is nobody's next one.
    """
    return (
        f"UNWIND $asked AS ask MATCH {item('e', ItemKind.EDGE, known)}"
        f" AND {_is_followed('e', known)}"
        f" AND {functional('e.relation', known)}"
        f" {_with_void(known)} MATCH {_held_row('s', 'e', known)}"
        " AND s.effective_from > e.effective_from"
        f" AND s.effective_from <= $valid AND {_is_a_turn(known)}"
        " RETURN e.id AS id, s.id AS successor"
    )


def with_followers(known: Known, carried: str) -> str:
    """Return the clause that finds the followers of edge e at $valid, as `successor`.

    These are the followers by lineage, the next ones in time, and edges from which a walk to the
    heads goes on; `carried`: the variables that stay in scope.
    """
    record = "" if known is None else ", ask"
    in_row = (
        f"WITH * WHERE whole AND {_is_followed('e', known)} {_with_void(known)}"
        f" WITH *, {_next(_held_row('s', 'e', known))} AS next"
        f" MATCH {_held_row('s', 'e', known)}"
        " AND s.effective_from > e.effective_from AND s.effective_from <= $valid"
        f" AND (s.effective_from = next AND s.target_id <> e.target_id OR {_is_a_turn(known)})"
        " RETURN s.id AS successor"
    )
    by_lineage = (
        f"WITH * {replaced('e', ItemKind.EDGE, known)} AND n.effective_from <= $valid"
        " RETURN n.id AS successor"
    )
    return (
        f"WITH {carried}, {functional('e.relation', known)} AS whole"
        f" CALL (e, whole{record}) {{ {in_row} UNION {by_lineage} }}"
    )


def _is_a_turn(known: Known) -> str:
    """Return the test that a walk to the heads may end or turn at edge s of a row at $valid.

    It comes after `_with_void`: testing for void edges at each member takes seconds to plan.
    """
    before = (
        f"COLLECT {{ MATCH {_held_row('q', 's', known)} AND q.effective_from < s.effective_from"
        " RETURN q.effective_from AS t ORDER BY t DESC LIMIT 1 }[0]"
    )
    follows = exists(
        f"{_held_row('p', 's', known)} AND p.effective_from = {before}"
        " AND p.target_id <> s.target_id"
    )
    followed = exists(
        f"{_held_row('x', 's', known)} AND x.effective_from > s.effective_from"
        " AND x.effective_from <= $valid AND x.target_id <> s.target_id"
    )
    replaced_ = exists(seen("l", "Replacing", known, "target_id: s.id"))
    return f"({follows} AND (NOT {followed} OR {replaced_} OR NOT ({gives_way('s', known)})))"


@cache
def row(known: Known) -> str:
    """Select up to $limit live edges of the row of $source and $relation, by valid_from."""
    return (
        f"{bringing(known)}MATCH {_this_row('s', known)}"
        " RETURN properties(s) ORDER BY s.effective_from, s.id LIMIT $limit"
    )


@cache
def beside() -> str:
    """Select the live edges right before and right after an edge to $target at $from in its row.

    Not the neighbours that another edge than $id at $from has, too.
    """
    there = f"MATCH {_this_row('u', None)} AND u.id <> $id AND u.effective_from"
    last, back = (
        f"COLLECT {{ {there} < $from{test} RETURN {what} ORDER BY u.effective_from DESC"
        " LIMIT 1 }[0]"
        for test, what in (
            ("", "[u.effective_from, u.target_id]"),
            (" AND u.target_id <> last[1]", "u.effective_from"),
        )
    )
    after, other = (
        f"COLLECT {{ {there} > $from{test} RETURN u.effective_from ORDER BY u.effective_from"
        " LIMIT 1 }[0]"
        for test in ("", " AND u.target_id <> $target")
    )
    former = (
        "s.effective_from < $from AND s.effective_from >= back AND s.target_id <> $target"
        " AND (last[0] = s.effective_from OR last[1] = s.target_id)"
        f" AND NOT EXISTS {{ {there} = $from AND u.target_id <> s.target_id }}"
    )
    return (
        f"WITH {last} AS last, {after} AS after, {other} AS other,"
        f" EXISTS {{ {there} = $from }} AS tied"
        f" WITH *, coalesce({back}, {_EVER}) AS back"
        f" MATCH {_this_row('s', None)} AND s.id <> $id"
        f" AND (({former}) OR (NOT tied AND s.effective_from IN [after, other]))"
        " RETURN properties(s) ORDER BY s.effective_from, s.id"
    )


RIVALS: Final = (
    "MATCH (e:Edge {relation: $relation})"
    " USING INDEX SEEK e:Edge(space, relation, source_id, effective_from)"
    " WHERE e.source_id IS NOT NULL"
    " AND e.effective_from IS NOT NULL AND EXISTS { MATCH (s:Edge {source_id: e.source_id,"
    " relation: e.relation}) USING INDEX SEEK s:Edge(space, relation, source_id, effective_from)"
    " WHERE s.effective_from IS NOT NULL AND s.effective_from <> e.effective_from"
    " AND s.target_id <> e.target_id } RETURN e.id LIMIT $limit"
)
"""The live edges of $relation whose source has another target at another instant."""


@cache
def declared(known: Known) -> str:
    """Select the declaration of the relation $name."""
    return (
        f"{bringing(known)}MATCH {seen('r', 'Relation', known, 'name: $name')} RETURN properties(r)"
    )


@cache
def listed_relations(known: Known) -> str:
    """Select the declared relations with a name after $after, by name."""
    return (
        f"{bringing(known)}MATCH {seen('r', 'Relation', known)} AND r.name > $after"
        " RETURN properties(r) ORDER BY r.space, r.name LIMIT $limit"
    )


def _with_void(known: Known) -> str:
    """Return the clause that finds, as `void`, the edges after e in its row that never held."""
    return (
        f"WITH *, COLLECT {{ MATCH {_triples('h', _of('e'), known)}"
        f" AND h.effective_from > e.effective_from AND {_never_held('h', known)}"
        " RETURN h.id } AS void"
    )


def _held_row(alias: str, other: str, known: Known) -> str:
    """Return the live edges in the row of another edge, after `_with_void`."""
    return f"{_triples(alias, _of(other), known)} AND NOT {alias}.id IN void"


def _row(alias: str, other: str, known: Known) -> str:
    """Return the live edges in the row of another edge, up to and with the WHERE."""
    return f"{_triples(alias, _of(other), known)} AND NOT {_never_held(alias, known)}"


def _this_row(alias: str, known: Known) -> str:
    """Return the live edges in the row of $source and $relation, up to and with the WHERE."""
    keys = "source_id: $source, relation: $relation"
    return f"{_triples(alias, keys, known)} AND NOT {_never_held(alias, known)}"


def _of(other: str) -> str:
    return f"source_id: {other}.source_id, relation: {other}.relation"


def _triples(alias: str, keys: str, known: Known) -> str:
    """Return the live edges of a source and relation, also those that never held."""
    return f"{seen(alias, 'Edge', known, keys, by=_ROW)} AND {alias}.effective_from IS NOT NULL"


def _never_held(alias: str, known: Known) -> str:
    """Return the test that lineage replaced an edge by an earlier one of its row.

    For the past it does not test whether governed lineage starts at the edge: with that test on
    each member of a row, planning takes twice as long, and a first read its whole deadline.
    """
    if known is None:
        is_valid = counts(alias, ItemKind.EDGE, known, "k")
    else:
        is_valid = f"(k.governed OR {alias}.edge_type <> {CONSTITUTIVE})"
    return (
        f"EXISTS {{ MATCH {seen('k', 'Replacing', known, f'target_id: {alias}.id')}"
        f" AND {is_valid}"
        f" MATCH {seen('v', 'Edge', known, 'id: k.source_id')}"
        f" AND v.source_id = {alias}.source_id AND v.relation = {alias}.relation"
        f" AND v.effective_from < {alias}.effective_from }}"
    )
