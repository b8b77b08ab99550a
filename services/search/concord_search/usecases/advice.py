"""What to do with a page of results: its band, the next action and the lines (spec S5)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from concord_search.domain import stac
from concord_search.domain.confidence import Band
from concord_search.domain.filters import Superseded
from concord_search.domain.memory import VERIFIED
from concord_search.domain.speech import asks_of_the_past
from concord_search.domain.stac import Case, NextAction, Preference, StacOptions, Thresholds
from concord_search.ports.graph import OpenConflict
from concord_search.ports.index import Question
from concord_search.usecases.chains import SupersededMatch
from concord_search.usecases.results import Result

ADDED_WORDS = 5
"""The most words that a refinement suggests."""

NEAR = 0.1
"""A result is near if it is not LOW, and its composite is at most so far below the best result's.
Measured in services/decisions/0076."""


@dataclass(frozen=True, slots=True)
class Advice:
    """The top result's band, the next action, and the lines that say why."""

    band: Band
    action: NextAction
    preference: Preference | None
    lines: Sequence[str]


def advice(
    question: Question,
    results: Sequence[Result],
    options: StacOptions,
    limits: Thresholds,
    *,
    lag: int,
    hidden: SupersededMatch | None = None,
) -> Advice:
    """The advice about a page of results; `lag`: the number of changes that the index lacks.

    `hidden`: what was replaced, is no result, and alone holds searched words.

    It is about the first result, then about those in force, best first. A history begins with its
    oldest: there it is about the best one in force (spec T4, S5).
    """
    scope = question.scope
    current = [each for each in results if each.in_force]
    best = sorted(current or results, key=lambda each: -each.breakdown.composite)
    if results and scope.superseded is not Superseded.HISTORY:
        best = [results[0], *(each for each in best if each is not results[0])]
    is_current = bool(best) and best[0].in_force
    breakdowns = [each.breakdown for each in best]
    # about the past, but replaced memories are left out
    of_past = scope.superseded is Superseded.EXCLUDE and asks_of_the_past(
        question.text, scope.valid
    )
    case = Case(
        lag=lag,
        of_past=of_past,
        superseded=None if hidden is None else (hidden.memory_id, *hidden.concepts),
        times=question.times.in_words,
    )
    if best:
        top = best[0].certainty
        case = Case(
            band=best[0].band if is_current else Band.LOW,
            current=is_current,
            preference=_preference(best, limits) if is_current else None,
            asks=top.asks,
            lacks_rarest=top.lacks_rarest,
            words=_words_to_add(question, best),
            of_past=of_past,
            replaced=len(results) - len(best),
            disputed_by=next((each.other_id for each in _moving(best[0])), ""),
            superseded=case.superseded,
            times=case.times,
        )
    said = stac.lines(
        breakdowns,
        domain=best[0].memory.state.domain if best else "",
        why=best[0].relevance_reason if best else "",
        options=options,
        limits=limits,
        case=case,
    )
    return Advice(case.band, stac.next_action(breakdowns, limits, case), case.preference, said)


def _words_to_add(question: Question, best: Sequence[Result]) -> tuple[str, ...]:
    """Concepts and domains of near results that the query does not have."""
    least = best[0].breakdown.composite - NEAR
    near = [
        each.memory.state
        for each in best[: stac.LOOKED_AT]
        if each.certainty.band is not Band.LOW and each.breakdown.composite >= least
    ]
    words = [word for state in near for word in (*state.concepts, state.domain)]
    known = {"", question.domain, *question.concepts}
    return tuple(dict.fromkeys(word for word in words if word not in known))[:ADDED_WORDS]


def _preference(best: Sequence[Result], limits: Thresholds) -> Preference | None:
    """The preference for the first two results in dispute, one of them among the first three.

    What a caller merely says against a higher one's memory counts for the first result alone, and
    for the other.
    """
    there = {each.memory.state.id: each for each in best}
    for one in best[: stac.LOOKED_AT]:
        for conflict in _moving(one):
            other = there.get(conflict.other_id)
            if other is None or (conflict.is_claimed and one is not best[0]):
                continue
            ids = one.memory.state.id, other.memory.state.id
            is_above = conflict.is_claimed and other.memory.state.trust >= VERIFIED
            if is_above or stac.is_second_preferred(one.breakdown, other.breakdown, limits):
                ids = ids[::-1]
            return Preference(*ids)
    return None


def _moving(result: Result) -> Iterator[OpenConflict]:
    """Its conflicts, but for those that were merely found in texts, and those that only a lower
    caller says there are (W9)."""
    is_persons = result.memory.state.trust >= VERIFIED
    for each in result.conflicts:
        if not (each.is_text_finding or (each.is_claimed and is_persons)):
            yield each
