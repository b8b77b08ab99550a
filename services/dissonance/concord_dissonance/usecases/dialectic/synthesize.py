"""Synthesizes claims of agents and memories: theses, contradictions, resolutions, words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from concord.dissonance.v1.dialectic_pb2 import KeptSynthesis, SynthesizeRequest
from concord_chassis.server.workers import Workers
from concord_reading.language import language_of
from concord_reading.prose import without_links

from concord_dissonance.clients.graph.callers_client import CallersGraphClient
from concord_dissonance.clients.search import SearchClient
from concord_dissonance.domain.dialectic.contradictions import (
    Ambiguity,
    Clash,
    compare_all,
    pairs_of,
)
from concord_dissonance.domain.dialectic.extraction import Said, extract, once
from concord_dissonance.domain.dialectic.questions import Question, asked
from concord_dissonance.domain.dialectic.resolutions import resolve
from concord_dissonance.domain.dialectic.said import SynthesisTask
from concord_dissonance.domain.dialectic.scoped import Scoped
from concord_dissonance.domain.dialectic.synthesis import Conclusions, Synthesis
from concord_dissonance.domain.dialectic.theses import Batch, Source
from concord_dissonance.domain.dialectic.wording import Wording
from concord_dissonance.domain.peer_review.criteria import criteria_set
from concord_dissonance.domain.peer_review.review import ReviewTask
from concord_dissonance.domain.sides import Rules
from concord_dissonance.domain.verdicts import Severity
from concord_dissonance.ports.calls import PRINCIPAL, Credential
from concord_dissonance.usecases.dialectic.by_model import ModelPart, ModelSynthesis
from concord_dissonance.usecases.dialectic.keep import KeepSynthesis
from concord_dissonance.usecases.dialectic.review_answer import AnswerReviewed, Review
from concord_dissonance.usecases.dialectic.runs import Run, Stage

MOST_FOUND = 10
"""The most memories that a query adds if the request states no other number."""
CHUNK = 100
"""Pairs that are judged in one turn of the judges' thread, which checks share."""


@dataclass(frozen=True, slots=True)
class Synthesized:
    """A synthesis, a council's review of it, a model's part in it, and what was kept of it."""

    synthesis: Synthesis
    review: AnswerReviewed | None = None
    model: ModelPart | None = None
    kept: KeptSynthesis | None = None


class Synthesize:
    """The use case."""

    def __init__(
        self, workers: Workers, graph: CallersGraphClient, search: SearchClient, keep: KeepSynthesis
    ) -> None:
        self._workers, self._graph, self._search, self._keep = workers, graph, search, keep

    async def __call__(
        self,
        run: Run,
        space: str,
        who: Credential,
        request: SynthesizeRequest,
        results: Sequence[Source],
        *,
        review: Review | None = None,
        model: ModelSynthesis | None = None,
    ) -> Synthesized:
        """Synthesize, have the synthesis reviewed, and report findings as events of the run.

        `results`: those of the request's agents. Without a model rules do all of it. Without a
        thesis nothing is reviewed or kept.
        Raises `ModelBudgetSpent` and `QuorumMissed`.
        """
        run.say(Stage.READING, 0)
        sources = [*results, *await self._memories(who, request)]
        batches = await self._extracted(run, sources, is_final=model is None)
        question = asked(request.question or request.query)
        theses = _scoped(batches, question)
        ruled = await self._concluded(run, batches, theses, is_final=model is None)
        claims = " ".join(each.thesis.claim for each in theses)
        language = request.language or language_of(request.question, request.query, claims)
        task = SynthesisTask(request.question or request.query, language)
        concluded = ruled
        if model is not None:
            theses, concluded = await self._read(run, model, task, sources, batches, ruled=ruled)
        found = await _worded(run, model, task, concluded, theses, question=request.question)
        part = None if model is None else model.part
        if not concluded.theses:
            return Synthesized(found, model=part)
        reviewed = await _reviewed(run, review, task.question, found)
        kept = None
        if request.HasField("keep"):
            run.say(Stage.KEEPING, 95)
            kept = await self._keep(
                space, who, request.request_id, found, ruled=ruled, keep=request.keep
            )
        return Synthesized(found, reviewed, part, kept)

    async def _read(
        self,
        run: Run,
        model: ModelSynthesis,
        task: SynthesisTask,
        sources: Sequence[Source],
        batches: Sequence[Batch],
        *,
        ruled: Conclusions,
    ) -> tuple[list[Scoped], Conclusions]:
        """Return the theses of sources after a model has read them, and the rules' conclusions.

        `ruled`: the rules' conclusions without the model; the theses that they found to contradict
        each other are kept.
        """
        question = asked(task.question)
        wording = Wording(task.language, _scoped(batches, question))
        described = wording.all_described(ruled.contradictions)
        by_rule = replace(task, theses=ruled.theses, contradictions=described)
        read = await model.theses(run, by_rule, sources, batches)
        theses = _scoped(read, question)
        return theses, await self._concluded(run, read, theses)

    async def _memories(self, who: Credential, request: SynthesizeRequest) -> Sequence[Source]:
        """Return the named memories as sources, then those that the query surely finds.

        A memory without a speaker is told by its place, and not by its id, which is no model's
        matter.
        A memory that dissonance wrote as a conclusion is only taken if it is named.
        """
        read = [*await self._graph.sources(who, request.memory_ids)]
        if request.query:
            limit, fresh = request.query_limit or MOST_FOUND, request.consistency.at_least_as_fresh
            ids = await self._search.surely_found(who, request.query, limit, fresh)
            found = await self._graph.sources(who, [e for e in ids if e not in request.memory_ids])
            read += [e for e in found if e.memory and PRINCIPAL not in e.memory.side.sources]
        return [
            each if each.agent else replace(each, agent=f"memory {place}")
            for place, each in enumerate(read, 1)
        ]

    async def _extracted(
        self, run: Run, sources: Sequence[Source], *, is_final: bool
    ) -> list[Batch]:
        run.say(Stage.THESES, 20)
        batches: list[Batch] = []
        known = set[Said]()
        for done, source in enumerate(sources, 1):
            batch = once(await self._workers.run(extract, source), known)
            batch.first = sum(len(each.theses) for each in batches)
            batches.append(batch)
            if is_final:
                run.say(Stage.THESES, 20 + 20 * done / len(sources), batch)
        return batches

    async def _concluded(
        self, run: Run, batches: Sequence[Batch], theses: Sequence[Scoped], *, is_final: bool = True
    ) -> Conclusions:
        if is_final:
            run.say(Stage.CONTRADICTIONS, 40)
        pairs = pairs_of(theses)
        found: list[Clash | Ambiguity] = []
        for start in range(0, len(pairs), CHUNK):
            chunk = pairs[start : start + CHUNK]
            found += await self._workers.run(compare_all, theses, chunk, Rules())
            if is_final:
                share = min(1, (start + CHUNK) / len(pairs))
                run.say(Stage.CONTRADICTIONS, 40 + 20 * share)
        return Conclusions(
            [each.thesis for each in theses],
            [each for batch in batches for each in batch.set_aside],
            [resolve(each, theses) for each in found if isinstance(each, Clash)],
            [each for each in found if isinstance(each, Ambiguity)],
            sources=len(batches),
            memories=len({each.thesis.memory.id for each in theses if each.thesis.memory}),
            pairs=len(pairs),
        )


def _scoped(batches: Sequence[Batch], question: Question) -> list[Scoped]:
    return [Scoped(each, question) for batch in batches for each in batch.theses]


async def _worded(
    run: Run,
    model: ModelSynthesis | None,
    task: SynthesisTask,
    ruled: Conclusions,
    theses: Sequence[Scoped],
    *,
    question: str,
) -> Synthesis:
    """Return the synthesis in words, and report each contradiction with its outcome."""
    wording = Wording(task.language, theses)
    if model is None:
        stage, found = Stage.CONTRADICTIONS, wording.synthesis(question, ruled)
    else:
        stage = Stage.SYNTHESIS
        found = await model.synthesis(run, task, ruled, theses, wording, question=question)
    for done, each in enumerate(found.described, 1):
        run.say(stage, 60 + 10 * done / len(found.described), each)
    run.say(Stage.SYNTHESIS, 75)
    return found


async def _reviewed(
    run: Run, review: Review | None, question: str, found: Synthesis
) -> AnswerReviewed | None:
    if review is None:
        return None
    concluded, language = found.conclusions, found.language
    task = ReviewTask(
        question,
        without_links(found.text),
        tuple(without_links(f"{each.agent}: {each.claim}") for each in concluded.theses),
        criteria_set("general", language),
        language,
    )
    unresolved = [concluded.contradictions[at].severity for at in concluded.unresolved]
    return await review(
        task,
        lambda stage, share, said: run.say(stage, 75 + 20 * share, said),
        critical=unresolved.count(Severity.CRITICAL),
    )
