"""Examines statements: finds candidate pairs, has them judged, and counts the coverage."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from concord_chassis.server.workers import Workers
from concord_reading.language import DEFAULT_LANGUAGE, language_of
from concord_reading.reader import missing

from concord_dissonance.clients.search import SearchClient
from concord_dissonance.domain import candidates
from concord_dissonance.domain.candidates import Pair, Sketches
from concord_dissonance.domain.errors import ServiceUnavailable
from concord_dissonance.domain.judges.judging import judge
from concord_dissonance.domain.judges.uncompared import uncompared
from concord_dissonance.domain.nearness import NEAR, Near
from concord_dissonance.domain.sides import Kind, Rules, Side, leave_unread, read_all
from concord_dissonance.domain.statements import Coverage, Finding, Statement
from concord_dissonance.domain.templates import without_templates
from concord_dissonance.domain.verdicts import Abstained, Abstention, Verdict
from concord_dissonance.usecases.ask_models import AskModels
from concord_dissonance.usecases.sketches import Sketched

CHUNK = 250
"""Texts that are read, or pairs that are judged, in one turn of the thread."""


@dataclass(slots=True)
class Examination:
    """The statements of a space, or of a part of it, and the results of their examination.

    `only`: pairs without any of these ids were judged before, and are passed over; None: all pairs
    count. `again`: pairs of memories that are judged whether they are near or not, with the ids of
    their conflicts; `not_found`: those of these ids that no judge finds. It and `findings` are
    complete once `Examine` has ended.
    """

    space: str
    statements: Sequence[Statement]
    rules: Rules
    only: frozenset[str] | None = None
    is_dry: bool = False
    again: Mapping[Pair, str] = field(default_factory=dict)
    coverage: Coverage = field(default_factory=Coverage)
    findings: list[Finding] = field(default_factory=list)
    not_found: list[str] = field(default_factory=list)


class Examine:
    """The use case behind every check."""

    def __init__(
        self, search: SearchClient, sketched: Sketched, workers: Workers, models: AskModels
    ) -> None:
        self._search, self._sketched = search, sketched
        self._workers, self._models = workers, models

    async def __call__(self, exam: Examination) -> AsyncIterator[float]:
        """Judges every candidate pair; yields the share that is done, in [0, 1]."""
        exam.coverage.statements = len(exam.statements)
        there = {each.id: each for each in exam.statements}
        edges = [each for each in there.values() if each.side.kind is Kind.EDGE]
        memories = sorted(
            (each for each in there.values() if each.side.kind is not Kind.EDGE),
            key=lambda each: each.id,
        )
        if missing() and (unread := sum(map(_is_english, memories))):
            exam.coverage.is_degraded = True
            exam.coverage.skipped["PARSER_MISSING"] = unread
        of_edges = sorted(candidates.of_edges(edges, exam.rules))
        similar = await self._similar(exam, memories)
        sketches = await self._sketched(exam.space, memories, at_once=CHUNK)
        near = await self._workers.run(
            candidates.of_memories, memories, sketches, similar, exam.only
        )
        near |= exam.again.keys()
        # Pairs of memories whose facts are compared as edges are not compared again as texts.
        near -= candidates.stated_by(of_edges, there, exam.rules)
        if exam.only is not None:
            of_edges = [pair for pair in of_edges if not exam.only.isdisjoint(pair)]
        await self._read(there, sketches, near)
        pairs = [*of_edges, *sorted(near)]
        exam.coverage.candidates = len(pairs)
        asking = self._models.begin(exam.space, exam.coverage, is_dry=exam.is_dry)
        for start in range(0, len(pairs), CHUNK):
            chunk = [(there[one], there[other]) for one, other in pairs[start : start + CHUNK]]
            sides = [(one.side, other.side) for one, other in chunk]
            said = await self._workers.run(judged, sides, exam.rules)
            for pair, each in zip(chunk, await self._models(asking, sides, said), strict=True):
                note(exam, *pair, each)
            yield min(1.0, (start + CHUNK) / len(pairs))
        found = {candidates.pair_of(each.first.id, each.second.id) for each in exam.findings}
        exam.not_found = [exam.again[each] for each in exam.again.keys() & near - found]
        exam.findings, left_out = await self._workers.run(
            without_templates, exam.findings, memories
        )
        if left_out:
            exam.coverage.skipped["TEMPLATE"] = left_out
        exam.findings.sort(key=lambda each: (-each.confidence, each.first.id, each.second.id))

    async def _read(
        self, there: Mapping[str, Statement], sketches: Sketches, pairs: Iterable[Pair]
    ) -> None:
        """Read the texts of which a pair can be compared; of the others nothing is compared."""
        read = {
            each
            for one, other in pairs
            if sketches[one].shares_a_thing(sketches[other])
            for each in (one, other)
        }
        for each in sketches.keys() - read:
            leave_unread(there[each].side)
        sides = [there[each].side for each in sorted(read)]
        for start in range(0, len(sides), CHUNK):
            await self._workers.run(read_all, sides[start : start + CHUNK])

    async def _similar(self, exam: Examination, memories: Sequence[Statement]) -> Near:
        ids = [each.id for each in memories if exam.only is None or each.id in exam.only]
        if len(memories) < 2 or not ids:
            return {}
        try:
            found = await self._search.similar(exam.space, ids, NEAR)
        except ServiceUnavailable:
            exam.coverage.is_degraded = True
            exam.coverage.skipped["SEARCH_UNAVAILABLE"] += len(ids)
            return {}
        if missing := len(ids) - len(found):
            exam.coverage.skipped["NOT_INDEXED"] += missing
        return found


def _is_english(statement: Statement) -> bool:
    return language_of(statement.side.text) == DEFAULT_LANGUAGE


def judged(pairs: Sequence[tuple[Side, Side]], rules: Rules) -> list[Verdict | Abstention]:
    """Return the rules' verdicts on pairs, in order."""
    return [judge(one, other, rules) for one, other in pairs]


def note(exam: Examination, one: Statement, other: Statement, said: Verdict | Abstention) -> None:
    """Count a verdict or abstention, and keep a finding if the statements disagree."""
    if isinstance(said, Abstention):
        exam.coverage.abstained[said.reason.name] += 1
        if said.reason is Abstained.TOO_DIFFERENT and (flag := uncompared(one.side, other.side)):
            exam.findings.append(Finding(one, other, flag))
            return
        overlap = candidates.concept_overlap(one, other)
        if overlap > candidates.LEAST_OVERLAP:
            exam.findings.append(Finding(one, other, None, overlap))
        return
    exam.coverage.judged += 1
    exam.coverage.judged_by[said.judge.name] += 1
    if said.is_finding:
        exam.findings.append(Finding(one, other, said))
