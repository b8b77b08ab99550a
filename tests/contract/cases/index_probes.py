"""What the revision guard of search's index holds back: a change that comes late."""

from pathlib import Path

from concord_search.adapters.edge.index import EdgeIndex
from concord_search.domain.filters import MemoryFilter, Scope, Superseded
from concord_search.domain.instants import NEVER
from concord_search.domain.memory import MemoryState
from concord_search.ports.index import Batch, NearQuery
from contract_live import NOW
from contract_search import WordVectors


def state(seq: int, content: str) -> MemoryState:
    """Return a state of one memory."""
    return MemoryState(
        id="m",
        seq=seq,
        content=content,
        kind=1,
        edge_type=1,
        importance=2,
        concepts=(),
        domain="",
        category="",
        tags=(),
        session_id="",
        origins=(),
        record_from=NOW + seq,
        created=NOW,
        valid_from=NOW,
        stated_until=NEVER,
        superseded_from=NEVER,
        predecessors=0,
        heads=("m",),
        access_count=0,
        last_access=NOW,
        forgotten=False,
    )


async def an_old_event_comes_late(folder: Path) -> bool:
    """Apply a memory's second state and then its first; return whether the first one is found."""
    embedder = WordVectors()
    index = EdgeIndex(folder / "index", embedder.model)
    await index.open()
    try:
        await index.begin("a", "epoch")
        for each in (state(2, "Ada likes coffee"), state(1, "Ada likes tea")):
            vector = await embedder.embed_query(each.content)
            batch = Batch(
                applied_seq=2, latest=NOW + 2, states=[(each, vector)], model=embedder.model
            )
            await index.apply("a", batch)
        asked = await embedder.embed_query("coffee")
        scope = Scope(NOW + 9, Superseded.EXCLUDE, MemoryFilter())
        found = [
            each.seq for each in await index.near("a", asked, embedder.model, NearQuery(scope, 9))
        ]
        return found != [2]
    finally:
        await index.close()
