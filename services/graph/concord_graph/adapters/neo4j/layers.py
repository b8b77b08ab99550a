"""Reads of the layers around memories (turns, entries, names spelt alike) and of the record."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from concord_graph.adapters.neo4j import records
from concord_graph.adapters.neo4j.patterns import Known, bringing, in_time, known_at, seen
from concord_graph.adapters.neo4j.transaction import SpaceTransaction
from concord_graph.adapters.stored import CHANGE_COLUMNS, change_of
from concord_graph.domain.items import FOREVER, Entry, Instant, ItemKind
from concord_graph.domain.spelling import NameKind, backwards, folded
from concord_graph.ports import (
    Change,
    ChangeType,
    EntryFilter,
    OperationFilter,
)

CHANGE = ", ".join(f"c.{name}" for name in CHANGE_COLUMNS)
_CONSEQUENCES = [int(ChangeType.STANDING_CHANGED), int(ChangeType.TOUCHED)]
_FIRST_SEQ = (  # both grow together
    "MATCH (c:Change) USING INDEX SEEK c:Change(space, record_time, seq)"
    " WHERE c.record_time >= $time AND c.seq > 0"
    " RETURN c.seq ORDER BY c.space, c.record_time, c.seq LIMIT 1"
)
# the conflicts and claims with any of these as a side; their sides never change
_AT_SIDES = " UNION ".join(
    f"UNWIND $asked AS ask MATCH (c:EntryVersion {{{side}: ask.id}}) RETURN c.id AS id"
    for side in ("first_id", "second_id")
)
# all operations of one request have one record time
_TIMES_OF_SESSION = " UNION ".join(
    f"MATCH (v:{label} {{session_id: $session}}) WHERE v.revision = 1 RETURN v.record_from AS time"
    for label in ("MemoryVersion", "EntryVersion")
)
# for a kind of name: the live label, and the properties with the two sort keys and the name
_SPELT = {
    NameKind.NODE: ("Entity", "folded", "backwards", "name"),
    NameKind.MEMORY_ID: ("Memory", "folded_id", "backwards_id", "id"),
    NameKind.EXTERNAL_ID: ("Memory", "folded_key", "backwards_key", "external_id"),
    NameKind.SESSION: ("Episode", "folded_session", "backwards_session", "session_id"),
}


class LayerReads(SpaceTransaction):
    """The part of a view that reads layers and the record."""

    async def turns(
        self, session_id: str, at: Instant, after: tuple[int, int, str] | None, limit: int
    ) -> Sequence[tuple[int, int, str]]:
        order, time, turn_id = after or (-1, 0, "")
        found = await self.ask(
            _turns(known_at(at.record), stated=at.stated),
            asked=[{"record": at.record}],
            session=session_id,
            valid=at.valid,
            order=order,
            time=time,
            id=turn_id,
            limit=limit,
        )
        return [(row[0], row[1], row[2]) for row in found]

    async def last_turn_order(self, session_id: str) -> int:
        found = await self.ask(
            "MATCH (m:Item {session_id: $session}) WHERE m.turn_place > 0"
            " RETURN m.turn_place ORDER BY m.session_id DESC, m.turn_place DESC LIMIT 1",
            session=session_id,
        )
        return int(found[0][0]) if found else 0

    async def names_near(self, kind: NameKind, asked: str, most: int) -> Sequence[str]:
        found = await self.ask(
            _names_near(kind), folded=folded(asked), backwards=backwards(asked), most=most
        )
        return [row[0] for row in found]

    async def entries(
        self,
        filter_: EntryFilter,
        at: Instant,
        *,
        before: tuple[int, int] | None = None,
        skip: int = 0,
        limit: int = 2**31 - 1,
    ) -> tuple[Sequence[Entry], int]:
        at_sides = None
        if filter_.sides:
            asked = [{"id": side_id} for side_id in filter_.sides]
            at_sides = [row[0] for row in await self.ask(_AT_SIDES, asked=asked)]
            if not at_sides:
                return [], 0
        tests, bound = _entry_tests(filter_, at, at_sides)
        rank, time = before or (2**62, 0)
        bound |= {"rank": rank, "time": time, "limit": limit, "skip": skip}
        found = await self.ask(_entries(known_at(at.record), tests), **bound)
        return [records.read(Entry, record) for record in found[0][0]], found[0][1]

    async def _entry_counts(self, at: Instant) -> tuple[int, int, int]:
        text = _entry_counts(known_at(at.record), stated=at.stated)
        found = await self.ask(
            text,
            asked=[{"record": at.record}],
            valid=at.valid,
            episode=int(ItemKind.EPISODE),
            held=int(ItemKind.WORKING_MEMORY),
        )
        return found[0][0], found[0][1], found[0][2]

    async def operations(
        self, filter_: OperationFilter, beyond: int | None, limit: int
    ) -> Sequence[Change]:
        tests, bound = _operation_tests(filter_)
        if filter_.session_id:
            times = await self.ask(_TIMES_OF_SESSION, session=filter_.session_id)
            tests, bound["times"] = f"{tests} AND c.record_time IN $times", [t for (t,) in times]
        for name, time, test in (
            ("first", filter_.since, " AND c.seq >= $first"),
            ("end", filter_.before, " AND c.seq < $end"),
        ):
            if time is not None:
                found = await self.ask(_FIRST_SEQ, time=time)
                tests, bound[name] = tests + test, found[0][0] if found else FOREVER
        if beyond is not None:
            tests += f" AND c.seq {'>' if filter_.oldest_first else '<'} $beyond"
            bound["beyond"] = beyond
        order = "ASC" if filter_.oldest_first else "DESC"
        text = (
            f"MATCH (c:Change) WHERE c.seq > 0{tests} RETURN {CHANGE}"
            f" ORDER BY c.space {order}, c.seq {order} LIMIT $limit"
        )
        return [change_of(row) for row in await self.ask(text, **bound, limit=limit)]


@cache
def _turns(known: Known, *, stated: bool) -> str:
    index = "session_id" if known else "session_id, turn_order, create_time, id"
    return (
        f"{bringing(known)}MATCH {seen('m', 'Turn', known, 'session_id: $session', by=index)}"
        f"{' AND ' + in_time('m') if stated else ''} AND m.turn_order >= $order"
        " AND m.create_time IS NOT NULL AND m.id IS NOT NULL"
        " AND (m.turn_order > $order OR m.create_time > $time"
        " OR m.create_time = $time AND m.id > $id)"
        " RETURN m.turn_order, m.create_time, m.id"
        " ORDER BY m.space, m.session_id, m.turn_order, m.create_time, m.id LIMIT $limit"
    )


@cache
def _names_near(kind: NameKind) -> str:
    label, *sortings, name = _SPELT[kind]
    branches = [
        f"MATCH (x:{label}) WHERE x.{key} {test} ${place}"
        f" WITH DISTINCT x.space AS space, x.{key} AS place, x.{name} AS name"
        f" ORDER BY space {order}, place {order} LIMIT $most"
        " RETURN name"
        for key, place in zip(sortings, ("folded", "backwards"), strict=True)
        for test, order in ((">=", "ASC"), ("<", "DESC"))
    ]
    return " UNION ".join(branches)


@cache
def _entries(known: Known, tests: str) -> str:
    entry = seen("t", "Entry", known, "kind: $kind")
    pattern = f"{entry} AND t.rank IS NOT NULL AND t.record_from > 0{tests}"
    return (
        f"{bringing(known)}RETURN COLLECT {{ MATCH {pattern} AND (t.rank < $rank OR"
        " t.rank = $rank AND t.record_from < $time) RETURN properties(t)"
        " ORDER BY t.space DESC, t.kind DESC, t.rank DESC, t.record_from DESC"
        " SKIP $skip LIMIT $limit"
        f" }}, COUNT {{ MATCH {pattern} }}"
    )


def _entry_tests(
    filter_: EntryFilter, at: Instant, at_sides: list[str] | None
) -> tuple[str, dict[str, Any]]:
    tests = ""
    bound: dict[str, Any] = {"kind": int(filter_.kind), "asked": [{"record": at.record}]}
    for name, test, value in (
        ("shelf", "t.shelf = $shelf", filter_.shelf),
        ("session", "t.session_id = $session", filter_.session_id or None),
        ("since", "t.record_from >= $since", filter_.since),
        ("valid", "t.create_time <= $valid", at.valid if at.stated else None),
        ("ids", "t.id IN $ids", list(filter_.ids) or None),
        ("shelves", "t.shelf IN $shelves", list(filter_.shelves) or None),
        ("classes", "t.conflict_class IN $classes", [int(c) for c in filter_.classes] or None),
        ("at_sides", "t.id IN $at_sides", at_sides),
        ("claimant", "t.claimant = $claimant", filter_.claimant or None),
        ("run_id", "t.run_id = $run_id", filter_.run_id or None),
    ):
        if value is not None:
            tests += f" AND {test}"
            bound[name] = value
    return tests, bound


@cache
def _entry_counts(known: Known, *, stated: bool) -> str:
    made = " AND t.create_time <= $valid" if stated else ""

    def count(kind: str, test: str = "") -> str:
        pattern = seen("t", "Entry", known, f"kind: ${kind}")
        return (
            f"COUNT {{ MATCH {pattern} AND t.rank IS NOT NULL AND t.record_from > 0{test}{made} }}"
        )

    return (
        f"{bringing(known)}RETURN {count('episode')},"
        f""" {count("held", " AND t.shelf = ''")}, {count("held", " AND t.shelf <> ''")}"""
    )


def _operation_tests(filter_: OperationFilter) -> tuple[str, dict[str, Any]]:
    tests = "" if filter_.types else f" AND NOT c.type IN {_CONSEQUENCES}"
    bound: dict[str, Any] = {}
    imported = filter_.imported if filter_.import_id else (None, None)
    for name, test, value in (
        ("item_id", "c.item_id = $item_id", filter_.item_id or None),
        ("principal", "c.principal = $principal", filter_.principal or None),
        (
            "import_first",
            "c.request_id > $import_first",
            imported[0],
        ),
        (
            "import_end",
            "c.request_id < $import_end",
            imported[1],
        ),
        ("kinds", "c.item_kind IN $kinds", [int(k) for k in filter_.item_kinds] or None),
        ("types", "c.type IN $types", [int(t) for t in filter_.types] or None),
    ):
        if value is not None:
            tests += f" AND {test}"
            bound[name] = value
    return tests, bound
