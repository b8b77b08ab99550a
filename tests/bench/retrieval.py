"""Finding the turns of conversations that hold the evidence, through the Search RPC.

Public data, scored as its README says: each turn is indexed as `speaker (date): text [caption]`,
the query is the question verbatim. Answers are never indexed. any@10: some evidence among the
first ten; coverage@10: the share of it. BM25 alone and dense alone are the two branches by
themselves, on the same engine.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from concord.search.v1.search_pb2 import SearchRequest
from concord.search.v1.search_pb2_grpc import SearchServiceStub
from concord.type.v1.type_pb2 import MEMORY_KIND_TURN, Memory, Source
from concord_search.adapters.minilm.embedder import MiniLm

from tests.bench.branches import Branches
from tests.bench.conversations import Collection, Question, Turn, beam, locomo
from tests.bench.filling import found, remember
from tests.bench.run import Run
from tests.bench.servers import Whole, agent, whole
from tests.bench.table import Bar, Row
from tests.fitting.profile import left_out
from tests.fitting.samples import Samples, gather

TOP = 10
Asked = Callable[[Question], Awaitable[Sequence[str]]]
LEFT_OUT = {"locomo": Bar(0.86, at_most=False), "beam": Bar(0.80, at_most=False)}
PROFILES = {"locomo": "people", "beam": "assistant"}


@dataclass(frozen=True)
class Score:
    """Of one question: whether any evidence was found, and the share of it that was."""

    any: float
    coverage: float


async def bench(run: Run) -> AsyncIterator[Row]:
    """For each set: through Search, and by a fit without each conversation, apart and together."""
    for name, read in (("locomo", locomo), ("beam", beam)):
        folder = run.evaluation / name
        if not folder.is_dir():
            print(f"SKIPPED: no data at {folder}", flush=True)
            continue
        collection = read(folder)
        embedder = MiniLm()
        async with whole(run.folder / f"retrieval-{name}", embedder) as system:
            await _index(system, collection)
            branches = await Branches.over(embedder, collection, run.folder / f"branches-{name}")
            with branches:
                yield await _through_search(name, collection, system, branches)
            samples = await gather(collection, embedder, run.folder / f"left-out-{name}")
            for row in _left_out(name, samples):
                yield row


def _left_out(name: str, samples: Samples) -> Iterator[Row]:
    """Each conversation ranked by weights fitted without it; beside it what was left out."""
    seen = left_out(PROFILES[name], samples)
    ours = tuple(np.mean(seen.own, axis=0))
    bm25 = _ranked_by(samples, "lexical")
    yield Row(
        f"{name} left out, any@10 / coverage@10", "share", ours, floor=bm25, bar=LEFT_OUT[name]
    )
    together = tuple(np.mean(seen.together, axis=0))
    lost = Bar(round(ours[0] - 0.03, 4), at_most=False)
    yield Row(f"{name} left out, all in one space", "share", together, floor=ours, bar=lost)


def _ranked_by(samples: Samples, column: str) -> tuple[float, float]:
    """any@10 and coverage@10 of the candidates by one of their scores."""
    scores = []
    for sample in samples.own:
        first = np.argsort(-getattr(sample.found, column), kind="stable")[:TOP]
        hits = int(sample.right[first].sum())
        scores.append(Score(float(hits > 0), hits / sample.evidence))
    return _mean(scores)


async def _through_search(
    name: str, collection: Collection, system: Whole, branches: Branches
) -> Row:
    ours, words, dense = [
        _mean(await _scored(collection, asked))
        for asked in (_search(system), branches.words, branches.dense)
    ]
    return Row(
        f"{name} {len(collection.questions)} questions",
        "share",
        ours,
        floor=words,
        floor_is=f"BM25 alone; dense alone {dense[0]:.3f} / {dense[1]:.3f}. any@10 / coverage@10",
    )


def _mean(scores: Sequence[Score]) -> tuple[float, float]:
    return (
        float(np.mean([each.any for each in scores])),
        float(np.mean([each.coverage for each in scores])),
    )


async def _scored(collection: Collection, asked: Asked) -> list[Score]:
    scores = []
    for question in collection.questions:
        first = set((await asked(question))[:TOP])
        hits = len(first & question.evidence)
        scores.append(Score(float(hits > 0), hits / len(question.evidence)))
    return scores


async def _index(system: Whole, collection: Collection) -> None:
    for conversation, turns in collection.conversations.items():
        memories = (memory_of(turn) for turn in turns)
        token = await remember(system, memories, name=conversation, space=conversation)
        await found(system, token, space=conversation)


def memory_of(turn: Turn) -> Memory:
    """A turn as a memory."""
    return Memory(
        content=turn.text,
        kind=MEMORY_KIND_TURN,
        external_id=turn.key,
        session_id=turn.session,
        sources=[Source(speaker=turn.speaker)],
        role=turn.role,
    )


def _search(system: Whole) -> Asked:
    async def asked(question: Question) -> Sequence[str]:
        channel = system.search.serving.channel(agent(question.conversation))
        request = SearchRequest(query=question.text, page_size=TOP, peek=True)
        reply = await SearchServiceStub(channel).Search(request)
        return [result.memory.external_id for result in reply.results]

    return asked
