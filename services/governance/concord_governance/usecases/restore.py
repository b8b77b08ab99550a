"""Settles a ledger that was restored from a backup, and records that in its log.

It runs while no other process has the ledger, before governance follows graph.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace

from concord_governance.domain.access import SYSTEM_SPACE, Space
from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.domain.proposals import Json, Status
from concord_governance.ports.copies import EndedKey
from concord_governance.ports.ledger import Cursor, Ledger, LedgerWrites
from concord_governance.usecases.api_keys import evidence_of
from concord_governance.usecases.ledger_commands import ended_as
from concord_governance.usecases.spaces import mark_deleted

_FOREVER = (1 << 63) - 1


class Restoring:
    """Applies revocations, ends and deletions from after the backup to a restored ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def apply(self, deleted: Iterable[Space], ended: Iterable[EndedKey]) -> tuple[int, int]:
        """Delete spaces and end keys as another copy knows them; return how many of each."""
        gone = [await self._delete_space(space) for space in deleted]
        keys = [await self._end_key(key) for key in ended]
        return sum(gone), sum(keys)

    async def begin_again(
        self,
        epoch: str,
        digest_at: Callable[[str, int], Awaitable[str]],
        evidence: Mapping[str, Json],
    ) -> int:
        """End pending proposals of all spaces and all sessions, and follow graph in its new epoch.

        `digest_at`: the digest of a space's change in graph. Return how many proposals ended.
        """
        ended = 0
        for space in await self._ledger.spaces():
            reached = (await self._ledger.read(space, lambda tx: tx.feed_cursor())).seq
            cursor = Cursor(epoch, reached, await digest_at(space, reached))
            ended += await self._begin_again(space, cursor, evidence)
        await self._ledger.write(
            SYSTEM_SPACE, lambda tx: tx.delete_expired_sign_ins(_FOREVER)
        )  # what the copy has of sessions may have ended since
        await self._ledger.scrub()
        return ended

    async def _begin_again(self, space: str, cursor: Cursor, evidence: Mapping[str, Json]) -> int:
        """End a space's pending proposals, record that, and follow graph from the cursor.

        Decided ones go on: graph applies each once, unless its consents have been used or revoked
        since.
        """

        async def work(tx: LedgerWrites) -> int:
            now = await tx.now()
            ended = 0
            while pending := await tx.due(_FOREVER):
                for each in pending:
                    await tx.put(each, ended_as(each, Status.EXPIRED, now))
                ended += len(pending)
            entry = Entry(Action.RESTORE, Actor.SYSTEM, properties=dict(evidence))
            await tx.append([entry])
            if cursor.seq:
                await tx.move_cursor(cursor)
            return ended

        return await self._ledger.write(space, work)

    async def _end_key(self, ended: EndedKey) -> bool:
        """Return whether the key was still valid here."""

        async def work(tx: LedgerWrites) -> bool:
            found = await tx.key_of_id(ended.id)
            if found is None or found.revoke_time is not None:
                return False
            ends = [end for end in (found.expire_time, ended.expire_time) if end is not None]
            after = replace(
                found, revoke_time=ended.revoke_time, expire_time=min(ends, default=None)
            )
            if after == found:
                return False
            await tx.put_key(after)
            if after.revoke_time is not None:
                entry = Entry(Action.KEY_REVOKE, Actor.SYSTEM, properties=evidence_of(found))
                await tx.append([entry])
            return True

        return await self._ledger.write(ended.space, work)

    async def _delete_space(self, deleted: Space) -> bool:
        """Return whether the space existed here.

        When governance starts, it has graph erase the space, by both slots' signatures of then.
        """

        async def work(tx: LedgerWrites) -> bool:
            found = await tx.lock_space(deleted.name)
            if found is None or found.delete_time is not None or deleted.delete_time is None:
                return False
            evidence = await mark_deleted(tx, found, deleted.delete_time, deleted.statement)
            await tx.append([Entry(Action.SPACE_DELETE, Actor.SYSTEM, properties=evidence)])
            return True

        return await self._ledger.write(SYSTEM_SPACE, work)
