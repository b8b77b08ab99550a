"""A model that synthesizes: its indices, enums and statutes are checked against its input."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from concord_models.budget import Cost
from concord_models.chat import Question
from concord_models.endpoint import BadReply
from concord_reading.prose import without_links
from pydantic import Field, StringConstraints

from concord_dissonance.adapters.openai_council.asking import CouncilModel, Reply, Shape
from concord_dissonance.domain.dialectic.legal import numbered
from concord_dissonance.domain.dialectic.resolutions import Strategy
from concord_dissonance.domain.dialectic.said import (
    SaidContradiction,
    SaidResolution,
    SaidSynthesis,
    SourceText,
    SynthesisTask,
)
from concord_dissonance.domain.dialectic.synthesis import Described
from concord_dissonance.domain.dialectic.theses import Claim, Thesis
from concord_dissonance.domain.verdicts import ConflictType, Severity
from concord_dissonance.ports.models import Asked

_PREVAILS = frozenset({Strategy.HIERARCHIZATION, Strategy.TEMPORAL_ORDERING})
"""Strategies by which one thesis prevails over the other; by the other strategies both hold."""

_Line = Annotated[str, StringConstraints(min_length=1, max_length=2_000, strip_whitespace=True)]
_Short = Annotated[str, StringConstraints(min_length=1, max_length=256, strip_whitespace=True)]
_Context = Annotated[str, StringConstraints(max_length=500, strip_whitespace=True)]
_Long = Annotated[str, StringConstraints(min_length=1, max_length=20_000, strip_whitespace=True)]
_Type = Literal["legal", "factual", "temporal", "regional", "methodological"]
_Strategy = Literal[
    "contextualization",
    "hierarchization",
    "synthesis",
    "temporal_ordering",
    "regional_differentiation",
    "unresolved",
]


class _Thesis(Reply):
    claim: _Line
    evidence: Annotated[list[_Line], Field(min_length=1, max_length=10)]
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    legal_basis: Annotated[list[_Short], Field(max_length=10)]
    context: _Context


class _Theses(Reply):
    theses: Annotated[list[_Thesis], Field(max_length=3)]


class _Contradiction(Reply):
    thesis_a_index: int
    thesis_b_index: int
    type: _Type
    severity: Literal["critical", "moderate", "minor"]
    description: _Line
    potential_resolutions: Annotated[list[_Line], Field(max_length=5)]


class _Contradictions(Reply):
    contradictions: Annotated[list[_Contradiction], Field(max_length=200)]


class _Resolution(Reply):
    contradiction_index: int
    strategy: _Strategy
    prevailing_index: int | None
    explanation: _Line


class _Synthesis(Reply):
    reasoning: _Long
    resolutions: list[_Resolution]
    text: _Long


class OpenAiSynthesizer:
    """A synthesizer (port `ModelSynthesizer`)."""

    def __init__(self, name: str, model: CouncilModel) -> None:
        self.name = name
        self._model = model

    def cost(self, task: SynthesisTask, texts: Sequence[SourceText]) -> Cost:
        """Estimate the cost of all steps; cached answers cost nothing."""
        questions: list[Question[Any]] = [
            *(self._of_text(task, each) for each in texts),
            self._of_pairs(task),
            self._of_whole(task),
        ]
        return sum(map(self._model.cost, questions), Cost())

    async def theses(self, task: SynthesisTask, text: SourceText) -> Asked[Sequence[Claim]]:
        return await self._model.ask(self._of_text(task, text), _claims)

    async def contradictions(self, task: SynthesisTask) -> Asked[Sequence[SaidContradiction]]:
        question = self._of_pairs(task)

        def check(said: _Contradictions) -> Sequence[SaidContradiction]:
            _states_no_more(said, question)
            return _pairs(said, len(task.theses))

        return await self._model.ask(question, check)

    async def synthesis(self, task: SynthesisTask) -> Asked[SaidSynthesis]:
        question = self._of_whole(task)

        def check(said: _Synthesis) -> SaidSynthesis:
            _states_no_more(said, question)
            return SaidSynthesis(said.text, said.reasoning, _resolutions(said, task.contradictions))

        return await self._model.ask(question, check)

    def _of_text(self, task: SynthesisTask, text: SourceText) -> Question[_Theses]:
        data = {"question": task.question, "text": text.text, "known": list(text.known)}
        return self._question("theses", task, data, _Theses)

    def _of_pairs(self, task: SynthesisTask) -> Question[_Contradictions]:
        data = {"question": task.question, "theses": _shown(task.theses)}
        return self._question("contradictions", task, data, _Contradictions)

    def _of_whole(self, task: SynthesisTask) -> Question[_Synthesis]:
        contradictions = [
            {
                "index": index,
                "thesis_a_index": each.contradiction.clash.first,
                "thesis_b_index": each.contradiction.clash.second,
                "type": each.contradiction.type.value,
                "description": each.description,
            }
            for index, each in enumerate(task.contradictions)
        ]
        data = {
            "question": task.question,
            "theses": _shown(task.theses),
            "contradictions": contradictions,
        }
        return self._question("synthesis", task, data, _Synthesis)

    def _question(
        self, name: str, task: SynthesisTask, data: Mapping[str, Any], shape: type[Shape]
    ) -> Question[Shape]:
        return self._model.question(name, task.language, _unlinked(data), shape)


def _unlinked(data: Any) -> Any:
    """Return data for a model without links: no memory's id goes to one."""
    match data:
        case str():
            return without_links(data)
        case dict():
            return {name: _unlinked(each) for name, each in data.items()}
        case list():
            return [*map(_unlinked, data)]
    return data


def _claims(said: _Theses) -> Sequence[Claim]:
    return [
        Claim(
            each.claim,
            tuple(each.evidence),
            each.confidence,
            tuple(each.legal_basis),
            each.context,
        )
        for each in said.theses
    ]


def _shown(theses: Sequence[Thesis]) -> list[Mapping[str, Any]]:
    return [{"index": index, **_facts(each)} for index, each in enumerate(theses)]


def _facts(thesis: Thesis) -> Mapping[str, Any]:
    """Return the stated fields of a thesis, without ids, so that a model cannot name any."""
    stated = {
        "source": thesis.agent,
        "claim": thesis.claim,
        "evidence": list(thesis.evidence),
        "legal_basis": list(thesis.legal_basis),
        "context": thesis.context,
        "region": thesis.region,
        "valid_from": None
        if thesis.valid_from is None
        else datetime.fromtimestamp(thesis.valid_from / 1e6, UTC).date().isoformat(),
        "authority": thesis.authority,
    }
    return {name: value for name, value in stated.items() if value not in ("", [], None)}


def _states_no_more(said: Reply, question: Question[Any]) -> None:
    """Raise `BadReply` if the reply names a statute that the question's data do not name."""
    given = numbered(json.dumps(question.data, ensure_ascii=False))
    more = numbered("\n".join(_strings(said.model_dump()))) - given
    if more:
        raise BadReply(
            "it names a statute that the theses do not",
            hint="No thesis names "
            + ", ".join(sorted(f"{kind} {number}" for kind, number in more)),
        )


def _strings(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


def _pairs(said: _Contradictions, theses: int) -> Sequence[SaidContradiction]:
    found = {}
    for each in said.contradictions:
        first, second = sorted((each.thesis_a_index, each.thesis_b_index))
        if not 0 <= first < second < theses:
            raise BadReply(
                "it names theses that are not there",
                hint=f"contradictions: two different indices from 0 to {theses - 1}",
            )
        if (first, second) in found:
            raise BadReply("it names a pair of theses twice")
        found[first, second] = SaidContradiction(
            (first, second),
            ConflictType(each.type),
            Severity(each.severity),
            each.description,
            tuple(each.potential_resolutions),
        )
    return list(found.values())


def _resolutions(
    said: _Synthesis, contradictions: Sequence[Described]
) -> tuple[SaidResolution, ...]:
    by_index = {each.contradiction_index: each for each in said.resolutions}
    places = [*range(len(contradictions))]
    if sorted(each.contradiction_index for each in said.resolutions) != places:
        raise BadReply(
            "it does not speak of each contradiction once",
            hint=f"resolutions: each contradiction_index once, all of {places}",
        )
    return tuple(_resolution(by_index[at], contradictions[at]) for at in places)


def _resolution(said: _Resolution, described: Described) -> SaidResolution:
    strategy = None if said.strategy == "unresolved" else Strategy[said.strategy.upper()]
    clash = described.contradiction.clash
    allowed = (clash.first, clash.second) if strategy in _PREVAILS else (None,)
    if said.prevailing_index not in allowed:
        raise BadReply(
            "a resolution names another thesis than may prevail",
            hint=f"resolutions: prevailing_index of contradiction {said.contradiction_index} is "
            f"one of {[*allowed]} with {said.strategy}",
        )
    return SaidResolution(strategy, said.prevailing_index, said.explanation)
