"""A graph's store that is copied and put back while the ledger goes on, and what may come of it."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from hashlib import sha256
from pathlib import Path
from typing import Any

import chosen_store
import grpc
import pytest
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import graph_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import TokenVerifier
from concord_chassis.observe.log import json_lines
from concord_governance.bootstrap import GovernanceApp
from concord_governance.bootstrap import build as build_governance
from concord_governance.config import LedgerConfig
from concord_governance.usecases import graph_feed
from concord_graph.bootstrap import build_on as build_graph
from concord_graph.config import SqliteConfig
from concord_testing.serving import Serving, serving
from governed_world import (
    AGENT,
    HOUR,
    HUMAN,
    SECRET,
    Clock,
    Keys,
    Party,
    World,
    edge_action,
    refused,
    world,
)
from writing import salt

DESCRIPTIVE = type_pb2.EDGE_TYPE_DESCRIPTIVE


class Copies:
    """A folder with the stores, and who signs in which space, over restarts."""

    def __init__(self, folder: Path, keys: Keys | None = None, clock: Clock | None = None) -> None:
        self.folder, self.keys, self.clock = folder, keys or Keys(), clock or Clock()
        self.told = io.StringIO()
        self.parties: dict[str, Party] = {}
        """The last party of each space."""

    def world(self, **changed: Any) -> AbstractAsyncContextManager[World]:
        """Run graph and governance."""
        log = json_lines("governance", stream=self.told)
        return world(self.folder, keys=self.keys, clock=self.clock, log=log, **changed)

    def party(self, live: World, space: str = "one") -> Party:
        """Return a space's party, who signs as before."""
        party = live.party(space)
        last = self.parties.get(space, party)
        party.agent, party.human = last.agent, last.human
        self.parties[space] = party
        return party

    @asynccontextmanager
    async def enrolled(self, **changed: Any) -> AsyncIterator[tuple[World, Party]]:
        """Run them with the party of a space, whose genesis is performed the first time."""
        async with self.world(**changed) as live:
            is_new = "one" not in self.parties
            party = self.party(live)
            if is_new:
                await party.enrol()
            yield live, party

    def copy(self, name: str) -> None:
        """Copy graph's store, which is closed."""
        shutil.copy(self.folder / "graph.db", self.folder / name)

    def put_back(self, name: str) -> None:
        """Put a copy of graph's store in its place."""
        for part in self.folder.glob("graph.db*"):
            part.unlink()
        shutil.copy(self.folder / name, self.folder / "graph.db")

    def said(self) -> set[tuple[str, str]]:
        """Return what governance's log says of which space."""
        lines = [json.loads(line) for line in self.told.getvalue().splitlines()]
        return {(each["event"], each["space"]) for each in lines if "space" in each}


async def writes_alone(scene: Copies, count: int) -> None:
    """Let an agent write and try to delete at graph, while governance is down."""
    async with governance_alone(scene, governed=False) as lives, lives.graph() as graph:
        party = scene.party(lives.world(graph))
        for number in range(count):
            edge = edge_action("x", f"R{number}", "y", edge_type=DESCRIPTIVE).upsert_edge
            await party.graph.UpsertEdge(edge)
        principals = await party.graph.GetNode(graph_pb2.GetNodeRequest(name="concord:space"))
        delete = graph_pb2.DeleteNodeRequest(
            request_id=salt(), id=principals.node.id, etag=principals.node.etag, cascade=True
        )
        await refused(party.graph.DeleteNode(delete))


class Lives:
    """Governance that runs on, and a graph at one address that comes and goes."""

    def __init__(self, scene: Copies, address: str) -> None:
        self._scene, self._address = scene, address
        self.app: GovernanceApp
        self.governance: Serving

    @asynccontextmanager
    async def graph(self) -> AsyncIterator[Serving]:
        """Run graph over the store that is there now."""
        known = self._scene.keys
        secret = sha256(SECRET.encode()).hexdigest()
        app = await build_graph(
            SqliteConfig(store_path=self._scene.folder / "graph.db"),
            enrolment=dict.fromkeys(("one", "two"), secret),
            clock=self._scene.clock,
            confirmers=("governance",),
        )
        issuers = {each.name: each.public_key for each in (known.clients, known.issuer)}
        async with AsyncExitStack() as stack:
            serves = await stack.enter_async_context(
                serving(
                    app.registrations,
                    issuer=known.clients,
                    verifier=TokenVerifier(issuers),
                    address=self._address,
                )
            )
            await app.start()
            stack.push_async_callback(app.close)
            yield serves

    def world(self, graph: Serving) -> World:
        """Return the world with the graph that runs now."""
        scene = self._scene
        governance = getattr(self, "governance", graph)
        app = getattr(self, "app", None)
        return World(
            graph,
            governance,
            app,  # type: ignore[arg-type] # without governance nobody asks for it
            scene.clock,
            scene.folder,
            scene.keys.issuer,
            scene.keys.dissonance,
        )


@asynccontextmanager
async def governance_alone(scene: Copies, *, governed: bool = True) -> AsyncIterator[Lives]:
    """Run governance for as long as the block, and graph when it is asked for."""
    lives = Lives(scene, f"unix:{scene.folder}/g")
    if not governed:
        yield lives
        return
    known = scene.keys
    lives.app = await build_governance(
        LedgerConfig(graph_address=f"unix:{scene.folder}/g"),
        chosen_store.LEDGER.of(scene.folder / "ledger.db"),
        known.issuer,
        known.grant,
        known.log,
        clock=scene.clock,
        log=json_lines("governance", stream=scene.told),
    )
    await lives.app.start()
    try:
        async with serving(
            lives.app.registrations,
            issuer=known.clients,
            wait_until_ready=False,
        ) as lives.governance:
            yield lives
    finally:
        await lives.app.close()


async def put_back(scene: Copies) -> proposal_pb2.Proposal:
    """Have one executed change in the ledger that graph has no more; return a proposal that waits
    for the human."""
    async with scene.world() as live:
        await scene.party(live).enrol()
        await scene.party(live, "two").enrol()
        party = scene.party(live)
        waiting = await party.approve(await party.propose(edge_action(target="tea")), AGENT)
    scene.copy("older")
    async with scene.world() as live:
        await scene.party(live).decide(await scene.party(live).propose(edge_action()))
    scene.copy("newer")
    scene.put_back("older")
    return waiting


async def a_proposal_over_an_older_graph(scene: Copies) -> bool:
    """Propose where graph is older than the ledger."""
    await put_back(scene)
    async with scene.world() as live:
        try:
            await scene.party(live).propose(edge_action(target="coffee"))
        except grpc.aio.AioRpcError:
            return False
        return True


async def a_decision_before_anybody_compared(scene: Copies) -> bool:
    """Give the last consent before governance has noticed."""
    waiting = await put_back(scene)
    with not_compared():
        async with scene.world() as live:
            party = scene.party(live)
            with suppress(grpc.aio.AioRpcError):
                await party.approve(waiting, HUMAN)
            return await party.edge("agent", "VALUES", "tea") is not None


async def another_history_before_anybody_compared(scene: Copies) -> bool:
    """Let the older copy go on past the log's place, and follow it."""
    await put_back(scene)
    scene.clock.pass_(HOUR // 2)
    await writes_alone(scene, 20)
    with not_compared():
        async with scene.world() as live:
            party = scene.party(live)
            async with asyncio.timeout(30):
                while "one" not in live.app.rolled_back:
                    if "DELETE_ATTEMPT" in await party.actions():
                        return True
                    await asyncio.sleep(0.01)
            return False


@contextmanager
def not_compared() -> Iterator[None]:
    """Keep governance from comparing graph with the ledger."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(graph_feed, "_is_behind", lambda *_: False)
        yield
