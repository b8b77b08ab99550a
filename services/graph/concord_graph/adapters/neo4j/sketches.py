"""The sketches of memories in Neo4j, by which near-identical ones are found (T6).

A live memory that has a sketch has one node `:Sketch` with its bands, each of which is indexed. The
flush statement writes it beside the memory, and takes it away with what the memory says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from heapq import nsmallest
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
            f"CALL () {{ MATCH (k:Sketch {{{band}: $bands[{place}]}})"
            f" USING INDEX SEEK k:Sketch(space, {band}, seq) WHERE k.seq < $before"
            f" WITH k ORDER BY k.space DESC, k.{band} DESC, k.seq DESC LIMIT {MOST_PER_BAND}"
            f" RETURN collect([k.seq, k.id]) AS {band} }}"
            for place, band in enumerate(BANDS)
        ),
        f"RETURN {', '.join(BANDS)}",
    )
)
"""Select the newest ones of each band from before this transaction, the newest first."""
_CONTENTS: Final = "MATCH (m:Memory) WHERE m.id IN $ids RETURN m.id, m.content"

Ask = Callable[..., Awaitable[list[list[Any]]]]


def row(key: bytes, item: Record) -> dict[str, Any]:
    """Return what a row of the flush statement says of an item's sketch."""
    if not isinstance(item, Memory):
        return {"sketch": [], "unsketched": False}
    bands = sketching.sketch_of(key, item)
    kept = dict(zip(BANDS, bands, strict=True)) | {"seq": item.revision.seq} if bands else None
    again = item.revision.number > 1
    return {"sketch": [kept] if kept else [], "unsketched": again and not kept}


async def like(ask: Ask, key: bytes, memory: Memory, most: int) -> list[tuple[str, str]]:
    """Return (id, content) of those from before a memory that share most of its bands."""
    bands = sketching.sketch_of(key, memory)
    if not bands:
        return []
    (found,) = await ask(_IN_STORE, bands=list(bands), before=memory.revision.seq)
    shared = Counter((seq, each) for band in found for seq, each in band)
    best = nsmallest(most, shared, key=lambda one: (-shared[one], -one[0]))
    said = dict(await ask(_CONTENTS, ids=[each for _, each in best])) if best else {}
    return [(each, said[each]) for _, each in best if each in said]
