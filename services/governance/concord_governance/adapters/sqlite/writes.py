"""The ledger's writes in one SQLite transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict

from concord_chassis.channel.cursors import Cursor as PartitionCursor

from concord_governance.adapters import rows
from concord_governance.adapters.sqlite.access import SqliteAccessWrites
from concord_governance.adapters.sqlite.reads import SqliteLedgerReads
from concord_governance.domain.entries import Entry
from concord_governance.domain.errors import LostRace
from concord_governance.domain.proposals import Proposal
from concord_governance.ports.ledger import Clock, Cursor, RequestReceipt


class SqliteLedgerWrites(SqliteLedgerReads, SqliteAccessWrites):
    """One transaction on one space's ledger."""

    def __init__(self, connection: sqlite3.Connection, space: str, clock: Clock) -> None:
        super().__init__(connection, space)
        self._clock = clock
        self._now: int | None = None
        if not self._space:
            sql = "INSERT INTO space (name) VALUES (?) RETURNING id"
            self._space = self._db.execute(sql, (space,)).fetchone()[0]

    async def now(self) -> int:
        if self._now is None:
            row = self._one("SELECT last_time FROM space WHERE id = ?", (self._space,))
            self._now = max(self._clock(), row[0] if row else 0)
        return self._now

    async def next_number(self) -> int:
        sql = "UPDATE space SET last_number = last_number + 1 WHERE id = ? RETURNING last_number"
        return int(self._db.execute(sql, (self._space,)).fetchone()[0])

    async def put(self, before: Proposal | None, after: Proposal) -> None:
        values = {
            "space": self._space,
            **rows.of_proposal(before, after),
            "orphaned": json.dumps(after.orphaned),
        }
        if before is None:
            self._insert("proposal", values)
        else:
            self._update(values, before.version)
        newest = after.newest
        if rows.is_revised(before, after):
            self._insert("revision", {"space": self._space, **rows.of_revision(newest)})
        touched = [(self._space, item, newest.number) for item in rows.touched(before, after)]
        self._db.executemany("INSERT OR IGNORE INTO affected VALUES (?, ?, ?)", touched)
        nonces = json.dumps([consent.nonce for consent in after.consents])
        self._db.execute(  # a slot's new consent replaces its former one, which the log keeps
            "DELETE FROM consent WHERE space = ? AND proposal_id = ? AND revision = ?"
            " AND nonce NOT IN (SELECT value FROM json_each(?))",
            (self._space, after.id, newest.revision, nonces),
        )
        of = {"space": self._space, "proposal_id": after.id, "revision": newest.revision}
        for consent in after.consents:
            self._insert(
                "consent",
                {**of, **asdict(consent)},
                " ON CONFLICT DO UPDATE SET revoked = excluded.revoked",
            )

    def _update(self, values: dict[str, object], version: int) -> None:
        settings = ", ".join(f"{name} = :{name}" for name in values if name not in ("space", "id"))
        done = self._db.execute(
            f"UPDATE proposal SET {settings} WHERE space = :space AND id = :id AND version = :old",
            {**values, "old": version},
        )
        if done.rowcount != 1:
            raise LostRace("somebody else wrote the proposal meanwhile")

    async def record_nonce(self, nonce: str) -> None:
        self._insert("nonce", {"space": self._space, "nonce": nonce})

    async def keep_receipt(
        self, principal: str, method: str, request_id: str, receipt: RequestReceipt
    ) -> None:
        """Store a request's receipt, and drop those older than seven days."""
        now = self._clock()
        self._db.execute("DELETE FROM request WHERE create_time < ?", (now - rows.REQUEST_KEPT,))
        self._insert(
            "request",
            {
                "space": self._space,
                "principal": principal,
                "method": method,
                "request_id": request_id,
                "digest": receipt.digest,
                "proposal_ids": json.dumps(receipt.proposal_ids),
                "create_time": now,
            },
        )

    async def append(self, entries: Sequence[Entry]) -> None:
        done = await rows.appended(self, self._space_name, entries)
        for leaf in done.leaves:
            self._insert("leaf", {"space": self._space, **leaf})
        self._db.executemany(
            "INSERT INTO tree VALUES (?, ?, ?, ?)", [(self._space, *node) for node in done.subtrees]
        )
        self._db.execute(
            "UPDATE space SET log_size = ?, last_time = ? WHERE id = ?",
            (done.size, done.time, self._space),
        )

    async def move_cursor(self, cursor: Cursor) -> None:
        self._db.execute(
            "UPDATE space SET feed_epoch = ?, feed_seq = ?, feed_mark = ? WHERE id = ?",
            (*cursor, self._space),
        )

    async def move_partition(self, partition: int, cursor: PartitionCursor | None) -> None:
        self._db.execute("DELETE FROM feed_partition WHERE partition = ?", (partition,))
        if cursor is not None:
            self._insert("feed_partition", {"partition": partition, **_row_of(cursor)})

    async def count_key_change(self) -> None:
        self._db.execute(
            "UPDATE space SET key_changes = key_changes + 1 WHERE id = ?", (self._space,)
        )

    async def forget_words(self, item_id: str, *, confirm: bool) -> int:
        if confirm:
            self._db.execute(
                "INSERT OR IGNORE INTO unconfirmed VALUES (?, ?)", (self._space, item_id)
            )
        done = self._db.execute(
            "UPDATE revision SET canonical = x'' WHERE space = :space AND canonical <> x''"
            " AND proposal_id IN (SELECT p.id FROM proposal p JOIN affected a"
            " ON a.space = p.space AND a.number = p.number"
            " WHERE a.space = :space AND a.item_id = :item_id)",
            {"space": self._space, "item_id": item_id},
        )
        return done.rowcount

    async def forget_proposals(self, proposal_ids: Sequence[str]) -> int:
        done = self._db.execute(
            "UPDATE revision SET canonical = x'' WHERE space = ? AND canonical <> x''"
            " AND proposal_id IN (SELECT value FROM json_each(?)) RETURNING proposal_id",
            (self._space, json.dumps(list(proposal_ids))),
        )
        return len({row[0] for row in done.fetchall()})

    async def forget_all_words(self) -> None:
        sql = "UPDATE revision SET canonical = x'' WHERE space = ? AND canonical <> x''"
        self._db.execute(sql, (self._space,))

    async def confirmed(self, memory_id: str) -> None:
        self._db.execute(
            "DELETE FROM unconfirmed WHERE space = ? AND memory_id = ?", (self._space, memory_id)
        )

    def _insert(self, table: str, values: dict[str, object], conflict: str = "") -> None:
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        sql = f"INSERT INTO {table} ({names}) VALUES ({marks}){conflict}"
        self._db.execute(sql, tuple(values.values()))


def _row_of(cursor: PartitionCursor) -> dict[str, object]:
    return {"number": cursor.number, "mark": cursor.digest}
