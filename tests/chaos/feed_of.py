"""The change feed of a running system, read as search reads it: by a token of search's own."""

from pathlib import Path

import grpc
from concord.graph.v1.feed_pb2 import Change, ListChangesRequest
from concord.graph.v1.feed_pb2_grpc import ChangeFeedServiceStub
from concord_chassis.call.identity import Caller, TokenIssuer
from concord_embedded import service_keys
from concord_testing.up_process import Spawned

FOLLOWER = Caller("", "search", frozenset({"feed:all"}), "SYSTEM")


def feed_of(server: Spawned, space: str = "default") -> list[Change]:
    """Every change of a space, from the first one on."""
    issuer = TokenIssuer(service_keys.ensure(server.data / "keys" / "search.pem"), "search")
    sockets = Path((server.data / "runtime").read_text("utf-8"))
    found: list[Change] = []
    with grpc.insecure_channel(f"unix:{sockets / 'graph.sock'}") as channel:
        stub = ChangeFeedServiceStub(channel)
        metadata = (("authorization", f"Bearer {issuer.mint(FOLLOWER, audience=['graph'])}"),)
        while True:
            request = ListChangesRequest(space=space, after_seq=found[-1].seq if found else 0)
            page = stub.ListChanges(request, metadata=metadata, timeout=60).changes.changes
            if not page:
                return found
            found += page
