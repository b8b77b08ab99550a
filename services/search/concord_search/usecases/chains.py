"""The order of ranked candidates that are of one lineage chain (spec S11, T4).

It is decided on all ranked rows, before a page is cut: so no page size and no page changes it.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from concord_search.domain.filters import Superseded
from concord_search.domain.instants import NEVER, AsOf, Micros
from concord_search.domain.memory import MemoryState
from concord_search.ports.graph import Graph
from concord_search.usecases.results import Ranked

LOOKED_AT = 64
"""So many of the best rows that may be of a chain are looked at: graph reads them in one call."""

NEAR = 0.1
"""What a head replaced is found clearly better if its composite is more than so much higher."""


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
