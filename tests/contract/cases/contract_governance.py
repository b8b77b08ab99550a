"""Governance beside graph, in the test's own process, with its ledger beside graph's file."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path

from concord.governance.v1 import access_pb2, audit_pb2, proposal_pb2
from concord.graph.v1 import feed_pb2
from concord_governance.bootstrap import build
from concord_governance.config import LedgerConfig, SqliteConfig
from concord_testing.serving import serving
from contract_live import FOLLOWER, Live, frozen_clock, graph_app, graph_live, heads, member
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.message import Message

GRANT_KEY = Ed25519PrivateKey.generate()
"""Governance's key in every deployment here, and in every home's genesis."""
LOG_KEY = Ed25519PrivateKey.generate()
SERVICES = tuple(
    f"concord.governance.v1.{name}Service" for name in ("Access", "Proposal", "Principal", "Audit")
)


def ledger_of(store: Path) -> Path:
    """Return where the ledger beside a store file is."""
    return store.with_suffix(".ledger")


@asynccontextmanager
async def governed_live(store: Path, enrolment: Mapping[str, str]) -> AsyncIterator[Live]:
    """Serve a store file with graph and governance."""
    async with (
        graph_live(graph_app(store, enrolment=enrolment)) as graph,
        with_governance(graph, ledger_of(store)) as both,
    ):
        yield both


@asynccontextmanager
async def with_governance(live: Live, ledger: Path) -> AsyncIterator[Live]:
    """Run governance over a deployment's graph until the block ends; it has followed to the end."""
    graph = live.servings["concord.graph.v1.ChangeFeedService"]
    config = LedgerConfig(graph_address=graph.address)
    store = SqliteConfig(ledger_path=ledger)
    app = await build(config, store, graph.issuer, GRANT_KEY, LOG_KEY, clock=frozen_clock)
    await app.start()
    try:
        async with serving(app.registrations, ready=app.ready, issuer=graph.issuer) as governance:
            both = Live({**live.servings, **dict.fromkeys(SERVICES, governance)})
            await followed(both, ledger)
            yield both
    finally:
        await app.close()


async def followed(live: Live, ledger: Path) -> None:
    """Wait until the ledger has followed graph's feed to its end."""
    wanted = await heads(live)
    until = time.monotonic() + 60
    while True:
        with closing(sqlite3.connect(ledger)) as db:
            applied = dict(db.execute("SELECT name, feed_seq FROM space").fetchall())
        if all(applied.get(space, 0) >= seq for space, seq in wanted.items()):
            return
        assert time.monotonic() < until, f"the ledger does not follow: {applied} of {wanted}"
        await asyncio.sleep(0.01)


async def records(live: Live, space: str) -> list[Message]:
    """Return the changes of a space, and its keys, proposals and log where governance is served."""
    asked = feed_pb2.ListChangesRequest(space=space)
    changes = await live.tell(FOLLOWER, "ChangeFeedService.ListChanges", asked)
    assert changes.changes.changes
    governed: dict[str, Message] = {
        "ListKeys": access_pb2.ListKeysRequest(),
        "ListProposals": proposal_pb2.ListProposalsRequest(page_size=200),
        "GetCheckpoint": audit_pb2.GetCheckpointRequest(),
    }
    if SERVICES[0] not in live.servings:
        return [changes]
    return [changes, *[await live.tell(member(space), *each) for each in governed.items()]]
