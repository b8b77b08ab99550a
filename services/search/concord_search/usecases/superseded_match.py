"""What was replaced and alone holds searched words: named, not returned (spec T4, S5)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from concord_search.domain.candidates import Candidates
from concord_search.domain.confidence import Band
from concord_search.domain.filters import Superseded
from concord_search.ports.index import Question
from concord_search.usecases.results import Ranked, Result, may_be_shown
from concord_search.usecases.search_context import SearchContext

LOOKED_FOR = 20
"""So many candidates come from each branch."""

READ = 3
"""So many of them are read at most."""

_EPSILON = 1e-9
"""Of a weight; that of a word which nobody holds is much larger."""


@dataclass(frozen=True, slots=True)
class SupersededMatch:
    """A superseded memory, with the query's concepts that it has and no result has."""

    memory_id: str
    concepts: tuple[str, ...]


async def superseded_match(
    context: SearchContext,
    space: str,
    ranked: Ranked,
    results: Sequence[Result],
    rank: Callable[[Question, Candidates], Ranked],
) -> SupersededMatch | None:
    """The best superseded memory that holds a searched word which no candidate holds.

    None where superseded ones may be results, or the first result is HIGH. The index is asked
    only if a current or a superseded memory holds such a word.
    """
    question, found = ranked.question, ranked.ranking.found
    if question.scope.superseded is not Superseded.EXCLUDE:
        return None
    if results and results[0].certainty.band is Band.HIGH:
        return None
    lacked = ~found.holds.any(axis=0) & (found.term_weights <= found.rarest + _EPSILON)
    if not lacked.any():
        return None
    scope = replace(question.scope, superseded=Superseded.INCLUDE)
    wider = replace(question, scope=scope, branch_limit=LOOKED_FOR, limit=LOOKED_FOR)
    others = rank(wider, await context.index.ask(space, wider))
    of_all = others.ranking.found
    rows = [
        row
        for row in others.rows
        if of_all.holds[row][lacked].any() and of_all.held_until[row] <= scope.valid
    ][:READ]
    ids = [context.index.id_of(space, of_all.items[row]) for row in rows]
    read = await context.graph.current(space, ids, count_as_read=False, as_of=question.scope.as_of)
    for row, item in zip(rows, read, strict=True):
        if item is None or not may_be_shown(item, int(of_all.seqs[row]), scope):
            continue
        if item.state.superseded_at(scope.valid):
            there = {each for result in results for each in result.memory.state.concepts}
            shared = item.state.shared(question.concepts)
            return SupersededMatch(
                item.state.id, tuple(each for each in shared if each not in there)
            )
    return None
