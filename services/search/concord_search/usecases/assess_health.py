"""Assesses memories in bulk: which are at risk, stale or orphans (spec S8)."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from concord_search.domain.instants import PRESENT, AsOf
from concord_search.ports.graph import Assessed, Graph

PAGE = 200
ASSESSED_A_CALL = 10_000


@dataclass(frozen=True, slots=True)
class HealthQuery:
    """Which memories to list, by the contract's numbers; `token`: of graph's page to start at."""

    statuses: Collection[int]
    kinds: Sequence[int]
    limit: int = 100
    token: str = ""
    as_of: AsOf = PRESENT


@dataclass(frozen=True, slots=True)
class Assessment:
    """The listed memories, counts by status, and the token to go on with; empty at the end."""

    listed: Sequence[Assessed]
    counts: Mapping[int, int]
    token: str


class AssessHealth:
    """The use case."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def __call__(self, space: str, query: HealthQuery) -> Assessment:
        """Assesses until enough are listed, or 10,000 were assessed. Raises `GraphUnavailable`."""
        listed: list[Assessed] = []
        counts: Counter[int] = Counter()
        token = query.token
        while True:
            # at most as many as may still be listed, since a page of graph cannot be split
            size = min(PAGE, query.limit - len(listed))
            found, token = await self._graph.assessed(space, query.kinds, token, size, query.as_of)
            counts.update(each.status for each in found)
            listed += [each for each in found if each.status in query.statuses]
            if not token or len(listed) >= query.limit or counts.total() >= ASSESSED_A_CALL:
                return Assessment(listed, counts, token)
