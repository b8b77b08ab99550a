"""A model's statements about theses, which add to the findings by rule and hide none of them.

The confidence, the unresolved contradictions, and the severity of those found by rule are computed
here, whatever a model says of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from concord_dissonance.domain.dialectic.contradictions import Clash, Pair
from concord_dissonance.domain.dialectic.resolutions import (
    Contradiction,
    Strategy,
    resolve,
    severity,
)
from concord_dissonance.domain.dialectic.scoped import Scoped
from concord_dissonance.domain.dialectic.synthesis import Conclusions, Described
from concord_dissonance.domain.dialectic.theses import Thesis
from concord_dissonance.domain.peer_review.review import FailureKind
from concord_dissonance.domain.verdicts import (
    ConflictClass,
    ConflictType,
    Judge,
    Reason,
    Severity,
    Verdict,
)

CONFIDENCE = 0.5
"""The confidence in a contradiction that only a model found. Concord comes without a model, so none
was calibrated; a judge that is asked in both orders of a pair has a higher one."""


@dataclass(frozen=True, slots=True)
class ModelFailure:
    """Why a model that was asked gave no usable answer; `detail` may be shown."""

    kind: FailureKind
    detail: str


@dataclass(frozen=True, slots=True)
class SourceText:
    """A source's text. `known`: its claims that are theses already, whatever a model says."""

    text: str
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SynthesisTask:
    """A model's input for a synthesis. Every text is data."""

    question: str
    language: str
    """ "en" or "de"."""
    theses: Sequence[Thesis] = ()
    contradictions: Sequence[Described] = ()


@dataclass(frozen=True, slots=True)
class SaidContradiction:
    """A contradiction that a model found. `pair`: the places of its theses, the lower one first."""

    pair: Pair
    type: ConflictType
    severity: Severity
    description: str
    resolutions: tuple[str, ...]
    """Possible resolutions."""


@dataclass(frozen=True, slots=True)
class SaidResolution:
    """A model's resolution of a contradiction. `strategy`: None if it stays unresolved."""

    strategy: Strategy | None
    prevailing: int | None
    """As in `Contradiction`."""
    explanation: str


@dataclass(frozen=True, slots=True)
class SaidSynthesis:
    """A synthesis in a model's words, with a resolution for each contradiction, in their order."""

    text: str
    reasoning: str
    resolutions: tuple[SaidResolution, ...]


def united(
    ruled: Conclusions, said: Sequence[SaidContradiction], theses: Sequence[Scoped]
) -> Conclusions:
    """Return the conclusions by rule, with the contradictions that only the model found.

    A contradiction that both found stays as the rules judge it.
    """
    known = {_pair(each) for each in ruled.contradictions}
    added = [_contradiction(each, theses) for each in said if each.pair not in known]
    listed = {each.pair for each in said}
    return replace(
        ruled,
        contradictions=sorted([*ruled.contradictions, *added], key=_pair),
        ambiguities=[e for e in ruled.ambiguities if (e.first, e.second) not in listed],
    )


def resolved(
    found: Conclusions, said: Sequence[SaidResolution], theses: Sequence[Scoped]
) -> Conclusions:
    """Return conclusions whose contradictions are resolved as a model says.

    A contradiction with a constitutive side is resolved by rule alone: no model decides about
    items that define the agent.
    """
    both = zip(found.contradictions, said, strict=True)
    return replace(
        found,
        contradictions=[
            each if is_constitutive(each, theses) else _resolved(each, how, theses)
            for each, how in both
        ],
    )


def is_constitutive(found: Contradiction, theses: Sequence[Scoped]) -> bool:
    """Whether a side of a contradiction is constitutive."""
    sides = (theses[at].thesis.memory for at in _pair(found))
    return any(each is not None and each.side.is_constitutive for each in sides)


def _pair(found: Contradiction) -> Pair:
    return found.clash.first, found.clash.second


def _contradiction(said: SaidContradiction, theses: Sequence[Scoped]) -> Contradiction:
    """Return a contradiction that only a model found, resolved by rule until the model does it."""
    verdict = Verdict(
        ConflictClass.CONTRADICTION, Judge.LLM, Reason.MODEL, CONFIDENCE, type=said.type
    )
    found = resolve(Clash(*said.pair, verdict), theses)
    if is_constitutive(found, theses):
        return replace(found, type=said.type)
    return replace(found, type=said.type, severity=said.severity)


def _resolved(
    found: Contradiction, said: SaidResolution, theses: Sequence[Scoped]
) -> Contradiction:
    by_rule = () if found.strategy is None else ((found.strategy, found.prevailing),)
    one, other = (theses[at] for at in _pair(found))
    graveness = severity(found.clash, one, other, is_resolved=said.strategy is not None)
    return replace(
        found,
        strategy=said.strategy,
        prevailing=said.prevailing,
        severity=found.severity if found.clash.verdict.judge is Judge.LLM else graveness,
        alternatives=[e for e in (*by_rule, *found.alternatives) if e[0] is not said.strategy],
    )
