"""Applies one space's changes to its index (spec S10).

Three steps, each a slice ahead of the next: the changes' states are read from graph, texts that the
index does not know are embedded, and the slice is written together with the new watermark. So
graph, the model and the engine work at the same time, and the order is kept.

A slice that fails as a whole is applied again row by row. A row that fails alone is parked: it is
counted, shown in the index's status and tried again later. It never stops the feed.

A follower lives while its space has changes to apply: nothing is kept of a space that rests.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar
from weakref import WeakValueDictionary

from concord_chassis.observe.log import Logger
from concord_chassis.server.background import Background

from concord_search.domain.changes import ChangeKind
from concord_search.domain.errors import (
    EmbeddingUnavailable,
    GraphUnavailable,
    IndexCorrupt,
    IndexDiskFull,
    IndexUnavailable,
    SearchError,
)
from concord_search.domain.memory import Ending, MemoryState, Parked
from concord_search.ports.embedder import EmbeddingModel
from concord_search.ports.graph import Change, Feed, Hydrated
from concord_search.ports.index import Batch, Index, IndexState, Version
from concord_search.usecases.embedders import Embedders
from concord_search.usecases.progress import Progress
from concord_search.usecases.slices import SLICE, States, listed, touches

FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0

TURN = 16
"""Slices that a follower applies before other spaces have their turn."""

_NO_STATE = {ChangeKind.REFUSED, ChangeKind.ERASE_CONFIRMED}

_UNRELATED = (
    *(GraphUnavailable, EmbeddingUnavailable),
    *(IndexCorrupt, IndexDiskFull, IndexUnavailable),
)
"""Failures that no single row causes."""

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FollowerContext:
    """The parts that the followers of all spaces share. `on_erased` runs after each erasure.

    They write to one `version` of each space's index, and hold the space's lock while they do.
    """

    graph: Feed
    index: Index
    embedders: Embedders
    progress: Progress
    background: Background
    log: Logger
    on_erased: Callable[[], None]
    version: Version = Version.SERVING
    _write_locks: WeakValueDictionary[str, asyncio.Lock] = field(
        default_factory=WeakValueDictionary
    )

    def write_lock(self, space: str) -> asyncio.Lock:
        """The lock of a space, the same while anybody has it."""
        return self._write_locks.setdefault(space, asyncio.Lock())


@dataclass(frozen=True, slots=True)
class _Plan:
    """A slice's batch without its vectors; `lacking`: for each state, whether it needs one."""

    batch: Batch
    model: EmbeddingModel
    lacking: Sequence[bool]


class SpaceFollower:
    """The one worker that follows a space, for one turn.

    A step's result for a slice is None if the slice failed there as a whole.
    """

    def __init__(self, space: str, context: FollowerContext) -> None:
        self._space = space
        self._context = context
        self._given: Sequence[Change] = ()
        self._read: asyncio.Queue[tuple[Sequence[Change], _Plan | None] | None] = asyncio.Queue(1)
        self._ready: asyncio.Queue[tuple[Sequence[Change], Batch | None] | None] = asyncio.Queue(1)
        self._coming: dict[str, tuple[int, str]] = {}
        self._write_lock = context.write_lock(space)
        self._ended = asyncio.Event()
        self._left = False

    async def catch_up(self, given: Sequence[Change] = ()) -> bool:
        """Applies the changes after the watermark, at most a turn's; returns whether some are left.

        They are those `given` if these go on at the watermark, else those that graph lists. Raises
        `GraphUnavailable`, `EmbeddingUnavailable`, `IndexUnavailable`, `IndexDiskFull` or
        `IndexCorrupt`.
        """
        self._given = given
        await self._context.background.together(
            {
                "read what to index": self._reads,
                "embed": self._embeds,
                "write the index": self._writes,
            }
        )
        return self._left

    async def again(self, changes: Sequence[Change]) -> None:
        """Applies former changes again, in sequence, after their memories were dropped.

        The watermark stays. The caller holds the space's write lock.
        """
        for start in range(0, len(changes), SLICE):
            part = changes[start : start + SLICE]
            batch = await self._embedded(await self._plan(part, {}))
            await self._write(replace(batch, applied_seq=0, latest=0, to_confirm=()))

    async def retry(self, parked: Sequence[Parked]) -> int:
        """Tries parked changes again; returns how many of them were applied."""
        applied = 0
        for each in parked:
            async with self._write_lock:
                applied += await self._retry(each)
        return applied

    # The three steps

    async def _reads(self) -> None:
        slices = 0
        async for changes in self._after_watermark():
            if slices == TURN:
                self._left = True
                break
            slices += 1
            await self._read.put((changes, await _whole(self._plan_ahead(changes))))
        await self._read.put(None)
        await self._ended.wait()

    async def _after_watermark(self) -> AsyncIterator[Sequence[Change]]:
        """Slices of the changes after the watermark."""
        state = await self._state()
        given = [each for each in self._given if each.seq > state.applied_seq]
        if given and given[0].seq == state.applied_seq + 1:
            for start in range(0, len(given), SLICE):
                yield given[start : start + SLICE]
        elif given or not self._given:
            async for changes in listed(self._context.graph, self._space, state.applied_seq):
                if changes.epoch != state.epoch:
                    raise GraphUnavailable("the store behind the feed was replaced")
                yield changes.changes

    async def _embeds(self) -> None:
        while (planned := await self._read.get()) is not None:
            changes, plan = planned
            batch = None if plan is None else await _whole(self._embedded(plan))
            await self._ready.put((changes, batch))
        await self._ready.put(None)
        await self._ended.wait()

    async def _writes(self) -> None:
        while (made := await self._ready.get()) is not None:
            changes, batch = made
            if batch is None or await _whole(self._alone(self._write, batch)) is None:
                await self._alone(self._settle, changes)
            last = changes[-1].seq
            self._coming = {item: c for item, c in self._coming.items() if c[0] > last}
        self._ended.set()

    async def _alone(self, step: Callable[[S], Awaitable[T]], given: S) -> T:
        """Runs a step under the space's write lock, which is free between two attempts."""
        async with self._write_lock:
            return await step(given)

    async def _states_after(self, changes: Sequence[Change]) -> States:
        """The states that changes of memories and of indexed edges made."""
        ours = [
            each
            for each in changes
            if (each.is_memory or each.is_indexed_edge) and each.kind not in _NO_STATE
        ]
        found = await self._context.graph.at(self._space, ours) if ours else ()
        return list(zip(ours, found, strict=True))

    async def _plan_ahead(self, changes: Sequence[Change]) -> _Plan:
        """The plan of a slice, given that all earlier slices will be written first."""
        plan = await self._plan(changes, self._coming)
        self._coming |= {state.id: (state.seq, state.indexed) for state, _ in plan.batch.states}
        return plan

    async def _plan(self, changes: Sequence[Change], coming: dict[str, tuple[int, str]]) -> _Plan:
        found = await self._states_after(changes)
        states = [
            h.state
            for change, h in found
            if h is not None and change.kind != ChangeKind.TOUCHED and not h.state.forgotten
        ]
        model = (await self._state()).model
        batch = Batch(
            applied_seq=changes[-1].seq,
            latest=changes[-1].record_time,
            model=model,
            states=[(state, None) for state in states],
            touches=touches(found),
            endings=[
                Ending(change.item_id, change.seq, change.record_time)
                for change, h in found
                if h is not None and h.state.forgotten and change.kind != ChangeKind.TOUCHED
            ],
            erased=sorted({change.item_id for change, h in found if h is None}),
            to_confirm=sorted({c.item_id for c in changes if c.awaits_confirmation}),
        )
        return _Plan(batch, model, await self._lacking(states, coming))

    async def _lacking(
        self, states: Sequence[MemoryState], coming: dict[str, tuple[int, str]]
    ) -> Sequence[bool]:
        """For each state, whether it needs a vector, since its item's last words were others.

        `coming`: last words in slices that are not written yet, by id; the index has the others.
        """
        if not states:
            return ()
        index, version = self._context.index, self._context.version
        lacking = await index.unembedded(self._space, states, version)
        return [
            coming[state.id][1] != state.indexed if state.id in coming else lacks
            for state, lacks in zip(states, lacking, strict=True)
        ]

    async def _embedded(self, plan: _Plan) -> Batch:
        """The plan's batch with the vectors that it needs."""
        planned = [
            (state, lacks)
            for (state, _), lacks in zip(plan.batch.states, plan.lacking, strict=True)
        ]
        texts = [state.content for state, lacks in planned if lacks]
        embedder = await self._context.embedders.of(plan.model)
        vectors = iter(await embedder.embed(texts) if texts else ())
        states = [(state, next(vectors) if lacks else None) for state, lacks in planned]
        return replace(plan.batch, states=states)

    async def _write(self, batch: Batch) -> bool:
        index, version = self._context.index, self._context.version
        if batch.erased and await index.state(self._space, Version.FORMER) is not None:
            # Before the serving version, whose watermark counts for both.
            await index.apply(self._space, Batch(0, 0, erased=batch.erased), Version.FORMER)
        await index.apply(self._space, batch, version)
        self._context.progress.disk_full = ""
        self._context.progress.reached(self._space, await self._state())
        if batch.to_confirm:
            self._context.on_erased()
        return True

    async def _state(self) -> IndexState:
        return await state_of(self._context.index, self._space, self._context.version)

    # Row by row

    async def _settle(self, changes: Sequence[Change]) -> None:
        """Applies changes; halves a slice that fails, down to single rows, and parks these."""
        try:
            await self._write(await self._embedded(await self._plan(changes, {})))
        except _UNRELATED:
            raise
        # No single row may stop the feed, whatever its error (design section 5). The row is
        # parked, counted and shown, so no error is swallowed.
        except Exception as error:  # noqa: BLE001
            if len(changes) == 1:
                await self._park(changes[0], error)
                return
            middle = len(changes) // 2
            await self._settle(changes[:middle])
            await self._settle(changes[middle:])

    async def _park(self, change: Change, error: Exception) -> None:
        reason = str(error) if isinstance(error, SearchError) else type(error).__name__
        self._context.log.error("change parked", seq=change.seq, reason=reason, exc_info=error)
        parked = [Parked(change.seq, change.item_id, reason)]
        await self._write(Batch(change.seq, change.record_time, parked=parked))

    async def _retry(self, parked: Parked) -> bool:
        """Applies the item's current state in graph; a newer state in the index stays.

        The caller holds the write lock, so an erasure that comes meanwhile is written afterwards.
        Returns whether the change was applied.
        """
        self._context.progress.retries += 1
        try:
            graph, ids = self._context.graph, [parked.item_id]
            (now,) = await graph.current(self._space, ids, count_as_read=False)
            if now is None:
                (edge,) = await graph.edges(self._space, ids)
                now = edge and replace(edge, state=replace(edge.state, seq=parked.seq))
            await self._write(await self._batch_of(parked, now))
        except (GraphUnavailable, IndexCorrupt, IndexUnavailable):
            raise
        except Exception as error:  # noqa: BLE001 - it stays parked, counted and shown
            name = type(error).__name__
            self._context.log.warning("change stays parked", seq=parked.seq, error=name)
            return False
        self._context.log.info("parked change applied", seq=parked.seq)
        return True

    async def _batch_of(self, parked: Parked, now: Hydrated | None) -> Batch:
        settled = [parked.seq]
        if now is None:
            return Batch(0, 0, erased=[parked.item_id], settled=settled)
        state = now.state
        if state.forgotten:
            ending = Ending(state.id, state.seq, state.record_from)
            return Batch(0, 0, endings=[ending], settled=settled)
        model = (await self._state()).model
        batch = Batch(0, 0, states=[(state, None)], settled=settled, model=model)
        return await self._embedded(_Plan(batch, model, await self._lacking([state], {})))


async def state_of(index: Index, space: str, version: Version = Version.SERVING) -> IndexState:
    """A version's state. Raises `IndexCorrupt` if it was removed, with its space or alone."""
    state = await index.state(space, version)
    if state is None:
        raise IndexCorrupt(f"the space {space!r} has no {version} index")
    return state


async def _whole(step: Awaitable[T]) -> T | None:
    """The outcome of a step for a slice; None if some of its rows fail.

    Settling the slice row by row then finds and logs which rows, and why.
    """
    try:
        return await step
    except _UNRELATED:
        raise
    except Exception:  # noqa: BLE001
        return None
