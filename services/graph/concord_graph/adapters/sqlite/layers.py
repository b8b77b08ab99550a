"""Reads of the layers around memories (turns, entries, names spelt alike) and of the record of
operations: rows of the outbox, which are never rewritten."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from concord_graph.adapters.sqlite import conflicts, revisions, rows, statements
from concord_graph.adapters.stored import CHANGE_COLUMNS, change_of
from concord_graph.domain.items import FOREVER, Entry, Instant, ItemKind, MemoryKind
from concord_graph.domain.spelling import NameKind, backwards, folded
from concord_graph.ports import Change, ChangeType, EntryFilter, OperationFilter

_COLUMNS = ", ".join(CHANGE_COLUMNS)
_CONSEQUENCES = (int(ChangeType.STANDING_CHANGED), int(ChangeType.TOUCHED))
_TURN = f"m.memory_kind = {MemoryKind.TURN}"
_TIMES_OF_SESSION = " UNION ALL ".join(  # all operations of one request have one record time
    f"SELECT record_from FROM {table} WHERE space = :space AND session_id = :session"
    " AND revision = 1 AND session_id <> ''"
    for table in ("memory", "entry")
)


class LayerReads:
    """The part of a view that reads layers and the record."""

    _db: sqlite3.Connection
    _space: int

    async def turns(
        self, session_id: str, at: Instant, after: tuple[int, int, str] | None, limit: int
    ) -> Sequence[tuple[int, int, str]]:
        now = at.record == FOREVER
        in_time = f" AND {statements.in_time('m')}" if at.stated else ""
        sql = (
            "SELECT m.turn_order, m.create_time, m.id FROM memory m WHERE m.space = :space"
            f" AND m.session_id = :session AND {_TURN} AND {revisions.live('m', now)}"
            " AND (m.turn_order, m.create_time, m.id) > (:order, :time, :id)"
            f"{in_time} ORDER BY m.turn_order, m.create_time, m.id LIMIT :limit"
        )
        order, time, turn_id = after or (-1, 0, "")
        bound = {
            **{"space": self._space, "session": session_id, "valid": at.valid},
            **{"record": at.record, "order": order, "time": time, "id": turn_id, "limit": limit},
        }
        return [(row[0], row[1], row[2]) for row in self._db.execute(sql, bound).fetchall()]

    async def names_near(self, kind: NameKind, asked: str, most: int) -> Sequence[str]:
        found: list[str] = []
        for column, place in (("folded", folded(asked)), ("backwards", backwards(asked))):
            for test, order in ((">=", "ASC"), ("<", "DESC")):
                sql = (
                    f"SELECT name FROM spelling WHERE space = ? AND kind = ? AND {column} {test} ?"
                    f" ORDER BY {column} {order} LIMIT ?"
                )
                rows_ = self._db.execute(sql, (self._space, kind, place, most)).fetchall()
                found += [row[0] for row in rows_]
        return found

    async def last_turn_order(self, session_id: str) -> int:
        sql = (
            "SELECT max(m.turn_order) FROM memory m WHERE m.space = ? AND m.session_id = ?"
            f" AND {_TURN} AND {revisions.current('m', True)}"
        )
        row = self._db.execute(sql, (self._space, session_id)).fetchone()
        return int(row[0] or 0)

    async def entries(
        self,
        filter_: EntryFilter,
        at: Instant,
        *,
        before: tuple[int, int] | None = None,
        skip: int = 0,
        limit: int = 2**31 - 1,
    ) -> tuple[Sequence[Entry], int]:
        tests, bound = self._entry_tests(filter_, at)
        total = self._db.execute(f"SELECT count(*) FROM entry t WHERE {tests}", bound).fetchone()
        rank, time = before or (2**62, 0)
        sql = (
            f"SELECT {rows.qualified(rows.ENTRY, 't')} FROM entry t WHERE {tests}"
            " AND (t.rank, t.record_from) < (:rank, :time)"
            " ORDER BY t.rank DESC, t.record_from DESC LIMIT :limit OFFSET :skip"
        )
        bound |= {"rank": rank, "time": time, "limit": limit, "skip": skip}
        found = self._db.execute(sql, bound).fetchall()
        return [rows.read(Entry, row) for row in found], int(total[0])

    def _entry_tests(self, filter_: EntryFilter, at: Instant) -> tuple[str, dict[str, Any]]:
        is_live = revisions.live("t", at.record == FOREVER)
        tests = [f"t.space = :space AND t.kind = :kind AND {is_live}"]
        bound: dict[str, Any] = {"space": self._space, "kind": filter_.kind, "record": at.record}
        for name, test, value in (
            ("shelf", "t.shelf = :shelf", filter_.shelf),
            ("session", "t.session_id = :session", filter_.session_id or None),
            ("since", "t.record_from >= :since", filter_.since),
            ("valid", "t.create_time <= :valid", at.valid if at.stated else None),
            (
                "ids",
                "t.id IN (SELECT value FROM json_each(:ids))",
                json.dumps(filter_.ids) if filter_.ids else None,
            ),
            (
                "shelves",
                "t.shelf IN (SELECT value FROM json_each(:shelves))",
                json.dumps(filter_.shelves) if filter_.shelves else None,
            ),
            (
                "classes",
                "t.body ->> '$.conflict_class' IN (SELECT value FROM json_each(:classes))",
                json.dumps(filter_.classes) if filter_.classes else None,
            ),
            (
                "sides",
                f"t.id IN ({conflicts.AT_SIDES})",
                json.dumps(filter_.sides) if filter_.sides else None,
            ),
            ("claimant", "t.body ->> '$.claimant' = :claimant", filter_.claimant or None),
            ("run", "t.body ->> '$.run_id' = :run", filter_.run_id or None),
        ):
            if value is not None:
                tests.append(test)
                bound[name] = value
        return " AND ".join(tests), bound

    def _entry_counts(self, at: Instant) -> tuple[int, int, int, int]:
        """Return the numbers of episodes, of held, stale and of removed texts of working memory."""
        made = " AND t.create_time <= :valid" if at.stated else ""
        held = f"t.deleted = 0 AND t.kind = {ItemKind.WORKING_MEMORY}{made}"
        sql = (
            f"SELECT count(*) FILTER (WHERE t.deleted = 0 AND t.kind = {ItemKind.EPISODE}{made}),"
            f" count(*) FILTER (WHERE {held} AND t.shelf = ''),"
            f" count(*) FILTER (WHERE {held} AND t.shelf <> ''),"
            " count(*) FILTER (WHERE t.deleted = 1"
            f" AND t.kind NOT IN ({ItemKind.CONFLICT:d}, {ItemKind.CLAIM:d})) FROM entry t"
            f" WHERE t.space = :space AND {revisions.current('t', at.record == FOREVER)}"
        )
        bound = {"space": self._space, "valid": at.valid, "record": at.record}
        row = self._db.execute(sql, bound).fetchone()
        return row[0], row[1], row[2], row[3]

    async def operations(
        self, filter_: OperationFilter, beyond: int | None, limit: int
    ) -> Sequence[Change]:
        test, bound = _operation_tests(filter_)
        first, end = (
            _first_seq(self._db, self._space, at) for at in (filter_.since, filter_.before)
        )
        if beyond is not None and filter_.oldest_first:
            first = beyond + 1
        elif beyond is not None:
            end = beyond
        bound |= {"space": self._space, "first": first or 0, "limit": limit}
        if end is not None:
            test += " AND seq < :end"
            bound["end"] = end
        order = "ASC" if filter_.oldest_first else "DESC"
        sql = (
            f"SELECT {_COLUMNS} FROM change WHERE space = :space AND seq >= :first{test}"
            f" ORDER BY seq {order} LIMIT :limit"
        )
        return [change_of(row) for row in self._db.execute(sql, bound).fetchall()]


def changes(db: sqlite3.Connection, space: str, after: int, limit: int) -> list[Change]:
    """Return the changes of a space after a sequence number, in sequence."""
    sql = (
        f"SELECT {_COLUMNS} FROM change WHERE space = (SELECT id FROM space WHERE name = ?)"
        " AND seq > ? ORDER BY seq LIMIT ?"
    )
    return [change_of(row) for row in db.execute(sql, (space, after, limit)).fetchall()]


def _operation_tests(filter_: OperationFilter) -> tuple[str, dict[str, Any]]:
    tests = ""
    bound: dict[str, Any] = {}
    for name, value in (("item_id", filter_.item_id), ("principal", filter_.principal)):
        if value:
            not_by = "+" if filter_.item_id and name == "principal" else ""
            tests += f" AND {not_by}{name} = :{name}"
            bound[name] = value
    if filter_.session_id:
        tests += f" AND record_time IN ({_TIMES_OF_SESSION})"
        bound["session"] = filter_.session_id
    if filter_.import_id:
        tests += " AND request_id > :import_first AND request_id < :import_end"
        bound["import_first"], bound["import_end"] = filter_.imported
    if filter_.item_kinds:
        tests += " AND item_kind IN (SELECT value FROM json_each(:kinds))"
        bound["kinds"] = json.dumps([int(kind) for kind in filter_.item_kinds])
    if filter_.types:
        tests += " AND type IN (SELECT value FROM json_each(:types))"
        bound["types"] = json.dumps([int(type_) for type_ in filter_.types])
    else:
        tests += f" AND type NOT IN {_CONSEQUENCES}"
    return tests, bound


def _first_seq(db: sqlite3.Connection, space: int, time: int | None) -> int | None:
    """Return the first sequence number recorded at a time (µs) or later, by binary search."""
    if time is None:
        return None
    row = db.execute("SELECT coalesce(max(seq), 0) FROM change WHERE space = ?", (space,))
    low, high = 1, int(row.fetchone()[0]) + 1
    while low < high:
        middle = (low + high) // 2
        sql = (
            "SELECT record_time FROM change WHERE space = ? AND seq <= ? ORDER BY seq DESC LIMIT 1"
        )
        found = db.execute(sql, (space, middle)).fetchone()
        low, high = (low, middle) if found and found[0] >= time else (middle + 1, high)
    return low
