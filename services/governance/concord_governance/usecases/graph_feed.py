"""Follows graph's feed, and appends its audit events to the log, once and in order (A1).

A partition's cursor says from where on its changes are read; a space's own, which moves with its
entries, that none is appended twice. Where graph lacks a partition's cursor, the spaces of that
partition are compared by theirs.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial

from concord_chassis.channel.cursors import START
from concord_chassis.channel.cursors import Cursor as PartitionCursor
from concord_chassis.channel.partitions import partition_of
from concord_chassis.observe.log import Logger
from concord_chassis.server.background import Background, Work

from concord_governance.domain.access import MOST_SPACES, SYSTEM_SPACE
from concord_governance.domain.entries import Entry
from concord_governance.domain.errors import (
    GovernanceError,
    GraphRefused,
    GraphRolledBack,
    GraphUnavailable,
)
from concord_governance.ports.graph import FeedMessage, Graph, Partitions
from concord_governance.ports.ledger import Cursor, Ledger, LedgerWrites
from concord_governance.usecases.graph_entries import entry_of
from concord_governance.usecases.imports import Imports
from concord_governance.usecases.notice import Notice
from concord_governance.usecases.revocations import apply_revocation

FOLLOW = "follow graph"
"""The name of the task that does it."""
_RETRY_SECONDS = 0.5
_REACH_SECONDS = 5.0
MOST_TOGETHER = 100
"""Spaces whose changes are appended in one transaction: other writers of the ledger wait for it."""
_COMPARE_SECONDS = 5.0
"""Seconds between two questions to graph whether it has what was heard last."""


class GraphFollower:
    """Appends graph's events to the log, with the cursor of the feed in the same transaction."""

    def __init__(self, ledger: Ledger, graph: Graph, background: Background, log: Logger) -> None:
        self._ledger = ledger
        self._graph = graph
        self._background = background
        self._log = log
        self.is_following = False
        self.rolled_back: frozenset[str] = frozenset()
        """Spaces of which graph lacks the ledger's last change: it is older, or another copy."""
        self._failing: set[str] = set()
        """Spaces with a message that could not be applied, by a bug of ours."""
        self._importing: set[str] = set()
        """Spaces of which an import is not finished: nothing of it is in the ledger."""
        self._partitions = 1
        self._newest: dict[int, PartitionCursor] = {}
        self._cursor_moved = Notice()
        self._imports = Imports()

    def demand_not_rolled_back(self, space: str) -> None:
        """Refuse a write in a space whose graph is older than the ledger.

        Raises:
            GraphRolledBack: the log could not record graph's changes in this space.
        """
        if self.is_rolled_back(space):
            raise GraphRolledBack(
                "graph is older than the audit log of this space: restore the newer copy of it"
            )

    def is_rolled_back(self, space: str) -> bool:
        """Return whether a space's graph is older than the ledger."""
        return space in self.rolled_back

    def mark_rolled_back(self, space: str) -> None:
        """Add a space to `rolled_back`, and log that once."""
        if space not in self.rolled_back:
            self.rolled_back |= {space}
            self._log.error(
                "graph is older than the audit log",
                space=space,
                action="stop Concord and restore the newer copy of graph's store",
            )

    async def wait_for(self, space: str, epoch: str, seq: int) -> bool:
        """Wait up to `_REACH_SECONDS` for a change of graph in the ledger; return whether it came.

        Another replica may append the change, so the ledger is also asked at intervals.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + _REACH_SECONDS
        while True:
            moved = self._cursor_moved.next()  # before the look: what comes after it is not missed
            cursor = await self._ledger.read(space, lambda tx: tx.feed_cursor())
            if cursor.epoch == epoch and cursor.seq >= seq:
                return True
            if (left := until - clock()) <= 0:
                return False
            await asyncio.wait([moved], timeout=min(left, _RETRY_SECONDS))

    async def run(self) -> None:
        """Follow graph until cancelled.

        If graph falls silent or the ledger cannot be written, begin again at the ledger's cursors.
        """
        while True:
            try:
                while True:
                    await self._follow()
            except GovernanceError as error:
                self._log.warning("graph not followed", reason=str(error))
            finally:
                self.is_following = False
            await asyncio.sleep(_RETRY_SECONDS)

    async def _follow(self) -> None:
        """Follow until a rolled back space is whole again, or one that failed may try again.

        A space of which a message could not be applied, by a bug of ours, is left out until then.
        """
        self._imports.clear()
        self._failing, self._importing = set(), set()
        kept = await self._ledger.partitions()
        store = await self._graph.partitions(kept)
        self._partitions = len(store.heads)
        start = await self._start(store, kept)
        self._newest = dict(start)
        await self._warn_of_too_many()
        for space in await self._ledger.unconfirmed_spaces():  # at the last stop
            if space not in self.rolled_back:
                await self._tried(space, partial(self._confirm, space))
        self.is_following = True
        await self._background.together(
            {
                "hear of graph's changes": partial(self._hear, start),
                "compare with graph": partial(self._compare, store.epoch),
            }
        )

    async def _warn_of_too_many(self) -> None:
        if await has_too_many_spaces(self._ledger):
            self._log.warning(
                "too many spaces", most=MOST_SPACES, action="make no more; all is followed"
            )

    async def _hear(self, start: Mapping[int, PartitionCursor]) -> None:
        clock, again_at = asyncio.get_running_loop().time, float("inf")
        page: list[FeedMessage] = []
        async with contextlib.aclosing(self._graph.watch(start)) as watched:
            async for message in watched:
                if message.space and not message.through:  # of many spaces: the rest comes at once
                    page.append(message)
                    continue
                for each in (*await self._apply_together(page), message):
                    if not each.space or each.space in self.rolled_back | self._failing:
                        continue
                    if rest := await self._tried(each.space, partial(self.apply, each)):
                        self._failing.add(each.space)
                        again_at = min(again_at, clock() + rest)
                page = []
                if message.through:
                    self._newest[message.partition] = message.through
                if clock() >= again_at:
                    return
        raise GraphUnavailable("the feed ended")

    async def _apply_together(self, page: Sequence[FeedMessage]) -> Sequence[FeedMessage]:
        """Apply messages of many spaces in one transaction; return those that come one by one.

        At a first start thousands of spaces have a change each. One that is refused, that erases,
        or that is of an import, is applied alone; so is each if one of them fails.
        """
        left_out = self.rolled_back | self._failing | self._importing
        times = Counter(each.space for each in page)
        plain = [each for each in page if _is_plain(each) and times[each.space] == 1]
        plain = [each for each in plain if each.space not in left_out]
        applied: set[str] = set()
        for start in range(0, len(plain), MOST_TOGETHER):
            some = plain[start : start + MOST_TOGETHER]
            steps = {
                each.space: partial(self._append_message, message=each, through=None)
                for each in some
            }
            try:
                found = await self._ledger.write_each(steps)
            except GovernanceError:
                raise
            except Exception as bug:  # noqa: BLE001 - of ours, in one: alone each says in which
                self._log.warning("spaces are followed one by one", error=type(bug).__name__)
                continue
            for space, follows in found.items():
                if not follows:
                    self.mark_rolled_back(space)
            applied.update(found)
            self._cursor_moved.give()
        return [each for each in page if each.space not in applied]

    async def _compare(self, epoch: str) -> None:
        """Compare what was heard last with graph now and then, until they differ.

        A store that is put back under graph ends no stream, and nothing is heard of idle spaces.
        """
        while True:
            await asyncio.sleep(_COMPARE_SECONDS)
            store = await self._graph.partitions(self._newest)
            if store.epoch != epoch or store.lacking:
                return
            for partition in {self._partition(space) for space in self.rolled_back}:
                await self._forget(partition)
            if self.rolled_back:
                cursors = await self._ledger.cursors()
                behind = {space: cursors.get(space, Cursor()) for space in self.rolled_back}
                if self.rolled_back - await self._graph.lacking(behind):
                    return

    async def _start(
        self, store: Partitions, kept: Mapping[int, PartitionCursor]
    ) -> Mapping[int, PartitionCursor]:
        """Compare the spaces of partitions without a cursor that graph has, set `rolled_back`, and
        return from where on each partition is followed."""
        usable = {each: at for each, at in kept.items() if each not in store.lacking}
        compared = [each for each in range(self._partitions) if each not in usable]
        cursors = await self._ledger.cursors() if compared else {}
        of_partition: dict[int, dict[str, Cursor]] = {each: {} for each in compared}
        for space, cursor in cursors.items():
            if cursor.seq and (partition := self._partition(space)) in of_partition:
                of_partition[partition][space] = cursor
        found: set[str] = set()
        for each in compared:
            lacking = await self._graph.lacking(of_partition[each])
            found.update(space for space in of_partition[each] if _is_behind(lacking, space))
        self.rolled_back &= found
        for space in sorted(found):
            self.mark_rolled_back(space)
        for each in compared:
            if of_partition[each]:
                await self._catch_up(each, of_partition[each], store)
                usable[each] = store.heads[each]
        return {each: usable.get(each, START) for each in range(self._partitions)}

    async def _catch_up(
        self, partition: int, cursors: Mapping[str, Cursor], store: Partitions
    ) -> None:
        """Append what the ledger lacks of a partition's spaces, each from its own cursor on."""
        await self._forget(partition)
        async for page in self._graph.spaces(partition):
            for space, head in page.items():
                cursor = cursors.get(space, Cursor())
                applied = cursor.seq if cursor.epoch == store.epoch else 0
                if head <= applied or space in self.rolled_back:
                    continue
                if await self._tried(space, partial(self._append, space, applied)):
                    self._failing.add(space)
        if self._is_whole(partition):
            newest = store.heads[partition]
            await self._ledger.write(SYSTEM_SPACE, lambda tx: tx.move_partition(partition, newest))

    async def _append(self, space: str, applied: int) -> None:
        async for message in self._graph.changes(space, applied):
            await self.apply(message)

    async def _forget(self, partition: int) -> None:
        """Have a partition's spaces compared at the next start: one of them is rolled back."""
        if partition in await self._ledger.partitions():
            await self._ledger.write(SYSTEM_SPACE, lambda tx: tx.move_partition(partition, None))

    def _partition(self, space: str) -> int:
        return partition_of(space, self._partitions)

    def _is_whole(self, partition: int, but: str = "") -> bool:
        """Return whether the ledger lacks nothing of the partition's spaces that came before."""
        open_ = self.rolled_back | self._failing | self._importing
        return not any(self._partition(space) == partition for space in open_ - {but})

    async def _tried(self, space: str, work: Work) -> float:
        return await self._background.tried(FOLLOW, space, work, passing=(GovernanceError,))

    async def apply(self, message: FeedMessage) -> None:
        """Append one message's events, unless the log has them.

        An import's changes are appended, and the cursor moved, with the import's last message. A
        message that does not follow the log's last change comes from another copy of graph: it is
        dropped, and the space counts as rolled back.
        """
        self._imports.take(message)
        if message.importing:
            self._importing.add(message.space)
            return
        through = message.through if self._is_whole(message.partition, message.space) else None
        erased = [*self._imports.erased(message.space), *message.erased]
        work = partial(self._append_message, message=message, through=through, erased=erased)
        if not await self._ledger.write(message.space, work):
            self.mark_rolled_back(message.space)
            return
        self._imports.done(message.space)
        self._importing.discard(message.space)
        self._cursor_moved.give()
        if erased:
            await self._confirm(message.space)

    async def _append_message(
        self,
        tx: LedgerWrites,
        *,
        message: FeedMessage,
        through: PartitionCursor | None,
        erased: Sequence[tuple[str, bool]] = (),
    ) -> bool:
        """Append a message's entries, and move the cursors; return False if it does not follow."""
        cursor = await tx.feed_cursor()
        start = cursor.seq if cursor.epoch == message.epoch else 0
        if message.seq > start:
            if not _follows(message, cursor):
                return False
            fresh = await self._entries(tx, message, start)
            if fresh:
                await tx.append(fresh)
            for item_id, is_memory in erased:
                await tx.forget_words(item_id, confirm=is_memory)
            await tx.move_cursor(Cursor(message.epoch, message.seq, message.change_digest))
        if through is not None:
            await tx.move_partition(message.partition, through)
        return True

    async def _entries(self, tx: LedgerWrites, message: FeedMessage, start: int) -> list[Entry]:
        """Return the entries of events after change `start`.

        Imported events were recorded by another system: only their import has entries.
        """
        fresh: list[Entry] = []
        for event in message.events:
            if event.restore_grant and event.seq > start:
                fresh += self._imports.entries(message.space, event)
            elif event.seq > start and not event.imported:
                fresh.append(
                    await apply_revocation(tx, event) if event.revocation else entry_of(event)
                )
        return fresh

    async def _confirm(self, space: str) -> None:
        """Confirm erasures to graph once the ledger's files have no byte of the words left.

        While an open read keeps the files from being rewritten, this tries again.
        """
        erased = await self._ledger.read(space, lambda tx: tx.unconfirmed())
        while erased and not await self._ledger.scrub():  # noqa: ASYNC110 - files are tried anew
            await asyncio.sleep(_RETRY_SECONDS)
        for memory_id in erased:
            with contextlib.suppress(GraphRefused):  # graph awaits no confirmation
                await self._graph.confirm_erased(space, memory_id)
            await self._ledger.write(space, lambda tx, m=memory_id: tx.confirmed(m))  # type: ignore[misc] # the default binds the loop's value


async def has_too_many_spaces(ledger: Ledger) -> bool:
    """Return whether there are so many spaces that no more are made."""
    return await ledger.read(SYSTEM_SPACE, lambda tx: tx.space_count()) >= MOST_SPACES


def _is_behind(lacking: Collection[str], space: str) -> bool:
    """Return whether graph lacks a space's last change in the ledger."""
    return space in lacking


def _is_plain(message: FeedMessage) -> bool:
    """Return whether a message has nothing beside entries: no erasure, and nothing imported."""
    imported = any(event.imported or event.restore_grant for event in message.events)
    return not (message.importing or message.erased or imported)


def _follows(message: FeedMessage, cursor: Cursor) -> bool:
    """Return whether a message continues at the ledger's cursor.

    It may overlap: another replica may have appended the beginning of it.
    """
    overlaps = message.epoch == cursor.epoch and message.first <= cursor.seq
    continues = message.previous_change_digest == cursor.change_digest
    return not cursor.change_digest or overlaps or continues
