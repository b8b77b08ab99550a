"""An index of named parts over any Qdrant: one writer, a few readers."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from concord_chassis.server.workers import Workers

from concord_search.adapters.qdrant.partition import Part, Partition
from concord_search.adapters.qdrant.parts import Parts
from concord_search.adapters.qdrant.query import CandidateQuery
from concord_search.adapters.qdrant.shard import S, Shards, Words
from concord_search.adapters.qdrant.space import STORED_FROM, Q, SpaceIndex
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

CACHE_BYTES = 256 << 20
"""Memory for the columns of the spaces in use."""

QUERIES_AT_ONCE = 16
"""Queries in one call: the embedded engine holds Python's global lock meanwhile."""


class QdrantIndex(Generic[S]):
    """All parts, written by one thread and read by a few.

    A method does to the part of a name what the index port says of a space's version.
    """

    kind_of_parts = Parts

    def __init__(
        self,
        root: Path,
        models: Sequence[EmbeddingModel],
        shards: Shards[S],
        words: Words,
        *,
        readers: int,
        partitions: int,
        cache_bytes: int = CACHE_BYTES,
        stored_from: int = STORED_FROM,
    ) -> None:
        self._shards = shards
        self._parts = self.kind_of_parts(
            root,
            models,
            shards,
            words,
            partitions=partitions,
            cache_bytes=cache_bytes,
            stored_from=stored_from,
        )
        self._writer = Workers(1, "index-writer")
        self._readers = Workers(readers, "index-reader")
        self._copier = Workers(1, "index-copier")
        self._remaking: dict[Path, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._doubtful: set[str] = set()  # spaces with a write that may be half done
        self._is_open = False
        self._ended = False

    async def open(self, on_part: OnPart = lambda _ready, _all: None) -> None:
        """Opens every partition; an open one stays open, unless its shard was lost.

        Raises `IndexLocked`, `ModelMismatch`, `IndexCorrupt`, or `IndexDiskFull` with nothing
        opened: the engine writes when it opens its files, and an index without a part will begin
        one.
        """
        if self._is_open:
            await self._writer.run(self._parts.leave_lost)
            return
        await self._read_all(on_part)
        self._is_open = True

    async def _read_all(self, on_part: OnPart = lambda _ready, _all: None) -> None:
        stamped, parts = await self._writer.run(self._parts.stamped)
        for directory, stamp in stamped.items():
            # One by one: an engine may hold Python's global lock meanwhile, and all else waits.
            await self._writer.run(self._parts.open, directory, stamp)
            on_part(len(self._parts.by_name), parts)
        await self._writer.run(self._parts.settle)

    @property
    def leads(self) -> bool:
        """Whether this process writes the index."""
        return self._shards.leads

    async def note(self, name: str, parsed: Callable[[Any], T], absent: T) -> T:
        """What `parsed` makes of what was kept under a name; `absent` if nothing was."""
        return await asyncio.to_thread(self._parts.catalogue.note, name, parsed, absent)

    async def keep(self, name: str, content: object) -> None:
        """Keeps JSON under a name, in one durable step."""
        await asyncio.to_thread(self._parts.catalogue.keep, name, content)

    async def check(self) -> None:
        """Raises `IndexUnavailable` if a server does not answer, or has lost a shard."""
        if lost := await self._readers.run(self._parts.lost):
            raise IndexUnavailable(f"the server has lost {len(lost)} of its collections")

    def model(self, space: str) -> EmbeddingModel:
        return self._parts.model(space)

    async def states(self) -> Mapping[str, IndexState]:
        return States(self._parts.by_name)

    async def state(self, space: str) -> IndexState | None:
        part = self._parts.by_name.get(space)
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
            self._parts.read_again(part)
            self._doubtful.remove(space)
        with self._doubting(space), self._parts.columns.held(part):
            step(self._parts.columns[part], change)

    @contextmanager
    def _doubting(self, space: str) -> Iterator[None]:
        """Mark a space as doubtful if a server did not answer a write: before the next write, the
        index asks the server for the written changes."""
        try:
            yield
        except (IndexUnavailable, IndexDiskFull):
            self._doubtful.add(space)
            raise

    async def _read(self, part: Part[S], step: Callable[[SpaceIndex[S]], T]) -> T:
        """What a reader finds in a space, which is loaded if it has to be."""
        with self._parts.columns.held(part):
            return await self._readers.run(lambda: step(self._loaded(part)))

    def _loaded(self, part: Part[S]) -> SpaceIndex[S]:
        return self._parts.columns[part]

    async def unembedded(self, space: str, states: Sequence[MemoryState]) -> list[bool]:
        return await self._read(self._parts[space], lambda found: found.unembedded(states))

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
            part = self._parts.by_name.get(space)
            if part is None:
                await asyncio.gather(*given)
                return None
            _demand_same(part.model, question.model)
            try:
                with self._parts.columns.held(part):
                    query = await self._read(part, partial(_begun, kind, question))
                    return await self._readers.run(end, query, *[await each for each in given])
            except (IndexCorrupt, IndexUnavailable):
                if self._parts.by_name.get(space) is part:
                    raise
            return await self._asked(space, question, kind, end, *given)  # replaced meanwhile
        except BaseException:
            for each in given:
                each.cancel()
            raise

    async def near(
        self, space: str, vector: Vector, model: EmbeddingModel, query: NearQuery
    ) -> list[Near]:
        part = self._parts.by_name.get(space)
        if part is None:
            return []
        _demand_same(part.model, model)
        return await self._read(part, lambda found: found.near(vector, query))

    async def near_each(
        self, space: str, ids: Sequence[str], query: NearQuery
    ) -> list[Sequence[Near] | None]:
        found: list[Sequence[Near] | None] = []
        for start in range(0, len(ids), QUERIES_AT_ONCE):
            part = self._parts.by_name.get(space)
            if part is None:
                return [None] * len(ids)
            some = ids[start : start + QUERIES_AT_ONCE]
            found += await self._read(part, partial(SpaceIndex.near_each, ids=some, query=query))
        return found

    async def vector_of(
        self, space: str, item_id: str, seq: int, model: EmbeddingModel
    ) -> Vector | None:
        part = self._parts.by_name.get(space)
        if part is None:
            return None
        _demand_same(part.model, model)
        return await self._read(part, lambda found: found.vector_of(item_id, seq))

    async def held(self, space: str) -> Sequence[State]:
        return await self._read(self._parts[space], SpaceIndex.held)

    async def drop(self, space: str, ids: Collection[str]) -> None:
        await self._writer.run(self._write, space, SpaceIndex.drop, ids)

    async def unconfirmed(self) -> Sequence[str]:
        parts = self._parts.by_name.copy().values()
        return [part.name for part in parts if part.mark.unconfirmed]

    async def scrub(self, space: str) -> Sequence[str]:
        """Makes the files anew that a space shares with others, for all of these at once."""
        part = self._parts[space]
        async with self._remaking[part.partition.path]:
            # What others wait for was done with the last one, if it came before that.
            ids, last = await self._writer.run(lambda: (part.state().unconfirmed, part.removal))
            if last > part.partition.clean or part.partition.inherited:
                await self._remade(part.partition)
            return ids

    async def scrub_removed(self) -> None:
        for partition in [*self._parts.partitions.values()]:
            async with self._remaking[partition.path]:
                if partition.removals > partition.clean:
                    await self._remade(partition)
        await self._writer.run(self._parts.catalogue.clean)

    async def _remade(self, partition: Partition[S]) -> None:
        clean = await self._writer.run(self._parts.begin_copy, partition)
        try:
            fresh = await self._copier.run(self._copied, partition)
            await self._writer.run(self._take, partition, fresh, clean)
        except BaseException:
            await self._writer.run(self._parts.leave_copy, partition)
            raise

    def _copied(self, partition: Partition[S]) -> S:
        """Copies every point beside writes. Raises `IndexCorrupt` once the index is closed."""
        self._shards.require_room()
        fresh = self._shards.create(partition.path, partition.model.dimension)
        try:
            for points in partition.shard.whole():
                self._shards.require_room()
                if self._ended:
                    raise IndexCorrupt("the index is being closed")
                fresh.upsert(partition.lasting(points))
        except BaseException:
            self._shards.remove(fresh)
            raise
        return fresh

    def _take(self, partition: Partition[S], fresh: S, clean: int) -> None:
        if self._parts.partitions.get((partition.number, partition.model)) is not partition:
            self._shards.remove(fresh)  # the server lost it meanwhile
            return
        self._parts.take(partition, fresh, clean)

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


class States(Mapping[str, IndexState]):
    """The states of parts by name, each made when it is asked for: there may be many."""

    def __init__(self, parts: Mapping[str, Part[Any]]) -> None:
        self._parts = parts

    def __getitem__(self, name: str) -> IndexState:
        return self._parts[name].state()

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._parts))

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def __len__(self) -> int:
        return len(self._parts)


def _begun(kind: type[Q], question: Question, space: SpaceIndex[Any]) -> Q:
    query = space.query(kind, question)
    query.begin()
    return query


def _demand_same(ours: EmbeddingModel, theirs: EmbeddingModel | None) -> None:
    """The guard against mixed comparisons: vectors of two models cannot be compared."""
    if theirs != ours:
        raise ModelReplaced(f"the index holds vectors of {ours.in_words} alone")
