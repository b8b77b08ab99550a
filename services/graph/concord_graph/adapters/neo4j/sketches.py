"""The sketches of memories in Neo4j, by which near-identical ones are found (T6).

A live memory that has a sketch has one node `:Sketch` with its bands, each of which is indexed. The
flush statement writes it beside the memory, and takes it away with what the memory says.
"""

from __future__ import annotations

from typing import Any, Final

from concord_graph.adapters.neo4j.layers import Door
from concord_graph.domain import sketch as sketching
from concord_graph.domain.items import Memory, Record

MOST_PER_BAND: Final = 16
"""The newest ones of a band are looked at: one that many texts share tells little."""

BANDS: Final = tuple(f"band_{place}" for place in range(sketching.BANDS))
INDEXED: Final = {f"sketch_{band}": ("Sketch", "space", band, "seq") for band in BANDS}
KEEP: Final = (
    "CALL (row) { UNWIND row.sketch AS sketch MERGE (k:Sketch {id: row.id}) SET k += sketch }"
    " CALL (row) { WITH * WHERE row.unsketched MATCH (k:Sketch {id: row.id}) DELETE k }"
)
"""Part of the statement that writes a row."""
_OF_BANDS: Final = " UNION ALL ".join(
    f"MATCH (k:Sketch {{{band}: a.{band}}}) WHERE k.seq < a.seq"
    f" RETURN k ORDER BY k.seq DESC LIMIT {MOST_PER_BAND}"
    for band in BANDS
)
LIKE: Final = (
    "UNWIND $ids AS each MATCH (a:Sketch {id: each})"
    f" CALL (a) {{ CALL (a) {{ {_OF_BANDS} }}"
    " WITH k, count(*) AS shared ORDER BY shared DESC, k.seq DESC LIMIT $most"
    " MATCH (m:Memory {id: k.id}) WITH m, shared, k ORDER BY shared DESC, k.seq DESC"
    " RETURN collect([m.id, m.content]) AS found }"
    " RETURN each, found"
)


def row(key: bytes, item: Record) -> dict[str, Any]:
    """Return what a row of the flush statement says of an item's sketch."""
    if not isinstance(item, Memory):
        return {"sketch": [], "unsketched": False}
    bands = sketching.sketch_of(key, item)
    kept = dict(zip(BANDS, bands, strict=True)) | {"seq": item.revision.seq} if bands else None
    again = item.revision.number > 1
    return {"sketch": [kept] if kept else [], "unsketched": again and not kept}


async def like(door: Door, ids: list[str], most: int) -> dict[str, list[tuple[str, str]]]:
    """Return for each memory (id, content) of those from before it that share most bands."""
    found = await door.ask(LIKE, ids=ids, most=most)
    return {row_[0]: [(one[0], one[1]) for one in row_[1]] for row_ in found}
