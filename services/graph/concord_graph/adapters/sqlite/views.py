"""Reads that show items with their supersession: views, states, and the edges of a walk."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import closing
from typing import Any

from concord_graph.adapters.merged_rows import with_pending
from concord_graph.adapters.seen import Seen, sought_ends
from concord_graph.adapters.sqlite import filters, rows, statements
from concord_graph.adapters.sqlite.revisions import ids_of
from concord_graph.adapters.stored import LEAVE_THE_STATE
from concord_graph.domain.items import (
    FOREVER,
    EdgeType,
    Importance,
    Instant,
    ItemKind,
    Memory,
)
from concord_graph.domain.relevance import Access
from concord_graph.domain.supersession import Supersession
from concord_graph.ports import Hop, ReadCounts, State, Step, View, Walk

Pending = Sequence[ReadCounts]
_HOPS_AT_ONCE = 500

_BEGINS_A_STATE = f"k.type NOT IN ({', '.join(map(str, LEAVE_THE_STATE))})"
"""In the words of the index."""
NEWEST_STATES = (
    "SELECT i.value, c.seq, c.record_time FROM json_each(:ids) i"
    " CROSS JOIN change c ON c.space = :space AND c.seq = (SELECT k.seq FROM change k"
    " INDEXED BY change_state WHERE k.space = :space AND k.item_id = i.value"
    f" AND {_BEGINS_A_STATE} AND k.record_time <= :record ORDER BY k.seq DESC LIMIT 1)"
)
"""Select (id, seq, record time) of the change by which the state of each of :ids began."""
STATE_THROUGH = (
    "SELECT k.seq, k.record_time FROM change k INDEXED BY change_state WHERE k.space = :space"
    f" AND k.item_id = :id AND {_BEGINS_A_STATE} AND k.seq <= :seq ORDER BY k.seq DESC LIMIT 1"
)
"""Select (seq, record time) of the change by which the state of :id began, up to :seq."""


class ViewReads:
    """The part of a view of a space that reads items with their supersession."""

    _db: sqlite3.Connection
    _space: int
    _space_name: str
    _pending: Pending

    async def views(self, kind: ItemKind, ids: Collection[str], at: Instant) -> Mapping[str, View]:
        sql = statements.VIEWS[kind](at.record == FOREVER)
        bound = {"space": self._space, "ids": ids_of(ids), "record": at.record}
        return {row[0]: self._view(kind, row, at.valid) for row in self._all(sql, bound)}

    async def states(
        self, refs: Sequence[tuple[str, int]], valid: int, record: int = FOREVER
    ) -> Sequence[State | None]:
        then = {memory_id for memory_id, seq in refs if seq == 0}
        known = self._known_states(then, Instant(valid, record)) if then else {}
        return [
            self._state(memory_id, seq, valid) if seq else known.get(memory_id)
            for memory_id, seq in refs
        ]

    def _known_states(self, ids: Collection[str], at: Instant) -> dict[str, State]:
        bound = {"space": self._space, "ids": ids_of(ids), "record": at.record}
        newest = self._all(NEWEST_STATES, bound)
        changes = {item_id: (int(seq), int(time)) for item_id, seq, time in newest}
        found = self._all(statements.memory_views(at.record == FOREVER), bound)
        return {
            row[0]: State(self._view(ItemKind.MEMORY, row, at.valid), *changes[row[0]], at)
            for row in found
        }

    def _state(self, memory_id: str, seq: int, valid: int) -> State | None:
        found = self._one(STATE_THROUGH, {"space": self._space, "id": memory_id, "seq": seq})
        if found is None:
            return None
        bound = {"space": self._space, "ids": ids_of([memory_id]), "record": found[1]}
        row = self._one(statements.memory_views(False), bound)
        if row is None:
            return None
        view = self._view(ItemKind.MEMORY, row, valid)
        return State(view, found[0], found[1], Instant(valid, found[1]))

    async def steps(self, ids: Collection[str], walk: Walk, limit: int) -> Sequence[Step]:
        return [self._step(row) for row in self._walked(ids, walk, limit, Seen.STEP)]

    async def hops(self, ids: Collection[str], walk: Walk) -> AsyncGenerator[Sequence[Hop]]:
        with closing(self._walked(ids, walk, -1, Seen.HOP)) as rows_:
            while some := rows_.fetchmany(_HOPS_AT_ONCE):
                yield [Hop(*row) for row in some]

    async def edges_at_hand(self, item_id: str, walk: Walk, most: int) -> Sequence[View] | None:
        found = self._walked([item_id], walk, most + 1, Seen.WHOLE).fetchall()
        if len(found) > most:
            return None
        return [self._view(ItemKind.EDGE, row, walk.at.valid) for row in found]

    def _walked(self, ids: Collection[str], walk: Walk, limit: int, seen: Seen) -> sqlite3.Cursor:
        tests, bound = filters.edge_tests(walk.filter, include_resolutions=walk.include_resolutions)
        sql = statements.walked(
            walk.at.record == FOREVER,
            sought_ends(walk),
            # a whole view says when its edge is superseded: its reader tests that
            not (walk.include_superseded or seen == Seen.WHOLE),
            tests,
            seen=seen,
            constitutive=walk.filter.edge_types == (EdgeType.CONSTITUTIVE,),
            standing_only=not walk.include_superseded,
        )
        bound |= {
            "space": self._space,
            "id": next(iter(ids), ""),
            "ids": ids_of(ids),
            "valid": walk.at.valid,
            "record": walk.at.record,
            "limit": limit,
        }
        return self._db.execute(sql, bound)

    async def degrees(self, ids: Collection[str], walk: Walk, cap: int) -> Mapping[str, int]:
        sql = statements.degrees(walk.at.record == FOREVER, sought_ends(walk))
        bound = {"space": self._space, "ids": ids_of(ids), "record": walk.at.record, "limit": cap}
        return dict(self._all(sql, bound))

    def _view(self, kind: ItemKind, row: rows.Row, valid: int) -> View:
        if kind == ItemKind.EDGE:
            return self._edge_view(row, valid)
        item = rows.item(kind, row)
        superseded, predecessors, last_time, count, near, _, _ = row[-7:]
        until = item.valid_until if isinstance(item, Memory) else None
        supersession = Supersession(
            item.effective_from if isinstance(item, Memory) else item.create_time,
            FOREVER if until is None else until,
            superseded,
            () if item.deleted or superseded <= valid else (item.id,),
            predecessors,
        )
        access = self._access(item.id, last_time or item.create_time, count or 0)
        return View(item, supersession, access, bool(near))

    def _edge_view(self, row: rows.Row, valid: int) -> View:
        """Return the view of an edge. A page has a hundred, so it is written for speed."""
        edge = rows.edge(row)
        superseded, predecessors, last_time, count, near, source, target, sources = row[-8:]
        names: dict[str, str] = {}
        if source is not None:
            names[row[9]] = source
        if target is not None:
            names[row[12]] = target
        create_time, valid_from, until = row[8], row[18], row[19]
        supersession = Supersession(
            create_time if valid_from is None else valid_from,
            FOREVER if until is None else until,
            superseded,
            () if row[5] or superseded <= valid else (row[0],),
            predecessors,
        )
        access = self._access(row[0], last_time or create_time, count or 0)
        stated = tuple(json.loads(sources)) if sources else ()
        return View(edge, supersession, access, near == 1, names, stated)

    def _step(self, row: rows.Row) -> Step:
        return Step(
            id=row[0],
            source_id=row[1],
            target_id=row[2],
            weight=row[3],
            edge_type=EdgeType(row[4]),
            importance=Importance(row[5]),
            near_constitutive=bool(row[6]),
            access=self._access(row[0], row[7], row[8]),
        )

    def _access(self, item_id: str, last_time: int, count: int) -> Access:
        return with_pending(last_time, count, self._pending, self._space_name, item_id)

    def _one(self, sql: str, bound: Any) -> rows.Row | None:
        row: rows.Row | None = self._db.execute(sql, bound).fetchone()
        return row

    def _all(self, sql: str, bound: Any) -> list[rows.Row]:
        return self._db.execute(sql, bound).fetchall()
