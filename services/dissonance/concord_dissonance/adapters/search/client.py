"""The search port over search's contract, under dissonance's own tokens."""

from collections.abc import Mapping, Sequence

from concord.search.v1 import search_pb2, search_pb2_grpc
from concord_chassis.channel import connect
from concord_chassis.identity import TokenIssuer

from concord_dissonance.adapters.graph.client import CHECKED_KINDS
from concord_dissonance.adapters.service_calls import OwnTokens, own

SEARCH = "search"
IDS_A_CALL = 256
CAP = 15.0
"""Seconds for one call: a search that is silent for longer is not waited for."""


class SearchClient:
    """Search behind an address."""

    def __init__(self, address: str, issuer: TokenIssuer) -> None:
        self._tokens = OwnTokens(issuer, frozenset({"search:read"}))
        self._channel = connect(address, token=None, cap=CAP)
        self._search = search_pb2_grpc.SearchServiceStub(self._channel)

    async def similar(
        self, space: str, memory_ids: Sequence[str], limit: int
    ) -> Mapping[str, Sequence[tuple[str, float]]]:
        """What is near to each memory: ids with their cosine, best first."""
        found: dict[str, Sequence[tuple[str, float]]] = {}
        for start in range(0, len(memory_ids), IDS_A_CALL):
            request = search_pb2.BatchFindSimilarRequest(
                memory_ids=memory_ids[start : start + IDS_A_CALL],
                filter=search_pb2.SearchFilter(kinds=CHECKED_KINDS),
                limit=limit,
            )
            call = self._search.BatchFindSimilar(request, metadata=self._tokens.of(space))
            reply = await own(SEARCH, call)
            for each in reply.found:
                found[each.memory_id] = [(n.memory_id, n.similarity) for n in each.similar]
        return found

    async def close(self) -> None:
        """Closes the connection."""
        await self._channel.close()
