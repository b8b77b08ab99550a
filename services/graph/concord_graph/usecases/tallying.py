"""Refused attempts on record: the first of an hour each by itself, the rest counted (A1)."""

from __future__ import annotations

import asyncio
import contextlib

from concord_attestation.tally import Tally

from concord_graph.domain.exceptions import Overloaded, StoreCorrupt, StoreUnavailable
from concord_graph.domain.items import ItemKind
from concord_graph.ports import Author, Change, ChangeType, Clock, GraphStore, Reads, Writes
from concord_graph.usecases.background import Background

TELL_SECONDS = 30.0


async def is_told(tx: Writes, author: Author, now: int) -> bool:
    """Count a refused attempt; return whether it goes on record by itself.

    What earlier hours of the space left untold is told first.
    """
    tally = Tally(await tx.tally())
    await _tell(tx, tally, now)
    told = tally.is_told(author.principal, author.kind, now)
    await tx.keep_tally(tally.text)
    return told


async def refused(tx: Writes, item_id: str, kind: ItemKind, author: Author, why: str) -> None:
    """Write down that an attempt was refused."""
    seq, time = tx.tick()
    await tx.append(
        Change(
            seq=seq,
            record_time=time,
            item_id=item_id,
            item_kind=kind,
            type=ChangeType.REFUSED,
            revision=0,
            author=author,
            reason=why,
            needs_consent=True,
        )
    )


async def _tell(tx: Writes, tally: Tally, now: int) -> None:
    if await tx.head_seq() == 0:  # a space that is unused stays so until its first write
        return
    for each in tally.over(now):
        author = Author(each.principal, "", "", each.kind)
        await refused(tx, "", ItemKind.GHOST, author, str(each))


class Tallying(Background):
    """Tells, soon after an hour, how many of its refused attempts do not stand in the log."""

    def __init__(self, store: GraphStore, clock: Clock) -> None:
        super().__init__()
        self._store = store
        self._clock = clock

    def start(self) -> None:
        """Begin to look in the background, at first for what an earlier life left untold."""
        self._begin(self._run(), "tally")

    async def tell(self) -> None:
        """Tell what hours that are over left untold."""
        for space in await self._store.tallied():
            if await self._store.read(space, self._is_over):
                await self._store.write(space, self._told)

    async def _is_over(self, tx: Reads) -> bool:
        now = max(self._clock(), tx.last_time)
        return bool(await tx.head_seq()) and Tally(await tx.tally()).is_over(now)

    async def _told(self, tx: Writes) -> None:
        tally = Tally(await tx.tally())
        await _tell(tx, tally, max(self._clock(), tx.last_time))
        await tx.keep_tally(tally.text)

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(Overloaded, StoreUnavailable, StoreCorrupt):
                await self.tell()  # what is kept is looked at again
            await asyncio.sleep(TELL_SECONDS)
