"""Spaces, API keys and sign-ins in SQLite: one table each, for every space of the ledger."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple
from typing import Any

from concord_governance.domain.access import ApiKey, Origin, SignIn, Space
from concord_governance.domain.entries import Actor

_KEY = (
    "id, digest, space, principal, kind, scopes, origin, create_time, created_by, expire_time,"
    " revoke_time, last_use_time"
)
_SPACE = "name, create_time, created_by, delete_time, statement, erased"
_SIGN_IN = "digest, key_id, is_session, create_time, expire_time"


class SqliteAccessReads:
    """Reads spaces and keys; its coroutines never wait."""

    _db: sqlite3.Connection

    async def space_named(self, name: str) -> Space | None:
        found = self._spaces(f"SELECT {_SPACE} FROM access_space WHERE name = ?", name)
        return found[0] if found else None

    async def space_count(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM access_space").fetchone()[0])

    async def space_list(self, after: str, limit: int, *, deleted: bool) -> Sequence[Space]:
        sql = f"SELECT {_SPACE} FROM access_space WHERE name > ? AND (? OR delete_time IS NULL)"
        return self._spaces(f"{sql} ORDER BY name LIMIT ?", after, deleted, limit)

    async def spaces_to_erase(self) -> Sequence[str]:
        sql = "SELECT name FROM access_space WHERE delete_time IS NOT NULL AND NOT erased"
        return [str(row[0]) for row in self._db.execute(sql)]

    async def key_of_digest(self, digest: str) -> ApiKey | None:
        found = self._keys(f"SELECT {_KEY} FROM access_key WHERE digest = ?", digest)
        return found[0] if found else None

    async def key_of_id(self, key_id: str) -> ApiKey | None:
        found = self._keys(f"SELECT {_KEY} FROM access_key WHERE id = ?", key_id)
        return found[0] if found else None

    async def key_list(
        self, space: str, before: tuple[int, str], limit: int, active_at: int | None
    ) -> Sequence[ApiKey]:
        sql = (
            f"SELECT {_KEY} FROM access_key WHERE space = ? AND (create_time, id) < (?, ?)"
            " AND (? IS NULL OR (revoke_time IS NULL AND coalesce(expire_time > ?, 1)))"
            " ORDER BY create_time DESC, id DESC LIMIT ?"
        )
        return self._keys(sql, space, *before, active_at, active_at, limit)

    async def sign_in(self, digest: str) -> SignIn | None:
        sql = f"SELECT {_SIGN_IN} FROM access_sign_in WHERE digest = ?"
        found = self._rows(_SIGN_IN, sql, (digest,))
        return SignIn(**found[0] | {"is_session": bool(found[0]["is_session"])}) if found else None

    def _spaces(self, sql: str, *bound: object) -> list[Space]:
        found = self._rows(_SPACE, sql, bound)
        return [Space(**row | {"erased": bool(row["erased"])}) for row in found]

    def _keys(self, sql: str, *bound: object) -> list[ApiKey]:
        return [ApiKey(**row | _typed(row)) for row in self._rows(_KEY, sql, bound)]

    def _rows(
        self, names: str, sql: str, bound: Sequence[Any] | Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """Run a statement that selects the columns `names`; return its rows by name."""
        columns = names.split(", ")
        return [dict(zip(columns, row, strict=True)) for row in self._db.execute(sql, bound)]


def _typed(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": Actor(row["kind"]),
        "scopes": tuple(json.loads(row["scopes"])),
        "origin": Origin(row["origin"]),
    }


class SqliteAccessWrites(SqliteAccessReads):
    """Writes spaces and keys in the ledger's transaction, which holds the whole file."""

    async def lock_space(self, name: str) -> Space | None:
        return await self.space_named(name)

    async def put_space(self, space: Space) -> None:
        self._keep("access_space", "name", asdict(space))

    async def put_key(self, key: ApiKey) -> None:
        self._keep("access_key", "digest", {**asdict(key), "scopes": json.dumps(key.scopes)})

    async def revoke_keys(self, space: str, time: int) -> int:
        sql = "UPDATE access_key SET revoke_time = ? WHERE space = ? AND revoke_time IS NULL"
        return self._db.execute(sql, (time, space)).rowcount

    async def note_uses(self, uses: Mapping[str, int]) -> None:
        sql = (
            "UPDATE access_key SET last_use_time = max(coalesce(last_use_time, 0), ?) WHERE id = ?"
        )
        self._db.executemany(sql, [(time, key_id) for key_id, time in uses.items()])

    async def put_sign_in(self, sign_in: SignIn) -> None:
        self._db.execute(
            f"INSERT INTO access_sign_in ({_SIGN_IN}) VALUES (?, ?, ?, ?, ?)", astuple(sign_in)
        )

    async def delete_sign_in(self, digest: str) -> None:
        self._db.execute("DELETE FROM access_sign_in WHERE digest = ?", (digest,))

    async def delete_expired_sign_ins(self, time: int) -> None:
        self._db.execute("DELETE FROM access_sign_in WHERE expire_time <= ?", (time,))

    async def delete_oldest_sign_ins(self, key_id: str, kept: int) -> None:
        self._db.execute(
            "DELETE FROM access_sign_in WHERE digest IN (SELECT digest FROM access_sign_in"
            " WHERE key_id = ? ORDER BY create_time DESC, digest LIMIT -1 OFFSET ?)",
            (key_id, kept),
        )

    def _keep(self, table: str, key: str, values: dict[str, Any]) -> None:
        names = ", ".join(values)
        marks = ", ".join(f":{name}" for name in values)
        changed = ", ".join(f"{name} = excluded.{name}" for name in values if name != key)
        self._db.execute(
            f"INSERT INTO {table} ({names}) VALUES ({marks})"
            f" ON CONFLICT ({key}) DO UPDATE SET {changed}",
            values,
        )
