"""Follows graph's change feed into the index (spec S10).

All partitions come in one stream, each in the order of its numbers. Up to which change everything
is in the index is kept with it, as a cursor of each partition; it may lag, as applying a change
again changes nothing. Where graph lacks the cursor's change, its store was restored or is another
one: the spaces of that partition alone are compared. `space_workers` apply the changes.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial

from concord_chassis.channel.cursors import START, Cursor, PartitionCursors
from concord_chassis.channel.partitions import partition_of
from concord_chassis.server.background import Work

from concord_search.domain.errors import (
    GraphUnavailable,
    IndexCorrupt,
    IndexDiskFull,
    IndexUnavailable,
    reason_of,
)
from concord_search.ports.graph import Changes, Partitions
from concord_search.ports.index import IndexState
from concord_search.usecases.retries import RETRY, Retries
from concord_search.usecases.space_follower import (
    FIRST_WAIT,
    LONGEST_WAIT,
    FollowerContext,
    state_of,
)
from concord_search.usecases.space_workers import (
    AT_ONCE,
    FOLLOW_SPACE,
    OF_ALL_SPACES,
    SpaceWorkers,
)

PASSING = (*OF_ALL_SPACES, IndexDiskFull)
CHECK_EVERY = 1.0
"""Seconds between two checks that the index answers: without writes nothing else would notice."""
COMPARE_EVERY = 5.0
"""Seconds between two questions to graph whether it has what was heard last: a store that is put
back under it ends no stream."""
KEEP_EVERY = 2.0
"""Seconds between two writes of the cursors, if they moved."""


class Follow:
    """This process's follower of the feed. `run` it as a task and cancel that.

    Where processes share the index, one of them has a follower at a time (`lead`).
    """

    def __init__(self, context: FollowerContext) -> None:
        self._context = context
        self._cursors = PartitionCursors({})
        self._kept: Mapping[int, Cursor] = {}
        self._workers = SpaceWorkers(context, "")

    async def run(self) -> None:
        """Follows until cancelled, reconnecting when graph goes away.

        Ends by itself only when the index is damaged; `Progress.broken` then says why.
        """
        progress, log = self._context.progress, self._context.log
        wait = FIRST_WAIT
        while progress.broken is None:
            started = asyncio.get_running_loop().time()
            try:
                await self._follow()
            except* GraphUnavailable as lost:
                log.warning("feed lost", reason=reason_of(lost), retry_in=wait)
            except* IndexDiskFull as full:
                progress.disk_full = reason_of(full)
                log.warning("disk full", reason=progress.disk_full, retry_in=wait)
            except* IndexUnavailable as lost:
                progress.index_lost = reason_of(lost)
                log.warning("index lost", reason=progress.index_lost, retry_in=wait)
            except* IndexCorrupt as damaged:
                log.error("index damaged", reason=reason_of(damaged))
                progress.broken = damaged.exceptions[0]
            finally:
                progress.following = False
                await self._keep_moved()
            lasted = asyncio.get_running_loop().time() - started
            wait = FIRST_WAIT if lasted > LONGEST_WAIT else min(wait * 2, LONGEST_WAIT)
            await asyncio.sleep(wait)

    async def _follow(self) -> None:
        """Follows over one connection until it breaks or the store is another one."""
        index, graph, progress = self._context.index, self._context.graph, self._context.progress
        # Earlier there may have been no room, or no answer.
        await index.open(progress.on_part)
        progress.index_lost = ""
        states = await index.states()
        progress.begin_anew(states)
        for space, state in states.items():
            if state.parked_count:
                progress.reached(space, state)
        await self._recall()
        store = await graph.partitions(self._cursors.newest)
        progress.epoch = store.epoch
        start = await self._start(store, states)
        async with asyncio.TaskGroup() as group:
            tasks: dict[str, Work] = {
                "check the index": self._check,
                "compare with graph": partial(self._compare, store.epoch),
                "keep cursors": self._keep,
                RETRY: Retries(self._context, PASSING).run,
            }
            workers: list[tuple[str, Work]] = [(FOLLOW_SPACE, self._workers.work)] * AT_ONCE
            for name, work in (*tasks.items(), *workers):
                group.create_task(self._context.background.keep(name, work, passing=PASSING))
            await self._hear(store, start)

    async def _recall(self) -> None:
        """Goes on with the cursors that were kept, or with none: parts of the index may be lost,
        with or without them."""
        kept = await self._context.index.cursors()
        if not self._cursors.newest or not kept:
            self._cursors, self._kept = PartitionCursors(kept), kept

    # Where to follow from

    async def _start(
        self, store: Partitions, states: Mapping[str, IndexState]
    ) -> Mapping[int, Cursor]:
        """Compares the spaces of partitions whose cursors are of no use, and gives those that
        differ to new workers; returns from where on each partition is followed."""
        done, known = self._cursors.done(self._workers.has_work), self._cursors.newest
        doubtful = self._workers.doubtful()  # the connection was lost before they were looked at
        self._workers = SpaceWorkers(self._context, store.epoch)
        named: dict[int, set[str]] = {each: set() for each in range(len(store.heads))}
        for space in states:
            named[partition_of(space, len(named))].add(space)
        start, given = dict[int, Cursor](), dict[str, int]()
        for each, head in enumerate(store.heads):
            lacks = each in store.lacking
            # At its start a cursor names no change that graph could lack: if something was applied,
            # the process ended before the cursor moved.
            applied = any(states[name].applied_seq for name in named[each])
            if not lacks and (known.get(each, START).number or not applied):
                start[each] = done.get(each, START)
                continue
            if lacks:
                self._context.log.warning("graph lacks what was followed", partition=each)
                self._cursors.forget(each)
            compared = {name: states[name] for name in named[each]}
            given |= dict.fromkeys(await self._compared(each, store.epoch, compared, lacks), each)
            start[each] = head
        for space in doubtful:
            self._workers.add(space, is_doubtful=True)
            given[space] = partition_of(space, len(named))
        self._cursors.begin(start)
        for space, partition in given.items():
            self._cursors.open(partition, space)
        return start

    async def _compared(
        self, partition: int, epoch: str, states: Mapping[str, IndexState], lacks: bool
    ) -> Sequence[str]:
        """Compares the spaces of a partition; returns those that its workers have to look at.

        `lacks`: graph does not have what was followed, so that equal numbers prove nothing.
        """
        index, progress, given = self._context.index, self._context.progress, list[str]()
        gone = set(states)
        async for page in self._context.graph.spaces(partition):
            for head in page:
                space, state = head.space, states.get(head.space)
                gone.discard(space)
                if state is not None and state.epoch != epoch:
                    await index.begin(space, epoch)
                    state = await state_of(index, space)
                    progress.reached(space, state)
                applied = 0 if state is None else state.applied_seq
                is_doubtful = head.head_seq < applied or (lacks and applied > 0)
                if is_doubtful or head.head_seq > applied:
                    await progress.load(space)
                    progress.heard(space, head.head_seq)
                    self._workers.add(space, is_doubtful=is_doubtful)
                    given.append(space)
        for space in gone:  # graph's store has no such space
            await index.remove(space)
            progress.forget(space)
        return given

    # What comes

    async def _hear(self, store: Partitions, start: Mapping[int, Cursor]) -> None:
        """Hears of changes until the feed breaks.

        Graph counts as followed once all that it had at the beginning was heard of: from then on
        nothing of it is newer than what `Progress` says.
        """
        behind = {p for p, head in enumerate(store.heads) if start[p].number < head.number}
        self._heard(behind)
        async for changes in self._context.graph.watch(start):
            if changes.epoch != store.epoch:
                raise GraphUnavailable("the store behind the feed was replaced")
            if changes.changes:
                await self._dispatch(changes)
            partition, through = changes.partition, changes.through
            self._cursors.hear(partition, changes.space, through)
            if partition in behind and through and through.number >= store.heads[partition].number:
                behind.discard(partition)
                self._heard(behind)
        raise GraphUnavailable("the feed ended")

    def _heard(self, behind: set[int]) -> None:
        if not behind:
            self._context.progress.following = True
            self._context.progress.disk_full = ""

    async def _dispatch(self, changes: Changes) -> None:
        progress, space, is_doubtful = self._context.progress, changes.space, False
        if not progress.knows(space):
            await progress.load(space)
            applied = progress.of(space).applied_seq
            # After the kept cursor nothing should be applied, unless the process was killed: then
            # it is, or graph lost it and has another change in its place.
            is_doubtful = changes.changes[0].seq <= applied
        progress.heard(space, changes.head_seq)
        self._workers.add(space, changes.changes, is_doubtful=is_doubtful)

    # Beside it

    async def _check(self) -> None:
        while True:
            await asyncio.sleep(CHECK_EVERY)
            await self._context.index.check()

    async def _compare(self, epoch: str) -> None:
        while True:
            await asyncio.sleep(COMPARE_EVERY)
            store = await self._context.graph.partitions(self._cursors.newest)
            if store.epoch != epoch or store.lacking:
                raise GraphUnavailable("the store behind the feed was replaced")

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(KEEP_EVERY)
            await self._keep_moved()

    async def _keep_moved(self) -> None:
        done = self._cursors.done(self._workers.has_work)
        if done != self._kept:
            try:
                await self._context.index.keep_cursors(done)
            except (OSError, IndexUnavailable) as error:  # such as a full disk: they lag
                self._context.log.warning("cursors not kept", reason=str(error))
            else:
                self._kept = done
