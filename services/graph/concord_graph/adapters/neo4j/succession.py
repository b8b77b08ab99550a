"""The Cypher of succession by time: edges that give way because a later one follows (G2, T2).

The edges of one triple follow one another, and of a relation declared functional all edges of one
source: its *row*. Edges of one instant stand side by side. A constitutive edge gives way to none,
nor does one that lineage rests on which was made with consent.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from concord_graph.adapters.neo4j.patterns import (
    CONSTITUTIVE,
    Known,
    bringing,
    exists,
    governs,
    item,
    replaced,
    seen,
)
from concord_graph.domain.items import ItemKind

MOST_COUNTED: Final = 100  # former values of one instant: a hub's would cost every reader of it


def functional(name: str, known: Known) -> str:
    """Return the test that the relation of an expression is declared functional.

    The relations that are so now are bound to every statement, as $functional.
    """
    if known is None:
        return f"{name} IN $functional"
    return exists(seen("f", "Functional", known, f"name: {name}"))


def gives_way(alias: str, known: Known) -> str:
    """Return the test that an edge has successors by time at all (G4)."""
    return f"{alias}.edge_type <> {CONSTITUTIVE} AND NOT {governs(alias, known)}"


def next_from(known: Known) -> str:
    """Return from when the next edge follows edge e (µs), null without one."""

    def first(*, whole: bool) -> str:
        return (
            f"COLLECT {{ MATCH {_row('s', 'e', known, whole=whole)}"
            " AND s.effective_from > e.effective_from"
            " RETURN s.effective_from AS t ORDER BY t LIMIT 1 }[0]"
        )

    return (
        f"CASE WHEN NOT ({gives_way('e', known)}) THEN null"
        f" WHEN {functional('e.relation', known)} THEN {first(whole=True)}"
        f" ELSE {first(whole=False)} END"
    )


def with_former(known: Known) -> str:
    """Return the clause that finds out when the edge before e in its row began, as `former`."""

    def last(*, whole: bool) -> str:
        return (
            f"COLLECT {{ MATCH {_row('u', 'e', known, whole=whole)}"
            " AND u.effective_from < e.effective_from"
            " RETURN u.effective_from AS t ORDER BY t DESC LIMIT 1 }[0]"
        )

    return (
        f"WITH *, {functional('e.relation', known)} AS whole WITH *,"
        f" CASE WHEN whole THEN {last(whole=True)} ELSE {last(whole=False)} END AS former"
    )


def former_count(known: Known) -> str:
    """Return how many edges edge e is the next one of, at most MOST_COUNTED, after `former`."""

    def count(*, whole: bool) -> str:
        pattern = _row("s", "e", known, whole=whole)
        return (
            f"COUNT {{ MATCH {pattern} AND s.effective_from = former"
            f" AND {gives_way('s', known)} RETURN s LIMIT {MOST_COUNTED} }}"
        )

    return (
        f"CASE WHEN former IS NULL THEN 0 WHEN whole THEN {count(whole=True)}"
        f" ELSE {count(whole=False)} END"
    )


def is_former(older: str, known: Known) -> str:
    """Return the test that edge e is the next one of another edge, after `former`."""
    return (
        f"({older}.source_id = e.source_id AND {older}.relation = e.relation"
        f" AND (whole OR {older}.target_id = e.target_id) AND {older}.effective_from = former"
        f" AND {gives_way(older, known)})"
    )


def followers(known: Known) -> str:
    """Select (id, follower's id) of $asked edges: what has begun by $valid, not all of it.

    Only those from which a walk to the heads goes on: the latest of the row, and in between those
    that give way to none or to another by lineage. So a walk along a long row is one step.
    """

    def latest(*, whole: bool) -> str:
        return (
            f"COLLECT {{ MATCH {_row('u', 'e', known, whole=whole)} AND u.effective_from <= $valid"
            " RETURN u.effective_from AS t ORDER BY t DESC LIMIT 1 }[0]"
        )

    def beyond(*, whole: bool) -> str:
        replaced = exists(seen("l", "Replacing", known, "target_id: s.id"))
        return (
            f"WITH * WHERE {'whole' if whole else 'NOT whole'}"
            f" MATCH {_row('s', 'e', known, whole=whole)}"
            " AND s.effective_from > e.effective_from AND s.effective_from <= latest"
            f" AND (s.effective_from = latest OR {replaced} OR NOT ({gives_way('s', known)}))"
            " RETURN s.id AS successor"
        )

    record = "" if known is None else ", ask"
    return (
        f"UNWIND $asked AS ask MATCH {item('e', ItemKind.EDGE, known)} AND {gives_way('e', known)}"
        f" WITH e{record}, {functional('e.relation', known)} AS whole WITH *,"
        f" CASE WHEN whole THEN {latest(whole=True)} ELSE {latest(whole=False)} END AS latest"
        f" CALL (e, whole, latest{record}) {{ {beyond(whole=True)}"
        f" UNION ALL {beyond(whole=False)} }}"
        " RETURN e.id AS id, successor"
    )


def with_followers(known: Known, carried: str) -> str:
    """Return the clause that finds what follows edge e at $valid, as `successor`.

    That is by lineage, the next ones in time, and those from which a walk to the heads goes on;
    `carried` are the variables that stay.
    """
    record = "" if known is None else ", ask"

    def latest(*, whole: bool) -> str:
        return (
            f"COLLECT {{ MATCH {_row('u', 'e', known, whole=whole)} AND u.effective_from <= $valid"
            " RETURN u.effective_from AS t ORDER BY t DESC LIMIT 1 }[0]"
        )

    def beyond(*, whole: bool) -> str:
        turns = exists(seen("l", "Replacing", known, "target_id: s.id"))
        return (
            f"WITH * WHERE {'whole' if whole else 'NOT whole'} AND {gives_way('e', known)}"
            f" MATCH {_row('s', 'e', known, whole=whole)}"
            " AND s.effective_from > e.effective_from AND s.effective_from <= latest"
            f" AND (s.effective_from IN [next, latest] OR {turns} OR NOT ({gives_way('s', known)}))"
            " RETURN s.id AS successor"
        )

    by_lineage = (
        f"WITH * {replaced('e', ItemKind.EDGE, known)} AND n.effective_from <= $valid"
        " RETURN n.id AS successor"
    )
    return (
        f"WITH {carried}, {functional('e.relation', known)} AS whole,"
        f" {next_from(known)} AS next WITH *,"
        f" CASE WHEN whole THEN {latest(whole=True)} ELSE {latest(whole=False)} END AS latest"
        f" CALL (e, whole, next, latest{record}) {{ {beyond(whole=True)}"
        f" UNION {beyond(whole=False)} UNION {by_lineage} }}"
    )


@cache
def row(known: Known, *, whole: bool) -> str:
    """Select up to $limit live edges of a row, by effective valid_from."""
    return (
        f"{bringing(known)}MATCH {_this_row('s', known, whole=whole)}"
        " RETURN properties(s) ORDER BY s.effective_from, s.id LIMIT $limit"
    )


@cache
def beside(*, whole: bool) -> str:
    """Select the live edges of a row at the last instant before $from and the first after it.

    None of them when another edge than $id stands at $from.
    """
    there = f"MATCH {_this_row('u', None, whole=whole)} AND u.id <> $id AND u.effective_from"
    before, after = (
        f"COLLECT {{ {there} {test} $from RETURN u.effective_from AS t ORDER BY t {order}"
        " LIMIT 1 }[0]"
        for test, order in (("<", "DESC"), (">", "ASC"))
    )
    return (
        f"WITH {before} AS before, {after} AS after WHERE NOT EXISTS {{ {there} = $from }}"
        f" MATCH {_this_row('s', None, whole=whole)} AND s.id <> $id"
        " AND s.effective_from IN [before, after]"
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
"""The live edges of $relation whose source has another value of it at another instant."""


@cache
def declared(known: Known) -> str:
    """Select what is declared about the relation $name."""
    return (
        f"{bringing(known)}MATCH {seen('r', 'Relation', known, 'name: $name')} RETURN properties(r)"
    )


@cache
def listed_relations(known: Known) -> str:
    """Select the relations that are declared, with a name after $after, by name."""
    return (
        f"{bringing(known)}MATCH {seen('r', 'Relation', known)} AND r.name > $after"
        " RETURN properties(r) ORDER BY r.space, r.name LIMIT $limit"
    )


def _row(alias: str, other: str, known: Known, *, whole: bool) -> str:
    """Return the live edges in the row of another edge, up to and with the WHERE."""
    keys = f"source_id: {other}.source_id, relation: {other}.relation"
    if not whole:
        keys += f", target_id: {other}.target_id"
    return seen(alias, "Edge", known, keys)


def _this_row(alias: str, known: Known, *, whole: bool) -> str:
    """Return the live edges in the row of $source, $relation and $target, up to the WHERE."""
    keys, index = "source_id: $source, relation: $relation", "relation, source_id, effective_from"
    if not whole:
        keys += ", target_id: $target"
        index = "source_id, relation, target_id, effective_from"
    pattern = seen(alias, "Edge", known, keys, by="source_id" if known else index)
    return f"{pattern} AND {alias}.effective_from IS NOT NULL"
