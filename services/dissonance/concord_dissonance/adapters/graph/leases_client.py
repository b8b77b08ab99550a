"""Graph's leases, behind an address."""

from concord.graph.v1 import feed_pb2, feed_pb2_grpc
from concord_chassis.call.identity import TokenIssuer
from concord_chassis.channel.channel import connect

from concord_dissonance.adapters.service_calls import feed_token, own
from concord_dissonance.ports.feed import Lease

GRAPH = "graph"
FOLLOW = "follow"
"""The name of the work for which a lease is held."""


class LeasesClient:
    """Leases of one process. `holder`: the id that the process drew at its start."""

    def __init__(self, address: str, issuer: TokenIssuer, holder: str) -> None:
        self._channel = connect(address, token=feed_token(issuer))
        self._feed = feed_pb2_grpc.ChangeFeedServiceStub(self._channel)
        self._holder = holder

    async def acquire(self, space: str) -> Lease:
        request = feed_pb2.AcquireLeaseRequest(space=space, name=FOLLOW, holder=self._holder)
        reply = await own(GRAPH, self._feed.AcquireLease(request))
        return Lease(reply.acquired, reply.fencing_number, reply.remaining_millis / 1000)

    async def renew(self, space: str, number: int) -> bool:
        request = feed_pb2.RenewLeaseRequest(
            space=space, name=FOLLOW, holder=self._holder, fencing_number=number
        )
        return bool((await own(GRAPH, self._feed.RenewLease(request))).renewed)

    async def close(self) -> None:
        await self._channel.close()
