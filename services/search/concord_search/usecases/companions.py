"""What makes results usable: the question before, what replaced them, sister facts (spec S11)."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from concord_search.domain.filters import MemoryFilter, Scope
from concord_search.domain.instants import Micros
from concord_search.ports.graph import Graph, Hydrated, Statement
from concord_search.usecases.results import Result, may_be_shown
from concord_search.usecases.search_context import SearchContext

MOST_MEMORIES = 50
MOST_RELATIONS = 5
"""So many memories, and relations of subjects for their other values, are looked up for a page."""

MOST_STATING = 50
"""So many memories that state facts are read; a fact of a further one counts as current."""

IN_DIALOGUE = 2
"""So many results bring the turns beside them: with all, a pack held less of the evidence of
questions that need several turns than a plain list did (`make bench ARGS=packs`)."""


@dataclass(frozen=True, slots=True)
class Companions:
    """What stands beside a result: memories, each with its part in words, and sister facts."""

    memories: Sequence[tuple[str, Hydrated]] = ()
    facts: Sequence[Statement] = ()


def named(place: int, result: Result, id_of: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """The id and the part of each memory beside the result at a place, from 0.

    `id_of`: the id behind an item's name.
    """
    state = result.memory.state
    if result.question_before and place < IN_DIALOGUE:
        yield id_of(result.question_before), "asked before"
    if result.answer_after and place < IN_DIALOGUE:
        yield id_of(result.answer_after), "answered after"
    yield from ((each, "replaces it") for each in state.heads if state.id not in state.heads)
    yield from ((each, "amends it") for each in state.amendments)
    yield from ((each, "claims to take its place") for each in state.claimed_by)


def memories_beside(
    parts: Sequence[Sequence[tuple[str, str]]], read: Sequence[Hydrated | None], scope: Scope
) -> list[list[tuple[str, Hydrated]]]:
    """For each result the memories beside it that were `read` and that its search may show."""
    there = {each.state.id: each for each in read if each and may_be_shown(each, 0, scope)}
    return [[(part, there[name]) for name, part in some if name in there] for some in parts]


async def sister_facts(
    graph: Graph, space: str, results: Sequence[Result], scope: Scope
) -> list[list[Statement]]:
    """For each result the other current facts with subject and relation of the one that matched,
    but for those that only replaced memories state.

    None where a filter is set: a fact has no kind, origin or trust that it could match.
    """
    about = dict.fromkeys(each.stated[:2] for each in results if each.stated)
    asked = [] if scope.filter != MemoryFilter() else list(about)[:MOST_RELATIONS]
    said = await asyncio.gather(*(graph.facts(space, *each, scope.as_of) for each in asked))
    known = dict(zip(asked, said, strict=True))
    beside = [
        [fact for fact in known.get(each.stated[:2], ()) if fact.fact != each.stated]
        if each.stated
        else []
        for each in results
    ]
    facts = (fact for some in beside for fact in some)
    gone = await given_up(graph, space, facts, scope, scope.valid)
    return [[fact for fact in some if fact.edge_id not in gone] for some in beside]


async def given_up(
    graph: Graph, space: str, statements: Iterable[Statement], scope: Scope, at: Micros
) -> frozenset[str]:
    """The ids of the edges that only memories state which had been replaced at an instant.

    An edge ends with its stated time, or the next value of a functional relation; of any other one
    the memory that states it may have been replaced long ago.
    """
    said = [each for each in statements if each.memory_ids]
    names = list(dict.fromkeys(name for each in said for name in each.memory_ids))[:MOST_STATING]
    if not names:
        return frozenset()
    read = await graph.current(space, names, count_as_read=False, as_of=scope.as_of)
    replaced = {each.state.id for each in read if each and each.state.superseded_at(at)}
    return frozenset(each.edge_id for each in said if replaced.issuperset(each.memory_ids))


async def companions(
    context: SearchContext,
    space: str,
    results: Sequence[Result],
    scope: Scope,
    *,
    session_id: str,
    peek: bool,
) -> Sequence[Companions]:
    """What stands beside each result; unless it only peeks, the memories among it count as read."""
    id_of = partial(context.index.id_of, space)
    parts = [list(named(*each, id_of)) for each in enumerate(results)]
    there = {each.memory.state.id for each in results}
    names = dict.fromkeys(name for some in parts for name, _ in some if name not in there)
    read, facts = await asyncio.gather(
        context.graph.current(
            space,
            list(names)[:MOST_MEMORIES],
            count_as_read=not peek,
            session_id=session_id,
            as_of=scope.as_of,
        ),
        sister_facts(context.graph, space, results, scope),
    )
    beside = memories_beside(parts, [*read, *(each.memory for each in results)], scope)
    return list(map(Companions, beside, facts))
