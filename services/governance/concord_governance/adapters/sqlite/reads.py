"""The ledger's reads over one SQLite transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from concord_governance.adapters import endings
from concord_governance.adapters.sqlite.access import SqliteAccessReads
from concord_governance.domain.documents import from_json
from concord_governance.domain.proposals import (
    Decision,
    Effect,
    GivenConsent,
    Proposal,
    Revision,
    Status,
)
from concord_governance.ports.ledger import Cursor, EntryFilter, Leaf, RequestReceipt

Row = tuple[Any, ...]

_PROPOSAL = (
    "id, revision, version, status, create_time, resolve_time, resolved_by, resolution, undone_by,"
    " undo_until, decision_id, decision_time, decision_grant, effects,"
    " orphaned"
)
_MOST_DUE = 1000
_ABOUT_ITEM = (
    "(item_id = :item_id OR proposal_id IN (SELECT id FROM proposal WHERE space = :space"
    " AND number IN (SELECT number FROM affected WHERE space = :space AND item_id = :item_id)))"
)


class SqliteLedgerReads(SqliteAccessReads):
    """A consistent view of one space's ledger. Its coroutines never wait."""

    def __init__(self, connection: sqlite3.Connection, space: str) -> None:
        self._db = connection
        self._space_name = space
        row = self._one("SELECT id FROM space WHERE name = ?", (space,))
        self._space = int(row[0]) if row else 0

    async def proposal(self, proposal_id: str) -> Proposal | None:
        return self._found("id = ?", proposal_id)

    async def proposal_numbered(self, number: int) -> Proposal | None:
        return self._found("number = ?", number)

    async def proposals(
        self, statuses: Sequence[Status], item_id: str, before: int, limit: int
    ) -> Sequence[Proposal]:
        tests, bound = "space = :space AND number < :before", {"before": before, "limit": limit}
        values: dict[str, Any] = {"space": self._space, **bound}
        if statuses:
            tests += " AND status IN (SELECT value FROM json_each(:statuses))"
            values["statuses"] = json.dumps([int(status) for status in statuses])
        if item_id:
            tests += (
                " AND number IN (SELECT number FROM affected"
                " WHERE space = :space AND item_id = :item_id)"
            )
            values["item_id"] = item_id
        sql = f"SELECT {_PROPOSAL} FROM proposal WHERE {tests} ORDER BY number DESC LIMIT :limit"
        return [self._proposal(row) for row in self._all(sql, values)]

    async def newest_of_each(self, statuses: Sequence[Status], limit: int) -> Sequence[Proposal]:
        sql = (
            f"SELECT {_PROPOSAL} FROM proposal WHERE space = :space AND number IN ("
            "SELECT number FROM (SELECT p.number, row_number() OVER ("
            "PARTITION BY r.document->>'$.proposer' ORDER BY p.number DESC) AS turn"
            " FROM proposal p JOIN revision r"
            " ON r.space = p.space AND r.proposal_id = p.id AND r.revision = p.revision"
            " WHERE p.space = :space AND p.status IN (SELECT value FROM json_each(:statuses)))"
            " ORDER BY turn, number DESC LIMIT :limit) ORDER BY number DESC"
        )
        stand = json.dumps([int(status) for status in statuses])
        values = {"space": self._space, "statuses": stand, "limit": limit}
        return [self._proposal(row) for row in self._all(sql, values)]

    async def proposal_count(self, statuses: Sequence[Status], proposer: str = "") -> int:
        sql = (
            "SELECT count(*) FROM proposal p WHERE space = ?"
            " AND status IN (SELECT value FROM json_each(?))"
        )
        given = [self._space, json.dumps([int(status) for status in statuses])]
        if proposer:
            sql += (
                " AND EXISTS (SELECT 1 FROM revision r WHERE r.space = p.space"
                " AND r.proposal_id = p.id AND r.revision = p.revision"
                " AND r.document->>'$.proposer' = ?)"
            )
            given.append(proposer)
        return int(self._all(sql, given)[0][0])

    async def proposal_times(self, statuses: Sequence[Status]) -> Sequence[int]:
        sql = (
            "SELECT create_time FROM proposal WHERE space = ?"
            " AND status IN (SELECT value FROM json_each(?))"
        )
        stand = json.dumps([int(status) for status in statuses])
        return [int(row[0]) for row in self._all(sql, (self._space, stand))]

    async def due(self, now: int) -> Sequence[Proposal]:
        sql = (
            f"SELECT {_PROPOSAL} FROM proposal WHERE space = ? AND status IN (1, 2)"
            " AND expire_time <= ? ORDER BY expire_time LIMIT ?"
        )
        return [self._proposal(row) for row in self._all(sql, (self._space, now, _MOST_DUE))]

    async def undecided_effects(self) -> Sequence[Proposal]:
        sql = f"SELECT {_PROPOSAL} FROM proposal WHERE space = ? AND status = 3 ORDER BY number"
        return [self._proposal(row) for row in self._all(sql, (self._space,))]

    async def nonce_is_recorded(self, nonce: str) -> bool:
        """Return whether an envelope with this nonce was received before."""
        sql = "SELECT 1 FROM nonce WHERE space = ? AND nonce = ?"
        return self._one(sql, (self._space, nonce)) is not None

    async def receipt(self, principal: str, method: str, request_id: str) -> RequestReceipt | None:
        sql = (
            "SELECT digest, proposal_ids FROM request"
            " WHERE space = ? AND principal = ? AND method = ? AND request_id = ?"
        )
        row = self._one(sql, (self._space, principal, method, request_id))
        return RequestReceipt(row[0], tuple(json.loads(row[1]))) if row else None

    async def log_size(self) -> int:
        row = self._one("SELECT log_size FROM space WHERE id = ?", (self._space,))
        return int(row[0]) if row else 0

    async def leaves(self, start: int, end: int) -> Sequence[Leaf]:
        sql = (
            "SELECT place, time, data FROM leaf"
            " WHERE space = ? AND place >= ? AND place < ? ORDER BY place"
        )
        return [Leaf(*row) for row in self._all(sql, (self._space, start, end))]

    async def entries(self, filter_: EntryFilter, before: int, limit: int) -> Sequence[Leaf]:
        tests = "space = :space AND place < :before"
        bound: dict[str, Any] = {"space": self._space, "before": before, "limit": limit}
        if filter_.actions:
            tests += " AND action IN (SELECT value FROM json_each(:actions))"
            bound["actions"] = json.dumps([int(action) for action in filter_.actions])
        for name, test, value in (
            ("item_id", _ABOUT_ITEM, filter_.item_id or None),
            ("actor", "actor = :actor", filter_.actor),
            ("since", "happen_time >= :since", filter_.since),
            ("until", "happen_time < :until", filter_.until),
        ):
            if value is not None:
                tests += f" AND {test}"
                bound[name] = value
        sql = f"SELECT place, time, data FROM leaf WHERE {tests} ORDER BY place DESC LIMIT :limit"
        return [Leaf(*row) for row in self._all(sql, bound)]

    async def nodes(self, names: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], bytes]:
        sql = "SELECT hash FROM tree WHERE space = ? AND level = ? AND place = ?"
        found = {}
        for level, place in names:
            row = self._one(sql, (self._space, level, place))
            if row is not None:
                found[level, place] = bytes(row[0])
        return found

    async def feed_cursor(self) -> Cursor:
        sql = "SELECT feed_epoch, feed_seq, feed_mark FROM space WHERE id = ?"
        row = self._one(sql, (self._space,))
        return Cursor(*row) if row else Cursor()

    async def key_changes(self) -> int:
        row = self._one("SELECT key_changes FROM space WHERE id = ?", (self._space,))
        return int(row[0]) if row else 0

    async def unconfirmed(self) -> Sequence[str]:
        sql = "SELECT memory_id FROM unconfirmed WHERE space = ? ORDER BY memory_id"
        return [row[0] for row in self._all(sql, (self._space,))]

    def _found(self, test: str, value: str | int) -> Proposal | None:
        sql = f"SELECT {_PROPOSAL} FROM proposal WHERE space = ? AND {test}"
        row = self._one(sql, (self._space, value))
        return self._proposal(row) if row else None

    def _proposal(self, row: Row) -> Proposal:
        decision, status = None, Status(row[3])
        if row[10]:
            effects = tuple(map(Effect.of, json.loads(row[13])))
            decision = Decision(row[10], row[11], row[12], effects)
        return Proposal(
            newest=self._revision(row[0], row[1]),
            version=row[2],
            status=status,
            create_time=row[4],
            resolve_time=row[5],
            resolved_by=endings.principals(row[6]),
            resolution=endings.resolution(status, row[7]),
            failure=endings.failure(status, row[7]),
            undone_by=row[8],
            undo_until=row[9],
            consents=self._consents(row[0], row[1]),
            decision=decision,
            orphaned=tuple(json.loads(row[14])),
        )

    def _revision(self, proposal_id: str, revision: int) -> Revision:
        sql = (
            "SELECT document, canonical, digest FROM revision"
            " WHERE space = ? AND proposal_id = ? AND revision = ?"
        )
        document, canonical, digest = self._all(sql, (self._space, proposal_id, revision))[0]
        return from_json(json.loads(canonical or document), canonical, digest)

    def _consents(self, proposal_id: str, revision: int) -> tuple[GivenConsent, ...]:
        sql = (
            "SELECT slot, principal, nonce, receive_time, expire_time, envelope, revoked"
            " FROM consent WHERE space = ? AND proposal_id = ? AND revision = ?"
            " ORDER BY receive_time, slot"
        )
        found = self._all(sql, (self._space, proposal_id, revision))
        return tuple(
            GivenConsent(
                slot=row[0],
                principal=row[1],
                nonce=row[2],
                receive_time=row[3],
                expire_time=row[4],
                envelope=row[5],
                revoked=bool(row[6]),
            )
            for row in found
        )

    def _one(self, sql: str, bound: Sequence[Any] | Mapping[str, Any]) -> Row | None:
        row: Row | None = self._db.execute(sql, bound).fetchone()
        return row

    def _all(self, sql: str, bound: Sequence[Any] | Mapping[str, Any]) -> list[Row]:
        return self._db.execute(sql, bound).fetchall()
