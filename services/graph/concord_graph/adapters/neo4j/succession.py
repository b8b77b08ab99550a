"""The Cypher of how items stand (T2), and of rows: the values of a source and functional relation.

What follows from lineage and rows stands in `Standing` nodes, worked out at the write
(`domain.succession`); here its numbers are compared. A closed one is a `StandingVersion` only, and
most items have none.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from concord_graph.adapters.neo4j.patterns import Known, bringing, exists, in_time, seen
from concord_graph.adapters.neo4j.records import Fields
from concord_graph.domain.items import FOREVER, Origin
from concord_graph.domain.succession import UNTOUCHED, Newer, Standing

_ROW: Final = "relation, source_id, effective_from"
_ORDER: Final = "{0}.space {1}, {0}.relation {1}, {0}.source_id {1}, {0}.effective_from {1}"
_SAME: Final = ("followed_from", "never_held", "is_fixed", "comes_next", "former", "older")
_PARTS: Final = (("<", "DESC"), ("=", "ASC"), (">", "ASC"))
"""Of the values around a place: before, at and after it."""

PUT: Final = (
    "UNWIND $standings AS row CALL (row) { OPTIONAL MATCH (o:Standing {id: row.id})"
    " WITH row, o, o.record_from AS since"
    " CALL (row, o, since) { WITH * WHERE since = row.time DELETE o }"
    " CALL (row, o, since) { WITH * WHERE since < row.time"
    " SET o.record_until = row.time REMOVE o:Standing }"
    " CALL (row) { WITH * WHERE row.fields IS NOT NULL"
    " CREATE (n:StandingVersion {id: row.id}) SET n:Standing, n += row.fields, n.revision = 1,"
    f" n.record_from = row.time, n.record_until = {FOREVER} }} }}"
)
"""Close how the items of $standings stood, and open how they stand from a time on."""
EVER_FUNCTIONAL: Final = (
    "MATCH (r:RelationVersion) WHERE r.name IS NOT NULL AND r.functional"
    " RETURN r.name, r.record_from, r.record_until"
)
"""(name, from when, until when) of relations while they were declared functional."""


def kept(item_id: str, standing: Standing, time: int) -> Fields:
    """Return a standing as PUT takes it."""
    if standing == UNTOUCHED:
        return {"id": item_id, "time": time}
    fields: Fields = {name: getattr(standing, name) for name in (*_SAME, "superseded_from")}
    fields["replacers"] = [newer.id for newer in standing.replacers]
    fields["replacers_begin"] = [newer.begins for newer in standing.replacers]
    fields["exit_of"] = standing.exit_of or None  # only exits are in its index
    return {"id": item_id, "time": time, "fields": fields}


def standing_of(fields: Fields) -> Standing:
    """Return the standing that a node's properties hold."""
    newer = zip(fields["replacers"], fields["replacers_begin"], strict=True)
    same: dict[str, Any] = {name: fields[name] for name in _SAME}
    exit_of = fields.get("exit_of", "")
    return Standing(tuple(Newer(*each) for each in newer), exit_of=exit_of, **same)


def standing(alias: str, known: Known) -> str:
    """Return the clause that brings how an item stands, as t: null for most."""
    return f"OPTIONAL MATCH {_standing('t', alias, known)}"


def superseded(alias: str, known: Known) -> str:
    """Return the test that at $valid another item stands in an item's place."""
    return exists(f"{_standing('t', alias, known)} AND t.superseded_from <= $valid")


def stands(known: Known) -> str:
    """Return the test that no later edge of its triple that holds at $valid stands for edge e (G2).

    No other edge stands for one that is fixed.
    """
    keys = "source_id: e.source_id, relation: e.relation, target_id: e.target_id"
    later = (
        f"{seen('u', 'Edge', known, keys)} AND u.effective_from > e.effective_from"
        f" AND {in_time('u')} AND NOT {superseded('u', known)}"
    )
    return f"(NOT {exists(later)} OR {exists(_standing('t', 'e', known) + ' AND t.is_fixed')})"


@cache
def standings(known: Known) -> str:
    """Select how the $asked items stand."""
    return f"UNWIND $asked AS ask MATCH {_standing('t', 'ask', known)} RETURN properties(t)"


@cache
def values_around(known: Known) -> str:
    """Select (place, values before, at and after it) of the $asked places, $most of each part."""
    ends_none = f"(s.origin = {Origin.EXTRACTED:d} OR coalesce(s.claimed, false))"
    flags = f"coalesce(t.is_fixed, false), {ends_none}"
    value = f"[s.id, s.target_id, s.effective_from, {flags}]"
    parts = (
        f"COLLECT {{ MATCH {_row('s', 'ask.source', 'ask.relation', known)}"
        f" AND s.effective_from {test} ask.begins {standing('s', known)}"
        f" WITH s, t WHERE NOT coalesce(t.never_held, false)"
        f" RETURN {value} ORDER BY {_ORDER.format('s', order)} LIMIT $most }}"
        for test, order in _PARTS
    )
    return f"UNWIND $asked AS ask RETURN ask.place, {', '.join(parts)}"


@cache
def exits_of(known: Known) -> str:
    """Select the ids of the edges at which a row of the $asked sources may be left."""
    at = seen("t", "Standing", known, "exit_of: ask.id", by="exit_of")
    return f"UNWIND $asked AS ask MATCH {at} RETURN t.id"


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
        " AND NOT r.deleted RETURN properties(r) ORDER BY r.space, r.name LIMIT $limit"
    )


def _standing(name: str, alias: str, known: Known) -> str:
    """Return the pattern of how an item stands, up to and with its WHERE."""
    return seen(name, "Standing", known, f"id: {alias}.id", by="id")


def _row(alias: str, source: str, relation: str, known: Known) -> str:
    """Return the live edges of a source and relation, also those that never held."""
    keys = f"source_id: {source}, relation: {relation}"
    return f"{seen(alias, 'Edge', known, keys, by=_ROW)} AND {alias}.effective_from IS NOT NULL"


def _held(alias: str, source: str, relation: str, known: Known) -> str:
    """Return the live values of a row, up to and with the WHERE."""
    never = exists(f"{_standing('v', alias, known)} AND v.never_held")
    return f"{_row(alias, source, relation, known)} AND NOT {never}"


RIVALS: Final = (
    f"MATCH {seen('e', 'Edge', None, 'relation: $relation', by=_ROW)}"
    " AND e.source_id IS NOT NULL AND e.effective_from IS NOT NULL AND EXISTS { MATCH"
    f" {_held('s', 'e.source_id', 'e.relation', None)} AND s.target_id <> e.target_id"
    " AND s.effective_from <> e.effective_from } RETURN e.id LIMIT $limit"
)
"""The live edges of $relation whose source has another target at another instant."""
