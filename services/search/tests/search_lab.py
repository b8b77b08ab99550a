"""What search's tests stand on: states, and an index under test."""

import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from concord.type.v1 import type_pb2
from concord_chassis.observe.log import json_lines
from concord_concepts import extract
from concord_search.adapters.edge.index import EdgeIndex
from concord_search.adapters.versions.index import PartVersions
from concord_search.bootstrap import index_at
from concord_search.config import read_qdrant
from concord_search.domain.candidates import Candidates, Neighbour
from concord_search.domain.candidates import Talk as TurnColumns
from concord_search.domain.filters import MemoryFilter, Scope, Superseded
from concord_search.domain.instants import NEVER, PRESENT, AsOf, Micros
from concord_search.domain.memory import MemoryState
from concord_search.ports.embedder import EmbeddingModel
from concord_search.ports.index import Batch, Index, Question
from concord_testing.embedders import WordEmbedder, ready

START: Micros = 1_760_000_000_000_000
"""When the first test state is recorded."""

NOW: Micros = START + 10_000_000_000
"""When tests ask."""

SPACE = "default"

SCOPE = Scope(NOW, Superseded.EXCLUDE, MemoryFilter())
"""What holds now and is not superseded, unfiltered."""

QUIET = json_lines("test", level="critical")


def plain_state(item_id: str, seq: int, content: str = "", **said: object) -> MemoryState:
    """A state of an ordinary memory but for what is said."""
    at = START + seq * 1_000_000
    text = content or f"memory {item_id} at {seq}"
    plain = MemoryState(
        id=item_id,
        seq=seq,
        content=text,
        kind=type_pb2.MEMORY_KIND_FACT,
        edge_type=type_pb2.EDGE_TYPE_DESCRIPTIVE,
        importance=type_pb2.IMPORTANCE_MEDIUM,
        concepts=extract(text),
        domain="",
        category="",
        tags=(),
        session_id="",
        origins=(),
        record_from=at,
        created=at,
        valid_from=at,
        stated_until=NEVER,
        superseded_from=NEVER,
        predecessors=0,
        heads=(item_id,),
        access_count=0,
        last_access=at,
        forgotten=False,
    )
    return replace(plain, **said)  # type: ignore[arg-type] # the tests name real fields


def make_index(root: Path, *models: EmbeddingModel, **options: Any) -> Index:
    """Makes an index of the kind that INDEX_STORE chooses; not opened yet.

    The options are the embedded one's.
    """
    if (qdrant := read_qdrant(os.environ)) is not None:
        prefix = f"t{abs(hash(root)) % 10**12}"  # the index of this directory alone
        return index_at(root, qdrant.model_copy(update={"prefix": prefix}), models)
    return PartVersions(EdgeIndex(root, *models, **options))


def talk(count: int = 1, **columns: object) -> TurnColumns:
    """No conversation but for the columns given."""
    zeros, no = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.bool_)
    nobody = Neighbour(np.zeros(count), no, [""] * count)
    plain: dict[str, object] = {
        "kind": zeros,
        "session": zeros,
        "speaker_named": no,
        "asks": no,
        "says_when": no,
        "window": np.ones((count, 2), dtype=np.bool_),
        "passage": np.ones((count, 2), dtype=np.bool_),
        "before": nobody,
        "after": nobody,
    }
    return TurnColumns(**(plain | columns))  # type: ignore[arg-type] # columns by name


def candidates(count: int = 1, **columns: object) -> Candidates:
    """Candidates that are ordinary but for the columns given."""
    ones = np.ones(count)
    zeros = np.zeros(count, dtype=np.int64)
    plain: dict[str, object] = {
        "items": [f"item-{at}" for at in range(count)],
        "seqs": zeros + 1,
        "cosine": ones * 0.5,
        "lexical": ones,
        "fusion": ones,
        "domain_match": ones,
        "shared_concepts": zeros + 1,
        "all_concepts": zeros + 2,
        "importance": ones * 0.6,
        "access_count": zeros,
        "last_access": zeros + START,
        "created": zeros + START,
        "valid_from": zeros + START,
        "held_until": zeros + NEVER,
        "names_from": zeros,
        "names_until": zeros,
        "coactivation": ones * np.nan,
        "is_head": zeros.astype(np.bool_),
        "is_edge": zeros.astype(np.bool_),
        "holds": np.ones((count, 2), dtype=np.bool_),
        "term_weights": np.array([1.0, 3.0]),
        "rarest": 3.0,
        "lengths": zeros + 8,
        "trust": zeros + 2,
        "writers": zeros + 7,
        "talk": talk(count),
    }
    given_columns = {
        name: value if name in {"items", "talk"} else np.asarray(value)
        for name, value in columns.items()
    }
    return Candidates(**(plain | given_columns))  # type: ignore[arg-type] # columns by name


class Lab:
    """An index under test: writes as the follower would, asks with time and lineage alone."""

    def __init__(self, index: Index, embedder: WordEmbedder) -> None:
        self.index = index
        self.embedder = embedder

    @property
    def edge(self) -> EdgeIndex:
        """The index with what only Edge's has."""
        assert isinstance(self.index, PartVersions)
        assert isinstance(self.index._parts, EdgeIndex)
        return self.index._parts

    async def write(self, *states: MemoryState, space: str = SPACE) -> None:
        vectors = await self.embedder.embed([state.content for state in states])
        pairs = list(zip(states, vectors, strict=True))
        last, model = states[-1], self.embedder.model
        await self.index.apply(space, Batch(last.seq, last.record_from, states=pairs, model=model))

    async def ask(
        self,
        text: str,
        *,
        space: str = SPACE,
        superseded: Superseded = Superseded.EXCLUDE,
        now: Micros = NOW,
        wanted: MemoryFilter | None = None,
        as_of: AsOf = PRESENT,
        **asked: object,
    ) -> Candidates:
        vector = await self.embedder.embed_query(text)
        scope = Scope(now, superseded, wanted or MemoryFilter(), as_of)
        question = Question(ready(vector), text, scope, self.embedder.model, **asked)  # type: ignore[arg-type] # named fields
        return await self.index.ask(space, question)

    def ids(self, found: Candidates, space: str = SPACE) -> list[str]:
        return [self.index.id_of(space, item) for item in found.items]


OpenLab = Callable[..., Awaitable[Lab]]
"""Opens a lab over a directory."""
