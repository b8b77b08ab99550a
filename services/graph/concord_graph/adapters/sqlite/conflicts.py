"""Reads of conflicts: by id, by pair, and the open ones of many items."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from functools import cache

from concord_graph.adapters.sqlite import revisions, rows
from concord_graph.domain.claims import ClaimState, OpenClaim, OpenClaims
from concord_graph.domain.claims import by_item as by_claimed_item
from concord_graph.domain.conflicts import OPEN
from concord_graph.domain.items import FOREVER, Entry, ItemKind
from concord_graph.domain.open_conflicts import OpenConflict, OpenConflicts, by_item

_CONFLICT = f"{ItemKind.CONFLICT:d}"
_CLAIM = f"{ItemKind.CLAIM:d}"
_OPEN = f"t.shelf IN {tuple(sorted(state.name for state in OPEN))}"
# without these hints, the planner reads every conflict of a state
_NOW = {"first_id": "conflict_pair", "second_id": "conflict_second"}
_THEN = {"first_id": "conflict_first_then", "second_id": "conflict_second_then"}
_CLAIM_SIDES = {"first_id": "claim_first", "second_id": "claim_second"}
AT_SIDES = " UNION ALL ".join(
    f"SELECT c.id FROM json_each(:sides) i CROSS JOIN entry c INDEXED BY {index}"
    f" ON c.space = :space AND c.kind = {kind} AND c.{side} = i.value"
    for kind, indexes in ((_CONFLICT, _THEN), (_CLAIM, _CLAIM_SIDES))
    for side, index in indexes.items()
)
"""The conflicts and claims with any of :sides as a side; their sides never change."""
DISPUTED = " OR ".join(
    f"EXISTS (SELECT 1 FROM entry x INDEXED BY {index} WHERE x.space = s.id AND x.kind = {kind})"
    for kind, index in ((_CONFLICT, _THEN["first_id"]), (_CLAIM, _CLAIM_SIDES["first_id"]))
)
"""Whether the space `s` ever had a conflict or a claim: most never have."""
DERIVED = (
    "SELECT DISTINCT m.id FROM memory m INDEXED BY memory_derived, json_each(m.sources) j,"
    " json_each(j.value, '$.memory_ids') d"
    f" WHERE m.space = :space AND {revisions.live('m', now=True)}"
    """ AND instr(m.sources, '"memory_ids":["') > 0"""
    f" AND d.value IN {revisions.IDS} ORDER BY m.id LIMIT :limit"
)
"""The live memories whose sources name any of :ids, by id."""


class ConflictReads:
    """The part of a view that reads conflicts."""

    _db: sqlite3.Connection
    _space: int
    _disputed: bool

    async def entry(self, entry_id: str, record: int = FOREVER) -> Entry | None:
        bound = {"space": self._space, "id": entry_id, "record": record}
        row = self._db.execute(by_id(record == FOREVER), bound).fetchone()
        return rows.read(Entry, row) if row else None

    async def conflicts_between(
        self, pairs: Collection[tuple[str, str]], record: int = FOREVER
    ) -> Mapping[tuple[str, str], Entry]:
        bound = {"space": self._space, "pairs": json.dumps(list(pairs)), "record": record}
        found = self._db.execute(between(record == FOREVER), bound).fetchall()
        return {(row[-2], row[-1]): rows.read(Entry, row[:-2]) for row in found}

    async def triggered(self, limit: int) -> Sequence[tuple[str, Sequence[str]]]:
        sql = (
            "SELECT m.id, m.surfaces_when FROM memory m INDEXED BY memory_triggered"
            f" WHERE m.space = ? AND {revisions.live('m', now=True)} AND m.surfaces_when <> '[]'"
            " ORDER BY m.id LIMIT ?"
        )
        found = self._db.execute(sql, (self._space, limit))
        return [(row[0], json.loads(row[1])) for row in found]

    async def derived_from(self, memory_ids: Collection[str], limit: int) -> Sequence[str]:
        bound = {"space": self._space, "ids": json.dumps(list(memory_ids)), "limit": limit}
        return [row[0] for row in self._db.execute(DERIVED, bound)]

    async def open_claims(
        self, ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, OpenClaims]:
        """Return the open claims; no statement in a space that never had a conflict or claim."""
        if not self._disputed:
            return {}
        bound = {"space": self._space, "ids": json.dumps(list(ids)), "record": record}
        found = self._db.execute(claims_at(record == FOREVER), bound)
        return by_claimed_item(map(OpenClaim._make, found))

    async def claimants(self, most: int) -> Mapping[str, int]:
        sql = (
            "SELECT t.body ->> '$.claimant' AS claimant, count(*) FROM entry t"
            f" WHERE t.space = ? AND t.kind = {_CLAIM} AND t.shelf = '{ClaimState.OPEN.name}'"
            f" AND {revisions.live('t', now=True)} GROUP BY claimant ORDER BY claimant LIMIT ?"
        )
        return dict(self._db.execute(sql, (self._space, most)).fetchall())

    async def open_conflicts(
        self, ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, OpenConflicts]:
        """Return the open conflicts; no statement in a space that never had a conflict or claim."""
        if not self._disputed:
            return {}
        bound = {"space": self._space, "ids": json.dumps(list(ids)), "record": record}
        return by_item(map(OpenConflict._make, self._db.execute(open_at(record == FOREVER), bound)))


@cache
def by_id(now: bool) -> str:
    """Return the statement that reads the entry of :id."""
    return (
        f"SELECT {rows.ENTRY} FROM entry t WHERE t.space = :space AND t.id = :id"
        f" AND {revisions.current('t', now)}"
    )


@cache
def between(now: bool) -> str:
    """Return the statement that reads the conflicts of :pairs, a JSON list of pairs of ids."""
    return (
        f"SELECT {rows.qualified(rows.ENTRY, 't')}, t.first_id, t.second_id"
        " FROM json_each(:pairs) p CROSS JOIN entry t"
        f" INDEXED BY {(_NOW if now else _THEN)['first_id']} ON t.space = :space"
        f" AND t.kind = {_CONFLICT} AND t.first_id = p.value ->> 0"
        f" AND t.second_id = p.value ->> 1 AND {revisions.live('t', now)}"
    )


@cache
def open_at(now: bool) -> str:
    """Return the statement that finds the open conflicts of :ids, as `OpenConflict` lists them."""
    return " UNION ALL ".join(
        f"SELECT t.rank, t.{side}, t.id, t.shelf, t.body ->> '$.judge',"
        " t.body ->> '$.conflict_class', t.body ->> '$.author' FROM json_each(:ids) i"
        f" CROSS JOIN entry t INDEXED BY {index} ON t.space = :space AND t.kind = {_CONFLICT}"
        f" AND t.{side} = i.value"
        f" AND {revisions.live('t', now)} AND {_OPEN}"
        for side, index in (_NOW if now else _THEN).items()
    )


@cache
def claims_at(now: bool) -> str:
    """Return the statement that finds the open claims at :ids, as `OpenClaim` lists them."""
    return " UNION ALL ".join(
        f"SELECT t.rank, t.{side}, t.id, t.first_id, t.second_id, t.body ->> '$.action',"
        " t.body ->> '$.claimant' FROM json_each(:ids) i"
        f" CROSS JOIN entry t INDEXED BY {index} ON t.space = :space AND t.kind = {_CLAIM}"
        f" AND t.{side} = i.value AND {revisions.live('t', now)}"
        f" AND t.shelf = '{ClaimState.OPEN.name}'"
        for side, index in _CLAIM_SIDES.items()
    )
