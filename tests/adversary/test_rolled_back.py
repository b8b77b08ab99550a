"""Graph put back from an older copy than the ledger (A1, V6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import governed_pb2, governed_pb2_grpc, graph_pb2
from concord_chassis.call.identity import Caller
from concord_chassis.channel.cursors import Cursor as PartitionCursor
from concord_governance.adapters.graph.client import GraphClient
from concord_governance.bootstrap import GovernanceApp
from concord_governance.ports.graph import Partitions
from concord_governance.ports.ledger import Cursor
from concord_governance.usecases import graph_feed
from concord_testing.polling import until
from governed_steps import revoke
from governed_world import (
    AGENT,
    HOUR,
    HUMAN,
    SCOPES,
    STATUS,
    Party,
    edge_action,
    eventually,
    reason_of,
    refused,
    request_id,
)
from older_graph import DESCRIPTIVE, Copies, governance_alone, not_compared, put_back, writes_alone
from writing import action_of, to_delete_edge

EXECUTED, PENDING = STATUS.PROPOSAL_STATUS_EXECUTED, STATUS.PROPOSAL_STATUS_PENDING


async def noticed(app: GovernanceApp, space: str = "one") -> None:
    """Wait until governance says that a space's graph is older."""
    await until(lambda: space in app.rolled_back)


async def waits_for_decision(party: Party) -> proposal_pb2.Proposal:
    """Propose something constitutive, and give one consent of two."""
    return await party.approve(await party.propose(edge_action(target="tea")), AGENT)


async def demand_nothing_is_decided(party: Party, waiting: proposal_pb2.Proposal) -> None:
    """A space whose graph is older takes no proposal and no envelope, and says why."""
    before = await party.export_log()
    failures = [
        await refused(party.propose(edge_action(target="coffee"))),
        await refused(party.approve(waiting, HUMAN)),
        await refused(party.reject(waiting, HUMAN)),
        await refused(revoke(party, waiting, AGENT, party.consent(waiting, AGENT))),
    ]

    assert [reason_of(each) for each in failures] == [("GRAPH_ROLLED_BACK", "")] * 4
    briefing = await party.proposals.GetBriefing(proposal_pb2.GetBriefingRequest())
    assert briefing.graph_rolled_back
    assert await party.edge("agent", "VALUES", "tea") is None
    assert (await party.get(waiting)).status == PENDING
    assert [line for line in await party.export_log() if b'"index"' in line] == [
        line for line in before if b'"index"' in line
    ]


async def demand_others_go_on(party: Party) -> None:
    """A space that is whole decides as ever."""
    assert (await party.decide(await party.propose(edge_action()))).status == EXECUTED
    briefing = await party.proposals.GetBriefing(proposal_pb2.GetBriefingRequest())
    assert not briefing.graph_rolled_back


async def test_one_space_is_older_and_the_others_go_on(tmp_path: Path) -> None:
    """A1 What an older graph does comes before the place that the log has reached, so it would not
    be told: governance says so, serves, and decides nothing in that space until graph is the newer
    one again; then it goes on, with nothing missing in the log."""
    scene = Copies(tmp_path)
    waiting = await put_back(scene)
    async with scene.world() as live:
        assert live.app.rolled_back == {"one"}
        assert await live.app.ready()
        await demand_nothing_is_decided(scene.party(live), waiting)
        await demand_others_go_on(scene.party(live, "two"))
        assert ("graph is older than the audit log", "one") in scene.said()
    scene.put_back("newer")
    async with scene.world() as live:
        party = scene.party(live)

        assert live.app.rolled_back == {"two"}  # which went on in the older copy of the store
        assert (await party.decide(waiting)).status == EXECUTED
        assert (await party.verified()).executed == 2


async def test_an_older_graph_that_went_on_is_no_newer_one(tmp_path: Path) -> None:
    """A1 A copy that recorded as much since as the ledger has of the other one is another history:
    its numbers reach as far, and none of it comes into the log."""
    scene = Copies(tmp_path)
    waiting = await put_back(scene)
    scene.clock.pass_(HOUR // 2)
    await writes_alone(scene, 20)
    async with scene.world() as live:
        assert live.app.rolled_back == {"one"}
        await demand_nothing_is_decided(scene.party(live), waiting)
        assert "DELETE_ATTEMPT" not in await scene.party(live).actions()


async def test_it_is_noticed_while_graph_is_followed(tmp_path: Path) -> None:
    """A1 Graph comes back from an older copy while governance runs, and has gone on past the log's
    place before anybody compares: only that space stops, nothing of it is told, and what was
    decided waits for the newer graph."""
    scene = Copies(tmp_path)
    async with scene.world() as live:
        for space in ("one", "two"):
            await scene.party(live, space).enrol()
        waiting = await waits_for_decision(scene.party(live))
    scene.copy("older")
    async with governance_alone(scene) as lives:
        async with lives.graph() as graph:
            party = scene.party(lives.world(graph))
            await party.decide(await party.propose(edge_action()))
        scene.copy("newer")
        scene.put_back("older")
        scene.clock.pass_(HOUR // 2)
        await writes_alone(scene, 20)
        async with lives.graph() as graph:
            await noticed(lives.app)
            await demand_nothing_is_decided(scene.party(lives.world(graph)), waiting)
            await demand_others_go_on(scene.party(lives.world(graph), "two"))
        scene.put_back("newer")
        async with lives.graph() as graph:
            await until(lambda: "one" not in lives.app.rolled_back)
            party = scene.party(lives.world(graph))

            assert (await party.decide(waiting)).status == EXECUTED
            assert (await party.verified()).executed == 2


async def test_it_is_noticed_where_nobody_writes(tmp_path: Path) -> None:
    """A1 S10 Graph comes back from an older copy while governance runs, and nothing is written: the
    idle space is named within ten seconds of graph's return."""
    scene = Copies(tmp_path)
    async with scene.world() as live:
        for space in ("one", "two"):
            await scene.party(live, space).enrol()
    scene.copy("older")
    async with governance_alone(scene) as lives:
        async with lives.graph() as graph:
            party = scene.party(lives.world(graph))
            await party.decide(await party.propose(edge_action()))
        scene.put_back("older")
        async with lives.graph():
            await until(lambda: lives.app.rolled_back == {"one"}, 10.0)


async def test_it_is_noticed_under_a_graph_that_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1 A database that is put back under graph while it runs ends no stream: the numbers are
    compared now and then, also where nothing is written; when they agree again, what came in
    between is followed."""
    monkeypatch.setattr(graph_feed, "_COMPARE_SECONDS", 0.02)
    real = GraphClient.partitions

    async def other(self: GraphClient, known: Mapping[int, PartitionCursor]) -> Partitions:
        return (await real(self, known))._replace(lacking=frozenset(known))

    async def behind(_: GraphClient, cursors: Mapping[str, Cursor]) -> frozenset[str]:
        return frozenset({"one"} & cursors.keys())

    scene = Copies(tmp_path)
    async with scene.world() as live:
        party = scene.party(live)
        await party.enrol()
        waiting = await waits_for_decision(party)
        with monkeypatch.context() as patched:
            patched.setattr(GraphClient, "partitions", other)
            patched.setattr(GraphClient, "lacking", behind)
            await noticed(live.app)
            await demand_nothing_is_decided(party, waiting)
            edge = await party.edge("concord:space", "concord:governance_key", "concord:governance")
            assert edge is not None
            await refused(party.graph.DeleteEdge(to_delete_edge(edge)))
        await eventually(party.actions, lambda told: "DELETE_ATTEMPT" in told)

        assert not live.app.rolled_back
        assert (await party.decide(waiting)).status == EXECUTED
        assert (await party.verified()).executed == 1


async def test_graph_itself_refuses_what_another_copy_knows(tmp_path: Path) -> None:
    """A1 V6 A decision reaches an older graph before governance has noticed: graph does nothing,
    by its number or by its digest, whatever it is asked under that decision's id."""
    scene = Copies(tmp_path)
    async with scene.world() as live:
        party = scene.party(live)
        await party.enrol()
        edge = edge_action(edge_type=DESCRIPTIVE).upsert_edge
        for known in (
            governed_pb2.ExpectedState(seq=1_000),
            governed_pb2.ExpectedState(seq=1, change_digest="another"),
        ):
            change = governed_pb2.ApplyGovernedChangeRequest(
                request_id=request_id(),
                action=action_of(edge),
                expected_state=known,
            )
            failure = await refused(party.governed.ApplyGovernedChange(change))

            assert reason_of(failure) == ("GRAPH_ROLLED_BACK", "")
            assert await party.edge("agent", "VALUES", "honesty") is None


async def test_nobody_else_makes_graph_say_that_it_is_older(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """V6 W7 Governance alone is asked for a change: an ordinary key is refused, and so is a token
    of another issuer or for another principal that carries the permission; and what governance did
    not sign says nothing of graph's age."""
    scene = Copies(tmp_path)
    change = governed_pb2.ApplyGovernedChangeRequest(
        request_id="x", expected_state=governed_pb2.ExpectedState(seq=10**9)
    )
    delete = graph_pb2.DeleteEdgeRequest(request_id="y", id="x", etag="0" * 24)
    change.action.delete_edge.CopyFrom(delete)
    async with scene.world() as live:
        party = scene.party(live)
        await party.enrol()
        key = Caller("one", "agent", SCOPES - {"granted:write"}, "AGENT")
        governance = replace(key, principal="governance", scopes=SCOPES, kind="SYSTEM")
        channels = [
            live.graph.channel(key),
            live.graph.channel(replace(key, scopes=SCOPES)),
            live.graph.channel(governance),  # signed by an issuer that is not governance
            live.graph.channel_with(live.issuer.mint(replace(governance, principal="mallory"))),
            live.graph.channel_with(live.issuer.mint(replace(governance, kind="AGENT"))),
        ]
        capfd.readouterr()
        for channel in channels:
            for change.grant in (b"", b"{}"):
                door = governed_pb2_grpc.GovernedChangeServiceStub(channel)
                failure = await refused(door.ApplyGovernedChange(change))
                assert reason_of(failure) == ("PERMISSION_MISSING", "")
        failure = await refused(party.governed.ApplyGovernedChange(change))

        assert reason_of(failure) == ("GRANT_INVALID", "envelope")
        assert "".join(capfd.readouterr()) == ""


async def test_a_decision_that_comes_before_the_notice_waits(tmp_path: Path) -> None:
    """A1 V6 Governance that has not compared yet decides, and graph refuses to carry it out: it
    stays decided, is done by no older graph, and is by the newer one."""
    scene = Copies(tmp_path)
    waiting = await put_back(scene)
    with not_compared():
        async with scene.world() as live:
            party = scene.party(live)
            failure = await refused(party.approve(waiting, HUMAN))

            assert reason_of(failure) == ("GRAPH_ROLLED_BACK", "")
            assert (await party.get(waiting)).status == STATUS.PROPOSAL_STATUS_APPROVED
            assert await party.edge("agent", "VALUES", "tea") is None
            assert live.app.rolled_back == {"one"}
    scene.put_back("newer")
    async with scene.world() as live:
        party = scene.party(live)
        await eventually(lambda: party.get(waiting), lambda now: now.status == EXECUTED)
        assert (await party.verified()).executed == 2
