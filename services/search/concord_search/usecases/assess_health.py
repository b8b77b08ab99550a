"""Assesses memories in bulk: which are at risk, stale or orphans (spec S8)."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from concord_search.domain.instants import AsOf
from concord_search.ports.graph import Assessed, Graph

PAGE = 200
ASSESSED_A_CALL = 10_000


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

    async def __call__(
        self,
        space: str,
        *,
        statuses: Collection[int],
        kinds: Sequence[int],
        limit: int,
        token: str,
        as_of: AsOf,
    ) -> Assessment:
        """Assesses memories of some kinds, and lists those of some statuses, from a page of graph.

        It ends once enough are listed, or 10,000 were assessed. Raises `GraphUnavailable`.
        """
        listed: list[Assessed] = []
        counts: Counter[int] = Counter()
        while True:
            # at most as many as may still be listed, since a page of graph cannot be split
            size = min(PAGE, limit - len(listed))
            found, token = await self._graph.assessed(space, kinds, token, size, as_of)
            counts.update(each.status for each in found)
            listed += [each for each in found if each.status in statuses]
            if not token or len(listed) >= limit or counts.total() >= ASSESSED_A_CALL:
                return Assessment(listed, counts, token)
