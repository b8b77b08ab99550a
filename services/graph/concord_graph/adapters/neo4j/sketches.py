"""The sketches of memories in Neo4j, by which near-identical ones are found (T6).

A live memory that has a sketch has one node `:Sketch` with its bands, each of which is indexed. The
flush statement writes it beside the memory, and takes it away with what the memory says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from heapq import nsmallest
from itertools import islice
from typing import Any, Final

from concord_graph.domain import sketch as sketching
from concord_graph.domain.items import Memory, Record
from concord_graph.domain.sketch import MOST_PER_BAND

BANDS: Final = tuple(f"band_{place}" for place in range(sketching.BANDS))
INDEXED: Final = {f"sketch_{band}": ("Sketch", "space", band, "seq") for band in BANDS}
KEEP: Final = (
    "CALL (row) { UNWIND row.sketch AS sketch MERGE (k:Sketch {id: row.id}) SET k += sketch }"
    " CALL (row) { WITH * WHERE row.unsketched MATCH (k:Sketch {id: row.id}) DELETE k }"
)
"""Part of the statement that writes a row."""
# A subquery each and no union of them: that would hand every row on through all that follow it.
# The index is named, since to a store that is empty when it plans this all indexes look alike; and
# every key of it is in the order, so that it gives the order and is read no further than the limit.
_IN_STORE: Final = " ".join(
    (
        *(
            f"CALL () {{ UNWIND $bands[{place}] AS value"
            f" CALL (value) {{ MATCH (k:Sketch {{{band}: value}})"
            f" USING INDEX SEEK k:Sketch(space, {band}, seq)"
            " WHERE k.seq < $before AND NOT k.id IN $again"
            f" RETURN k ORDER BY k.space DESC, k.{band} DESC, k.seq DESC LIMIT {MOST_PER_BAND} }}"
            f" RETURN collect([value, k.seq, k.id]) AS {band} }}"
            for place, band in enumerate(BANDS)
        ),
        f"RETURN {', '.join(BANDS)}",
    )
)
"""Select the newest ones of each band from before this transaction, the newest first, but those
that it put $again."""
_CONTENTS: Final = "MATCH (m:Memory) WHERE m.id IN $ids RETURN m.id, m.content"

Ask = Callable[..., Awaitable[list[list[Any]]]]
_Band = tuple[int, int]  # its place in a sketch, and its number
_Sketched = tuple[int, str]  # the sequence number of a revision, and its memory's id


class Sketches:
    """The sketches of the memories that a transaction puts.

    Those of a transaction are compared here, and the store is asked for what was before it only:
    once a band, however many of a batch have that band.
    """

    def __init__(self) -> None:
        self.key = b""
        self._put: dict[str, Memory] = {}
        self._bands: dict[str, tuple[int, ...]] = {}

    def row(self, item: Record) -> dict[str, Any]:
        """Note an item that is put; return what a row of the flush statement says of its sketch."""
        if not isinstance(item, Memory):
            return {"sketch": [], "unsketched": False}
        bands = sketching.sketch_of(self.key, item)
        self._put[item.id], self._bands[item.id] = item, bands
        kept = dict(zip(BANDS, bands, strict=True)) | {"seq": item.revision.seq} if bands else None
        again = item.revision.number > 1
        return {"sketch": [kept] if kept else [], "unsketched": again and not kept}

    async def like(
        self, ask: Ask, ids: Sequence[str], most: int
    ) -> dict[str, list[tuple[str, str]]]:
        """Return for each of the memories that were put (id, content) of those from before it that
        share most of its bands."""
        bearing = self._here()
        for band, found in (await self._in_store(ask, ids)).items():
            bearing.setdefault(band, []).extend(found)
        near = {each: self._nearest(each, bearing, most) for each in ids}
        wanted = {i for found in near.values() for i in found} - self._put.keys()
        there = await ask(_CONTENTS, ids=list(wanted)) if wanted else ()
        said = {row[0]: row[1] for row in there} | {i: one.content for i, one in self._put.items()}
        return {each: [(i, said[i]) for i in found if i in said] for each, found in near.items()}

    def _here(self) -> dict[_Band, list[_Sketched]]:
        """Return this transaction's memories by band, the newest first."""
        bearing: dict[_Band, list[_Sketched]] = {}
        for memory in sorted(self._put.values(), key=lambda one: one.revision.seq, reverse=True):
            for band in enumerate(self._bands[memory.id]):
                bearing.setdefault(band, []).append((memory.revision.seq, memory.id))
        return bearing

    async def _in_store(self, ask: Ask, ids: Sequence[str]) -> dict[_Band, list[_Sketched]]:
        """Return by band what was before this transaction, but what it has put anew."""
        bands = [set[int]() for _ in BANDS]
        for each in ids:
            for place, band in enumerate(self._bands[each]):
                bands[place].add(band)
        if not any(bands):
            return {}
        before = min(one.revision.seq for one in self._put.values())
        (row,) = await ask(
            _IN_STORE,
            bands=[list(values) for values in bands],
            before=before,
            again=[i for i, one in self._put.items() if one.revision.number > 1],
        )
        bearing: dict[_Band, list[_Sketched]] = {}
        for place, found in enumerate(row):
            for value, seq, each in found:
                bearing.setdefault((place, value), []).append((seq, each))
        return bearing

    def _nearest(self, each: str, bearing: dict[_Band, list[_Sketched]], most: int) -> list[str]:
        seq = self._put[each].revision.seq
        shared = Counter[_Sketched]()
        for band in enumerate(self._bands[each]):
            older = (one for one in bearing.get(band, ()) if one[0] < seq)
            shared.update(islice(older, MOST_PER_BAND))
        best = nsmallest(most, shared, key=lambda one: (-shared[one], -one[0]))
        return [i for _, i in best]
