"""Search, asked under dissonance's own name, or in a caller's name."""

from collections.abc import Mapping, Sequence

import grpc
from concord.search.v1 import search_pb2, search_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import TokenIssuer

from concord_dissonance.clients.graph.client import CHECKED_KINDS
from concord_dissonance.clients.service_calls import OwnCalls, in_name_of
from concord_dissonance.ports.calls import Credential

SEARCH = "search"
IDS_A_CALL = 256
EDITS = 10
"""Most neighbours that are compared for a small edit."""
LEAST_EDITED = 0.7
"""Least cosine of two texts of which one is a small edit of the other."""
AMENDED_KINDS = tuple(
    kind for kind in type_pb2.MemoryKind.values() if kind not in (0, type_pb2.MEMORY_KIND_TURN)
)
CAP = 15.0
"""Most seconds for one call, after which dissonance goes on without search."""
_SURE = frozenset({search_pb2.CONFIDENCE_BAND_MEDIUM, search_pb2.CONFIDENCE_BAND_HIGH})
NEAR_THE_BEST = 0.5
"""The least share of the best result's score with which another one is taken beside it: of a result
that is not the best, a band says only whether it alone is an answer (0118)."""


class SearchClient:
    """Search over a channel without a token."""

    def __init__(self, channel: grpc.aio.Channel, issuer: TokenIssuer) -> None:
        self._call = OwnCalls(SEARCH, issuer, frozenset({"search:read"}))
        self._search = search_pb2_grpc.SearchServiceStub(channel)

    async def similar(
        self, space: str, memory_ids: Sequence[str], limit: int, fresh: str = ""
    ) -> Mapping[str, Sequence[tuple[str, float]]]:
        """Each memory's neighbours in meaning: ids with their cosine, best first.

        Memories that the index does not have yet are absent; a neighbour may be gone since.
        `fresh`: the token of a change that the index must have.
        """
        request = search_pb2.BatchFindSimilarRequest(limit=limit)
        request.filter.kinds.extend(CHECKED_KINDS)
        return await self._found(space, memory_ids, request, fresh)

    async def nearly_same(
        self, space: str, memory_ids: Sequence[str], fresh: str = ""
    ) -> Mapping[str, Sequence[str]]:
        """The memories, of any kind but turns, that may differ from each by a small edit."""
        request = search_pb2.BatchFindSimilarRequest(limit=EDITS, min_similarity=LEAST_EDITED)
        request.filter.kinds.extend(AMENDED_KINDS)
        found = await self._found(space, memory_ids, request, fresh)
        return {memory_id: [each for each, _ in near] for memory_id, near in found.items()}

    async def _found(
        self,
        space: str,
        memory_ids: Sequence[str],
        request: search_pb2.BatchFindSimilarRequest,
        fresh: str,
    ) -> dict[str, Sequence[tuple[str, float]]]:
        found: dict[str, Sequence[tuple[str, float]]] = {}
        request.consistency.at_least_as_fresh = fresh
        for start in range(0, len(memory_ids), IDS_A_CALL):
            request.memory_ids[:] = memory_ids[start : start + IDS_A_CALL]
            reply = await self._call(space, self._search.BatchFindSimilar, request)
            for each in reply.found:
                found[each.memory_id] = [(n.memory_id, n.similarity) for n in each.similar]
        return found

    async def surely_found(
        self, who: Credential, query: str, limit: int, fresh: str
    ) -> Sequence[str]:
        """The ids of a caller's query's results, best first, if the memory surely has some: one
        of medium or high confidence, and those near it; not counted as read.

        `fresh`: the freshness token of a write that the index must have; empty: of none.
        """
        request = search_pb2.SearchRequest(query=query, page_size=limit, peek=True)
        request.consistency.at_least_as_fresh = fresh
        reply = await in_name_of(who, self._search.Search, request)
        if reply.confidence not in _SURE:
            return []
        least = NEAR_THE_BEST * max(each.composite_score for each in reply.results)
        return [each.memory.id for each in reply.results if each.composite_score >= least]
