"""What search keeps in graph, over graph's contract."""

from collections.abc import Sequence

from concord.graph.v1 import record_pb2, record_pb2_grpc
from concord_chassis.channel import connect
from concord_chassis.identity import Caller, TokenIssuer

from concord_search.adapters.graph_feed.client import PRINCIPAL, reply

Metadata = tuple[tuple[str, str], ...]


class RecordsClient:
    """The records port, under search's own tokens."""

    def __init__(self, address: str, issuer: TokenIssuer) -> None:
        self._issuer = issuer
        self._channel = connect(address, token=None)
        self._records = record_pb2_grpc.RecordServiceStub(self._channel)

    async def triggers(self, space: str) -> Sequence[tuple[str, Sequence[str]]]:
        """The live memories that surface by triggers, with these, at most 10,000."""
        request = record_pb2.ListTriggersRequest()
        found = await reply(self._records.ListTriggers(request, metadata=self._own(space)))
        return [(each.memory_id, each.surfaces_when) for each in found.memories]

    async def claim(
        self, space: str, session_id: str, memory_ids: Sequence[str], limit: int
    ) -> Sequence[str]:
        """Takes the first of at most 100 memories that a session was not suggested yet."""
        request = record_pb2.ClaimSuggestionsRequest(
            session_id=session_id, memory_ids=memory_ids, limit=limit
        )
        found = await reply(self._records.ClaimSuggestions(request, metadata=self._own(space)))
        return found.memory_ids

    def _own(self, space: str) -> Metadata:
        who = Caller(space, PRINCIPAL, frozenset({"record:all"}), "SYSTEM")
        return (("authorization", f"Bearer {self._issuer.mint(who)}"),)

    async def close(self) -> None:
        """Closes the connection."""
        await self._channel.close()
