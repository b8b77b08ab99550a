"""The ledger's reads over one SQLite transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from concord_governance.adapters import rows
from concord_governance.adapters.sqlite.access import SqliteAccessReads
from concord_governance.domain.proposals import Proposal, Status
from concord_governance.ports.ledger import Cursor, EntryFilter, Leaf, RequestReceipt

Row = tuple[Any, ...]

_PROPOSAL = (
    "id, revision, version, status, create_time, resolve_time, resolved_by, resolution, undone_by,"
    " undo_until, decision_id, decision_time, decision_grant, effects, orphaned"
)
_REVISION = "document, canonical, digest"
_CONSENT = "slot, principal, nonce, receive_time, expire_time, envelope, revoked"
_IN_STATUSES = " AND status IN (SELECT value FROM json_each(:statuses))"
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
        return next(self._proposals(" AND id = :id", id=proposal_id), None)

    async def proposal_numbered(self, number: int) -> Proposal | None:
        return next(self._proposals(" AND number = :number", number=number), None)

    async def proposals(
        self, statuses: Sequence[Status], item_id: str, before: int, limit: int
    ) -> Sequence[Proposal]:
        tests = " AND number < :before"
        if statuses:
            tests += _IN_STATUSES
        if item_id:
            tests += (
                " AND number IN (SELECT number FROM affected"
                " WHERE space = :space AND item_id = :item_id)"
            )
        found = self._proposals(
            f"{tests} ORDER BY number DESC LIMIT :limit",
            statuses=json.dumps(list(statuses)),
            item_id=item_id,
            before=before,
            limit=limit,
        )
        return list(found)

    async def newest_of_each(self, statuses: Sequence[Status], limit: int) -> Sequence[Proposal]:
        newest = (
            " AND number IN ("
            "SELECT number FROM (SELECT p.number, row_number() OVER ("
            "PARTITION BY r.document->>'$.proposer' ORDER BY p.number DESC) AS turn"
            " FROM proposal p JOIN revision r"
            " ON r.space = p.space AND r.proposal_id = p.id AND r.revision = p.revision"
            " WHERE p.space = :space AND p.status IN (SELECT value FROM json_each(:statuses)))"
            " ORDER BY turn, number DESC LIMIT :limit) ORDER BY number DESC"
        )
        return list(self._proposals(newest, statuses=json.dumps(list(statuses)), limit=limit))

    async def proposal_count(self, statuses: Sequence[Status], proposer: str = "") -> int:
        sql = f"SELECT count(*) FROM proposal p WHERE space = :space{_IN_STATUSES}"
        if proposer:
            sql += (
                " AND EXISTS (SELECT 1 FROM revision r WHERE r.space = p.space"
                " AND r.proposal_id = p.id AND r.revision = p.revision"
                " AND r.document->>'$.proposer' = :proposer)"
            )
        bound = {"space": self._space, "statuses": json.dumps(list(statuses)), "proposer": proposer}
        return int(self._all(sql, bound)[0][0])

    async def due(self, now: int) -> Sequence[Proposal]:
        open_and_due = " AND status IN (1, 2) AND expire_time <= :now"
        tests = f"{open_and_due} ORDER BY expire_time LIMIT {rows.MOST_DUE}"
        return list(self._proposals(tests, now=now))

    async def undecided_effects(self) -> Sequence[Proposal]:
        return list(self._proposals(" AND status = 3 ORDER BY number"))

    async def nonce_is_recorded(self, nonce: str) -> bool:
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

    def _proposals(self, tests: str, **bound: Any) -> Iterator[Proposal]:
        """Yield the space's proposals that pass `tests`: the end of a statement."""
        sql = f"SELECT {_PROPOSAL} FROM proposal WHERE space = :space{tests}"
        for row in self._rows(_PROPOSAL, sql, {"space": self._space, **bound}):
            of = " WHERE space = :space AND proposal_id = :id AND revision = :revision"
            named = {"space": self._space, "id": row["id"], "revision": row["revision"]}
            (newest,) = self._rows(_REVISION, f"SELECT {_REVISION} FROM revision{of}", named)
            consents = self._rows(_CONSENT, f"SELECT {_CONSENT} FROM consent{of}", named)
            yield rows.proposal(row, json.loads(row["orphaned"]), newest, consents)

    def _one(self, sql: str, bound: Sequence[Any] | Mapping[str, Any]) -> Row | None:
        row: Row | None = self._db.execute(sql, bound).fetchone()
        return row

    def _all(self, sql: str, bound: Sequence[Any] | Mapping[str, Any]) -> list[Row]:
        return self._db.execute(sql, bound).fetchall()
