"""Spaces, keys and sign-ins in Neo4j: a node each, outside the lock of the transaction's space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from neo4j import AsyncManagedTransaction

from concord_governance.adapters.neo4j import statements
from concord_governance.domain.access import ApiKey, Origin, SignIn, Space
from concord_governance.domain.entries import Actor

Row = list[Any]


class Neo4jAccessReads:
    """Reads spaces and keys. Each method runs one statement."""

    def __init__(self, tx: AsyncManagedTransaction, space: str) -> None:
        self._tx = tx
        self._space = space

    async def _run(self, text: str, **bound: Any) -> list[Row]:
        """Run a statement on the space; return its rows."""
        given = {"space": self._space, **bound}
        return await (await self._tx.run(statements.planned(text), given=given)).values()

    async def space_named(self, name: str) -> Space | None:
        return _space(await self._run(statements.ACCESS_SPACE, name=name))

    async def space_count(self) -> int:
        return int((await self._run(statements.ACCESS_SPACE_COUNT))[0][0])

    async def space_list(self, after: str, limit: int, *, deleted: bool) -> Sequence[Space]:
        found = await self._run(statements.ACCESS_SPACES, after=after, limit=limit, deleted=deleted)
        return [space for row in found if (space := _space([row])) is not None]

    async def spaces_to_erase(self) -> Sequence[str]:
        return [row[0] for row in await self._run(statements.ACCESS_TO_ERASE)]

    async def key_of_digest(self, digest: str) -> ApiKey | None:
        return _key(await self._run(statements.ACCESS_KEY, digest=digest))

    async def key_of_id(self, key_id: str) -> ApiKey | None:
        return _key(await self._run(statements.ACCESS_KEY_OF_ID, id=key_id))

    async def key_list(
        self, space: str, before: tuple[int, str], limit: int, active_at: int | None
    ) -> Sequence[ApiKey]:
        found = await self._run(
            statements.ACCESS_KEYS,
            of=space,
            time=before[0],
            id=before[1],
            limit=limit,
            active_at=active_at,
        )
        return [key for row in found if (key := _key([row])) is not None]

    async def sign_in(self, digest: str) -> SignIn | None:
        found = await self._run(statements.ACCESS_SIGN_IN, digest=digest)
        return SignIn(**found[0][0]) if found else None


class Neo4jAccessWrites(Neo4jAccessReads):
    """Writes spaces and keys in the ledger's transaction."""

    async def lock_space(self, name: str) -> Space | None:
        return _space(await self._run(statements.LOCK_ACCESS_SPACE, name=name))

    async def put_space(self, space: Space) -> None:
        await self._run(statements.PUT_ACCESS_SPACE, name=space.name, fields=asdict(space))

    async def put_key(self, key: ApiKey) -> None:
        fields = {**asdict(key), "kind": int(key.kind), "origin": int(key.origin)}
        fields["scopes"] = list(key.scopes)
        await self._run(statements.PUT_ACCESS_KEY, digest=key.digest, fields=fields)

    async def revoke_keys(self, space: str, time: int) -> int:
        return int((await self._run(statements.REVOKE_ACCESS_KEYS, of=space, time=time))[0][0])

    async def note_uses(self, uses: Mapping[str, int]) -> None:
        rows = [[key_id, time] for key_id, time in sorted(uses.items())]
        await self._run(statements.NOTE_USES, uses=rows)

    async def put_sign_in(self, sign_in: SignIn) -> None:
        await self._run(statements.PUT_SIGN_IN, fields=asdict(sign_in))

    async def delete_sign_in(self, digest: str) -> None:
        await self._run(statements.DELETE_SIGN_IN, digest=digest)

    async def delete_expired_sign_ins(self, time: int) -> None:
        await self._run(statements.DELETE_EXPIRED_SIGN_INS, time=time)

    async def delete_oldest_sign_ins(self, key_id: str, kept: int) -> None:
        await self._run(statements.DELETE_OLDEST_SIGN_INS, key_id=key_id, kept=kept)


def _space(found: list[Row]) -> Space | None:
    return space_of_fields(found[0][0]) if found else None


def space_of_fields(fields: Mapping[str, Any]) -> Space:
    """Return the space of a node's properties."""
    return Space(**{**fields, "statement": bytes(fields["statement"])})


def _key(found: list[Row]) -> ApiKey | None:
    return key_of_fields(found[0][0]) if found else None


def key_of_fields(fields: Mapping[str, Any]) -> ApiKey:
    """Return the key of a node's properties."""
    row = dict(fields)
    row |= {"kind": Actor(row["kind"]), "origin": Origin(row["origin"])}
    return ApiKey(**{**row, "scopes": tuple(row["scopes"])})
