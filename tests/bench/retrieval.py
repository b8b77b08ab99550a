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
from concord.type.v1.type_pb2 import Memory, Source
from concord_search.adapters.minilm.embedder import MiniLm
from google.protobuf.timestamp_pb2 import Timestamp

from tests.bench.branches import Branches
from tests.bench.conversations import Collection, Question, Turn
from tests.bench.filling import found, remember
from tests.bench.run import Run
from tests.bench.servers import Whole, agent, whole
from tests.bench.table import Bar, Row
from tests.fitting.development import DATA, is_there, samples_of
from tests.fitting.profile import left_out
from tests.fitting.samples import Samples

TOP = 10
Asked = Callable[[Question], Awaitable[Sequence[str]]]
LEFT_OUT = {
    "locomo": Bar(0.88, at_most=False),
    "realtalk": Bar(0.771, at_most=False),
    "beam": Bar(0.83, at_most=False),
}
"""Of people's messages, three points over what the weights fitted on dialogues alone gave."""


@dataclass(frozen=True)
class Score:
    """Of one question: whether any evidence was found, and the share of it that was."""

    any: float
    coverage: float


async def bench(run: Run) -> AsyncIterator[Row]:
    """For each set: through Search, and by a fit without each conversation, apart and together."""
    for profile in ("people", "assistant"):
        if not is_there(profile, run.evaluation):
            continue
        for name, read in DATA[profile].items():
            collection, embedder = read(run.evaluation / name), MiniLm()
            async with whole(run.folder / f"retrieval-{name}", embedder) as system:
                await index(system, collection)
                folder = run.folder / f"branches-{name}"
                with await Branches.over(embedder, collection, folder) as branches:
                    yield await _through_search(name, collection, system, branches)
        embedder = MiniLm()
        await embedder.open()
        samples = await samples_of(profile, run.evaluation, embedder, run.folder / profile)
        await embedder.close()
        for row in _left_out(profile, samples):
            yield row


def _left_out(profile: str, samples: Samples) -> Iterator[Row]:
    """Each conversation ranked by weights fitted without it; beside it what was left out."""
    seen = left_out(profile, samples)
    for name in DATA[profile]:
        ours = tuple(np.mean(seen.own[name], axis=0))
        bm25 = _ranked_by(samples.of(name), "lexical")
        what = f"{name} left out, any@10 / coverage@10"
        yield Row(what, "share", ours, floor=bm25, bar=LEFT_OUT[name])
        together = tuple(np.mean(seen.together[name], axis=0))
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
        for asked in (searched(system, collection), branches.words, branches.dense)
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


async def index(system: Whole, collection: Collection) -> None:
    """Remembers each conversation in a space of its own, until search finds it."""
    for conversation, turns in collection.conversations.items():
        memories = (memory_of(turn) for turn in turns)
        token = await remember(system, memories, name=conversation, space=conversation)
        await found(system, token, space=conversation)


def memory_of(turn: Turn) -> Memory:
    """A turn as a memory."""
    since = Timestamp(seconds=turn.since // 1_000_000) if turn.since is not None else None
    return Memory(
        content=turn.text,
        kind=turn.kind,
        valid_from=since,
        external_id=turn.key,
        session_id=turn.session,
        sources=[Source(speaker=turn.speaker)],
        role=turn.role,
    )


def searched(system: Whole, collection: Collection) -> Asked:
    """The first results for a question, through Search."""
    ends = {each: collection.today(each) for each in collection.conversations}

    async def asked(question: Question) -> Sequence[str]:
        channel = system.search.serving.channel(agent(question.conversation))
        request = SearchRequest(query=question.text, page_size=TOP, peek=True)
        if (end := ends[question.conversation]) is not None:
            request.today.FromMicroseconds(end)
        reply = await SearchServiceStub(channel).Search(request)
        return [result.memory.external_id for result in reply.results]

    return asked
