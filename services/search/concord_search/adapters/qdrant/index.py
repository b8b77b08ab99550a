"""An index of named parts over any Qdrant: one writer, a few readers."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from concord_chassis.server.workers import Workers

from concord_search.adapters.qdrant.parts import Parts
from concord_search.adapters.qdrant.query import CandidateQuery
from concord_search.adapters.qdrant.shard import S, Shards, Words
from concord_search.adapters.qdrant.space import Q, SpaceIndex
from concord_search.adapters.qdrant.weigh import WeighedQuery
from concord_search.domain.candidates import NO_CANDIDATES, Candidates
from concord_search.domain.digests import State
from concord_search.domain.errors import (
    IndexCorrupt,
    IndexDiskFull,
    IndexUnavailable,
    ModelReplaced,
)
from concord_search.domain.memory import MemoryState
from concord_search.ports.embedder import EmbeddingModel, Vector
from concord_search.ports.index import (
    NOTHING_WEIGHED,
    Batch,
    IndexState,
    Near,
    NearQuery,
    OnPart,
    Question,
    Weighed,
)

T = TypeVar("T")

QUERIES_AT_ONCE = 16
"""Queries in one call: the embedded engine holds Python's global lock meanwhile."""


class QdrantIndex(Generic[S]):
    """All parts, written by one thread and read by a few.

    A method does to the part of a name what the index port says of a space's version.
    """

    def __init__(
        self,
        root: Path,
        models: Sequence[EmbeddingModel],
        shards: Shards[S],
        words: Words,
        *,
        readers: int,
    ) -> None:
        self._shards = shards
        self._parts = Parts(root, models, shards, words)
        self._writer = Workers(1, "index-writer")
        self._readers = Workers(readers, "index-reader")
        self._copier = Workers(1, "index-copier")
        self._remaking: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._doubtful: set[str] = set()  # spaces with a write that may be half done
        self._is_open = False
        self._ended = False

    async def open(self, on_part: OnPart = lambda _ready, _all: None) -> None:
        """Opens every part; an open part stays open, unless its shard was lost.

        Raises `IndexLocked`, `ModelMismatch`, `IndexCorrupt`, or `IndexDiskFull` with nothing
        opened: the engine writes when it opens its files, and an index without a part will begin
        one.
        """
        if self._is_open:
            await self._writer.run(self._parts.leave_lost)
            return
        stamped = await self._writer.run(self._parts.stamped)
        for ready, (directory, stamp) in enumerate(stamped.items(), 1):
            # One by one: an engine may hold Python's global lock meanwhile, and all else waits.
            await self._writer.run(self._parts.open, directory, stamp)
            on_part(ready, len(stamped))
        self._is_open = True

    async def check(self) -> None:
        """Raises `IndexUnavailable` if a server does not answer, or has lost a shard."""
        if lost := await self._readers.run(self._parts.lost):
            raise IndexUnavailable(f"the server has lost {len(lost)} of its collections")

    def model(self, space: str) -> EmbeddingModel:
        return self._parts.model(space)

    async def states(self) -> Mapping[str, IndexState]:
        return {space: part.state() for space, part in self._parts.by_space.copy().items()}

    async def state(self, space: str) -> IndexState | None:
        part = self._parts.by_space.get(space)
        return None if part is None else part.state()

    async def begin(self, space: str, epoch: str, model: EmbeddingModel | None = None) -> None:
        """Makes an empty part for a store's epoch, dropping one of another epoch.

        Its vectors are of `model`; None = the former part's model, else that of new parts. This and
        all other writes raise `IndexDiskFull`, before they begin, if there is no room.
        """
        await self._writer.run(self._parts.begin, space, epoch, model)

    async def remove(self, space: str) -> None:
        await self._writer.run(self._parts.remove, space)

    async def apply(self, space: str, batch: Batch) -> None:
        """Applies changes, one batch at a time over all spaces."""
        if any(vector is not None for _, vector in batch.states):
            _demand_same(self._parts[space].model, batch.model)
        await self._writer.run(self._write, space, SpaceIndex.apply, batch)

    def _write(
        self, space: str, step: Callable[[SpaceIndex[S], Any], None], change: object
    ) -> None:
        self._shards.require_room()
        part = self._parts[space]
        if space in self._doubtful:
            part = self._parts.load_again(part, space)
            self._doubtful.remove(space)
        with self._doubting(space):
            step(part, change)

    @contextmanager
    def _doubting(self, space: str) -> Iterator[None]:
        """Mark a space as doubtful if a server did not answer a write: before the next write, the
        index asks the server for the written changes."""
        try:
            yield
        except (IndexUnavailable, IndexDiskFull):
            self._doubtful.add(space)
            raise

    async def unembedded(self, space: str, states: Sequence[MemoryState]) -> list[bool]:
        return await self._readers.run(self._parts[space].unembedded, states)

    async def ask(self, space: str, question: Question) -> Candidates:
        end = CandidateQuery.end
        found = await self._asked(space, question, CandidateQuery, end, question.vector)
        return NO_CANDIDATES if found is None else found

    async def weigh(self, space: str, question: Question, weight: asyncio.Future[float]) -> Weighed:
        end, given = WeighedQuery.weigh, (question.vector, weight)
        found = await self._asked(space, question, WeighedQuery, end, *given)
        return NOTHING_WEIGHED if found is None else found

    async def _asked(
        self,
        space: str,
        question: Question,
        kind: type[Q],
        end: Callable[..., T],
        *given: asyncio.Future[Any],
    ) -> T | None:
        """Begins a query, and ends it once all is `given`; None for a space without a part.

        Cancels what is given when it fails, as nobody waits for it any more.
        """
        try:
            part = self._parts.by_space.get(space)
            if part is None:
                await asyncio.gather(*given)
                return None
            _demand_same(part.model, question.model)
            query = part.query(kind, question)
            try:
                await self._readers.run(query.begin)
                return await self._readers.run(end, query, *[await each for each in given])
            except (IndexCorrupt, IndexUnavailable):
                if self._parts.by_space.get(space) is part:
                    raise
            return await self._asked(space, question, kind, end, *given)  # replaced meanwhile
        except BaseException:
            for each in given:
                each.cancel()
            raise

    async def near(
        self, space: str, vector: Vector, model: EmbeddingModel, query: NearQuery
    ) -> list[Near]:
        part = self._parts.by_space.get(space)
        if part is None:
            return []
        _demand_same(part.model, model)
        return await self._readers.run(part.near, vector, query)

    async def near_each(
        self, space: str, ids: Sequence[str], query: NearQuery
    ) -> list[Sequence[Near] | None]:
        found: list[Sequence[Near] | None] = []
        for start in range(0, len(ids), QUERIES_AT_ONCE):
            part = self._parts.by_space.get(space)
            some = ids[start : start + QUERIES_AT_ONCE]
            if part is None:
                return [None] * len(ids)
            found += await self._readers.run(part.near_each, some, query)
        return found

    async def vector_of(
        self, space: str, item_id: str, seq: int, model: EmbeddingModel
    ) -> Vector | None:
        part = self._parts.by_space.get(space)
        if part is None:
            return None
        _demand_same(part.model, model)
        return await self._readers.run(part.vector_of, item_id, seq)

    async def held(self, space: str) -> Sequence[State]:
        return await self._writer.run(self._parts[space].held)

    async def drop(self, space: str, ids: Collection[str]) -> None:
        await self._writer.run(self._write, space, SpaceIndex.drop, ids)

    async def scrub(self, space: str) -> Sequence[str]:
        async with self._remaking[space]:
            part = self._parts[space]
            ids, needed = await self._writer.run(part.begin_copy)
            if needed:
                fresh = await self._copier.run(self._copied, part, self._parts.directory(space))
                await self._writer.run(self._take, space, part, fresh)
            return ids

    def _copied(self, part: SpaceIndex[S], directory: Path) -> S:
        def going_on() -> bool:
            self._shards.require_room()
            return not self._ended

        self._shards.require_room()
        fresh = self._shards.create(directory, part.model.dimension)
        try:
            part.copy_into(fresh, going_on)
        except BaseException:
            self._shards.remove(fresh)
            raise
        return fresh

    def _take(self, space: str, part: SpaceIndex[S], fresh: S, *, has_traces: bool = False) -> None:
        if self._parts.by_space.get(space) is not part:  # the store was replaced meanwhile
            self._shards.remove(fresh)
            return
        with self._doubting(space):
            former = part.take(fresh, has_traces=has_traces)
            self._parts.make_current(space, fresh, part.model)
            self._shards.remove(former)

    async def confirmed(self, space: str, ids: Sequence[str]) -> None:
        await self._writer.run(self._write, space, SpaceIndex.confirmed, ids)

    def id_of(self, space: str, item: str) -> str:
        return self._parts[space].id_of(item)

    async def close(self) -> None:
        """Writes everything to disk and unlocks the directory. A second call does nothing."""
        if self._ended:
            return
        self._ended = True
        # Not on the event loop, which receives a server's answers.
        await asyncio.to_thread(self._readers.close)
        await asyncio.to_thread(self._copier.close)
        await self._writer.run(self._parts.close)
        self._writer.close()


def _demand_same(ours: EmbeddingModel, theirs: EmbeddingModel | None) -> None:
    """The guard against mixed comparisons: vectors of two models cannot be compared."""
    if theirs != ours:
        raise ModelReplaced(f"the index holds vectors of {ours.in_words} alone")
