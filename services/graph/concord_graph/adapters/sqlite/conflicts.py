"""Reads of conflicts: by id, by pair, and the open ones of many items."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence

from concord_graph.adapters.sqlite import revisions, rows
from concord_graph.domain.conflicts import MOST_OPEN, OPEN
from concord_graph.domain.items import FOREVER, Entry, ItemKind

_OPEN = f"t.shelf IN {tuple(sorted(state.name for state in OPEN))}"
_ANY = (  # most spaces have none, and then no item is looked for
    f"EXISTS (SELECT 1 FROM entry x WHERE x.space = :space AND x.kind = {ItemKind.CONFLICT:d})"
)
_SIDES = ("first_id", "second_id")


class ConflictReads:
    """The part of a view that reads conflicts."""

    _db: sqlite3.Connection
    _space: int

    async def entry(self, entry_id: str, record: int = FOREVER) -> Entry | None:
        """Return an entry by id, a deleted one too."""
        sql = (
            f"SELECT {rows.ENTRY} FROM entry t WHERE t.space = :space AND t.id = :id"
            f" AND {revisions.current('t', record == FOREVER)}"
        )
        bound = {"space": self._space, "id": entry_id, "record": record}
        row = self._db.execute(sql, bound).fetchone()
        return rows.entry(row) if row else None

    async def conflicts_between(
        self, pairs: Collection[tuple[str, str]], record: int = FOREVER
    ) -> Mapping[tuple[str, str], Entry]:
        """Return the live conflicts of pairs of ids, the smaller id first."""
        sql = (
            f"SELECT {rows.qualified(rows.ENTRY, 't')}, t.first_id, t.second_id"
            " FROM json_each(:pairs) p CROSS JOIN entry t ON t.space = :space"
            f" AND t.kind = {ItemKind.CONFLICT:d} AND t.first_id = p.value ->> 0"
            f" AND t.second_id = p.value ->> 1 AND {revisions.live('t', record == FOREVER)}"
        )
        bound = {"space": self._space, "pairs": json.dumps(list(pairs)), "record": record}
        found = self._db.execute(sql, bound).fetchall()
        return {(row[-2], row[-1]): rows.entry(row) for row in found}

    async def derived_from(self, memory_ids: Collection[str], limit: int) -> Sequence[str]:
        """Return the ids of live memories whose sources name any of them, by id."""
        sql = (
            "SELECT DISTINCT m.id FROM memory m, json_each(m.sources) s,"
            " json_each(s.value, '$.memory_ids') d WHERE m.space = :space"
            f" AND {revisions.live('m', now=True)}"
            """ AND instr(m.sources, '"memory_ids":["') > 0"""
            " AND d.value IN (SELECT value FROM json_each(:ids)) ORDER BY m.id LIMIT :limit"
        )
        bound = {"space": self._space, "ids": json.dumps(list(memory_ids)), "limit": limit}
        return [row[0] for row in self._db.execute(sql, bound)]

    async def open_conflicts(
        self, ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, Sequence[str]]:
        """Return the ids of the open conflicts of each item, newest first."""
        sql = " UNION ALL ".join(
            f"SELECT t.rank, t.{side}, t.id FROM json_each(:ids) i CROSS JOIN entry t"
            f" ON t.space = :space AND t.kind = {ItemKind.CONFLICT:d} AND t.{side} = i.value"
            f" AND {revisions.live('t', record == FOREVER)} AND {_OPEN} WHERE {_ANY}"
            for side in _SIDES
        )
        bound = {"space": self._space, "ids": json.dumps(list(ids)), "record": record}
        found: dict[str, list[str]] = {}
        for _, item_id, conflict_id in sorted(self._db.execute(sql, bound), reverse=True):
            if len(known := found.setdefault(item_id, [])) < MOST_OPEN:
                known.append(conflict_id)
        return found
