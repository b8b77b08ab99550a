"""Finding the turns of conversations that hold the evidence, through the Search RPC.

Public data, scored as its README says: each turn is indexed as `speaker (date): text [caption]`,
the query is the question verbatim. Answers are never indexed. any@10: some evidence among the
first ten; coverage@10: the share of it. BM25 alone and dense alone are the two branches by
themselves, on the same engine.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
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
from tests.fitting.profile import OWN_SCORES, SIGNALS, left_out
from tests.fitting.samples import Samples, gather

TOP = 10
ALL_IN_ONE = "all-in-one"
Asked = Callable[[Question], Awaitable[Sequence[str]]]
LEFT_OUT = {"locomo": Bar(0.86, at_most=False), "beam": Bar(0.80, at_most=False)}
PROFILES = {"locomo": "people", "beam": "assistant"}
ABLATIONS = {
    "own scores, fitted": OWN_SCORES,
    "+ context, one profile for both": SIGNALS["people"],
}


@dataclass(frozen=True)
class Score:
    """Of one question: whether any evidence was found, and the share of it that was."""

    any: float
    coverage: float


async def bench(run: Run) -> AsyncIterator[Row]:
    """For each set: overall, by category, and with all conversations in one space."""
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
                async for row in _rows(name, collection, system, branches):
                    yield row
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
    for what, column in (("BM25", "lexical"), ("dense", "cosine"), ("fusion", "fusion")):
        yield Row(f"{name} {what} alone", "share", _ranked_by(samples, column), floor=ours)
    for what, signals in ABLATIONS.items():
        shown = tuple(np.mean(left_out(PROFILES[name], samples, signals).own, axis=0))
        yield Row(f"{name} {what}", "share", shown, floor=ours)


def _ranked_by(samples: Samples, column: str) -> tuple[float, float]:
    """any@10 and coverage@10 of the candidates by one of their scores."""
    scores = []
    for sample in samples.own:
        first = np.argsort(-getattr(sample.found, column), kind="stable")[:TOP]
        hits = int(sample.right[first].sum())
        scores.append(Score(float(hits > 0), hits / sample.evidence))
    return _mean(scores)


async def _rows(
    name: str, collection: Collection, system: Whole, branches: Branches
) -> AsyncIterator[Row]:
    own = [
        await _scored(collection, asked)
        for asked in (_search(system), branches.words, branches.dense)
    ]
    yield _row(f"{name} {{n}} questions", own, list(range(len(own[0]))))
    for category, places in _by_category(collection).items():
        yield _row(f"{name} {category}, {{n}}", own, places)
    together = [
        await _scored(collection, asked)
        for asked in (
            _search(system, ALL_IN_ONE),
            branches.words_in_all,
            branches.dense_in_all,
        )
    ]
    yield _row(f"{name} all in one space, {{n}}", together, list(range(len(own[0]))))


def _row(
    what: str,
    scores: Sequence[Sequence[Score]],
    places: Sequence[int],
    bar: Bar | None = None,
) -> Row:
    ours, words, dense = (_mean([scored[at] for at in places]) for scored in scores)
    return Row(
        what.format(n=len(places)),
        "share",
        ours,
        floor=words,
        floor_is=f"BM25 alone; dense alone {dense[0]:.3f} / {dense[1]:.3f}. any@10 / coverage@10",
        bar=bar,
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


def _by_category(collection: Collection) -> Mapping[str, list[int]]:
    places: dict[str, list[int]] = defaultdict(list)
    for at, question in enumerate(collection.questions):
        places[question.category].append(at)
    return dict(sorted(places.items()))


async def _index(system: Whole, collection: Collection) -> None:
    for conversation, turns in [*collection.conversations.items(), (ALL_IN_ONE, collection.turns)]:
        memories = (_memory(turn) for turn in turns)
        token = await remember(system, memories, name=conversation, space=conversation)
        await found(system, token, space=conversation)


def _memory(turn: Turn) -> Memory:
    return Memory(
        content=turn.text,
        kind=MEMORY_KIND_TURN,
        external_id=turn.key,
        session_id=turn.session,
        sources=[Source(speaker=turn.speaker)],
        role=turn.role,
    )


def _search(system: Whole, space: str = "") -> Asked:
    async def asked(question: Question) -> Sequence[str]:
        channel = system.search.serving.channel(agent(space or question.conversation))
        request = SearchRequest(query=question.text, page_size=TOP, peek=True)
        reply = await SearchServiceStub(channel).Search(request)
        return [result.memory.external_id for result in reply.results]

    return asked
