"""Results of a search: ranked candidates as graph shows them, each explained (S4, S5, T4)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan

from concord_search.domain import explanation
from concord_search.domain.certainty import Certainty, certainties
from concord_search.domain.confidence import Band
from concord_search.domain.filters import Scope, admits
from concord_search.domain.instants import AsOf
from concord_search.domain.ranking import Breakdown, Ranking
from concord_search.domain.stated import Triple, matched
from concord_search.ports.graph import Graph, Hydrated, OpenConflict
from concord_search.ports.index import Question

MOST_CONFLICTS = 20
"""The most conflicts that a result shows."""

_NOT_IN_FORCE = Certainty(Band.LOW)
"""The certainty of a result that does not answer by its time: it is not to be asserted."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A question's candidates, ranked: the rows with at least the minimum score, best first."""

    question: Question
    ranking: Ranking
    rows: Sequence[int]
    doubted: Collection[int] = ()
    """Rows that are not to be HIGH, as what a person said may be otherwise (W9)."""


@dataclass(frozen=True, slots=True)
class Result:
    """One result with its explanation; `reasons`: one for each part of `breakdown`, in order."""

    memory: Hydrated
    cosine: float
    fusion: float
    breakdown: Breakdown
    reasons: tuple[str, ...]
    relevance_reason: str
    certainty: Certainty
    band: Band
    """What is said of it: MEDIUM of the best one in force alone."""
    stated: Triple | None = None
    """The fact of the memory that shares words with the query."""
    question_before: str = ""
    answer_after: str = ""
    """The index's own names of the question that it follows, and of the turn that follows it as a
    question."""
    conflicts: tuple[OpenConflict, ...] = ()
    in_force: bool = True
    """Whether it holds and is not replaced, or held at the time that is over and asked for."""


def may_be_shown(item: Hydrated, scored_seq: int, scope: Scope | None) -> bool:
    """Whether graph's state of a memory or edge may be shown in place of the scored one.

    Without a `scope` a newer state may, whatever it says.
    """
    state = item.state
    if state.is_edge:  # read without the number of its change
        return scope is not None and admits(scope, state)
    if state.seq < scored_seq or state.forgotten:
        return False
    return scope is None or state.seq == scored_seq or admits(scope, state)


def explained(ranked: Ranked, shown: Sequence[tuple[int, Hydrated]]) -> list[Result]:
    """Candidates, given by row and memory, with their explanations and certainties."""
    rows = [row for row, _ in shown]
    sure = certainties(ranked.ranking, rows) if rows else {}
    results = {row: _result(ranked, row, memory, sure[row]) for row, memory in shown}
    best = _best_in_force(ranked, results)
    return [
        replace(each, band=Band.LOW) if each.band is Band.MEDIUM and each is not best else each
        for each in results.values()
    ]


def _best_in_force(ranked: Ranked, results: Mapping[int, Result]) -> Result | None:
    """The first result in force, if all that comes before it is there, too: on the first page."""
    for row in ranked.rows:
        if row not in results or results[row].in_force:
            return results.get(row)
    return None


def _result(ranked: Ranked, row: int, memory: Hydrated, sure: Certainty) -> Result:
    found, question = ranked.ranking.found, ranked.question
    breakdown, talk, cosine = ranked.ranking.breakdown(row), found.talk, float(found.cosine[row])
    stated = matched(memory.state.facts, question.concepts)
    sure = _capped(sure, ranked, row)
    in_force = memory.state.current_at(question.scope.valid) or _held_as_asked(ranked, row)
    context = explanation.Context(
        memory=memory.state,
        query_concepts=question.concepts,
        query_domain=question.domain,
        access_count=int(found.access_count[row]),
        last_access=int(found.last_access[row]),
        now=question.scope.now,
        as_of=question.scope.as_of,
        time_asked=question.times.within.phrase if question.times.within else "",
        stated=stated,
    )
    return Result(
        memory=memory,
        cosine=0.0 if isnan(cosine) else max(-1.0, min(1.0, cosine)),
        fusion=float(found.fusion[row]),
        breakdown=breakdown,
        reasons=tuple(explanation.reason(part, context) for part in breakdown.parts),
        relevance_reason=explanation.relevance_reason(breakdown, context),
        certainty=sure if in_force else _NOT_IN_FORCE,
        band=sure.band if in_force else Band.LOW,
        stated=stated,
        question_before=talk.before.items[row] if talk.before.asks[row] else "",
        answer_after=talk.after.items[row] if talk.asks[row] else "",
        in_force=in_force,
    )


def _capped(sure: Certainty, ranked: Ranked, row: int) -> Certainty:
    """MEDIUM in place of HIGH, where a person may have said otherwise."""
    is_doubted = sure.band is Band.HIGH and row in ranked.doubted
    return replace(sure, band=Band.MEDIUM) if is_doubted else sure


def _held_as_asked(ranked: Ranked, row: int) -> bool:
    """Whether the question is about a time that is over or to come, and a candidate holds, happens
    or names a time within it: so it answers, though it is no more, or not yet."""
    scope, times = ranked.question.scope, ranked.question.times
    fits = bool(ranked.ranking.scores["window"][row] == 1.0)  # no data is NaN
    asked = times.look_back(scope.as_of, scope.now) or (
        times.look_ahead(scope.as_of, scope.now)
        and scope.now < ranked.ranking.found.valid_from[row]
    )
    return fits and bool(asked)


async def with_conflicts(
    graph: Graph, space: str, results: list[Result], as_of: AsOf
) -> list[Result]:
    """The results, each with its open conflicts."""
    at = {r.memory.state.id: r.memory.conflict_ids for r in results if r.memory.conflict_ids}
    if not at:
        return results
    found = await graph.conflicts(space, at, as_of)
    return [
        replace(each, conflicts=tuple(found.get(each.memory.state.id, ()))[:MOST_CONFLICTS])
        for each in results
    ]


def before_claims(
    rows: Sequence[int], shown: Sequence[tuple[int, Hydrated]], row_of: Mapping[str, int]
) -> list[int]:
    """The rows, each before those among the shown ones that only claim to take its place."""
    ahead = {
        row: [row_of[name] for name in item.state.claims_on if name in row_of]
        for row, item in shown
    }
    return list(dict.fromkeys(one for row in rows for one in (*ahead.get(row, ()), row)))


def beside_their_items(results: Sequence[Result]) -> list[Result]:
    """Brings each memory that only claims to take another's place, and that one, together at the
    better place of both, the other one first; keeps the order else."""
    there = {each.memory.state.id: each for each in results}
    of = {
        name: each
        for each in reversed(results)
        for name in there.keys() & {*each.memory.state.claimed_by}
    }
    ordered: dict[str, Result] = {}
    for each in results:
        leading = of.get(each.memory.state.id, each)
        claiming = (there[name] for name in there if of.get(name) is leading)
        for one in (leading, *claiming):
            ordered.setdefault(one.memory.state.id, one)
    return list(ordered.values())
