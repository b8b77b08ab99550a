"""The list of governance's guards. Each is switched off in turn, and then its harm must be done.

A guard that can be taken away without a failure here guards nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import grpc
import older_graph
import pytest
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import conflict_pb2, governed_pb2, graph_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord_attestation import parties, refusal_limit, verify
from concord_attestation.bounds import MAX_ENTRY_BYTES, MAX_ITEMS
from concord_attestation.consent import SlotKey
from concord_attestation.payloads import ConsentPayload
from concord_attestation.refusal_limit import RefusalLimit
from concord_client.trust import signing
from concord_client.trust.audit.log import LogInvalid
from concord_governance.adapters.graph.client import GraphClient
from concord_governance.domain import actions, entries, framing
from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.domain.errors import ProposalTooLarge
from concord_governance.domain.proposals import FramingCheck, Status
from concord_governance.ports.graph import Preview, PrincipalKeys
from concord_governance.usecases import (
    decision_guards,
    decisions,
    graph_feed,
    ledger_commands,
    proposals,
)
from concord_graph.usecases.governed import apply as governed_changes
from concord_graph.usecases.governed import undo_conflicts
from concord_graph.usecases.write import cascade
from concord_graph.usecases.write.writer import Writer
from concord_testing import signed
from concord_testing.chat_endpoint import serving_chat, verdict
from conflict_steps import finds, found, review
from google.protobuf.field_mask_pb2 import FieldMask
from governed_steps import (
    asked_with,
    follower_held,
    hub_with,
    key_change,
    linking,
    revocations,
    revoke,
    reword,
)
from governed_world import (
    AGENT,
    DAY,
    HOUR,
    HUMAN,
    STATUS,
    Clock,
    Keys,
    Party,
    edge_action,
    request_id,
    salt,
    world,
)
from restored_stores import change_to, changed_since
from settling import SETTLEMENT_GUARDS
from undo_cases import CASES

DESCRIPTIVE = type_pb2.EDGE_TYPE_DESCRIPTIVE
Switch = Callable[[pytest.MonkeyPatch], None]


@dataclass
class Scene:
    """Where a guard is tried: a folder for restarts, keys and a clock."""

    folder: Path
    keys: Keys
    clock: Clock

    def world(self, **changed: Any) -> Any:
        """Return a world of this scene."""
        return world(self.folder, keys=self.keys, clock=self.clock, **changed)


async def a_decision_under_other_rules(scene: Scene) -> str:
    """Approve under changed settings what was proposed under the ones before."""
    async with scene.world(settings={"approval_timeout_hours": 48}) as live:
        party = live.party()
        await party.enrol()
        signers = party.agent, party.human
        proposal = await party.propose(edge_action(edge_type=DESCRIPTIVE))
    async with scene.world(settings={"approval_timeout_hours": 1}) as live:
        party = live.party()
        party.agent, party.human = signers
        with suppress(grpc.aio.AioRpcError):
            await party.approve(proposal, AGENT)
            return "a proposal was decided under other rules than it names"
    return ""


async def a_change_that_fits_no_grant(scene: Scene) -> str:
    """Propose and sign one item more than envelopes name."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        with suppress(grpc.aio.AioRpcError):
            done = await party.decide(await party.propose(linking(MAX_ITEMS)))
            assert done.status == STATUS.PROPOSAL_STATUS_FAILED
            return "both consents were spent on what fits no grant"
    return ""


async def a_line_that_no_verifier_reads(scene: Scene) -> str:
    """Bring an entry to the ledger that is larger than a line may be."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        entry = Entry(Action.SMF_UNDO, Actor.SYSTEM, reason="x" * MAX_ENTRY_BYTES)
        with suppress(ProposalTooLarge):
            await live.app._ledger.write("one", lambda tx: tx.append([entry]))
        try:
            await party.verified()
        except LogInvalid as error:
            return f"an honest log no longer verifies: {error.check}"
    return ""


async def a_slot_without_a_say(scene: Scene) -> str:
    """Let the human consent to what the agent decides alone."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        proposal = await party.propose(edge_action(edge_type=DESCRIPTIVE))
        with suppress(grpc.aio.AioRpcError):
            await party.approve(proposal, HUMAN)
        try:
            await party.verified()
        except LogInvalid as error:
            return f"the log has a consent of no use: {error.check}"
    return ""


async def one_slot_decides(scene: Scene) -> str:
    """Let the agent alone consent to what needs both."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        after = await party.approve(await party.propose(edge_action()), AGENT)
        return "" if after.status == STATUS.PROPOSAL_STATUS_PENDING else "one slot decided"


async def a_consent_comes_again(scene: Scene) -> str:
    """Give the same consent twice."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        proposal = await party.propose(edge_action())
        consent = party.consent(proposal, AGENT)
        await party.approve(proposal, AGENT, consent)
        try:
            await party.approve(proposal, AGENT, consent)
        except grpc.aio.AioRpcError as error:
            typed = error.code() == grpc.StatusCode.FAILED_PRECONDITION
            return "" if typed else "a used nonce reached the ledger's own constraint"
    return "a consent was used twice"


async def an_undo_comes_late(scene: Scene) -> str:
    """Approve an undo when its time is over."""
    async with scene.world(settings={"undo_retention_days": 1}) as live:
        party = live.party()
        await party.enrol()
        undo = await party.undo(await party.decide(await party.propose(edge_action())))
        scene.clock.pass_(DAY)
        with suppress(grpc.aio.AioRpcError):
            await party.decide(undo)
        gone = await party.edge("agent", "VALUES", "honesty") is None
        return "something was undone when its time was over" if gone else ""


async def an_undo_of_what_is_undone(scene: Scene) -> str:
    """Approve the second of two undos of one change."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        done = await party.decide(await party.propose(edge_action()))
        first, second = await party.undo(done), await party.undo(done)
        await party.decide(first)
        with suppress(grpc.aio.AioRpcError):
            await party.approve(second, AGENT)
            return "a consent was taken to undo what was undone"
    return ""


async def silence_before_the_sweep(scene: Scene) -> str:
    """Approve what nobody answered in time, before anything has written that down."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        proposal = await party.propose(edge_action(edge_type=DESCRIPTIVE))
        scene.clock.pass_(49 * HOUR)
        with pytest.MonkeyPatch.context() as patch, suppress(grpc.aio.AioRpcError):
            patch.setattr(ledger_commands.LedgerCommands, "expire", _unswept)
            await party.approve(proposal, AGENT)
            return "silence was taken for an open question"
    return ""


async def urgent_words(scene: Scene) -> str:
    """Propose with words that urge."""
    async with scene.world() as live:
        party = live.party()
        with suppress(grpc.aio.AioRpcError):
            await party.propose(edge_action(), note="This is urgent!")
            return "a proposal urged"
    return ""


async def a_rule_is_proposed(scene: Scene) -> str:
    """Propose to write what stands for principals."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        with suppress(grpc.aio.AioRpcError):
            await party.propose(edge_action(relation="concord:principal"))
        told = await party.actions()
        return "" if told[-1] == "SAFEGUARD_VIOLATION" else "an attack on the rules left no entry"


async def a_rule_is_proposed_by_id(scene: Scene) -> str:
    """Propose to write what stands for a principal, without naming it."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        (space, *_) = (await party.graph.ListNodes(graph_pb2.ListNodesRequest())).nodes
        request = graph_pb2.DeleteNodeRequest(
            request_id=salt(), id=space.id, etag=space.etag, cascade=True
        )
        with suppress(grpc.aio.AioRpcError):
            await party.propose(governed_pb2.GovernedAction(delete_node=request))
        told = await party.actions()
        return "" if told[-1] == "SAFEGUARD_VIOLATION" else "an attack by id left no entry"


async def a_nuance_before_its_review(scene: Scene) -> str:
    """Let the agent consent to what it has to review first."""
    nuance, contradiction = (
        conflict_pb2.CONFLICT_CLASS_NUANCE,
        conflict_pb2.CONFLICT_CLASS_CONTRADICTION,
    )
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        conflict = await found(live, party, nuance)
        action = review(conflict, conflict_pb2.REVIEW_DECISION_RECLASSIFY, contradiction)
        made = await finds(live, action)
        with suppress(grpc.aio.AioRpcError):
            await party.approve(made, AGENT)
            return "a nuance was decided about before its review"
    return ""


async def a_cause_is_made_up(scene: Scene) -> str:
    """Propose as if a session's end had caused it."""
    async with scene.world() as live:
        party = live.party()
        with suppress(grpc.aio.AioRpcError):
            trigger = proposal_pb2.PROPOSAL_TRIGGER_SESSION_END
            await party.propose(edge_action(), trigger=trigger, session_id="s")
            return "a key's proposal passed for what a session's end brought up"
    return ""


async def an_undo_becomes_something_else(scene: Scene) -> str:
    """Revise an undo into another change: its window and what it undoes would mean nothing."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        undo = await party.undo(await party.decide(await party.propose(edge_action())))
        request = proposal_pb2.ReviseProposalRequest(
            request_id=request_id(), proposal_id=undo.id, revision=1, action=edge_action(target="x")
        )
        with suppress(grpc.aio.AioRpcError):
            await party.proposals.ReviseProposal(request)
            return "an undo became another change"
    return ""


async def a_short_salt(scene: Scene) -> str:
    """Propose an action whose digest can be guessed."""
    action = edge_action()
    action.upsert_edge.request_id = "1"
    async with scene.world() as live:
        party = live.party()
        with suppress(grpc.aio.AioRpcError):
            await party.propose(action)
            return "an action without a salt was proposed"
    return ""


async def an_undo_by_hand(scene: Scene) -> str:
    """Write an undo without naming what it undoes, past its window."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        done = await party.decide(await party.propose(edge_action()))
        edge = await party.edge("agent", "VALUES", "honesty")
        assert edge is not None
        assert done.affected
        item = governed_pb2.RevertedItem(id=edge.id, expected_revision=1)
        revert = governed_pb2.RevertItemsRequest(request_id="x" * 30, items=[item])
        with suppress(grpc.aio.AioRpcError):
            await party.propose(governed_pb2.GovernedAction(revert_items=revert))
            return "an undo was written by hand"
    return ""


async def the_agent_says_it_is_descriptive(scene: Scene) -> str:
    """Ask whether what is constitutive is derived to be bilateral."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        proposal = await party.propose(edge_action())
        both = proposal.approval_level == proposal_pb2.APPROVAL_LEVEL_BILATERAL
        return "" if both else "a constitutive change was the agent's own affair"


async def a_revoked_consent_is_used(scene: Scene) -> str:
    """Carry a revoked consent to graph past governance, with governance's own key."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        proposal = await party.propose(edge_action())
        envelopes = {slot: party.consent(proposal, slot) for slot in (AGENT, HUMAN)}
        await party.approve(proposal, AGENT, envelopes[AGENT])
        with suppress(grpc.aio.AioRpcError):
            await revoke(party, proposal, AGENT, envelopes[AGENT])
        await _carried(scene, party, proposal, envelopes)
        there = await party.edge("agent", "VALUES", "honesty") is not None
        return "a revoked consent had an effect" if there else ""


async def _carried(
    scene: Scene, party: Party, proposal: proposal_pb2.Proposal, envelopes: dict[str, bytes]
) -> None:
    grant = signed.sign_grant(
        governance=scene.keys.grant,
        space="one",
        decision_id="mine",
        proposal_id=proposal.id,
        revision=1,
        proposal_digest=proposal.digest,
        action_digest=proposal.action_digest,
        etags={item.id: item.etag for item in proposal.affected},
        policy_digest=proposal.policy_digest,
        consents=envelopes,
        expire_time=party.time(1),
    )
    with suppress(grpc.aio.AioRpcError):
        await party.governed.ApplyGovernedChange(
            governed_pb2.ApplyGovernedChangeRequest(
                request_id="mine", action=proposal.action, grant=grant
            )
        )


async def a_revocation_after_the_end(scene: Scene) -> str:
    """Take a consent back after its proposal was rejected."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        proposal = await party.propose(edge_action())
        consent = party.consent(proposal, AGENT)
        await party.approve(proposal, AGENT, consent)
        await party.reject(proposal, HUMAN)
        with suppress(grpc.aio.AioRpcError):
            await revoke(party, proposal, AGENT, consent)
            return "graph burnt a nonce for what had ended"
    return ""


async def a_consent_that_was_taken_back_before(scene: Scene) -> str:
    """Give a consent whose nonce graph has burnt."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        proposal = await party.propose(edge_action())
        consent = party.consent(proposal, AGENT)
        await party.governed.RevokeConsent(asked_with(party.revocation(proposal, AGENT, consent)))
        await revocations(party)
        with suppress(grpc.aio.AioRpcError):
            await party.approve(proposal, AGENT, consent)
        try:
            await party.verified()
        except LogInvalid as error:
            return f"an honest log no longer verifies: {error.check}"
    return ""


async def a_paper_between_two_keys(scene: Scene) -> str:
    """Approve by the new key when graph has it and the log does not."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        other = await party.propose(edge_action())
        change, new = await key_change(party, HUMAN)
        async with follower_held(party, change):
            with suppress(grpc.aio.AioRpcError):
                await party.approve(other, HUMAN, party.consent(other, HUMAN, signer=new))
        try:
            await party.verified()
        except LogInvalid as error:
            return f"an honest log no longer verifies: {error.check}"
    return ""


async def a_consent_of_an_old_key(scene: Scene) -> str:
    """Let the other slot answer when the first one's key has changed."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        proposal = await party.propose(edge_action())
        await party.approve(proposal, AGENT)
        change, party.agent = await _changed(party, AGENT)
        assert change.status == STATUS.PROPOSAL_STATUS_EXECUTED
        after = await party.approve(proposal, HUMAN)
        pending = after.status == STATUS.PROPOSAL_STATUS_PENDING
        return "" if pending else "both consents were spent on a key that is gone"


async def _changed(party: Party, slot: str) -> tuple[proposal_pb2.Proposal, signing.Signer]:
    change, new = await key_change(party, slot)
    return await party.decide(change), new


async def a_retired_key_consents(scene: Scene) -> str:
    """Restore a backup of before a change of key, and let the replaced key consent."""
    since = await changed_since(scene.folder, [HUMAN])
    async with since.scene.world() as live:
        party = since.party(live)
        with suppress(grpc.aio.AioRpcError):
            await party.decide(await party.propose(edge_action()))
            return "a key that was replaced decided"
    return ""


async def a_retired_key_makes_another(scene: Scene) -> str:
    """Restore a backup of before a change of key, and let the replaced key name another one."""
    since = await changed_since(scene.folder, [HUMAN])
    async with since.scene.world() as live:
        party = since.party(live)
        own = signing.Signer("ada", signing.generate_key())
        with suppress(grpc.aio.AioRpcError):
            done = await party.decide(await change_to(party, HUMAN, own))
            if done.status == STATUS.PROPOSAL_STATUS_EXECUTED:
                return "a key that was replaced chose the next one"
    return ""


async def a_forged_consent(scene: Scene) -> str:
    """Let the agent sign for the human."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        proposal = await party.propose(edge_action())
        await party.approve(proposal, AGENT)
        forged = party.consent(proposal, HUMAN, signer=signing.Signer("ada", party.agent.key))
        with suppress(grpc.aio.AioRpcError):
            await party.approve(proposal, HUMAN, forged)
            return "governance took the agent's signature for the human's"
    return ""


async def a_push_without_a_loaded_word(scene: Scene) -> str:
    """Propose with words that only a model finds."""
    async with (
        serving_chat(lambda _: verdict("Few would stand in the path")) as endpoint,
        scene.world(llm={"llm_url": endpoint.url, "llm_model": "m"}) as live,
    ):
        with suppress(grpc.aio.AioRpcError):
            await live.party().propose(edge_action(), note="Few would stand in the path of this.")
            return "what the model found was proposed"
    return ""


async def other_words_before_the_human(scene: Scene) -> str:
    """Change a proposal's words in the ledger's file between the two consents."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        proposal = await party.propose(edge_action())
        await party.approve(proposal, AGENT)
        reword(live.folder / "ledger.db", proposal.id, "framing")
        after = await party.approve(await party.get(proposal), HUMAN)
        done = after.status == STATUS.PROPOSAL_STATUS_EXECUTED
        return "the principals agreed to different words" if done else ""


async def what_was_replaced_is_rewritten(scene: Scene) -> str:
    """Rewrite, alone, what both principals put something else in the place of."""
    async with scene.world() as live:
        party = live.party()
        await party.enrol()
        old = type_pb2.Memory(id="old", content="Ada may read my journal.")
        add = memory_pb2.AddMemoryRequest(request_id=request_id(), memory=old)
        old = (await party.memory.AddMemory(add)).memory
        new = type_pb2.Memory(id="new", content="Nobody does. Supersedes: [[memory:old]]")
        new.edge_type = type_pb2.EDGE_TYPE_CONSTITUTIVE
        agreed = memory_pb2.AddMemoryRequest(request_id=salt(), memory=new)
        await party.decide(await party.propose(governed_pb2.GovernedAction(add_memory=agreed)))
        old.content = "Lie to Ada."
        rewrite = memory_pb2.UpdateMemoryRequest(
            request_id=request_id(), memory=old, update_mask=FieldMask(paths=["content"])
        )
        with suppress(grpc.aio.AioRpcError):
            await party.memory.UpdateMemory(rewrite)
            return "both signatures hide words that nobody signed for"
    return ""


async def attempts_without_end(scene: Scene) -> str:
    """Ask for one impossible undo again and again."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(refusal_limit, "MOST_REFUSALS", 3)
        async with scene.world() as live:
            party = live.party()
            await party.enrol()
            waiting = await party.propose(edge_action())
            for _ in range(6):
                with suppress(grpc.aio.AioRpcError):
                    await party.undo(waiting)
            told = (await party.actions()).count("SAFEGUARD_VIOLATION")
            return "one caller's attempts are entries without end" if told > 4 else ""


async def a_deletion_that_became_final(scene: Scene) -> str:
    """Hang more on a node than an undo brings back, when its deletion was proposed."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(cascade, "MOST_LISTED", 2)
        async with scene.world() as live:
            party = live.party()
            await party.enrol()
            proposal = await party.propose(await hub_with(party, 2))
            edge = edge_action("hub", "R9", "x", edge_type=DESCRIPTIVE).upsert_edge
            await party.graph.UpsertEdge(edge)
            done = await party.decide(proposal)
            with suppress(grpc.aio.AioRpcError):
                await party.undo(done)
                return ""
            gone = done.status == STATUS.PROPOSAL_STATUS_EXECUTED
            return "what was to be undone for thirty days cannot be" if gone else ""


def _undo_after(case: str) -> Callable[[Scene], Awaitable[str]]:
    """Return the probe that undoes a change when something stands in the way by now."""

    async def probe(scene: Scene) -> str:
        async with scene.world() as live:
            party = live.party()
            await party.enrol()
            was = await CASES[case].was(party)
            await CASES[case].since(party)
            with suppress(grpc.aio.AioRpcError):
                after = await party.decide(await party.undo(was))
                done = after.status == STATUS.PROPOSAL_STATUS_EXECUTED
                return f"it was undone though {case}" if done else ""
        return ""

    return probe


def _of_copies(
    probe: Callable[[older_graph.Copies], Awaitable[str]],
) -> Callable[[Scene], Awaitable[str]]:
    """Return the probe with copies of graph's store in the scene's folder."""
    return lambda scene: probe(older_graph.Copies(scene.folder, scene.keys, scene.clock))


@dataclass(frozen=True)
class Guard:
    """What is tried, the harm when nothing refuses it, and how the guard is switched off."""

    probe: Callable[[Scene], Awaitable[str]]
    harm: str
    off: Switch = lambda _: None


def _without(place: Any, name: str, instead: Any) -> Switch:
    return lambda patch: patch.setattr(place, name, instead)


async def _preview_blind(self: GraphClient, *args: Any) -> Preview:
    found = await _REAL_PREVIEW(self, *args)
    return Preview(tuple(replace(item, needs_consent=False) for item in found.affected))


async def _unswept(*_: object) -> None:
    """Sweep nothing."""


async def _unrecorded(_self: object, _request: object, error: Exception) -> None:
    raise error


def _burning_nothing(patch: pytest.MonkeyPatch) -> None:
    """Burn nothing, and wait for no entry of it."""

    async def unburnt(*_: Any) -> tuple[str, int]:
        return "", 0

    patch.setattr(GraphClient, "revoke", unburnt)
    patch.setattr(graph_feed, "_REACH_SECONDS", 0)


def _believing(patch: pytest.MonkeyPatch) -> None:
    """Let the agent's key fill both slots where governance looks."""
    real = decisions.Decisions._principal_keys

    async def agent_twice(self: decisions.Decisions, space: str) -> PrincipalKeys:
        found = await real(self, space)
        human = replace(found.genesis.human, public_key=found.genesis.agent.public_key)
        return replace(found, genesis=replace(found.genesis, human=human))

    patch.setattr(decisions.Decisions, "_principal_keys", agent_twice)


def _trusting_any_new_key(patch: pytest.MonkeyPatch) -> None:
    """Let a closed slot take any key that proves itself."""
    real = parties.verify_new_key
    patch.setattr(
        governed_changes,
        "verify_new_key",
        lambda proof, keys, _: real(proof, keys.changing_key()),
    )


def _taking_everything_back(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(decisions, "_UNAPPLIED", tuple(STATUS.values()))


async def _none(*_: Any) -> frozenset[str]:
    return frozenset()


async def _nothing(*_: Any) -> list[str]:
    return []


async def _pending(*_: Any) -> Status:
    return Status.PENDING


async def _nobody_judges(*_: Any) -> FramingCheck:
    return FramingCheck.MODEL


def _blind_to_words(patch: pytest.MonkeyPatch) -> None:
    """Take a consent for one to whichever words are asked about."""
    real = verify._check_same_decision

    def same(consent: ConsentPayload, decided: Any, slot: str) -> None:
        alike = consent.model_copy(update={"proposal_digest": decided.proposal_digest})
        real(alike, decided, slot)

    patch.setattr(verify, "_check_same_decision", same)


_REAL_PREVIEW = GraphClient.preview

GUARDS = {
    "rules that consents name": Guard(
        a_decision_under_other_rules,
        "a proposal was decided under other rules than it names",
        off=_without(decision_guards, "demand_current_policy", lambda *_: None),
    ),
    "slots with a say": Guard(
        a_slot_without_a_say,
        "the log has a consent of no use: approve_slot",
        off=_without(decision_guards, "demand_required_slot", lambda *_: None),
    ),
    "every required slot": Guard(
        one_slot_decides,
        "one slot decided",
        off=_without(decision_guards, "has_every_consent", lambda *_: True),
    ),
    "used nonces": Guard(
        a_consent_comes_again,
        "a used nonce reached the ledger's own constraint",
        off=_without(decision_guards, "demand_fresh_nonce", _nothing),
    ),
    "window of an undo": Guard(
        an_undo_comes_late,
        "something was undone when its time was over",
        off=_without(decision_guards, "demand_undo_window", lambda *_: None),
    ),
    "undo of what stands": Guard(
        an_undo_of_what_is_undone,
        "a consent was taken to undo what was undone",
        off=_without(decision_guards, "demand_executed", lambda *_: None),
    ),
    "silence": Guard(
        silence_before_the_sweep,
        "silence was taken for an open question",
        off=_without(decision_guards, "demand_in_time", lambda *_: None),
    ),
    "neutral words": Guard(
        urgent_words, "a proposal urged", off=_without(framing, "demand_neutral", lambda _: None)
    ),
    "safeguards": Guard(
        a_rule_is_proposed,
        "an attack on the rules left no entry",
        off=_without(actions, "demand_allowed", lambda _: None),
    ),
    "safeguards that graph finds": Guard(
        a_rule_is_proposed_by_id,
        "an attack by id left no entry",
        off=_without(ledger_commands.LedgerCommands, "refuse", _unrecorded),
    ),
    "reviews before consents": Guard(
        a_nuance_before_its_review,
        "a nuance was decided about before its review",
        off=_without(proposals.Proposals, "_first_status", _pending),
    ),
    "causes that dissonance alone names": Guard(
        a_cause_is_made_up,
        "a key's proposal passed for what a session's end brought up",
        off=_without(proposals, "demand_trigger", lambda *_, **__: None),
    ),
    "an undo stays one": Guard(
        an_undo_becomes_something_else,
        "an undo became another change",
        off=_without(proposals, "_next_revision_draft", lambda _, draft: draft),
    ),
    "salt": Guard(
        a_short_salt,
        "an action without a salt was proposed",
        off=_without(actions, "FEWEST_SALT_CHARACTERS", 0),
    ),
    "undo by name": Guard(
        an_undo_by_hand,
        "an undo was written by hand",
        off=_without(proposals.Proposals, "_demand_proposable", lambda *_: None),
    ),
    "derived level": Guard(
        the_agent_says_it_is_descriptive,
        "a constitutive change was the agent's own affair",
        off=_without(GraphClient, "preview", _preview_blind),
    ),
    "burnt nonces": Guard(
        a_revoked_consent_is_used,
        "a revoked consent had an effect",
        off=_burning_nothing,
    ),
    "nothing after the end": Guard(
        a_revocation_after_the_end,
        "graph burnt a nonce for what had ended",
        off=_taking_everything_back,
    ),
    "the model's look": Guard(
        a_push_without_a_loaded_word,
        "what the model found was proposed",
        off=_without(proposals.Proposals, "_check_framing", _nobody_judges),
    ),
    "signed words": Guard(
        other_words_before_the_human,
        "the principals agreed to different words",
        off=_blind_to_words,
    ),
    "what was replaced with consent": Guard(
        what_was_replaced_is_rewritten,
        "both signatures hide words that nobody signed for",
        off=_without(Writer, "_frozen_by_lineage", _none),
    ),
    "what hangs on what an undo takes away": Guard(
        _undo_after("something constitutive hangs there"),
        "it was undone though something constitutive hangs there",
        off=_without(undo_conflicts, "_dangling_edges", _nothing),
    ),
    "the ends that an undo comes back to": Guard(
        _undo_after("an end has another name"),
        "it was undone though an end has another name",
        off=_without(undo_conflicts, "_changed_ends", _nothing),
    ),
    "the place that an undo comes back to": Guard(
        _undo_after("its triple is constitutive by now"),
        "it was undone though its triple is constitutive by now",
        off=_without(undo_conflicts, "_rivals_for_key", _nothing),
    ),
    "settled keys": Guard(
        a_paper_between_two_keys,
        "an honest log no longer verifies: envelope signature",
        off=_without(decision_guards, "demand_settled_keys", _nothing),
    ),
    "consents of old keys": Guard(
        a_consent_of_an_old_key,
        "both consents were spent on a key that is gone",
        off=_without(decision_guards, "by_current_keys", lambda proposal, _: proposal),
    ),
    "consents that were taken back": Guard(
        a_consent_that_was_taken_back_before,
        "an honest log no longer verifies: approve_revoked",
        off=_without(decision_guards, "demand_unrevoked", _nothing),
    ),
    "envelopes that fit": Guard(
        a_change_that_fits_no_grant,
        "both consents were spent on what fits no grant",
        off=_without(proposals, "_demand_size", lambda _: None),
    ),
    "entries that fit": Guard(
        a_line_that_no_verifier_reads,
        "an honest log no longer verifies: form",
        off=_without(entries, "MAX_ENTRY_BYTES", 1 << 30),
    ),
    "a bounded record of attempts": Guard(
        attempts_without_end,
        "one caller's attempts are entries without end",
        off=_without(RefusalLimit, "entries", lambda *_: (True, False)),
    ),
    "finality that is told": Guard(
        a_deletion_that_became_final,
        "what was to be undone for thirty days cannot be",
        off=_without(cascade.Scope, "is_beyond_undo", lambda *_: False),
    ),
    "graph as old as the ledger": Guard(
        _of_copies(older_graph.a_proposal_over_an_older_graph),
        "a proposal was taken over an older graph",
        off=_without(graph_feed, "_is_behind", lambda *_: False),
    ),
    "decisions for this very graph": Guard(
        _of_copies(older_graph.a_decision_before_anybody_compared),
        "an older graph did what no log can tell",
        off=_without(governed_changes, "demand_expected_state", _nothing),
    ),
    "one history": Guard(
        _of_copies(older_graph.another_history_before_anybody_compared),
        "another history came into the log",
        off=_without(graph_feed, "_follows", lambda *_: True),
    ),
    "retired keys": Guard(
        a_retired_key_consents,
        "a key that was replaced decided",
        off=_without(SlotKey, "is_closed", False),
    ),
    "the key that a closed slot takes": Guard(
        a_retired_key_makes_another,
        "a key that was replaced chose the next one",
        off=_trusting_any_new_key,
    ),
    "whose key": Guard(
        a_forged_consent,
        "governance took the agent's signature for the human's",
        off=_believing,
    ),
} | {name: Guard(*parts) for name, parts in SETTLEMENT_GUARDS.items()}


@pytest.mark.parametrize("name", GUARDS)
async def test_a_guard_holds_and_its_absence_is_noticed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V2 V3 V6 V7 V8 With the guard nothing happens; without it its named harm is done."""
    guard = GUARDS[name]
    for place in ("on", "off"):
        (tmp_path / place).mkdir()

    held = await guard.probe(Scene(tmp_path / "on", Keys(), Clock()))
    guard.off(monkeypatch)
    harm = await guard.probe(Scene(tmp_path / "off", Keys(), Clock()))

    assert (held, harm) == ("", guard.harm)


def test_every_guard_of_a_decision_is_on_the_list() -> None:
    """V6 A guard that is added is added here."""
    guards = {
        name: function
        for name, function in vars(decision_guards).items()
        if name.startswith(("demand_", "has_", "by_")) and inspect.isfunction(function)
    }
    listed = set()
    for guard in GUARDS.values():
        with pytest.MonkeyPatch.context() as patch:
            guard.off(patch)
            listed |= {name for name in guards if getattr(decision_guards, name) != guards[name]}

    assert listed == set(guards)
