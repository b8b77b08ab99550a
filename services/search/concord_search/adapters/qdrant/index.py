"""The index port over any Qdrant: a directory and a shard per space, one writer, a few readers."""

import asyncio
import fcntl
import hashlib
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic, TypeVar

from concord_chassis.server.workers import Workers

from concord_search.adapters.qdrant import stamps
from concord_search.adapters.qdrant.columns_file import ColumnsFile
from concord_search.adapters.qdrant.keys import new_key, read_key
from concord_search.adapters.qdrant.query import CandidateQuery
from concord_search.adapters.qdrant.shard import LAYOUT, S, Shards, Words
from concord_search.adapters.qdrant.space import Q, SpaceIndex
from concord_search.adapters.qdrant.weigh import WeighedQuery
from concord_search.domain.candidates import NO_CANDIDATES, Candidates
from concord_search.domain.digests import State
from concord_search.domain.errors import (
    IndexCorrupt,
    IndexDiskFull,
    IndexLocked,
    IndexUnavailable,
    IndexUnusable,
    ModelMismatch,
    ModelReplaced,
)
from concord_search.domain.filters import Scope
from concord_search.domain.memory import MemoryState
from concord_search.ports.embedder import EmbeddingModel, Vector
from concord_search.ports.index import (
    NOTHING_WEIGHED,
    Batch,
    IndexState,
    Near,
    OnPart,
    Question,
    Weighed,
)

SERVER = "qdrant"
"""The engine whose shards cannot be reached without its address."""

T = TypeVar("T")

QUERIES_AT_ONCE = 16
"""Queries in one call: the embedded engine holds Python's global lock meanwhile."""


class QdrantIndex(Generic[S]):
    """The index of every space, under one directory that no other process may open.

    ROOT/lock                 held while open
    ROOT/HASH/stamp.json      space, layout, embedding model, shard and engine; written last
    ROOT/HASH/key             the space's secret (0600)
    ROOT/HASH/columns         the ranking columns, while no process has the part open for writing

    The transport provides the shards, and may store them beside these files. New parts use the
    first of `models`; existing parts may use the others.
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
        self._root = root
        self._models = models
        self._shards = shards
        self._words = words
        # The writer's thread changes it: whoever iterates over it takes a copy.
        self._parts: dict[str, SpaceIndex[S]] = {}
        self._writer = Workers(1, "index-writer")
        self._readers = Workers(readers, "index-reader")
        self._copier = Workers(1, "index-copier")
        self._remaking: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._lock: int | None = None
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
            await self._writer.run(self._leave_lost)
            return
        stamped = await self._writer.run(self._stamped)
        for ready, (directory, stamp) in enumerate(stamped.items(), 1):
            # One by one: an engine may hold Python's global lock meanwhile, and all else waits.
            await self._writer.run(self._open_part, directory, stamp)
            on_part(ready, len(stamped))
        self._is_open = True

    def _stamped(self) -> Mapping[Path, Mapping[str, Any] | None]:
        """Lock the root; return the stamp of each part's directory, None if its shard is lost."""
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self._lock is None:
            self._lock = _locked(self._root)
        self._shards.require_room()
        directories = sorted(path for path in self._root.iterdir() if path.is_dir())
        stamped = {path: stamps.read(path) for path in directories}
        lost = self._shards.missing({str(stamp["shard"]) for stamp in stamped.values() if stamp})
        return {p: None if s and s["shard"] in lost else s for p, s in stamped.items()}

    def _open_part(self, directory: Path, stamp: Mapping[str, Any] | None) -> None:
        if stamp is not None and stamp.get("engine") == SERVER != self._shards.engine:
            raise IndexUnusable(
                f"{directory} belongs to the collections {stamp['shard']}-* of a Qdrant "
                "server. To leave that server, remove them there, as they may hold what is "
                f"erased later, and delete {directory}: it is rebuilt from graph."
            )
        if stamp is None or not self._can_open(stamp):
            self._discard(directory)
            return
        model = self._model_of(stamp, directory)
        part = self._loaded(directory, str(stamp["shard"]), model)
        self._parts[str(stamp["space"])] = part

    def _can_open(self, stamp: Mapping[str, Any]) -> bool:
        engine = stamp.get("engine", "edge")  # older stamps do not name the engine
        return stamp.get("layout") == LAYOUT and bool(engine == self._shards.engine)

    def _loaded(self, directory: Path, name: str, model: EmbeddingModel) -> SpaceIndex[S]:
        part = self._over(directory, self._shards.load(directory, name), model)
        part.resume()
        return part

    def _leave_lost(self) -> None:
        for space in self._lost():
            del self._parts[space]

    def _lost(self) -> list[str]:
        named = {part.shard.name: space for space, part in self._parts.copy().items()}
        return [named[name] for name in self._shards.missing(named)]

    async def check(self) -> None:
        """Raises `IndexUnavailable` if a server does not answer, or has lost a shard."""
        if lost := await self._readers.run(self._lost):
            raise IndexUnavailable(f"the server has lost {len(lost)} of its collections")

    def _discard(self, directory: Path) -> None:
        (directory / "stamp.json").unlink(missing_ok=True)  # first: a kill may come between
        self._shards.discard(directory)
        shutil.rmtree(directory)

    def _over(self, directory: Path, shard: S, model: EmbeddingModel) -> SpaceIndex[S]:
        key, columns = read_key(directory / "key"), ColumnsFile(directory / "columns")
        return SpaceIndex(shard, key, self._words, columns, model)

    def _model_of(self, stamp: Mapping[str, Any], directory: Path) -> EmbeddingModel:
        theirs = EmbeddingModel(**stamp["model"])
        if theirs not in self._models:
            raise ModelMismatch(
                f"{directory} holds vectors of {_named(theirs)}, this server embeds with "
                f"{' or '.join(map(_named, self._models))}, and the two are never mixed. Configure "
                f"the former model, or delete {directory}: it is rebuilt from graph."
            )
        return theirs

    def model(self, space: str) -> EmbeddingModel:
        part = self._parts.get(space)
        return self._models[0] if part is None else part.model

    async def states(self) -> Mapping[str, IndexState]:
        return {space: part.state() for space, part in self._parts.copy().items()}

    async def begin(self, space: str, epoch: str, model: EmbeddingModel | None = None) -> None:
        """Makes an empty part for a store's epoch, dropping one of another epoch.

        Its vectors are of `model`; None = the former part's model, else that of new parts. This and
        all other writes raise `IndexDiskFull`, before they begin, if there is no room.
        """
        await self._writer.run(self._begin, space, epoch, model)

    def _begin(self, space: str, epoch: str, given: EmbeddingModel | None) -> None:
        part, model = self._parts.get(space), given or self.model(space)
        if part is not None and part.state().epoch == epoch:  # a reindex may have asked, too
            return
        self._shards.require_room()
        if (former := self._parts.pop(space, None)) is not None:
            former.close()
        directory = self._directory(space)
        if directory.exists():
            self._discard(directory)
        directory.mkdir(mode=0o700)
        new_key(directory / "key")
        empty = self._shards.create(directory, model.dimension)
        part = self._over(directory, empty, model)
        part.begin(epoch)
        self._make_current(space, empty, model)
        self._parts[space] = part

    async def remove(self, space: str) -> None:
        await self._writer.run(self._remove, space)

    def _remove(self, space: str) -> None:
        if (part := self._parts.pop(space, None)) is not None:
            part.close()
            self._discard(self._directory(space))

    def _directory(self, space: str) -> Path:
        return self._root / hashlib.sha256(space.encode()).hexdigest()[:32]

    def _make_current(self, space: str, shard: S, model: EmbeddingModel) -> None:
        directory = self._directory(space)
        self._shards.make_current(directory, shard)
        stamp = {
            "space": space,
            "layout": LAYOUT,
            "engine": self._shards.engine,
            "model": asdict(model),
            "shard": shard.name,
        }
        stamps.write(directory, stamp)

    def _part(self, space: str) -> SpaceIndex[S]:
        try:
            return self._parts[space]
        except KeyError:
            raise IndexCorrupt(f"the space {space!r} has no part yet") from None

    async def apply(self, space: str, batch: Batch) -> None:
        """Applies changes, one batch at a time over all spaces."""
        if any(vector is not None for _, vector in batch.states):
            _demand_same(self._part(space).model, batch.model)
        await self._writer.run(self._write, space, SpaceIndex.apply, batch)

    def _write(
        self, space: str, step: Callable[[SpaceIndex[S], Any], None], change: object
    ) -> None:
        self._shards.require_room()
        part = self._part(space)
        if space in self._doubtful:
            part = self._loaded(self._directory(space), part.shard.name, part.model)
            self._parts[space] = part
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
        return await self._readers.run(self._part(space).unembedded, states)

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
            part = self._parts.get(space)
            if part is None:
                await asyncio.gather(*given)
                return None
            _demand_same(part.model, question.model)
            query = part.query(kind, question)
            try:
                await self._readers.run(query.begin)
                return await self._readers.run(end, query, *[await each for each in given])
            except (IndexCorrupt, IndexUnavailable):
                if self._parts.get(space) is part:
                    raise
            return await self._asked(space, question, kind, end, *given)  # replaced meanwhile
        except BaseException:
            for each in given:
                each.cancel()
            raise

    async def near(
        self,
        space: str,
        vector: Vector,
        scope: Scope,
        limit: int,
        least: float,
        *,
        model: EmbeddingModel,
    ) -> list[Near]:
        part = self._parts.get(space)
        if part is None:
            return []
        _demand_same(part.model, model)
        return await self._readers.run(part.near, vector, scope, limit, least)

    async def near_each(
        self, space: str, ids: Sequence[str], scope: Scope, limit: int, least: float
    ) -> list[Sequence[Near] | None]:
        found: list[Sequence[Near] | None] = []
        for start in range(0, len(ids), QUERIES_AT_ONCE):
            part = self._parts.get(space)
            some = ids[start : start + QUERIES_AT_ONCE]
            if part is None:
                return [None] * len(ids)
            found += await self._readers.run(part.near_each, some, scope, limit, least)
        return found

    async def vector_of(
        self, space: str, item_id: str, seq: int, model: EmbeddingModel
    ) -> Vector | None:
        part = self._parts.get(space)
        if part is None:
            return None
        _demand_same(part.model, model)
        return await self._readers.run(part.vector_of, item_id, seq)

    async def held(self, space: str) -> Sequence[State]:
        return await self._writer.run(self._part(space).held)

    async def drop(self, space: str, ids: Collection[str]) -> None:
        await self._writer.run(self._write, space, SpaceIndex.drop, ids)

    async def scrub(self, space: str) -> Sequence[str]:
        async with self._remaking[space]:
            part = self._part(space)
            ids, needed = await self._writer.run(part.begin_copy)
            if needed:
                fresh = await self._copier.run(self._copied, part, self._directory(space))
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
        if self._parts.get(space) is not part:  # the store was replaced meanwhile
            self._shards.remove(fresh)
            return
        with self._doubting(space):
            former = part.take(fresh, has_traces=has_traces)
            self._make_current(space, fresh, part.model)
            self._shards.remove(former)

    async def confirmed(self, space: str, ids: Sequence[str]) -> None:
        await self._writer.run(self._write, space, SpaceIndex.confirmed, ids)

    def id_of(self, space: str, item: str) -> str:
        return self._part(space).id_of(item)

    async def close(self) -> None:
        """Writes everything to disk and unlocks the directory. A second call does nothing."""
        if self._ended:
            return
        self._ended = True
        # Not on the event loop, which receives a server's answers.
        await asyncio.to_thread(self._readers.close)
        await asyncio.to_thread(self._copier.close)
        await self._writer.run(self._close)
        self._writer.close()

    def _close(self) -> None:
        while self._parts:
            with suppress(IndexUnavailable):  # then the next start asks the server for everything
                self._parts.popitem()[1].close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _locked(root: Path) -> int:
    lock = os.open(root / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise IndexLocked(
            f"The index in {root} is in use by another process. Stop that process, or choose "
            "another data directory."
        ) from error
    return lock


def _demand_same(ours: EmbeddingModel, theirs: EmbeddingModel | None) -> None:
    """The guard against mixed comparisons: vectors of two models cannot be compared."""
    if theirs != ours:
        raise ModelReplaced(f"the index holds vectors of {_named(ours)} alone")


def _named(model: EmbeddingModel) -> str:
    return f"{model.model_id} ({model.dimension} dimensions, revision {model.revision[:12]})"
