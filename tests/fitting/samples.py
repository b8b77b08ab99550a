"""Questions of the development data, each with the candidates that the index finds for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from concord.type.v1 import type_pb2
from concord_concepts import extract, normalise
from concord_search.adapters.edge.index import EdgeIndex
from concord_search.domain.candidates import Bools, Candidates
from concord_search.domain.filters import MemoryFilter, Scope, Superseded
from concord_search.domain.instants import NEVER
from concord_search.domain.memory import MemoryState, Origin
from concord_search.domain.signals import QueryFacts
from concord_search.domain.speech import Asked
from concord_search.ports.embedder import Embedder, Vector, Vectors
from concord_search.ports.index import Batch, Question
from concord_testing.embedders import ready

from tests.bench.conversations import Collection, Turn
from tests.bench.conversations import Question as Wanted

START = 1_760_000_000_000_000
BATCH = 100
ALL = "all in one"


@dataclass(frozen=True)
class Sample:
    """A question about a conversation, and its candidates in the space that it was asked of;
    `right` says which of them hold evidence."""

    conversation: str
    space: str
    facts: QueryFacts
    found: Candidates
    right: Bools
    evidence: int


@dataclass(frozen=True)
class Samples:
    """Questions asked of their own conversation, of each other one, which cannot answer them, and
    of all conversations in one space."""

    own: list[Sample]
    elsewhere: list[Sample]
    together: list[Sample]

    def without(self, conversation: str) -> "Samples":
        """All but the questions about a conversation and, of more than two, those asked of it."""
        kept = self._where(lambda sample: sample.conversation != conversation)
        elsewhere = [each for each in kept.elsewhere if each.space != conversation]
        return replace(kept, elsewhere=elsewhere or kept.elsewhere)

    def only(self, conversation: str) -> "Samples":
        """The questions about a conversation."""
        return self._where(lambda sample: sample.conversation == conversation)

    def _where(self, wanted: Callable[[Sample], bool]) -> "Samples":
        parts = (self.own, self.elsewhere, self.together)
        return Samples(*(list(filter(wanted, some)) for some in parts))


async def gather(collection: Collection, embedder: Embedder, folder: Path) -> Samples:
    """Indexes each conversation by itself, and all in one space, and asks."""
    index = EdgeIndex(folder, embedder.model)
    await index.open()
    try:
        for space, turns in (*collection.conversations.items(), (ALL, collection.turns)):
            vectors = await embedder.embed([turn.text for turn in turns])
            await _write(index, embedder, space, turns, vectors)
        return await _asked(collection, index, embedder)
    finally:
        await index.close()


async def _write(
    index: EdgeIndex, embedder: Embedder, space: str, turns: Sequence[Turn], vectors: Vectors
) -> None:
    await index.begin(space, "epoch")
    states = [_state(turn, at) for at, turn in enumerate(turns, 1)]
    pairs: list[tuple[MemoryState, Vector | None]] = list(zip(states, vectors, strict=True))
    for start in range(0, len(pairs), BATCH):
        some = pairs[start : start + BATCH]
        last = some[-1][0]
        batch = Batch(last.seq, last.record_from, states=some, model=embedder.model)
        await index.apply(space, batch)


def _state(turn: Turn, at: int) -> MemoryState:
    when = START + at
    concepts = (normalise(each) for each in extract(turn.text))
    return MemoryState(
        id=turn.key.replace(":", "."),
        seq=at,
        content=turn.text,
        kind=turn.kind,
        edge_type=type_pb2.EDGE_TYPE_DESCRIPTIVE,
        importance=type_pb2.IMPORTANCE_MEDIUM,
        concepts=tuple(dict.fromkeys(each for each in concepts if each)),
        domain="",
        category="",
        tags=(),
        session_id=turn.session,
        origins=(Origin(turn.speaker, "", type_pb2.TRUST_LEVEL_REPORTED),),
        record_from=when,
        created=when,
        valid_from=when if turn.since is None else turn.since,
        stated_until=NEVER,
        superseded_from=NEVER,
        predecessors=0,
        heads=(),
        access_count=0,
        last_access=when,
        forgotten=False,
        role=turn.role,
    )


async def _asked(collection: Collection, index: EdgeIndex, embedder: Embedder) -> Samples:
    samples = Samples([], [], [])
    names = sorted(collection.conversations)
    for question in collection.questions:
        vector = await embedder.embed_query(question.text)
        for space in (*names, ALL):
            asked = await _ask(index, embedder, question, vector, space)
            if space == ALL:
                samples.together.append(asked)
            elif space == question.conversation:
                samples.own.append(asked)
            else:
                samples.elsewhere.append(asked)
    return samples


async def _ask(
    index: EdgeIndex, embedder: Embedder, wanted: Wanted, vector: Vector, space: str
) -> Sample:
    concepts = tuple(dict.fromkeys(filter(None, map(normalise, extract(wanted.text)))))
    now = START + 1_000_000_000
    scope = Scope(now, Superseded.EXCLUDE, MemoryFilter())
    question = Question(ready(vector), wanted.text, scope, embedder.model, concepts)
    found = await index.ask(space, question)
    evidence = {key.replace(":", ".") for key in wanted.evidence}
    ids = [index.id_of(space, item) for item in found.items]
    facts = QueryFacts(now, False, bool(concepts), asked=Asked.by(wanted.text))
    right = np.array([each in evidence for each in ids], dtype=np.bool_)
    return Sample(wanted.conversation, space, facts, found, right, len(evidence))
