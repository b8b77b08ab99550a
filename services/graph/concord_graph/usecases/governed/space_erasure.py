"""Erasing the items of a deleted space, step by step (W7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from concord_attestation.deletion import verify_deletion
from concord_attestation.identifiers import new_id

from concord_graph.domain.digests import digest
from concord_graph.domain.erasure import Erasure
from concord_graph.domain.items import ItemKind
from concord_graph.ports import Author, ChangeType, GraphStore, Writes
from concord_graph.usecases.governed.principal_keys import keys_now
from concord_graph.usecases.memory.erase import Erasing
from concord_graph.usecases.write.outbox import log

MEMORIES_A_STEP = 500
ROWS_A_STEP = 5_000
METHOD = "EraseSpace"
_REASON = "the space was deleted"


class ErasingSpaces:
    """Erases memories with receipts, then removes all else but the genesis and the record."""

    def __init__(
        self, store: GraphStore, confirmers: Sequence[str], erased: Callable[[], None]
    ) -> None:
        """`erased` runs once the space holds nothing more."""
        self._store = store
        self._erasing = Erasing(confirmers)
        self._erased = erased

    async def step(self, space: str, principal: str, statement: bytes) -> bool:
        """Erase some of a space's items; return whether none are left.

        The first step deletes the space, in the transaction that checks both slots' signatures.
        Governance has judged whether these have expired, before it asked graph.

        Raises:
            DeletionInvalid: the space has a genesis, and not both slots signed.
        """
        author = Author(principal, METHOD, "", "SYSTEM")
        complete = await self._store.write(space, lambda tx: self._step(tx, author, statement))
        if complete:
            self._erased()
        return complete

    async def _step(self, tx: Writes, author: Author, statement: bytes) -> bool:
        if not tx.is_deleted:
            await _delete(tx, statement)
        ids = await tx.memories_to_erase(MEMORIES_A_STEP)
        for memory_id in ids:
            await self._erase(tx, author, memory_id)
        if ids:
            await tx.drop_memories(ids)
            return False
        return await tx.drop_rows(ROWS_A_STEP)

    async def _erase(self, tx: Writes, author: Author, memory_id: str) -> None:
        """Open the receipt of a memory's erasure; the feed announces it to the other services."""
        memory = await tx.memory(memory_id)
        change = await log(
            tx,
            ChangeType.ERASED,
            author,
            item_id=memory_id,
            item_kind=ItemKind.MEMORY,
            revision=memory.revision.number + 1 if memory else 0,
            before_digest=digest(memory) if memory else "",
        )
        receipt = Erasure(
            id=new_id(change.record_time),
            memory_id=memory_id,
            time=change.record_time,
            principal=author.principal,
            reason=_REASON,
            digest=change.before_digest,
            edge_count=0,
        )
        await self._erasing.open(tx, receipt)


async def _delete(tx: Writes, statement: bytes) -> None:
    if (await tx.founding()).genesis:
        verify_deletion(statement, await keys_now(tx), None)
        await tx.open_grant(METHOD)
    await tx.mark_deleted()
