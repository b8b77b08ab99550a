"""Settling a restored copy of the store: erasures are repeated, used nonces burnt (M4, V6, W7)."""

from __future__ import annotations

from collections.abc import Sequence

from concord_graph.domain.items import etag
from concord_graph.ports import Author, Clock, GraphStore, Writes
from concord_graph.usecases.memory.erase import Erasing
from concord_graph.usecases.write.writer import Writer

RESTORING = Author("restore", "RestoreBackup", "", "SYSTEM")
_REASON = "erased before the restore"


class ErasingAgain:
    """Repeats erasures and burnt nonces on a restored store, as another copy recorded them."""

    def __init__(self, store: GraphStore, clock: Clock, confirmers: Sequence[str]) -> None:
        self._store = store
        self._clock = clock
        self._erasing = Erasing(confirmers)

    async def erase(self, space: str, memory_id: str) -> bool:
        """Erase a memory; return False if there is no such memory or it is erased already.

        Raises:
            ConstitutiveProtected: it is constitutive in this copy: both principals must consent.
        """

        async def work(tx: Writes) -> bool:
            memory = await tx.memory(memory_id)
            if memory is None or memory.erase_time:
                return False
            writer = Writer(tx, RESTORING, max(self._clock(), tx.last_time + 1))
            await self._erasing.erase(writer, memory_id, etag(memory), _REASON)
            return True

        return await self._store.write(space, work, author=RESTORING)

    async def burn(self, space: str, nonce: str) -> bool:
        """Burn a nonce; return False if it was burnt already."""
        return await self._store.write(space, lambda tx: tx.burn([nonce]), author=RESTORING)
