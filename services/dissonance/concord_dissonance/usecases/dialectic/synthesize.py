"""Synthesizes what agents and memories say: theses, contradictions, resolutions, words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from concord_chassis.workers import Workers

from concord_dissonance.domain.dialectic.contradictions import (
    Ambiguity,
    Clash,
    Scoped,
    compare_all,
    pairs_of,
)
from concord_dissonance.domain.dialectic.extraction import extract
from concord_dissonance.domain.dialectic.phrases import Phrases
from concord_dissonance.domain.dialectic.resolutions import resolve
from concord_dissonance.domain.dialectic.synthesis import Conclusions, Synthesis
from concord_dissonance.domain.dialectic.theses import Batch, Source
from concord_dissonance.domain.dialectic.wording import Wording
from concord_dissonance.domain.peer_review.criteria import criteria_set
from concord_dissonance.domain.peer_review.review import ReviewTask
from concord_dissonance.domain.reading import DEFAULT_LANGUAGE, read
from concord_dissonance.domain.sides import Rules
from concord_dissonance.domain.verdicts import Severity
from concord_dissonance.ports import PRINCIPAL, CallersGraph, CallersSearch, Credential
from concord_dissonance.usecases.dialectic.keep import Keep, KeepSynthesis
from concord_dissonance.usecases.dialectic.review_answer import AnswerReviewed, Review
from concord_dissonance.usecases.dialectic.runs import Run, Stage

CHUNK = 100
"""Pairs that are judged in one turn of the judges' thread, which checks use, too."""


@dataclass(frozen=True, slots=True)
class SynthesisQuery:
    """What is to be synthesized: sources, memories by id, and those that a query finds."""

    request_id: str
    question: str = ""
    sources: Sequence[Source] = ()
    memory_ids: Sequence[str] = ()
    query: str = ""
    query_limit: int = 10
    language: str = ""
    keep: Keep | None = None


@dataclass(frozen=True, slots=True)
class ReviewedSynthesis:
    """A synthesis, and what a council says of it."""

    synthesis: Synthesis
    review: AnswerReviewed


class Synthesize:
    """The use case."""

    def __init__(
        self, workers: Workers, graph: CallersGraph, search: CallersSearch, keep: KeepSynthesis
    ) -> None:
        self._workers, self._graph, self._search, self._keep = workers, graph, search, keep
        self._phrases = Phrases()

    async def __call__(
        self,
        run: Run,
        space: str,
        who: Credential,
        query: SynthesisQuery,
        review: Review | None = None,
    ) -> Synthesis | ReviewedSynthesis:
        """Synthesize, have the synthesis reviewed, and say on the way what is found.

        Without a thesis there is nothing to review or keep.
        """
        run.say(Stage.READING, 0)
        sources = [*query.sources, *await self._memories(who, query)]
        batches = await self._extracted(run, sources)
        scoped = [Scoped(each, self._phrases) for batch in batches for each in batch.theses]
        wording = Wording(_language(query, scoped), scoped)
        conclusions = await self._concluded(run, batches, scoped, wording)
        run.say(Stage.SYNTHESIS, 75)
        found = wording.synthesis(query.question, conclusions)
        if not conclusions.theses:
            return found
        reviewed = await _reviewed(run, review, query.question or query.query, found)
        if query.keep is not None:
            run.say(Stage.KEEPING, 95)
            kept = await self._keep(space, who, query.request_id, found, query.keep)
            found = replace(found, kept=kept)
        return found if reviewed is None else ReviewedSynthesis(found, reviewed)

    async def _memories(self, who: Credential, query: SynthesisQuery) -> Sequence[Source]:
        """Return what the memories say that are named, then those that the query finds.

        What dissonance concluded itself is no ground of another conclusion, unless it is named.
        """
        named = await self._graph.sources(who, query.memory_ids)
        if not query.query:
            return named
        ids = await self._search.found(who, query.query, query.query_limit)
        found = await self._graph.sources(who, [e for e in ids if e not in query.memory_ids])
        return [*named, *(each for each in found if not _is_conclusion(each))]

    async def _extracted(self, run: Run, sources: Sequence[Source]) -> list[Batch]:
        run.say(Stage.THESES, 20)
        batches: list[Batch] = []
        for done, source in enumerate(sources, 1):
            batch = await self._workers.run(extract, source, self._phrases)
            batch.first = sum(len(each.theses) for each in batches)
            batches.append(batch)
            run.say(Stage.THESES, 20 + 20 * done / len(sources), batch)
        return batches

    async def _concluded(
        self, run: Run, batches: Sequence[Batch], theses: Sequence[Scoped], wording: Wording
    ) -> Conclusions:
        run.say(Stage.CONTRADICTIONS, 40)
        pairs = pairs_of(theses)
        found: list[Clash | Ambiguity] = []
        for start in range(0, len(pairs), CHUNK):
            chunk = pairs[start : start + CHUNK]
            found += await self._workers.run(compare_all, theses, chunk, Rules())
            run.say(Stage.CONTRADICTIONS, 40 + 20 * min(1, (start + CHUNK) / len(pairs)))
        contradictions = [resolve(each, theses) for each in found if isinstance(each, Clash)]
        for done, each in enumerate(contradictions, 1):
            percent = 60 + 10 * done / len(contradictions)
            run.say(Stage.CONTRADICTIONS, percent, wording.described(each))
        return Conclusions(
            [each.thesis for each in theses],
            [each for batch in batches for each in batch.set_aside],
            contradictions,
            [each for each in found if isinstance(each, Ambiguity)],
            sources=len(batches),
            memories=len({each.thesis.memory.id for each in theses if each.thesis.memory}),
            pairs=len(pairs),
        )


def _is_conclusion(source: Source) -> bool:
    return source.memory is not None and PRINCIPAL in source.memory.side.sources


async def _reviewed(
    run: Run, review: Review | None, question: str, found: Synthesis
) -> AnswerReviewed | None:
    if review is None:
        return None
    concluded, language = found.conclusions, found.language
    task = ReviewTask(
        question,
        found.text,
        tuple(f"{each.agent}: {each.claim}" for each in concluded.theses),
        criteria_set("general", language),
        language,
    )
    unresolved = [concluded.contradictions[at].severity for at in concluded.unresolved]
    return await review(
        task,
        lambda stage, share, said: run.say(stage, 75 + 20 * share, said),
        critical=unresolved.count(Severity.CRITICAL),
    )


def _language(query: SynthesisQuery, theses: Sequence[Scoped]) -> str:
    """Return the language that was asked for, else that of the question, else of the theses."""
    for text in (query.question, query.query, " ".join(each.thesis.claim for each in theses)):
        reading = read(text)
        if not query.language and reading.is_language_told:
            return reading.language
    return query.language or DEFAULT_LANGUAGE
