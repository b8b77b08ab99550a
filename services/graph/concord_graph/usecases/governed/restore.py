"""Settling a restored copy of the store: erasures are repeated, used nonces burnt (M4, V6, W7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from concord_graph.domain.errors import ConstitutiveProtected
from concord_graph.domain.items import is_erased
from concord_graph.ports import Author, Clock, GraphStore, Writes
from concord_graph.usecases.governed.change_digest import digest_at
from concord_graph.usecases.governed.principal_keys import closed_slots
from concord_graph.usecases.memory.erase import Erasing
from concord_graph.usecases.memory.erase_items import current, erase_record
from concord_graph.usecases.read.every_space import every_space
from concord_graph.usecases.write.writer import Writer

RESTORING = Author("restore", "RestoreBackup", "", "SYSTEM")
_REASON = "erased before the restore"


class ErasedByBoth(Exception):
    """An item, (space, id), was erased later, but is constitutive in the restored store."""


class Restoring:
    """Applies erasures and burnt nonces from after the backup to a restored store."""

    def __init__(self, store: GraphStore, clock: Clock, confirmers: Sequence[str]) -> None:
        self.epoch = store.epoch
        self._store = store
        self._clock = clock
        self._erasing = Erasing(confirmers)

    async def apply(
        self, erased: Iterable[tuple[str, str]], burnt: Iterable[tuple[str, str]]
    ) -> tuple[int, int]:
        """Erase (space, item id) and burn (space, nonce).

        Return how many items were still there, and how many nonces were not burnt yet.

        Raises:
            ErasedByBoth: a memory is constitutive in this copy: both principals must consent.
        """
        here = await self._spaces()
        fresh = [await self._burn(space, nonce) for space, nonce in burnt if space in here]
        wanted = [each for each in erased if each[0] in here]
        gone = [await self._erase(*each) for each in wanted]
        gone += [await self._erase(*each) for each in wanted]  # nodes, which edges named before
        await self._store.scrub(thorough=True)
        return sum(gone), sum(fresh)

    async def digest_at(self, space: str, seq: int) -> str:
        """Return the digest of a change; empty if the store has no such change."""
        return await digest_at(self._store, space, seq)

    async def closed_slots(self) -> Sequence[tuple[str, str]]:
        """Return (space, slot) of each principal's key that was replaced since the backup."""
        return [
            (space, slot)
            for space in sorted(await self._spaces())
            for slot in await closed_slots(self._store, space)
        ]

    async def _spaces(self) -> set[str]:
        return {space async for space in every_space(self._store)}

    async def _erase(self, space: str, item_id: str) -> bool:
        """Erase an item; return False if there is none, it is erased, or others need it."""

        async def work(tx: Writes) -> bool:
            record = await current(tx, item_id)
            if record is None or is_erased(record):
                return False
            writer = Writer(tx, RESTORING, max(self._clock(), tx.last_time + 1))
            return await erase_record(self._erasing, writer, record, _REASON)

        try:
            return await self._store.write(space, work, author=RESTORING)
        except ConstitutiveProtected as error:
            raise ErasedByBoth(space, item_id) from error

    async def _burn(self, space: str, nonce: str) -> bool:
        """Burn a nonce; return False if it was burnt already."""
        return await self._store.write(space, lambda tx: tx.burn([nonce]), author=RESTORING)
