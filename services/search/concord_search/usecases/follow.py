"""Follows graph's change feed into the index (spec S10).

Changes arrive in sequence per space and are applied in slices: exact states are read from graph,
texts that the index does not know are embedded, and the slice is written together with how far
the index has come. Spaces do not wait for one another. A row that cannot be applied is parked and
told of; it never stops the feed.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from dataclasses import dataclass

from concord_chassis.log import Logger

from concord_search.domain.changes import ChangeKind
from concord_search.domain.errors import (
    EmbeddingUnavailable,
    GraphUnavailable,
    IndexCorrupt,
    SearchError,
)
from concord_search.domain.memory import Ending, MemoryState, Parked, Touch
from concord_search.ports import (
    Batch,
    Change,
    Changes,
    Embedder,
    Graph,
    Hydrated,
    Index,
    IndexState,
    SpaceHead,
    Vector,
)
from concord_search.usecases.progress import Progress

SLICE = 512
"""Changes applied together: enough to sort texts by length, few enough to be found soon."""

QUEUED_MESSAGES = 200
FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0


_States = Sequence[tuple[Change, Hydrated | None]]
"""Changes of memories with the states they made; None for a memory that is gone."""


@dataclass(frozen=True, slots=True)
class _Slice:
    """Changes that are applied together, and their states, being read."""

    changes: Sequence[Change]
    states: asyncio.Task[_States]


class Follow:
    """The one follower of the feed. `run` it as a task and cancel that."""

    def __init__(
        self, *, graph: Graph, index: Index, embedder: Embedder, progress: Progress, log: Logger
    ) -> None:
        self._log = log
        self._graph = graph
        self._index = index
        self._embedder = embedder
        self._progress = progress

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
        heads = await self._graph.heads()
        await self._begin(heads)
        applied = {space: state.applied_seq for space, state in (await self._states()).items()}
        epochs = {head.epoch for head in heads}
        async with asyncio.TaskGroup() as group:
            lanes: dict[str, asyncio.Queue[Sequence[Change]]] = {}
            self._progress.following = True
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
        self,
        news: Changes,
        lanes: dict[str, asyncio.Queue[Sequence[Change]]],
        group: asyncio.TaskGroup,
    ) -> None:
        lane = lanes.get(news.space)
        if lane is None:
            await self._index.begin(news.space, news.epoch)
            lane = lanes[news.space] = asyncio.Queue(QUEUED_MESSAGES)
            group.create_task(self._work(news.space, lane), name=f"follow {news.space}")
        self._progress.heard(news.space, news.head_seq)
        await lane.put(news.changes)

    async def _work(self, space: str, lane: asyncio.Queue[Sequence[Change]]) -> None:
        """Applies what comes for a space; while one slice is embedded, the next is read."""
        read: asyncio.Queue[_Slice] = asyncio.Queue(1)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._read(space, lane, read))
                while True:
                    await self._patiently(space, await read.get())
        finally:
            while not read.empty():
                _drop(read.get_nowait().states)

    async def _read(
        self, space: str, lane: asyncio.Queue[Sequence[Change]], read: asyncio.Queue[_Slice]
    ) -> None:
        async for changes in _slices(lane):
            states = asyncio.create_task(self._states_after(space, changes))
            try:
                await read.put(_Slice(changes, states))
            except asyncio.CancelledError:
                _drop(states)
                raise

    async def _patiently(self, space: str, given: _Slice) -> None:
        """Applies changes, again and again while the embedder does not answer."""
        wait = FIRST_WAIT
        while True:
            try:
                return await self._settle(space, given.changes, given.states)
            except EmbeddingUnavailable as error:
                self._log.warning("embedder lost", reason=str(error), retry_in=wait)
            await asyncio.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT)

    async def _settle(
        self, space: str, changes: Sequence[Change], states: Awaitable[_States] | None = None
    ) -> None:
        """Applies changes; halves what fails until single rows are left, and parks those."""
        try:
            found = await (states or self._states_after(space, changes))
            await self._write(space, await self._batch(space, changes, found))
        except (GraphUnavailable, EmbeddingUnavailable, IndexCorrupt):
            raise
        # Whatever a single row does to us, the feed goes on (design section 5); it is parked,
        # counted and shown, so nothing is swallowed.
        except Exception as error:  # noqa: BLE001
            if len(changes) == 1:
                await self._park(space, changes[0], error)
                return
            middle = len(changes) // 2
            await self._settle(space, changes[:middle])
            await self._settle(space, changes[middle:])

    async def _park(self, space: str, change: Change, error: Exception) -> None:
        reason = str(error) if isinstance(error, SearchError) else type(error).__name__
        self._log.error("change parked", seq=change.seq, reason=reason, exc_info=error)
        parked = [Parked(change.seq, change.item_id, reason)]
        await self._write(space, Batch(change.seq, change.record_time, parked=parked))

    async def _write(self, space: str, batch: Batch) -> None:
        await self._index.apply(space, batch)
        self._progress.reached(space, (await self._index.states())[space])

    async def _states_after(self, space: str, changes: Sequence[Change]) -> _States:
        """The states that changes of memories made."""
        ours = [each for each in changes if each.is_memory and each.kind != ChangeKind.REFUSED]
        return list(zip(ours, await self._graph.at(space, ours) if ours else (), strict=True))

    async def _batch(self, space: str, changes: Sequence[Change], found: _States) -> Batch:
        """What a slice of changes does to the index."""
        states = [h.state for change, h in found if h is not None and _makes_state(change, h)]
        return Batch(
            applied_seq=changes[-1].seq,
            latest=changes[-1].record_time,
            states=await self._with_vectors(space, states),
            touches=_touches(found),
            endings=[
                Ending(change.item_id, change.seq, change.record_time)
                for change, h in found
                if h is not None and h.state.forgotten and change.kind != ChangeKind.TOUCHED
            ],
            erased=sorted({change.item_id for change, h in found if h is None}),
        )

    async def _with_vectors(
        self, space: str, states: Sequence[MemoryState]
    ) -> list[tuple[MemoryState, Vector | None]]:
        if not states:
            return []
        wanted = await self._index.unembedded(space, states)
        texts = [state.content for state, needs in zip(states, wanted, strict=True) if needs]
        vectors = iter(await self._embedder.embed(texts)) if texts else iter(())
        return [
            (state, next(vectors) if needs else None)
            for state, needs in zip(states, wanted, strict=True)
        ]


def _makes_state(change: Change, found: Hydrated) -> bool:
    return change.kind != ChangeKind.TOUCHED and not found.state.forgotten


def _touches(found: _States) -> list[Touch]:
    """The last access data of each memory that was only read."""
    newest = {
        change.item_id: Touch(h.state.id, h.state.access_count, h.state.last_access)
        for change, h in found
        if h is not None and change.kind == ChangeKind.TOUCHED and not h.state.forgotten
    }
    return list(newest.values())


def _drop(task: asyncio.Task[_States]) -> None:
    """Ends a task whose outcome nobody waits for any more."""
    task.cancel()
    task.add_done_callback(lambda done: done.cancelled() or done.exception())


async def _slices(lane: asyncio.Queue[Sequence[Change]]) -> AsyncIterator[list[Change]]:
    """Joins what has queued up into slices, without waiting to fill one."""
    while True:
        pending = list(await lane.get())
        while len(pending) < SLICE and not lane.empty():
            pending += lane.get_nowait()
        for start in range(0, len(pending), SLICE):
            yield pending[start : start + SLICE]
