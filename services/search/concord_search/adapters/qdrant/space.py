"""One space's part of the index while it is in use: its points, key and columns."""

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
from concord_search.adapters.qdrant.partition import Part
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
from concord_search.domain.digests import State
from concord_search.domain.filters import Scope
from concord_search.domain.instants import Micros
from concord_search.domain.memory import Ending, MemoryState
from concord_search.ports.embedder import Vector
from concord_search.ports.index import Batch, Near, NearQuery, Question

STORED_FROM = 5_000
"""Rows from which columns are read sooner from a file of their own than from the engine."""

_NUMBER_BYTES = 250
"""About what a number takes that a key has in memory, with its word."""

Q = TypeVar("Q", bound=CandidateQuery)


class SpaceIndex(Generic[S]):
    """One space's part of the index. Blocking; safe for one writer and many readers at once.

    A point is named by its row in the columns: see services/decisions/0004. `note_removal` is
    called before points are removed, whose bytes the engine's files keep.
    """

    def __init__(
        self,
        part: Part[S],
        words: Words,
        file: ColumnsFile,
        note_removal: Callable[[Part[S]], None],
        *,
        stored_from: int,
    ) -> None:
        self._part = part
        self._key = SpaceKey(part.secret)
        self._file = file
        self._columns = Columns()
        self._agree = True
        self._lock = Lock()
        self._catching_up = Lock()
        self._seen = part.mark
        self._words = words
        self._note_removal = note_removal
        self._stored_from = stored_from

    def load(self) -> None:
        """Reads the columns, from their file or from every point of the space."""
        self._seen = self._part.mark  # before the columns: what comes meanwhile is read again
        columns = self._file.read(self._stamp())
        if columns is None:
            self._rebuild()
        else:
            self._columns = columns
        if self._part.partition.leads:
            # after a kill the watermark may be older than the points
            self._part.mark = replace(self._part.mark, memories=self._columns.open_items)

    def catch_up(self) -> None:
        """Brings the columns up to the watermark, where another process writes."""
        with self._catching_up:
            mark, seen = self._part.mark, self._seen
            if mark.writes <= seen.writes:
                return
            if mark.removals != seen.removals:
                self._rebuild()
            else:
                self._file.void()
                changed = list(self._part.tenant.written_after(seen.writes))
                with self._lock:
                    for row, values in changed:
                        self._columns.bring(row, values)
            self._seen = mark

    def _rebuild(self) -> None:
        """Rebuilds the columns from every point; closes states that a crash left open."""
        self._file.void()
        tenant, columns = self._part.tenant, Columns()
        for row, values in tenant.scroll():
            columns.put(row, values)
        with self._lock:
            self._columns = columns
        if not self._part.partition.leads:
            return
        for row, newest in columns.unclosed_leftovers():
            began = tenant.payload_of(newest)["rf"]
            self._close(row, int(self._columns["seq"][newest]), began)

    def store(self) -> None:
        """Writes the columns to their file, if that pays."""
        if self._agree and len(self._columns.items) >= self._stored_from:
            self._file.write(self._stamp(), self._columns)

    def _stamp(self) -> Stamp:
        mark, points = self._part.mark, self._part.tenant.count()
        at = {"epoch": mark.epoch, "applied": mark.applied, "writes": mark.writes}
        return {**at, "points": points}

    @property
    def part(self) -> Part[S]:
        """What is in memory of it at all times."""
        return self._part

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        return self._columns.nbytes + _NUMBER_BYTES * self._key.cached

    def forget_words(self) -> None:
        """Clears the words that the key has in memory."""
        self._key.clear_cache()

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
            memories = self._columns.open_items
            self._part.write(self._part.mark.after(batch, self._key, memories))
            self._part.partition.wrote(len(batch.states) + len(batch.endings))

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """If the change fails midway, columns and engine may not agree: columns are not stored."""
        self._file.void()
        agreed, self._agree = self._agree, False
        yield
        self._agree = agreed

    def _write_states(
        self, states: Sequence[tuple[MemoryState, Vector | None]], endings: Sequence[Ending]
    ) -> None:
        with self._lock:
            fresh = [(s, v) for s, v in states if not is_stale(self._columns, self._key, s)]
            reused = {
                s.id: row for s, v in fresh if v is None and (row := self._reusable(s)) is not None
            }
        stored = self._part.tenant.vectors_of(list(reused.values()))
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
        self._part.tenant.upsert(written)
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
        self._part.tenant.set_payload(row, payload.of_closing(record_time, seq))
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
        self._part.tenant.set_payload(row, {"ac": access_count, "la": last_access})

    def _erase(self, ids: Sequence[str]) -> None:
        items = [self._key.item(item_id) for item_id in ids]
        if any(self._columns.newest(item) is not None for item in items):
            self._note_removal(self._part)
        for item in items:
            with self._lock:
                rows = self._columns.drop(item)
            self._part.tenant.delete(rows)

    # Comparing with graph (S10)

    def held(self) -> Sequence[State]:
        """Every state of a memory that the shard holds, whatever the columns say."""
        return [
            (self._key.id_of(values["item"]), int(values["seq"]))
            for _, values in self._part.tenant.scroll()
            if "edge" not in values
        ]

    def drop(self, ids: Collection[str]) -> None:
        """Removes memories from the shard and the columns."""
        items = {self._key.item(memory_id) for memory_id in ids}
        with self._changing():
            rows = [row for row, values in self._part.tenant.scroll() if values["item"] in items]
            with self._lock:
                for item in items:
                    self._columns.drop(item)
            self._note_removal(self._part)
            self._part.tenant.delete(rows)
            mark, memories = self._part.mark, self._columns.open_items
            self._part.write(replace(mark, memories=memories, removals=mark.removals + 1))

    def confirmed(self, ids: Sequence[str]) -> None:
        """Notes that the erasures of these memories were confirmed."""
        done = {self._key.item(memory_id) for memory_id in ids}
        left = tuple(item for item in self._part.mark.unconfirmed if item not in done)
        self._part.write(replace(self._part.mark, unconfirmed=left))

    # Reading

    def query(self, kind: type[Q], question: Question) -> Q:
        """A query for the candidates for a question."""
        parts = self._key, self._columns, self._lock, self._words
        return kind(lambda: self._part.tenant, *parts, question=question)

    def near(self, vector: Vector, query: NearQuery) -> list[Near]:
        if not vector.any():
            return []
        with self._lock:
            wanted = filters.of_scope(query.scope, self._key, self._columns)
        nearest = Nearest(vector.tolist(), DENSE, query.limit, wanted, query.least)
        (found,) = self._part.tenant.query([nearest])
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
        vectors = self._part.tenant.vectors_of(list(rows.values()))
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
        answers = self._part.tenant.query(queries) if queries else ()
        found: dict[str, Sequence[Near]] = {
            each: () for each, row in rows.items() if row in vectors
        }
        for each, answer in zip(asked, answers, strict=True):
            near = [other for other in self._near(answer, query.scope) if other.id != each]
            found[each] = near[: query.limit]
        return [found.get(each) for each in ids]

    def _near(self, found: Scored, scope: Scope) -> list[Near]:
        with self._lock:
            rows = rows_for(scope, self._columns, found.points).tolist()
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
        found = self._part.tenant.vectors_of([row])[row]
        return np.asarray(found[DENSE], dtype=np.float32)


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
