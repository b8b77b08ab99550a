"""Lineage chains among ranked candidates: their order, and what is left out of them (S11, T4).

The order is decided on all ranked rows, before a page is cut: so no page size and no page changes
it. What was replaced and alone holds searched words is named where it is not returned (S5).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from concord_search.domain.candidates import Candidates
from concord_search.domain.confidence import Band
from concord_search.domain.filters import Superseded
from concord_search.domain.instants import NEVER, AsOf, Micros
from concord_search.domain.memory import MemoryState
from concord_search.ports.graph import Graph
from concord_search.ports.index import Question
from concord_search.usecases.results import Ranked, Result, may_be_shown
from concord_search.usecases.search_context import SearchContext

LOOKED_AT = 64
"""So many of the best rows that may be of a chain are looked at: graph reads them in one call."""

NEAR = 0.1
"""What a head replaced is found clearly better if its composite is more than so much higher."""

LOOKED_FOR = 20
"""So many candidates come from each branch."""

READ = 3
"""So many of them are read at most."""

_EPSILON = 1e-9
"""Of a weight; that of a word which nobody holds is much larger."""


def may_be_of_chains(ranked: Ranked) -> list[int]:
    """The rows that replace others, or have an end; none where no two can be of one chain."""
    found = ranked.ranking.found
    ended = found.held_until != NEVER
    rows = [row for row in ranked.rows if ended[row] or found.is_head[row]][:LOOKED_AT]
    return rows if len(rows) > 1 and ended[rows].any() else []


async def in_order(
    graph: Graph,
    space: str,
    ranked: Ranked,
    ids: Mapping[int, str],
    *,
    wanted: Superseded,
    as_of: AsOf,
) -> Ranked:
    """The rows, those of one chain in order; `ids`: of the rows that may be of chains.

    `wanted`: what the caller asked for. Whoever asked for what was replaced gets it by score behind
    its head; else a question about the past has brought it in, and time decides.
    """
    if not ids:
        return ranked
    read = await graph.current(space, [*ids.values()], count_as_read=False, as_of=as_of)
    states = {row: item.state for row, item in zip(ids, read, strict=True) if item is not None}
    order = after_heads if wanted is Superseded.INCLUDE else by_time
    return replace(ranked, rows=order(ranked, states))


def after_heads(ranked: Ranked, states: Mapping[int, MemoryState]) -> list[int]:
    """By score, but what was replaced comes right behind its best head, the newest first.

    By its score alone where it answers alone: it holds a searched word that its head lacks, and its
    composite is more than `NEAR` higher.
    """
    place = {row: at for at, row in enumerate(ranked.rows)}
    row_of = {state.id: row for row, state in states.items()}
    composite, holds = ranked.ranking.composite, ranked.ranking.found.holds

    def rank(row: int) -> tuple[int, int, Micros]:
        state = states.get(row)
        named = () if state is None or state.id in state.heads else state.heads
        heads = (row_of[each] for each in named if each in row_of)
        head = min(heads, key=place.__getitem__, default=row)
        is_alone = (holds[row] & ~holds[head]).any() and composite[row] > composite[head] + NEAR
        if state is None or place[head] <= place[row] or is_alone:
            return place[row], 0, 0
        return place[head], 1, -state.valid_from

    return sorted(ranked.rows, key=rank)


def by_time(ranked: Ranked, states: Mapping[int, MemoryState]) -> list[int]:
    """Gives the places of each chain to its memories by how well they fit the asked time, then the
    newest first: that they are about the same thing is known, so time decides."""
    fit = np.nan_to_num(ranked.ranking.scores["window"])
    chains: dict[str, list[int]] = {}
    for row in ranked.rows:
        if row in states:
            chains.setdefault(_chain(states[row]), []).append(row)
    for members in chains.values():
        members.sort(key=lambda row: (fit[row], states[row].valid_from))
    return [chains[_chain(states[row])].pop() if row in states else row for row in ranked.rows]


def _chain(state: MemoryState) -> str:
    return min(state.heads, default=state.id)


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
