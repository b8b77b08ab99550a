"""One space's part of the index: its shard, key, columns and watermark."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import Generic, TypeVar

import numpy as np
from concord_chassis.observe.log import json_lines
from concord_reading.times import Window, stated

from concord_search.adapters.qdrant import filters, payload
from concord_search.adapters.qdrant.columns import Columns
from concord_search.adapters.qdrant.columns_file import ColumnsFile, Stamp
from concord_search.adapters.qdrant.keys import SpaceKey
from concord_search.adapters.qdrant.query import CandidateQuery, rows_for
from concord_search.adapters.qdrant.shard import (
    DENSE,
    WORDS,
    Nearest,
    S,
    Scored,
    Words,
)
from concord_search.adapters.qdrant.stated_terms import indexed
from concord_search.adapters.qdrant.time_terms import with_times
from concord_search.adapters.qdrant.watermark import WATERMARK, Watermark
from concord_search.domain.digests import State
from concord_search.domain.errors import IndexCorrupt
from concord_search.domain.filters import Scope
from concord_search.domain.instants import Micros
from concord_search.domain.memory import Ending, MemoryState, Parked
from concord_search.ports.embedder import EmbeddingModel, Vector
from concord_search.ports.index import Batch, IndexState, Near, NearQuery, Question

FLUSH_EVERY = 2_000
"""Points between two flushes: opening after a crash replays at most so many."""

NOTED_PAGE = 100
"""Points read at once while a copy catches up: with the embedded engine, all else waits."""


Q = TypeVar("Q", bound=CandidateQuery)


class SpaceIndex(Generic[S]):
    """One space's part of the index. Blocking; safe for one writer and many readers at once.

    A point's id is its row in the columns: see services/decisions/0004.
    """

    def __init__(
        self,
        shard: S,
        key: SpaceKey,
        words: Words,
        file: ColumnsFile,
        model: EmbeddingModel,
    ) -> None:
        self.model = model
        self._shard = shard
        self._key = key
        self._watermark = Watermark()
        self._file = file
        self._columns = Columns()
        self._agree = True
        self._lock = Lock()
        self._words = words
        self._unflushed = 0
        self._traced = False  # whether points were deleted since a copy was begun

    def begin(self, epoch: str) -> None:
        """Begins a part over an empty shard."""
        self._file.void()
        self._write_watermark(Watermark(epoch))
        self._shard.flush()

    def resume(self) -> None:
        """Opens a part over a shard that was written before."""
        if values := self._shard.payload_of(WATERMARK):
            self._watermark = Watermark(**values)
        columns = self._file.read(self._stamp())
        if columns is None:
            self._rebuild()
        else:
            self._columns = columns

    def _rebuild(self) -> None:
        """Rebuilds the columns from every point; closes states that a crash left open."""
        self._file.void()
        for point, values in self._shard.scroll():
            if isinstance(point, int):
                self._columns.put(point, values)
        for row, newest in self._columns.unclosed_leftovers():
            began = self._shard.payload_of(newest)["rf"]
            self._close(row, int(self._columns["seq"][newest]), began)

    def _stamp(self) -> Stamp:
        mark, points = self._watermark, self._shard.count()
        return {"epoch": mark.epoch, "applied": mark.applied, "points": points}

    def state(self) -> IndexState:
        """The state of this part: how far it has followed, and its parked changes."""
        mark = self._watermark
        parked = tuple(
            Parked(seq, self._key.id_of(item), reason) for seq, item, reason in mark.parked
        )
        return IndexState(
            epoch=mark.epoch,
            applied_seq=mark.applied,
            latest=mark.latest,
            memories=self._columns.open_items,
            model=self.model,
            parked_count=mark.parked_count,
            parked=parked,
            unconfirmed=[self._key.id_of(item) for item in mark.unconfirmed],
        )

    def id_of(self, item: str) -> str:
        """The id behind the index's name of an item."""
        return self._key.id_of(item)

    # Writing

    def unembedded(self, states: Sequence[MemoryState]) -> list[bool]:
        """Whether each state's text has no vector here yet."""
        with self._lock:
            return [self._reusable(state) is None for state in states]

    def _reusable(self, state: MemoryState) -> int | None:
        row = self._columns.newest(self._key.item(state.id))
        same = row is not None and self._columns["text"][row] == self._key.digest(state.indexed)
        return row if same else None

    def apply(self, batch: Batch) -> None:
        """Writes a batch: new states, then the end of their former ones, then the watermark."""
        with self._changing():
            self._erase(batch.erased)
            self._write_states(batch.states, batch.endings)
            for ending in batch.endings:
                self._end(self._key.item(ending.id), ending.seq, ending.record_time)
            for touch in batch.touches:
                self._touch(self._key.item(touch.id), touch.access_count, touch.last_access)
            self._write_watermark(self._watermark.after(batch, self._key))
            self._unflushed += len(batch.states) + len(batch.endings)
            if self._unflushed >= FLUSH_EVERY:
                self._shard.flush()
                self._unflushed = 0

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """If the change fails midway, columns and engine may not agree: columns are not stored."""
        self._file.void()
        agreed, self._agree = self._agree, False
        yield
        self._agree = agreed

    def _write_watermark(self, watermark: Watermark) -> None:
        self._shard.upsert([(WATERMARK, {}, watermark.payload())])
        self._watermark = watermark

    def _write_states(
        self, states: Sequence[tuple[MemoryState, Vector | None]], endings: Sequence[Ending]
    ) -> None:
        with self._lock:
            fresh = [(s, v) for s, v in states if not is_stale(self._columns, self._key, s)]
            reused = {
                s.id: row for s, v in fresh if v is None and (row := self._reusable(s)) is not None
            }
        stored = self._shard.vectors_of(list(reused.values()))
        written = []
        for state, vector in fresh:
            named = times_of(state)
            if vector is None:
                vectors = stored[reused[state.id]]
                length = int(self._columns["length"][reused[state.id]])
            else:
                words, length = indexed(self._words, with_times(state.words, named), state)
                vectors = {DENSE: vector.tolist(), WORDS: words}
            said = self._words.terms_of(vectors[WORDS]), self._speaker(state), named
            unread = not any(vectors[DENSE])
            values = payload.of_state(state, self._key, *said, length=length, unread=unread)
            written.append((self._columns.reserve(), vectors, values))
        self._shard.upsert(written)
        for (state, _), (row, _, values) in zip(fresh, written, strict=True):
            with self._lock:
                former = self._columns.newest(values["item"])
                open_since = 0 if former is None else int(self._columns["seq"][former])
                if former is not None and self._columns["closed"][former]:
                    former = None  # it ended before, when it was forgotten
                self._columns.put(row, values)
            if former is not None:
                self._close(former, *_ended_by(state, open_since, endings))

    def _speaker(self, state: MemoryState) -> int:
        words = self._words.of_query(state.speaker.partition(" ")[0])  # as a query names them
        return 0 if words is None else min(self._words.terms_of(words))

    def _close(self, row: int, seq: int, record_time: Micros) -> None:
        self._shard.set_payload(row, payload.of_closing(record_time, seq))
        with self._lock:
            self._columns.close(row, seq)

    def _end(self, item: str, seq: int, record_time: Micros) -> None:
        with self._lock:
            row = self._columns.newest(item)
            ends = row is not None and self._columns.seen(row) < seq
        if row is not None and ends:
            self._close(row, seq, record_time)

    def _touch(self, item: str, access_count: int, last_access: Micros) -> None:
        with self._lock:
            row = self._columns.newest(item)
            if row is None or self._columns["ac"][row] >= access_count:
                return
            self._columns.touch(row, access_count, last_access)
        self._shard.set_payload(row, {"ac": access_count, "la": last_access})

    def _erase(self, ids: Sequence[str]) -> None:
        items = [self._key.item(item_id) for item_id in ids]
        if any(self._columns.newest(item) is not None for item in items):
            self._traced = True
            # first, as a kill may come in between
            self._write_watermark(replace(self._watermark, traces=True))
        for item in items:
            with self._lock:
                rows = self._columns.drop(item)
            self._shard.delete(rows)

    # Comparing with graph (S10)

    def held(self) -> Sequence[State]:
        """Every state of a memory that the shard holds, whatever the columns say."""
        return [
            (self._key.id_of(values["item"]), int(values["seq"]))
            for point, values in self._shard.scroll()
            if isinstance(point, int) and "edge" not in values
        ]

    def drop(self, ids: Collection[str]) -> None:
        """Removes memories from the shard and the columns."""
        items = {self._key.item(memory_id) for memory_id in ids}
        with self._changing():
            points = [at for at, values in self._shard.scroll() if values.get("item") in items]
            with self._lock:
                for item in items:
                    self._columns.drop(item)
            self._shard.delete(points)

    # Making the files anew (M4)

    def begin_copy(self) -> tuple[Sequence[str], bool]:
        """Begins to note what is written.

        Returns the erased memories with unconfirmed erasures, and whether only a copy is free of
        their traces.
        """
        self._shard.noted = set()
        self._traced = False
        self._key.clear_cache()
        return self.state().unconfirmed, self._watermark.traces

    @property
    def shard(self) -> S:
        """Its current shard, which `take` replaces."""
        return self._shard

    def copy_into(self, fresh: S, going_on: Callable[[], bool]) -> None:
        """Copies every point beside writes. Raises `IndexCorrupt` once `going_on` is False."""
        for points in self._shard.whole():
            if not going_on():
                raise IndexCorrupt("the index is being closed")
            fresh.upsert(points)

    def take(self, fresh: S, *, has_traces: bool = False) -> S:
        """Brings the copy up to date and makes it the shard; returns the former shard.

        Running searches end on the former one: it is closed when nobody holds it any more.
        `has_traces`: the copy is one of the files, with their traces of erased memories, if any.
        """
        former, noted = self._shard, sorted(self._shard.noted or (), key=str)
        for start in range(0, len(noted), NOTED_PAGE):
            some = noted[start : start + NOTED_PAGE]
            there = former.points(some)
            fresh.upsert(there)
            fresh.delete(sorted({*some} - {point for point, _, _ in there}, key=str))
        self._shard = fresh
        traces = self._traced or (has_traces and self._watermark.traces)
        self._write_watermark(replace(self._watermark, traces=traces))
        fresh.flush()
        return former

    def confirmed(self, ids: Sequence[str]) -> None:
        self._file.void()
        done = {self._key.item(memory_id) for memory_id in ids}
        left = [item for item in self._watermark.unconfirmed if item not in done]
        self._write_watermark(replace(self._watermark, unconfirmed=left))

    # Reading

    def query(self, kind: type[Q], question: Question) -> Q:
        """A query for the candidates for a question."""
        parts = self._key, self._columns, self._lock, self._words
        return kind(lambda: self._shard, *parts, question=question)

    def near(self, vector: Vector, query: NearQuery) -> list[Near]:
        if not vector.any():
            return []
        with self._lock:
            wanted = filters.of_scope(query.scope, self._key, self._columns)
        nearest = Nearest(vector.tolist(), DENSE, query.limit, wanted, query.least)
        (found,) = self._shard.query([nearest])
        return self._near(found, query.scope)

    def near_each(self, ids: Sequence[str], query: NearQuery) -> list[Sequence[Near] | None]:
        with self._lock:
            wanted = filters.of_scope(query.scope, self._key, self._columns)
            newest = {each: self._columns.newest(self._key.item(each)) for each in ids}
            # A closed newest state is that of a forgotten memory.
            rows = {
                each: row
                for each, row in newest.items()
                if row is not None and not self._columns["closed"][row]
            }
        vectors = self._shard.vectors_of(list(rows.values()))
        asked = {
            each: vectors[row][DENSE]
            for each, row in rows.items()
            if row in vectors and any(vectors[row][DENSE])
        }
        # One more than the limit, as the memory itself is found too.
        queries = [
            Nearest(vector, DENSE, query.limit + 1, wanted, query.least)
            for vector in asked.values()
        ]
        answers = self._shard.query(queries) if queries else ()
        found: dict[str, Sequence[Near]] = {
            each: () for each, row in rows.items() if row in vectors
        }
        for each, answer in zip(asked, answers, strict=True):
            near = [other for other in self._near(answer, query.scope) if other.id != each]
            found[each] = near[: query.limit]
        return [found.get(each) for each in ids]

    def _near(self, found: Scored, scope: Scope) -> list[Near]:
        with self._lock:
            points = np.array(found.points, dtype=np.int64)
            rows = rows_for(scope, self._columns, points).tolist()
            scores = found.scores.tolist()
            return [
                Near(
                    self._key.id_of(self._columns.items[row]),
                    int(self._columns["seq"][row]),
                    max(-1.0, min(1.0, score)),
                )
                for row, score in zip(rows, scores, strict=True)
                if row >= 0
            ]

    def vector_of(self, item_id: str, seq: int) -> Vector | None:
        with self._lock:
            row = self._columns.newest(self._key.item(item_id))
            if row is None or self._columns["seq"][row] != seq:
                return None
        found = self._shard.vectors_of([row])[row]
        return np.asarray(found[DENSE], dtype=np.float32)

    def close(self) -> None:
        """Writes everything to disk, stores the columns, and closes the shard."""
        stamp = self._stamp()
        self._shard.close()
        if self._agree:
            self._file.write(stamp, self._columns)


def times_of(state: MemoryState) -> Sequence[Window]:
    """The times that a state's text names; none, logged, where they cannot be read.

    They help to find a memory: without them it is found by all else.
    """
    try:
        return stated(state.content, state.said)
    except Exception as error:  # noqa: BLE001 - a text without times is better than none
        json_lines("search").error("times not read", seq=state.seq, exc_info=error)
        return ()


def is_stale(columns: Columns, key: SpaceKey, state: MemoryState) -> bool:
    """The revision guard: whether the part has this state of the memory or a newer one."""
    row = columns.newest(key.item(state.id))
    return row is not None and columns.seen(row) >= state.seq


def _ended_by(state: MemoryState, after: int, endings: Sequence[Ending]) -> tuple[int, Micros]:
    """The change, and its time, that ended the state before this one: this one, or a forgetting in
    between, if the memory was restored within one batch."""
    between = [e for e in endings if e.id == state.id and after < e.seq < state.seq]
    first = min(between, key=lambda ending: ending.seq, default=None)
    return (first.seq, first.record_time) if first else (state.seq, state.record_from)
