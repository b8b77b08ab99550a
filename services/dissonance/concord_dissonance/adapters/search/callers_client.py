"""Search, asked in a caller's name."""

from collections.abc import Sequence

from concord.search.v1 import search_pb2, search_pb2_grpc
from concord_chassis.channel.channel import connect

from concord_dissonance.adapters.search.client import CAP
from concord_dissonance.adapters.service_calls import in_name_of
from concord_dissonance.ports.calls import Credential

_SURE = frozenset({search_pb2.CONFIDENCE_BAND_MEDIUM, search_pb2.CONFIDENCE_BAND_HIGH})


class CallersSearchClient:
    """Search behind an address; every call carries its caller's own credential."""

    def __init__(self, address: str) -> None:
        self._channel = connect(address, token=None, cap=CAP)
        self._search = search_pb2_grpc.SearchServiceStub(self._channel)

    async def found(self, who: Credential, query: str, limit: int, fresh: str) -> Sequence[str]:
        request = search_pb2.SearchRequest(query=query, page_size=limit, peek=True)
        request.consistency.at_least_as_fresh = fresh
        reply = await in_name_of(who, self._search.Search, request)
        return [each.memory.id for each in reply.results if each.confidence in _SURE]

    async def close(self) -> None:
        await self._channel.close()
