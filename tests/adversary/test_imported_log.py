"""The log of a space that moved: it begins with the import, and all that follows verifies."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
import rfc8785
from concord.governance.v1 import principal_pb2, proposal_pb2
from concord_client.trust import signing
from concord_client.trust.audit.log import LogInvalid, Pinned
from concord_governance.domain.errors import GraphUnavailable
from concord_governance.ports.graph import FeedMessage
from concord_governance.usecases import imports
from concord_governance.usecases.graph_feed import GraphFollower
from concord_graph.servicer import feed
from forged_imports import IMPORT_FORGERIES, READ_IMPORTS
from forger import Forger, demand_refused, demand_refused_alone
from governed_steps import demand_honest, does
from governed_world import (
    HUMAN,
    STATUS,
    Party,
    World,
    edge_action,
    eventually,
    reason_of,
    refused,
    world,
)
from imported_world import brought, exported, moved, restore_grant
from writing import to_change_key, to_delete_edge


async def other_key(party: Party) -> signing.Signer:
    """Change the human's key; return the former signer."""
    former, new = party.human, signing.Signer("ada", signing.generate_key())
    await does(party, to_change_key(new))
    party.human = new
    return former


async def lived_in(party: Party) -> None:
    """Let both agree, take something back, and be refused something, at the old place."""
    await party.decide(await party.propose(edge_action()))
    gone = await party.decide(await party.propose(edge_action(target="silence")))
    await party.decide(await party.undo(gone))
    await party.decide(await party.propose(edge_action(source="ada", target="honesty")))


async def test_a_space_that_moved_has_a_log_that_verifies(
    party: Party, live: World, tmp_path: Path
) -> None:
    """A1 A2 V5 G15 Under another governance's key, and with what was agreed to as it stood: the log
    begins with the import, and later changes, undo and a change of key verify with the store."""
    await lived_in(party)
    async with moved(tmp_path, party, live.clock) as (_, guest, _):
        assert await guest.actions() == ["IMPORT"]
        await demand_honest(guest)

        made = await guest.decide(await guest.propose(edge_action(target="kindness")))
        assert made.status == STATUS.PROPOSAL_STATUS_EXECUTED
        again = await guest.decide(await guest.propose(edge_action(weight=0.5)))
        assert again.status == STATUS.PROPOSAL_STATUS_EXECUTED
        await demand_honest(guest)
        undone = await guest.decide(await guest.undo(again))
        assert undone.status == STATUS.PROPOSAL_STATUS_EXECUTED
        await other_key(guest)
        await guest.decide(await guest.propose(edge_action(target="candour")))

        await demand_honest(guest)
        assert (await guest.actions()).count("IMPORT") == 1


async def test_keys_that_changed_move_as_they_stand(
    party: Party, live: World, tmp_path: Path
) -> None:
    """V5 G15 A key that was changed before counts at the new place, and it alone; for the import
    its owner signs with the key of the genesis, too: that is the one that a stranger knows."""
    former = await other_key(party)
    export = await exported(party, tmp_path / "one.jsonl")
    async with moved(tmp_path, party, live.clock, [former]) as (_, guest, _):
        alone = await refused(brought(guest, export, await restore_grant(guest, export)))
        proposal = await guest.propose(edge_action(target="kindness"))
        with_old = guest.consent(proposal, HUMAN, signer=former)
        failure = await refused(guest.approve(proposal, HUMAN, with_old))
        assert reason_of(failure) == ("CONSENT_INVALID", "signature")
        done = await guest.decide(proposal)

        assert alone.reason == "ERROR_REASON_SPACE_NOT_EMPTY"
        assert done.status == STATUS.PROPOSAL_STATUS_EXECUTED
        await demand_honest(guest)


async def test_the_present_keys_alone_move_nothing(
    party: Party, live: World, tmp_path: Path
) -> None:
    """V5 G15 Nor do those of the genesis alone: who found an old key is no party any more."""
    former = await other_key(party)
    export = await exported(party, tmp_path / "one.jsonl")
    (tmp_path / "there").mkdir()
    async with world(tmp_path / "there", clock=live.clock) as there:
        guest = there.party()
        guest.agent, guest.human = party.agent, party.human
        for human in (party.human, former):
            guest.human = human
            failure = await refused(brought(guest, export, await restore_grant(guest, export)))
            assert reason_of(failure) == ("RESTORE_INVALID", "signature")
        assert await guest.actions() == []


async def test_what_was_decided_elsewhere_is_not_undone_here(
    party: Party, live: World, tmp_path: Path
) -> None:
    """V8 The ledger stays where it is: an undo of what the old place decided is refused, and says
    why; the change that takes it back can be proposed."""
    made = await party.decide(await party.propose(edge_action()))
    unknown = proposal_pb2.Proposal(id="nobody")
    assert (await refused(party.undo(unknown))).reason == "ERROR_REASON_ITEM_NOT_FOUND"
    async with moved(tmp_path, party, live.clock) as (_, guest, _):
        failure = await refused(guest.undo(made))

        assert failure.reason == "ERROR_REASON_UNDO_IMPOSSIBLE"
        assert "imported" in failure.message


async def test_much_is_told_in_several_entries(
    party: Party, live: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1 A2 No line of the log grows beyond what a verifier reads."""
    monkeypatch.setattr(imports, "PART_BYTES", 600)
    await lived_in(party)
    async with moved(tmp_path, party, live.clock) as (_, guest, _):
        lines = [json.loads(line) for line in (await guest.export_log())[1:]]

        assert len(lines) > 2
        assert [len(leaf["properties"]["items"]) > 0 for leaf in lines] == [True] * len(lines)
        await demand_honest(guest)


async def test_a_log_that_began_before_the_import_goes_on(
    party: Party, live: World, tmp_path: Path
) -> None:
    """A2 G15 An attempt in the unused space is in the log before the import; both verify. And it
    moves on from there to a third place, whose log knows nothing of the second."""
    await lived_in(party)
    async with moved(tmp_path, party, live.clock) as (there, guest, _):
        await guest.decide(await guest.propose(edge_action(target="kindness")))
        third = tmp_path / "third"
        third.mkdir()
        export = await exported(guest, third / "space.jsonl")
        async with world(third, clock=there.clock) as last:
            late = last.party()
            late.agent, late.human = guest.agent, guest.human
            grant = await restore_grant(late, export)
            await refused(brought(late, export, grant, secret="another"))
            failure = await refused(
                late.propose(edge_action(target="tea"), note="You must act now.")
            )
            assert failure.reason == "ERROR_REASON_FRAMING_VIOLATION"
            await brought(late, export, await restore_grant(late, export))
            await eventually(late.actions, lambda told: "IMPORT" in told)
            await late.decide(await late.propose(edge_action(target="patience")))

            actions = await late.actions()
            assert actions[:2] == ["FRAMING_VIOLATION", "IMPORT"]
            assert actions.count("WRITE_ATTEMPT") == 1
            await demand_honest(late)


async def test_a_stopped_follower_tells_the_import_once(
    party: Party, live: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1 What follows graph may stop between any two messages of an import: the log tells it once,
    and whole."""
    await lived_in(party)
    apply, applied = GraphFollower.apply, []

    async def stopping(self: GraphFollower, news: FeedMessage) -> None:
        applied.append(news.seq)
        if len(applied) in (2, 5, 9):
            raise GraphUnavailable("the feed fell silent")
        await apply(self, news)

    monkeypatch.setattr(GraphFollower, "apply", stopping)
    monkeypatch.setattr(feed, "CHANGES_A_MESSAGE", 4)
    async with moved(tmp_path, party, live.clock) as (_, guest, _):
        assert len(applied) > 9
        assert await guest.actions() == ["IMPORT"]
        await demand_honest(guest)


async def test_every_rule_refuses_its_forged_import_alone(
    party: Party, live: World, tmp_path: Path
) -> None:
    """A2 G15 Hashes, checkpoint and signatures of each forgery are right, and it is refused: by the
    rule named here, and by none when that is switched off; or as an envelope of its principals."""
    await lived_in(party)
    async with moved(tmp_path, party, live.clock) as (_, guest, keys):
        await guest.decide(await guest.propose(edge_action(target="kindness")))
        edge = await guest.edge("agent", "VALUES", "kindness")
        assert edge is not None
        await refused(guest.graph.DeleteEdge(to_delete_edge(edge)))
        await eventually(guest.actions, lambda told: "DELETE_ATTEMPT" in told)
        header, *leaves = (json.loads(line) for line in await guest.export_log())
        pinned = Pinned(genesis_digest=signing.genesis_digest(rfc8785.dumps(header["genesis"])))
        forger = Forger(header, leaves, keys, guest, {}, guest.human, pinned)

        demand_refused_alone(forger, IMPORT_FORGERIES)
        demand_refused(forger, READ_IMPORTS)


async def test_an_import_of_another_genesis_is_not_the_pinned_one(
    party: Party, live: World, tmp_path: Path
) -> None:
    """V5 A2 Who pinned the genesis at the old place holds the log of the new one against it."""
    pin = await party.principals.GetPrincipals(principal_pb2.GetPrincipalsRequest())
    async with moved(tmp_path, party, live.clock) as (_, guest, _):
        await guest.verified(genesis_digest=pin.genesis_digest)
        with pytest.raises(LogInvalid) as caught:
            await guest.verified(genesis_digest="0" * 64)

        assert caught.value.check == "genesis_digest"


async def test_no_paper_comes_before_the_import_in_the_log(
    party: Party, live: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A2 V6 Graph has the imported keys at once, the log only when it was followed: what is signed
    in between waits, for before the import's entry no reader of the log could judge it."""
    former = await other_key(party)
    export = await exported(party, tmp_path / "one.jsonl")
    (tmp_path / "there").mkdir()
    apply, follows = GraphFollower.apply, asyncio.Event()

    async def late(self: GraphFollower, news: FeedMessage) -> None:
        await follows.wait()
        await apply(self, news)

    monkeypatch.setattr(GraphFollower, "apply", late)
    async with world(tmp_path / "there", clock=live.clock) as there:
        guest = there.party()
        guest.agent, guest.human = party.agent, party.human
        await brought(guest, export, await restore_grant(guest, export, [former]))
        proposal = await guest.propose(edge_action(target="kindness"))
        failure = await refused(guest.approve(proposal, HUMAN))
        assert failure.reason == "ERROR_REASON_KEYS_CHANGING"
        follows.set()
        await eventually(guest.actions, lambda told: "IMPORT" in told)
        done = await guest.decide(proposal)

        assert done.status == STATUS.PROPOSAL_STATUS_EXECUTED
        await demand_honest(guest)
