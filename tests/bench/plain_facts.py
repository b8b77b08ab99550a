"""Finding plain facts, which is what most agents keep, by the questions that they answer.

Public data, scored as its README says: each fact is a memory of kind FACT with its speaker and its
session's time, the query is the question verbatim. Besides, the same candidates with other ages,
importance and reads, which must not take a fact away from its question. Figures are any@1, any@3,
any@10, coverage@10 and the mean reciprocal rank.

And 70 questions about 80 facts of eight people in one space, in other words than the facts': there
every question names somebody whom ten memories name.
"""

import random
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

import numpy as np
from concord.search.v1.search_pb2 import SearchRequest
from concord.type.v1.type_pb2 import MEMORY_KIND_FACT, Memory
from concord_search.adapters.minilm.embedder import MiniLm
from concord_search.domain.candidates import Bools, Candidates, Floats
from concord_search.domain.instants import DAY
from concord_search.domain.ranking import Ranking
from concord_search.domain.signals import IMPORTANCE_NUMBER

from tests.bench.conversations import Collection, Question, plain_facts, records
from tests.bench.filling import found, remember
from tests.bench.retrieval import TOP, index, searched
from tests.bench.run import Run
from tests.bench.servers import Whole, whole
from tests.bench.table import Bar, Row
from tests.fitting.development import is_there, samples_of
from tests.fitting.profile import left_out, of_all
from tests.fitting.samples import Sample, Samples

FEW_PEOPLE = Path(__file__).parent / "few_people_material"
SEEDS = (1, 2, 3)
READS, READ_SHARE = 50, 0.2
OLDEST = 1_000
"""Days."""
GAIN = 0.03, 0.02
"""By so much any@1 and any@10 of the facts as they are exceed those of fusion."""

UNCHANGED = "as they are"
Figures = tuple[float, ...]
Change = Callable[[Candidates, int, random.Random], Candidates]
"""Other columns for candidates, at an instant, by their order in `items`."""


async def bench(run: Run) -> AsyncIterator[Row]:
    """Through Search, and by a fit without each conversation; the floor is fusion alone."""
    if not is_there("plain", run.evaluation):
        return
    collection, embedder = plain_facts(run.evaluation / "locomo"), MiniLm()
    async with whole(run.folder / "facts", embedder) as system:
        yield await _few_people(system)
        await index(system, collection)
        firsts = [await searched(system, collection)(asked) for asked in collection.questions]
        samples = await samples_of("plain", run.evaluation, embedder, run.folder / "samples")
    floors = {name: _by_column(samples, name) for name in ("fusion", "lexical", "cosine")}
    yield Row(
        f"{len(collection.questions)} questions on plain facts",
        "share",
        _through_search(collection, firsts),
        floor=floors["fusion"],
        floor_is="fusion alone; any@1 / any@3 / any@10 / coverage@10 / MRR",
        note=f"BM25 alone {_said(floors['lexical'])}; dense alone {_said(floors['cosine'])}",
    )
    for row in _left_out(samples, floors["fusion"]):
        yield row


async def _few_people(system: Whole) -> Row:
    """In a space of its own; the floors are the same results by one of their scores."""
    memories = [
        Memory(content=line["text"], kind=MEMORY_KIND_FACT, external_id=line["key"])
        for line in records(FEW_PEOPLE / "memories.jsonl")
    ]
    await found(system, await remember(system, memories, name="few", space="few"), space="few")
    questions = list(records(FEW_PEOPLE / "questions.jsonl"))
    right = dict.fromkeys(("composite_score", "vector_similarity", "fusion_score"), 0)
    for line in questions:
        request = SearchRequest(query=line["question"], page_size=len(memories), peek=True)
        results = (await system.searching("few").Search(request)).results
        for name in right:
            best = max(results, key=attrgetter(name))
            right[name] += best.memory.external_id == line["answer"]
    ours, *floors = (float(each) for each in right.values())
    return Row(
        f"{len(questions)} questions about eight people, right first",
        "of them",
        (ours,),
        floor=(max(floors),),
        floor_is=f"the better of cosine {floors[0]:.0f} and fusion {floors[1]:.0f} alone",
    )


def _left_out(samples: Samples, floor: Figures) -> Iterator[Row]:
    """Each conversation by weights fitted without it: as it is, and in each variant."""
    profiles = left_out("plain", samples).profiles
    for what, change in VARIANTS.items():
        figures = _mean(
            score(Ranking(changed, each.facts, of_all(profiles[each.conversation])).order, each)
            for seed in SEEDS
            for each in samples.own
            for changed in [change(each.found, each.facts.now, random.Random(seed))]
        )
        more = GAIN if what == UNCHANGED else (0.0, 0.0)
        for name, at, gain in (("any@1", 0, more[0]), ("any@10", 2, more[1])):
            bar = Bar(round(floor[at] + gain, 4), at_most=False)
            said = f"{what}, left out, {name}"
            yield Row(said, "share", (figures[at],), floor=(floor[at],), bar=bar)
        if what == UNCHANGED:
            yield Row(f"{what}, left out", "share", figures, floor=floor)


def _one_age(found: Candidates, now: int, _: random.Random) -> Candidates:
    return replace(found, valid_from=np.full(len(found), now))


def _ages(found: Candidates, now: int, chance: random.Random) -> Candidates:
    days = _by_item(found, lambda: chance.randrange(OLDEST))
    return replace(found, valid_from=now - days.astype(np.int64) * DAY)


def _importance(found: Candidates, _: int, chance: random.Random) -> Candidates:
    levels = sorted({*IMPORTANCE_NUMBER.values()})
    return replace(found, importance=_by_item(found, lambda: chance.choice(levels)))


def _reads(found: Candidates, now: int, chance: random.Random) -> Candidates:
    read = _by_item(found, chance.random) < READ_SHARE
    count, last = np.where(read, READS, 0), np.where(read, now, found.last_access)
    return replace(found, access_count=count, last_access=last)


def _by_item(found: Candidates, draw: Callable[[], float]) -> Floats:
    """A number for each candidate; for the same items and chance always the same ones."""
    drawn = {item: draw() for item in sorted(found.items)}
    return np.array([drawn[item] for item in found.items])


VARIANTS: Mapping[str, Change] = {
    UNCHANGED: lambda found, *_: found,
    "all of one age": _one_age,
    f"of 0 to {OLDEST:,} days": _ages,
    "of mixed importance": _importance,
    f"{READ_SHARE:.0%} read {READS} times": _reads,
}


def score(order: Sequence[int] | np.ndarray, sample: Sample) -> Figures:
    """any@1, any@3, any@10, coverage@10 and the reciprocal rank of one question."""
    return _figures(sample.right[order], sample.evidence)


def _figures(right: Bools, evidence: int) -> Figures:
    first = float(1 / (1 + right.argmax())) if right.any() else 0.0
    some = [float(right[:most].any()) for most in (1, 3, TOP)]
    return (*some, float(right[:TOP].sum() / evidence), first)


def _by_column(samples: Samples, name: str) -> Figures:
    """Ranked by one of the candidates' scores alone."""
    return _mean(
        score(np.argsort(-getattr(each.found, name), kind="stable"), each) for each in samples.own
    )


def _through_search(collection: Collection, found: Sequence[Sequence[str]]) -> Figures:
    """Of the first ten results alone; what comes after them counts as not found."""

    def of(question: Question, keys: Sequence[str]) -> Figures:
        right = np.array([key in question.evidence for key in keys], dtype=np.bool_)
        return _figures(right, len(question.evidence))

    return _mean(of(*each) for each in zip(collection.questions, found, strict=True))


def _mean(figures: Iterator[Figures]) -> Figures:
    return tuple(np.mean(list(figures), axis=0).tolist())


def _said(figures: Figures) -> str:
    return " / ".join(f"{each:.3f}" for each in figures)
