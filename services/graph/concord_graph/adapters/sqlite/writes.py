"""Graph's writes over one SQLite transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping
from typing import Any

from concord_attestation.consent import GenesisRecord
from concord_attestation.identifiers import new_id

from concord_graph.adapters import stored
from concord_graph.adapters.counters import Steps
from concord_graph.adapters.sqlite import feed, rows, succession
from concord_graph.adapters.sqlite.erased_items import ErasureWrites
from concord_graph.adapters.sqlite.reads import SqliteReads
from concord_graph.adapters.sqlite.revisions import current
from concord_graph.adapters.sqlite.sessions import SessionWrites
from concord_graph.adapters.sqlite.views import Pending
from concord_graph.domain.errors import ConstitutiveProtected, ItemClash, SafeguardViolation
from concord_graph.domain.facts import Support
from concord_graph.domain.items import (
    FOREVER,
    Edge,
    ItemKind,
    Record,
)
from concord_graph.domain.relevance import Access
from concord_graph.domain.spelling import backwards, folded, names_of
from concord_graph.domain.succession import UNTOUCHED, Standing
from concord_graph.ports import Author, Change, ChangeType, Clock, Expected, Imported, Receipt

# the digest of a revision is read from the change that wrote it
_ANNOUNCED = (
    "INSERT INTO change (space, seq, record_time, item_id, item_kind, type, revision, digest,"
    " before_digest, principal, method, request_id, reason, actor)"
    " SELECT :space, :before + row_number() OVER (ORDER BY i.key), :time, i.value ->> 0,"
    f" i.value ->> 1, {ChangeType.STANDING_CHANGED:d}, coalesce(e.revision, m.revision), c.digest,"
    " '', :principal, :method, :request_id, '', :actor FROM json_each(:changed) i"
    f" LEFT JOIN edge e ON i.value ->> 1 = {ItemKind.EDGE:d} AND e.space = :space"
    f" AND e.id = i.value ->> 0 AND {current('e', now=True)}"
    f" LEFT JOIN memory m ON i.value ->> 1 = {ItemKind.MEMORY:d} AND m.space = :space"
    f" AND m.id = i.value ->> 0 AND {current('m', now=True)}"
    " JOIN change c ON c.space = :space AND c.seq = coalesce(e.seq, m.seq)"
)


class SqliteWrites(SqliteReads, SessionWrites, ErasureWrites, Steps):
    """One transaction on one space."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        space: str,
        *,
        epoch: str,
        pending: Pending,
        clock: Clock,
        author: Author,
        partition: int,
    ) -> None:
        super().__init__(connection, space, epoch=epoch, pending=pending)
        self._partition = partition
        self._numbered = self._changed = self._seq
        self._author = author
        self._clock = clock
        self.erased = []
        if not self._space:
            sql = (
                "INSERT INTO space (name, seq, last_time, partition) VALUES (?, 0, 0, ?)"
                " RETURNING id"
            )
            self._space = self._db.execute(sql, (space, partition)).fetchone()[0]

    def new_id(self) -> str:
        return new_id(self._time())

    async def expect(self, expected: Callable[[], Expected]) -> None:
        """Nothing to do: asking the file costs little."""

    async def put(self, item: Record) -> None:
        table = rows.table(item.kind)
        values = rows.values(self._space, item)
        try:
            if item.revision.number > 1:
                self._db.execute(
                    f"UPDATE {table} SET record_until = ?"
                    f" WHERE space = ? AND id = ? AND record_until = {FOREVER}",
                    (item.revision.record_from, self._space, item.id),
                )
            self._insert(table, values)
        except sqlite3.IntegrityError as error:
            if str(error) == "reserved":
                raise SafeguardViolation(item.id, "the store keeps the principals") from error
            if str(error) == "constitutive":
                self._reopen(table, item)
                raise ConstitutiveProtected(
                    item.id, "the store keeps what defines the agent"
                ) from error
            if error.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
                raise ItemClash(item.id) from error
            raise
        if isinstance(item, Edge):
            self._join(item)
        self._spell(item)

    def _join(self, edge: Edge) -> None:
        """Index an edge by its participants; readers check its current properties."""
        names = edge.properties.get("participants")
        for name in names if isinstance(names, list) else ():  # older edges may hold any value
            self._db.execute(
                "INSERT OR IGNORE INTO participant VALUES (?, ?, ?)",
                (self._space, str(name), edge.id),
            )

    def _spell(self, item: Record) -> None:
        """Index the names of a live item for the search of names spelt alike."""
        for kind, key, name in names_of(item):
            where = (self._space, kind, key)
            sql = "SELECT name FROM spelling WHERE space = ? AND kind = ? AND item = ?"
            kept = self._one(sql, where) if item.revision.number > 1 else None
            if kept and (item.deleted or kept[0] != name):
                self._db.execute(sql.replace("SELECT name", "DELETE"), where)
                kept = None
            if name and not item.deleted and not kept:
                self._db.execute(
                    "INSERT OR IGNORE INTO spelling VALUES (?, ?, ?, ?, ?, ?)",
                    (*where, name, folded(name), backwards(name)),
                )

    async def put_facts(self, support: Support) -> None:
        time = support.record_from
        self._db.execute(
            f"UPDATE support SET record_until = ?"
            f" WHERE space = ? AND memory_id = ? AND record_until = {FOREVER}",
            (time, self._space, support.memory_id),
        )
        self._db.executemany(
            "INSERT INTO support VALUES (?, ?, ?, ?, ?, ?)",
            [
                (self._space, support.memory_id, place, edge_id, time, FOREVER)
                for place, edge_id in enumerate(support.edges)
            ],
        )

    async def put_standings(self, standings: Mapping[str, Standing], time: int) -> None:
        for item_id, standing in standings.items():
            bound = {"space": self._space, "id": item_id, "time": time}
            self._db.execute(succession.CLOSE, bound)
            if standing == UNTOUCHED:
                self._db.execute(succession.DROP, bound)
            else:
                self._db.execute(succession.PUT, bound | succession.bound(standing))

    async def unsettled_from(self) -> int:
        row = self._db.execute("SELECT unsettled FROM space WHERE id = ?", (self._space,))
        return int(row.fetchone()[0])

    async def keep_unsettled(self, first: int) -> None:
        self._db.execute("UPDATE space SET unsettled = ? WHERE id = ?", (first, self._space))

    async def append(self, change: Change) -> None:
        self._insert("change", {"space": self._space, **stored.kept_change(change)})
        self._changed = change.seq

    async def announce(self, changed: Mapping[str, ItemKind], author: Author) -> None:
        if not changed:
            return
        before = self._seq
        _, time = self.tick()
        written = self._db.execute(
            _ANNOUNCED,
            {
                "space": self._space,
                "changed": json.dumps(list(changed.items())),
                "before": before,
                "time": time,
                "principal": author.principal,
                "method": author.method,
                "request_id": author.request_id,
                "actor": author.kind,
            },
        )
        self._seq = before + written.rowcount
        self._changed = max(self._changed, self._seq if written.rowcount else 0)

    async def put_access(self, item_id: str, access: Access) -> None:
        values = {"id": item_id, "last_time": access.last_time, "count": access.count}
        self._insert("access", {"space": self._space, **values, "unannounced": 0})

    async def keep_early_refusal(self, time: int, author: Author, why: str) -> None:
        self._insert(
            "early_refusal",
            {
                "space": self._space,
                "time": time,
                "principal": author.principal,
                "method": author.method,
                "request_id": author.request_id,
                "reason": why,
            },
        )

    async def receipt(self) -> tuple[bytes, str, Receipt] | None:
        sql = (
            "SELECT salt, digest, refs, seq FROM request"
            " WHERE space = ? AND principal = ? AND method = ? AND request_id = ?"
        )
        author = self._author
        row = self._one(sql, (self._space, author.principal, author.method, author.request_id))
        if row is None:
            return None
        return row[0], row[1], stored.receipt_of(row[2], row[3])

    async def keep_receipt(
        self, author: Author, salt: bytes, digest: str, receipt: Receipt
    ) -> None:
        """Store a request's receipt, and delete receipts that are over seven days old."""
        now = self._clock()
        self._db.execute(
            "DELETE FROM request WHERE create_time < ?", (stored.forgotten_before(now),)
        )
        kept = stored.kept_receipt(author, salt, digest, receipt, now)
        self._insert("request", {"space": self._space, **kept})

    async def burn(self, nonces: Collection[str]) -> bool:
        sql = "INSERT OR IGNORE INTO nonce (space, nonce) VALUES (?, ?)"
        fresh = 0
        for nonce in nonces:
            fresh += self._db.execute(sql, (self._space, nonce)).rowcount
        return fresh == len(nonces)

    async def open_grant(self, digest: str) -> None:
        """Let this transaction through the store's own protection."""
        self._insert("open_grant", {"space": self._space, "digest": digest})

    async def open_principals(self) -> None:
        self._db.execute("UPDATE open_grant SET principals = 1 WHERE space = ?", (self._space,))

    async def put_genesis(self, record: GenesisRecord, envelope: bytes) -> None:
        self._insert(
            "genesis", {"space": self._space, "envelope": envelope, "digest": record.digest}
        )

    async def keep_enrolment(self, digest: str) -> None:
        self._db.execute("UPDATE space SET enrolment = ? WHERE id = ?", (digest, self._space))

    @property
    def is_deleted(self) -> bool:
        return self._deleted

    async def mark_deleted(self) -> None:
        self._db.execute("UPDATE space SET deleted = 1 WHERE id = ?", (self._space,))
        self._deleted = True

    async def put_imported(self, imported: Imported) -> None:
        values = {"space": self._space, "seq": imported.seq, "restore": imported.restore}
        self._insert("imported", values)

    def finish(self) -> int:
        """Write the space's counters, close the grant and number the changes; the last step before
        the commit. Return the number of the last change in its partition; 0 without a change."""
        self._db.execute("DELETE FROM open_grant")
        self._db.execute(
            "UPDATE space SET seq = ?, last_time = ? WHERE id = ?",
            (self._seq, self._last_time, self._space),
        )
        last = self._changed  # a step that was refused by the store left no change
        count = last - self._numbered
        return feed.append(self._db, self._partition, self._space, last, count) if count else 0

    def _reopen(self, table: str, item: Record) -> None:
        """Reopen a revision whose successor was refused: a batch goes on to its next item."""
        self._db.execute(
            f"UPDATE {table} SET record_until = {FOREVER}"
            " WHERE space = ? AND id = ? AND record_until = ?",
            (self._space, item.id, item.revision.record_from),
        )

    def _insert(self, table: str, values: dict[str, Any]) -> None:
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        self._db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values()))
