"""The memories of which a suggestion waits for a place: a record in graph, by their ids."""

from collections.abc import Iterable, Sequence, Set

import grpc
from concord_chassis.call.identity import TokenIssuer
from concord_chassis.channel.records import Body, SmallRecords

from concord_dissonance.clients.service_calls import OwnCalls, own

GRAPH = "graph"
MOST_KEPT = 5_000
"""The most memories that a space's record names: 128 characters each keep it below its limit."""
_NAME = ("waiting_suggestions", "")


class WaitingClient:
    """The records, over the channel of `GraphClient`. Every replica reads and writes the same."""

    def __init__(self, channel: grpc.aio.Channel, issuer: TokenIssuer) -> None:
        call = OwnCalls(GRAPH, issuer, frozenset({"record:all"}))
        self._records = SmallRecords(channel, call.metadata)

    async def ids(self, space: str) -> Sequence[str]:
        """The memories, in the order in which they were added."""
        (found,) = await own(GRAPH, self._records.get(space, _NAME))
        return _ids(found.body)

    async def change(self, space: str, added: Iterable[str], removed: Set[str]) -> int:
        """Take memories out, and add others at the end; returns how many had no room."""

        def decide(bodies: Sequence[Body]) -> tuple[int, Sequence[Body]]:
            before = _ids(bodies[0])
            after = list(dict.fromkeys([*(e for e in before if e not in removed), *added]))
            kept = after[:MOST_KEPT]
            return len(after) - len(kept), [{"ids": kept}] if kept != before else []

        return await own(GRAPH, self._records.change(space, [_NAME], decide))


def _ids(body: Body) -> list[str]:
    return list(body.get("ids", ()))
