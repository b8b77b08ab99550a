"""The leases port over graph's contract."""

from concord.graph.v1 import feed_pb2, feed_pb2_grpc
from concord_chassis.call.identity import Caller, RenewedToken, TokenIssuer
from concord_chassis.channel.channel import connect

from concord_search.adapters.graph_feed.client import PRINCIPAL, reply
from concord_search.ports.graph import Lease

LEASED = "index"
"""In the place of a space: what the lease is of."""


class LeaseClient:
    """Graph's leases, which all replicas take as one principal."""

    def __init__(self, address: str, issuer: TokenIssuer) -> None:
        service = Caller("", PRINCIPAL, frozenset({"feed:all"}), "SYSTEM")
        self._channel = connect(address, token=RenewedToken(issuer, service, ["graph"]))
        self._feed = feed_pb2_grpc.ChangeFeedServiceStub(self._channel)

    async def acquire(self, name: str, holder: str) -> Lease:
        request = feed_pb2.AcquireLeaseRequest(space=LEASED, name=name, holder=holder)
        found = await reply(self._feed.AcquireLease(request))
        return Lease(found.acquired, found.fencing_number, found.remaining_millis / 1000)

    async def prolong(self, name: str, holder: str, number: int) -> bool:
        request = feed_pb2.RenewLeaseRequest(
            space=LEASED, name=name, holder=holder, fencing_number=number
        )
        return bool((await reply(self._feed.RenewLease(request))).renewed)

    async def close(self) -> None:
        await self._channel.close()
