"""Follows graph's change feed into the index (spec S10).

Changes arrive in sequence per space, and each space has a lane of its own: spaces do not wait for
one another. What a lane does with them stands in `lane`.
"""

import asyncio
from collections.abc import Callable, Sequence

from concord_chassis.log import Logger

from concord_search.domain.errors import GraphUnavailable, IndexCorrupt, IndexDiskFull
from concord_search.ports import Changes, Embedder, Graph, Index, IndexState, SpaceHead
from concord_search.usecases.lane import FIRST_WAIT, LONGEST_WAIT, RETRY_EVERY, Lane, Parts
from concord_search.usecases.progress import Progress


class Follow:
    """The one follower of the feed. `run` it as a task and cancel that.

    `erased` is called when something was.
    """

    def __init__(
        self,
        *,
        graph: Graph,
        index: Index,
        embedder: Embedder,
        progress: Progress,
        log: Logger,
        erased: Callable[[], None],
        retry_every: float = RETRY_EVERY,
    ) -> None:
        self._log = log
        self._graph = graph
        self._index = index
        self._progress = progress
        self.parts = Parts(graph, index, embedder, progress, log, erased, retry_every)

    async def run(self) -> None:
        """Follows until cancelled, reconnecting when graph goes away.

        Ends by itself only when the index is damaged; `Progress.broken` then says why.
        """
        wait = FIRST_WAIT
        while self._progress.broken is None:
            started = asyncio.get_running_loop().time()
            try:
                await self._follow()
            except* GraphUnavailable as lost:
                self._log.warning("feed lost", reason=str(lost.exceptions[0]), retry_in=wait)
            except* IndexDiskFull as full:
                self._progress.disk_full = str(full.exceptions[0])
                self._log.warning("disk full", reason=self._progress.disk_full, retry_in=wait)
            except* IndexCorrupt as damaged:
                self._log.error("index damaged", reason=str(damaged.exceptions[0]))
                self._progress.broken = damaged.exceptions[0]
            finally:
                self._progress.following = False
            lasted = asyncio.get_running_loop().time() - started
            wait = FIRST_WAIT if lasted > LONGEST_WAIT else min(wait * 2, LONGEST_WAIT)
            await asyncio.sleep(wait)

    async def _follow(self) -> None:
        """Follows one connection until it breaks or the store is another one."""
        await self._index.open()  # unless it is: there may have been no room at the start
        heads = await self._graph.heads()
        await self._begin(heads)
        states = await self._states()
        applied = {space: state.applied_seq for space, state in states.items()}
        epochs = {head.epoch for head in heads}
        async with asyncio.TaskGroup() as group:
            lanes: dict[str, Lane] = {}
            for space, state in states.items():
                if state.parked:
                    self._lane(space, lanes, group)
            self._progress.following = True
            self._progress.disk_full = ""
            async for news in self._graph.watch(applied):
                if epochs and news.epoch not in epochs:
                    raise GraphUnavailable("the store behind the feed was replaced")
                epochs.add(news.epoch)
                if news.space:
                    await self._dispatch(news, lanes, group)
            raise GraphUnavailable("the feed ended")

    async def _begin(self, heads: Sequence[SpaceHead]) -> None:
        """Makes parts for graph's spaces; empties those of another store."""
        for head in heads:
            await self._index.begin(head.space, head.epoch)
        named = {head.space for head in heads}
        for space in (await self._states()).keys() - named:
            # An empty part of the store's epoch: what it held is not in that store.
            await self._index.begin(space, heads[0].epoch if heads else "")
        await self._states()
        for head in heads:  # after the states: those of another epoch make earlier news void
            self._progress.heard(head.space, head.head_seq)

    async def _states(self) -> dict[str, IndexState]:
        """How far every space is, told to whoever waits."""
        states = dict(await self._index.states())
        for space, state in states.items():
            self._progress.reached(space, state)
        return states

    async def _dispatch(
        self, news: Changes, lanes: dict[str, Lane], group: asyncio.TaskGroup
    ) -> None:
        if news.space not in lanes:
            await self._index.begin(news.space, news.epoch)
        self._progress.heard(news.space, news.head_seq)
        await self._lane(news.space, lanes, group).put(news.changes)

    def _lane(self, space: str, lanes: dict[str, Lane], group: asyncio.TaskGroup) -> Lane:
        lane = lanes.get(space)
        if lane is None:
            lane = lanes[space] = Lane(space, self.parts)
            group.create_task(lane.run(), name=f"follow {space}")
        return lane
