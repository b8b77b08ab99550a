"""Questions of the development data, each with the candidates that the index finds for it."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from concord.type.v1 import type_pb2
from concord_concepts import extract, normalise
from concord_reading.times import windows
from concord_search.adapters.edge.index import EdgeIndex
from concord_search.domain.asked_times import AskedTimes
from concord_search.domain.candidates import Bools, Candidates, Ints, Neighbour, Talk
from concord_search.domain.filters import MemoryFilter, Scope, Superseded
from concord_search.domain.instants import NEVER
from concord_search.domain.memory import MemoryState, Origin
from concord_search.domain.signals import QueryFacts
from concord_search.domain.speech import Asked
from concord_search.ports.embedder import Embedder, Vector
from concord_search.ports.index import Batch, Question
from concord_search.usecases.asked_times import asked_times
from concord_testing.embedders import ready

from tests.bench.conversations import Collection, Turn
from tests.bench.conversations import Question as Wanted

START = 1_760_000_000_000_000
NOW = START + 1_000_000_000
BATCH = 100
Columns = TypeVar("Columns", Candidates, Talk, Neighbour)
ALL = "all of {}"


@dataclass(frozen=True)
class Sample:
    """A question about a conversation of a `collection`, and its candidates in the space that it
    was asked of; `right` says which of them hold evidence."""

    collection: str
    conversation: str
    space: str
    facts: QueryFacts
    found: Candidates
    right: Bools
    evidence: int

    def smaller(self, size: int, chance: random.Random) -> "Sample":
        """The question asked of a space with `size` of the candidates besides those that are right.

        For memories that are no turns; the fused scores stay those of the whole space.
        """
        others = np.flatnonzero(~self.right).tolist()
        drawn = chance.sample(others, min(size, len(others)))
        return self._among(np.sort(np.array([*np.flatnonzero(self.right), *drawn], dtype=np.int64)))

    def unanswered(self) -> "Sample":
        """The question asked of its space without what is right: on its topic, and no answer."""
        return self._among(np.flatnonzero(~self.right))

    def _among(self, rows: Ints) -> "Sample":
        """The question asked of a space with some of the candidates alone."""
        found = self.found
        held = found.holds[rows].sum(axis=0)
        weights = np.log1p((len(rows) - held + 0.5) / (held + 0.5))
        shrunk = (found.holds @ weights) / np.maximum(found.holds @ found.term_weights, 1e-9)
        small = replace(
            _rows(replace(found, lexical=found.lexical * shrunk), rows),
            items=[found.items[row] for row in rows.tolist()],
            term_weights=weights,
            talk=replace(
                _rows(found.talk, rows),
                before=_rows(found.talk.before, rows),
                after=_rows(found.talk.after, rows),
            ),
        )
        return replace(self, found=small, right=self.right[rows])


def _rows(columns: Columns, rows: Ints) -> Columns:
    """Some rows of all columns; what is no array, or none of a row each, as it is."""
    named = {each.name: getattr(columns, each.name) for each in fields(columns)}
    some: dict[str, Any] = {
        name: values[rows]
        for name, values in named.items()
        if isinstance(values, np.ndarray) and name != "term_weights"
    }
    return replace(columns, **some)


@dataclass(frozen=True)
class Samples:
    """Questions asked of their own conversation, of each other one, which cannot answer them, and
    of all conversations of their collection in one space."""

    own: list[Sample]
    elsewhere: list[Sample]
    together: list[Sample]

    @property
    def conversations(self) -> Sequence[str]:
        """The conversations that are asked about, by name."""
        return sorted({each.conversation for each in self.own})

    def without(self, conversation: str) -> "Samples":
        """All but the questions about a conversation and, of more than two, those asked of it."""
        kept = self._where(lambda sample: sample.conversation != conversation)
        elsewhere = [each for each in kept.elsewhere if each.space != conversation]
        return replace(kept, elsewhere=elsewhere or kept.elsewhere)

    def only(self, conversation: str) -> "Samples":
        """The questions about a conversation."""
        return self._where(lambda sample: sample.conversation == conversation)

    def of(self, collection: str) -> "Samples":
        """The questions of a collection."""
        return self._where(lambda sample: sample.collection == collection)

    def _where(self, wanted: Callable[[Sample], bool]) -> "Samples":
        parts = (self.own, self.elsewhere, self.together)
        return Samples(*(list(filter(wanted, some)) for some in parts))


async def gather(
    collections: Mapping[str, Collection], embedder: Embedder, folder: Path
) -> Samples:
    """Indexes each conversation by itself, and all of a collection in one space, and asks."""
    index = EdgeIndex(folder, embedder.model)
    await index.open()
    try:
        for name, collection in collections.items():
            texts = [turn.text for turn in collection.turns]
            vectors = dict(zip(collection.turns, await embedder.embed(texts), strict=True))
            for space, turns in (
                *collection.conversations.items(),
                (ALL.format(name), collection.turns),
            ):
                await _write(index, embedder, space, [(turn, vectors[turn]) for turn in turns])
        return await _asked(collections, index, embedder)
    finally:
        await index.close()


async def _write(
    index: EdgeIndex, embedder: Embedder, space: str, turns: Sequence[tuple[Turn, Vector]]
) -> None:
    await index.begin(space, "epoch")
    pairs: list[tuple[MemoryState, Vector | None]] = [
        (_state(turn, at), vector) for at, (turn, vector) in enumerate(turns, 1)
    ]
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
        session_id=turn.session and f"{turn.conversation}/{turn.session}",
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


async def _asked(
    collections: Mapping[str, Collection], index: EdgeIndex, embedder: Embedder
) -> Samples:
    samples = Samples([], [], [])
    names = sorted(space for each in collections.values() for space in each.conversations)
    for name, collection in collections.items():
        together = ALL.format(name)
        for question in collection.questions:
            today = collection.today(question.conversation)
            read = windows(question.text, NOW if today is None else today)
            times = asked_times(read, {}, no_window=False)
            vector = await embedder.embed_query(times.without_windows(question.text))
            for space in (*names, together):
                asked = await _ask(index, embedder, name, question, vector, space, times)
                if space == together:
                    samples.together.append(asked)
                elif space == question.conversation:
                    samples.own.append(asked)
                else:
                    samples.elsewhere.append(asked)
    return samples


async def _ask(  # noqa: PLR0917 - a question, and where it is asked
    index: EdgeIndex,
    embedder: Embedder,
    name: str,
    wanted: Wanted,
    vector: Vector,
    space: str,
    times: AskedTimes,
) -> Sample:
    concepts = tuple(dict.fromkeys(filter(None, map(normalise, extract(wanted.text)))))
    text = times.without_windows(wanted.text)
    scope = Scope(NOW, Superseded.EXCLUDE, MemoryFilter())
    question = Question(ready(vector), text, scope, embedder.model, concepts, times=times)
    found = await index.ask(space, question)
    evidence = {key.replace(":", ".") for key in wanted.evidence}
    ids = [index.id_of(space, item) for item in found.items]
    facts = QueryFacts(NOW, False, bool(concepts), asked=Asked.by(text), within=times.within)
    right = np.array([each in evidence for each in ids], dtype=np.bool_)
    return Sample(name, wanted.conversation, space, facts, found, right, len(evidence))
