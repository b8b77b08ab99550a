"""Answers of several hops: where typed facts lead from a node that the question names (S11).

Nothing is guessed: each hop's word must be a relation's name, or be known to mean it, and each hop
must lead on. Page 0107 says what is not read.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from concord_search.domain.asked_times import AskedTimes, TimeUse
from concord_search.domain.filters import Scope
from concord_search.domain.hops import Chain, chains, means, spelt
from concord_search.domain.instants import PRESENT, AsOf
from concord_search.ports.graph import Followed, Graph, Hydrated, Statement
from concord_search.ports.index import Question
from concord_search.usecases.companions import given_up
from concord_search.usecases.results import Result, may_be_shown

MOST_PATHS = 3
MOST_CALLS = 24
"""So many calls of graph are made to find the paths of one question."""

MOST_RELATIONS = 2
"""So many relations of a node are followed that one word means."""

MOST_STATING = 6
"""So many memories that state edges of the paths are shown."""

WITHIN = 1.0
"""Seconds for finding the paths: what is not found by then is left out."""

Steps = tuple[Statement, ...]

_UNKNOWN = Followed(is_there=False)


@dataclass(frozen=True, slots=True)
class FactPath:
    """Edges of which each starts where the one before ends, and memories that state them."""

    steps: Steps
    memories: Sequence[Hydrated] = ()


async def fact_paths(
    graph: Graph,
    space: str,
    text: str,
    question: Question,
    results: Sequence[Result],
    *,
    session_id: str,
    peek: bool,
) -> Sequence[FactPath]:
    """The paths that a query's text names. Unless it only peeks, what states them counts as read,
    but for the results, which are read already."""
    scope = question.scope
    for each in question.times.phrases:
        text = text.replace(each.phrase, ", ", 1)
    found: Sequence[Steps] = ()
    if readings := chains(text):
        try:
            async with asyncio.timeout(WITHIN):
                walk = _Walk(graph, space, by_phrase=scope.as_of == PRESENT)
                found = await walk.paths(readings, _instants(question.times, scope))
        except TimeoutError:
            return ()
    within = question.times.within
    begin = scope.valid if within is None else within.begin
    if begin is not None:  # what was replaced within the window is of it
        gone = await given_up(
            graph, space, (each for steps in found for each in steps), scope, begin
        )
        found = [steps for steps in found if gone.isdisjoint(_edges(steps))]
    if not found:
        return ()
    known = {each.memory.state.id: each.memory for each in results}
    names = dict.fromkeys(name for steps in found for each in steps for name in each.memory_ids[:1])
    read = await graph.current(
        space,
        [name for name in names if name not in known][:MOST_STATING],
        count_as_read=not peek,
        session_id=session_id,
        as_of=scope.as_of,
    )
    known |= {each.state.id: each for each in read if each and may_be_shown(each, 0, scope)}
    stating = [[name for each in steps for name in each.memory_ids[:1]] for steps in found]
    return [
        FactPath(steps, [known[name] for name in names if name in known])
        for steps, names in zip(found, stating, strict=True)
    ]


def _instants(times: AskedTimes, scope: Scope) -> Sequence[AsOf]:
    """The instants at which paths are looked for: of a window its last and its first one.

    None where the question names a time that is not known.
    """
    if scope.as_of != PRESENT:
        return [scope.as_of]
    if any(each.use is TimeUse.NOT_DATED for each in times.phrases):
        return []
    within = times.within
    if within is None:
        return [PRESENT]
    begin, end = within.begin, within.end
    last = scope.now if end is None else min(end - 1, scope.now)
    known = [each for each in (last, begin) if each is not None]
    if begin is not None and begin > scope.now:
        return [AsOf(begin)]
    return [] if begin is None and end is None else [AsOf(each) for each in known]


class _Walk:
    """Follows the readings of one question, with a bounded number of calls.

    `by_phrase`: whether its times are phrases of the question, and not of the request.
    """

    def __init__(self, graph: Graph, space: str, *, by_phrase: bool) -> None:
        self._graph = graph
        self._space = space
        self._by_phrase = by_phrase
        self._left = MOST_CALLS
        self._known: dict[tuple[str, tuple[str, ...], AsOf], Followed] = {}

    async def paths(
        self, readings: Sequence[Sequence[Chain]], instants: Sequence[AsOf]
    ) -> Sequence[Steps]:
        """The paths of the first readings that lead somewhere, at each instant.

        Where none leads there as of the time of a phrase, the possession counts as of now: "Ada's
        sister" is also who is that today, wherever she lived in 2019.
        """
        found = list[Steps]()
        for reading in readings:
            for as_of in instants:
                found += await self._path_of_any(reading, as_of)
            if not found and self._by_phrase and PRESENT not in instants:
                for as_of in instants:
                    found += await self._path_of_any(reading, PRESENT, as_of)
        return list({_edges(each): each for each in found}.values())[:MOST_PATHS]

    async def _path_of_any(
        self, reading: Sequence[Chain], as_of: AsOf, at_last: AsOf | None = None
    ) -> Sequence[Steps]:
        """The paths of the first chain whose node there is. `at_last`: as of which the last hop."""
        for chain in reading:
            node = await self._node(chain, as_of)
            if node is None:
                continue
            if at_last is None:
                return await self._from(node, chain.words, as_of)
            heads = await self._from(node, chain.words[:-1], as_of)
            return [
                (*head, *tail)
                for head in heads[:MOST_PATHS]
                for tail in await self._from(head[-1].fact[2], chain.words[-1:], at_last)
            ]
        return ()

    async def _node(self, chain: Chain, as_of: AsOf) -> str | None:
        """The name of the node that a chain starts at, however the question spells its case."""
        there = await self._follow(chain.name, (spelt(chain.words[0]),), as_of)
        if there.is_there:
            return chain.name
        folded = chain.name.casefold()
        return next((each for each in there.near_names if each.casefold() == folded), None)

    async def _from(self, node: str, words: Sequence[str], as_of: AsOf) -> Sequence[Steps]:
        found = [
            path
            for followed in await self._led(node, (), words, as_of)
            if len(followed.hops) == len(words)
            for path in islice(_joined(followed.hops), MOST_PATHS)
        ]
        return found[:MOST_PATHS]

    async def _led(
        self, node: str, done: tuple[str, ...], words: Sequence[str], as_of: AsOf
    ) -> Sequence[Followed]:
        """Where the words lead, after the relations that are done: by their own spelling, else by
        the relations that are held there and mean the same."""
        first, rest = words[0], words[1:]
        own = (*done, spelt(first))
        followed = await self._follow(node, own, as_of)
        led = len(followed.hops) == len(own)
        meant = [each for each in followed.held if means(each, first)][:MOST_RELATIONS]
        ways = [own] if led else [(*done, each) for each in meant]
        if rest:
            found = [await self._led(node, way, rest, as_of) for way in ways]
            return [each for some in found for each in some]
        return [followed] if led else [await self._follow(node, way, as_of) for way in ways]

    async def _follow(self, node: str, relations: tuple[str, ...], as_of: AsOf) -> Followed:
        asked = (node, relations, as_of)
        if asked not in self._known:
            if not self._left:
                return _UNKNOWN
            self._left -= 1
            self._known[asked] = await self._graph.follow(self._space, node, relations, as_of)
        return self._known[asked]


def _joined(hops: Sequence[Sequence[Statement]], before: Steps = ()) -> Iterator[Steps]:
    """The paths through edges of each hop, in order; none that comes back to where it was."""
    if not hops:
        yield before
        return
    for each in hops[0]:
        source, _, target = each.fact
        been = {name for step in before for name in (step.fact[0], step.fact[2])}
        if target not in been and target != source and (not before or _end(before) == source):
            yield from _joined(hops[1:], (*before, each))


def _end(steps: Steps) -> str:
    return steps[-1].fact[2]


def _edges(steps: Iterable[Statement]) -> tuple[str, ...]:
    return tuple(each.edge_id for each in steps)
