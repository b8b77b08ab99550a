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
from concord.graph.v1 import conflict_pb2, governed_pb2, graph_pb2
from concord.type.v1 import type_pb2
from concord_attestation import key_changes, refusal_limit, verify
from concord_attestation.bounds import MAX_ENTRY_BYTES, MAX_ITEMS
from concord_attestation.consent import PrincipalKey
from concord_attestation.payloads import ConsentPayload
from concord_attestation.refusal_limit import RefusalLimit
from concord_chassis.call.failure import from_rpc_error
from concord_client.trust import signing
from concord_client.trust.audit.log import LogInvalid
from concord_governance.adapters.graph.client import GraphClient
from concord_governance.domain import actions, entries, framing
from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.domain.errors import ProposalTooLarge
from concord_governance.domain.proposals import FramingCheck, Status
from concord_governance.ports.graph import Preview
from concord_governance.usecases import (
    decision_guards,
    decisions,
    graph_feed,
    ledger_commands,
    proposals,
)
from concord_governance.usecases.decision_guards import LoggedKeys
from concord_graph.usecases.governed import apply as governed_changes
from concord_graph.usecases.governed import undo_conflicts
from concord_graph.usecases.write import cascade
from concord_graph.usecases.write.writer import Writer
from concord_testing.chat_endpoint import serving_chat, verdict
from conflict_steps import finds, found, review
from governed_steps import (
    asked_with,
    follower_held,
    hub_with,
    key_change,
    linking,
    past_governance,
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
    Party,
    edge_action,
    reason_of,
    refused,
)
from older_graph import Copies
from restored_stores import change_to, changed_since
from settling import SETTLEMENT_GUARDS
from undo_cases import CASES
from writing import action_of, salt, to_add, to_update_memory

DESCRIPTIVE = type_pb2.EDGE_TYPE_DESCRIPTIVE
Switch = Callable[[pytest.MonkeyPatch], None]


Probe = Callable[[Copies], Awaitable[bool]]
"""Tries to do harm; returns whether it was done."""


@dataclass(frozen=True)
class Guard:
    """What is tried, and how the guard is switched off that refuses it."""

    probe: Probe
    off: Switch


GUARDS: dict[str, Guard] = {}


def guard(name: str, off: Switch) -> Callable[[Probe], Probe]:
    """Return the decorator that lists a probe under the name of the guard that refuses it."""

    def listed(probe: Probe) -> Probe:
        GUARDS[name] = Guard(probe, off)
        return probe

    return listed


async def is_done(call: Awaitable[object], refusal: str = "") -> bool:
    """Whether a call is not refused; fail when it is refused for another reason than is named."""
    try:
        await call
    except grpc.aio.AioRpcError as error:
        if refusal and reason_of(from_rpc_error(error))[0] != refusal:
            raise
        return False
    return True


async def log_is_refused(party: Party, check: str) -> bool:
    """Whether the offline verifier refuses the space's log; fail when another check does so."""
    try:
        await party.verified()
    except LogInvalid as error:
        if error.check != check:
            raise
        return True
    return False


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
    real = decisions.Decisions._keys_of

    async def agent_twice(self: decisions.Decisions, space: str) -> LoggedKeys:
        found = await real(self, space)
        human = replace(found.genesis.human, keys=found.genesis.agent.keys)
        return replace(found, genesis=replace(found.genesis, human=human))

    patch.setattr(decisions.Decisions, "_keys_of", agent_twice)


def _trusting_any_new_key(patch: pytest.MonkeyPatch) -> None:
    """Let a closed slot take any key that proves itself."""
    real = key_changes.verify_key_change
    patch.setattr(
        governed_changes,
        "verify_key_change",
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


@guard(
    "rules that consents name", _without(decision_guards, "demand_current_policy", lambda *_: None)
)
async def a_decision_under_other_rules(scene: Copies) -> bool:
    """Approve under changed settings what was proposed under the ones before."""
    async with scene.enrolled(settings={"approval_timeout_hours": 48}) as (_, party):
        proposal = await party.propose(edge_action(edge_type=DESCRIPTIVE))
    async with scene.enrolled(settings={"approval_timeout_hours": 1}) as (_, party):
        return await is_done(party.approve(proposal, AGENT))


@guard("what is open", _without(decision_guards, "demand_open_and_own", lambda *_: None))
async def a_proposal_that_is_withdrawn_twice(scene: Copies) -> bool:
    """Withdraw a proposal that has ended."""
    async with scene.enrolled() as (_, party):
        proposal = await party.propose(edge_action(edge_type=DESCRIPTIVE))
        await party.withdraw(proposal)
        return await is_done(party.withdraw(proposal), "PROPOSAL_STATE")


@guard("envelopes that fit", _without(proposals, "demand_size", lambda _: None))
async def a_change_that_fits_no_grant(scene: Copies) -> bool:
    """Propose and sign one item more than envelopes name."""
    async with scene.enrolled() as (_, party):
        with suppress(grpc.aio.AioRpcError):
            done = await party.decide(await party.propose(linking(MAX_ITEMS)))
            assert done.status == STATUS.PROPOSAL_STATUS_FAILED
            return True
    return False


@guard("entries that fit", _without(entries, "MAX_ENTRY_BYTES", 1 << 30))
async def a_line_that_no_verifier_reads(scene: Copies) -> bool:
    """Bring an entry to the ledger that is larger than a line may be."""
    async with scene.enrolled() as (live, party):
        entry = Entry(Action.SMF_UNDO, Actor.SYSTEM, reason="x" * MAX_ENTRY_BYTES)
        with suppress(ProposalTooLarge):
            await live.app._ledger.write("one", lambda tx: tx.append([entry]))
        return await log_is_refused(party, "form")


@guard("slots with a say", _without(decision_guards, "demand_required_slot", lambda *_: None))
async def a_slot_without_a_say(scene: Copies) -> bool:
    """Let the human consent to what the agent decides alone."""
    async with scene.enrolled() as (_, party):
        proposal = await party.propose(edge_action(edge_type=DESCRIPTIVE))
        await is_done(party.approve(proposal, HUMAN), "SLOT_NOT_REQUIRED")
        return await log_is_refused(party, "approve_slot")


@guard("every required slot", _without(decision_guards, "has_every_consent", lambda *_: True))
async def one_slot_decides(scene: Copies) -> bool:
    """Let the agent alone consent to what needs both."""
    async with scene.enrolled() as (_, party):
        after = await party.approve(await party.propose(edge_action()), AGENT)
        return after.status != STATUS.PROPOSAL_STATUS_PENDING


@guard("used nonces", _without(decision_guards, "demand_fresh_nonce", _nothing))
async def a_consent_comes_again(scene: Copies) -> bool:
    """Give the same consent twice."""
    async with scene.enrolled() as (_, party):
        proposal = await party.propose(edge_action())
        consent = party.consent(proposal, AGENT)
        await party.approve(proposal, AGENT, consent)
        failure = await refused(party.approve(proposal, AGENT, consent))
        return reason_of(failure) != ("CONSENT_INVALID", "nonce")


@guard("window of an undo", _without(decision_guards, "demand_undo_window", lambda *_: None))
async def an_undo_comes_late(scene: Copies) -> bool:
    """Approve an undo when its time is over."""
    async with scene.enrolled(settings={"undo_retention_days": 1}) as (_, party):
        undo = await party.undo(await party.decide(await party.propose(edge_action())))
        scene.clock.pass_(DAY)
        await is_done(party.decide(undo), "RETENTION_EXPIRED")
        return await party.edge("agent", "VALUES", "honesty") is None


@guard("undo of what stands", _without(decision_guards, "demand_executed", lambda *_: None))
async def an_undo_of_what_is_undone(scene: Copies) -> bool:
    """Approve the second of two undos of one change."""
    async with scene.enrolled() as (_, party):
        done = await party.decide(await party.propose(edge_action()))
        first, second = await party.undo(done), await party.undo(done)
        await party.decide(first)
        return await is_done(party.approve(second, AGENT))


@guard("silence", _without(decision_guards, "demand_in_time", lambda *_: None))
async def silence_before_the_sweep(scene: Copies) -> bool:
    """Approve what nobody answered in time, before anything has written that down."""
    async with scene.enrolled() as (_, party):
        proposal = await party.propose(edge_action(edge_type=DESCRIPTIVE))
        scene.clock.pass_(49 * HOUR)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ledger_commands.LedgerCommands, "expire", _unswept)
            return await is_done(party.approve(proposal, AGENT))


@guard("neutral words", _without(framing, "demand_neutral", lambda _: None))
async def urgent_words(scene: Copies) -> bool:
    """Propose with words that urge."""
    async with scene.world() as live:
        party = live.party()
        return await is_done(party.propose(edge_action(), note="This is urgent!"))


@guard("safeguards", _without(actions, "demand_allowed", lambda _: None))
async def a_rule_is_proposed(scene: Copies) -> bool:
    """Propose to write what stands for principals."""
    async with scene.enrolled() as (_, party):
        with suppress(grpc.aio.AioRpcError):
            await party.propose(edge_action(relation="concord:principal"))
        return (await party.actions())[-1] != "SAFEGUARD_VIOLATION"


@guard(
    "safeguards that graph finds", _without(ledger_commands.LedgerCommands, "refuse", _unrecorded)
)
async def a_rule_is_proposed_by_id(scene: Copies) -> bool:
    """Propose to write what stands for a principal, without naming it."""
    async with scene.enrolled() as (_, party):
        (space, *_) = (await party.graph.ListNodes(graph_pb2.ListNodesRequest())).nodes
        request = graph_pb2.DeleteNodeRequest(
            request_id=salt(), id=space.id, etag=space.etag, cascade=True
        )
        with suppress(grpc.aio.AioRpcError):
            await party.propose(request)
        return (await party.actions())[-1] != "SAFEGUARD_VIOLATION"


@guard("reviews before consents", _without(proposals.Proposals, "_first_status", _pending))
async def a_nuance_before_its_review(scene: Copies) -> bool:
    """Let the agent consent to what it has to review first."""
    nuance, contradiction = (
        conflict_pb2.CONFLICT_CLASS_NUANCE,
        conflict_pb2.CONFLICT_CLASS_CONTRADICTION,
    )
    async with scene.enrolled() as (live, party):
        conflict = await found(live, party, nuance)
        action = review(conflict, conflict_pb2.REVIEW_DECISION_RECLASSIFY, contradiction)
        made = await finds(live, action)
        return await is_done(party.approve(made, AGENT))


@guard(
    "causes that dissonance alone names",
    _without(proposals, "demand_trigger", lambda *_, **__: None),
)
async def a_cause_is_made_up(scene: Copies) -> bool:
    """Propose as if a session's end had caused it."""
    async with scene.world() as live:
        party = live.party()
        trigger = proposal_pb2.PROPOSAL_TRIGGER_SESSION_END
        return await is_done(party.propose(edge_action(), trigger=trigger, session_id="s"))


@guard("an undo stays one", _without(proposals, "_next_revision_draft", lambda _, draft: draft))
async def an_undo_becomes_something_else(scene: Copies) -> bool:
    """Revise an undo into another change: its window and what it undoes would mean nothing."""
    async with scene.enrolled() as (_, party):
        undo = await party.undo(await party.decide(await party.propose(edge_action())))
        return await is_done(party.revise(undo, edge_action(target="x")))


@guard("salt", _without(actions, "FEWEST_SALT_CHARACTERS", 0))
async def a_short_salt(scene: Copies) -> bool:
    """Propose an action whose digest can be guessed."""
    action = edge_action()
    action.upsert_edge.request_id = "1"
    async with scene.world() as live:
        party = live.party()
        return await is_done(party.propose(action), "SAFEGUARD_VIOLATION")


@guard("undo by name", _without(proposals.Proposals, "_demand_proposable", lambda *_: None))
async def an_undo_by_hand(scene: Copies) -> bool:
    """Write an undo without naming what it undoes, past its window."""
    async with scene.enrolled() as (_, party):
        done = await party.decide(await party.propose(edge_action()))
        edge = await party.edge("agent", "VALUES", "honesty")
        assert edge is not None
        assert done.affected
        item = governed_pb2.RevertedItem(id=edge.id, expected_revision=1)
        revert = governed_pb2.RevertItemsRequest(request_id="x" * 30, items=[item])
        return await is_done(party.propose(action_of(revert)), "UNDO_IMPOSSIBLE")


@guard("derived level", _without(GraphClient, "preview", _preview_blind))
async def the_agent_says_it_is_descriptive(scene: Copies) -> bool:
    """Ask whether what is constitutive is derived to be bilateral."""
    async with scene.enrolled() as (_, party):
        proposal = await party.propose(edge_action())
        return proposal.approval_level != proposal_pb2.APPROVAL_LEVEL_BILATERAL


@guard("burnt nonces", _burning_nothing)
async def a_revoked_consent_is_used(scene: Copies) -> bool:
    """Carry a revoked consent to graph past governance, with governance's own key."""
    async with scene.enrolled() as (_, party):
        proposal = await party.propose(edge_action())
        envelopes = {slot: party.consent(proposal, slot) for slot in (AGENT, HUMAN)}
        await party.approve(proposal, AGENT, envelopes[AGENT])
        with suppress(grpc.aio.AioRpcError):
            await revoke(party, proposal, AGENT, envelopes[AGENT])
        request = past_governance(party, proposal, scene.keys.grant, envelopes)
        await is_done(party.governed.ApplyGovernedChange(request))
        return await party.edge("agent", "VALUES", "honesty") is not None


@guard("nothing after the end", _taking_everything_back)
async def a_revocation_after_the_end(scene: Copies) -> bool:
    """Take a consent back after its proposal was rejected."""
    async with scene.enrolled() as (_, party):
        proposal = await party.propose(edge_action())
        consent = party.consent(proposal, AGENT)
        await party.approve(proposal, AGENT, consent)
        await party.reject(proposal, HUMAN)
        return await is_done(revoke(party, proposal, AGENT, consent), "PROPOSAL_STATE")


@guard("consents that were taken back", _without(decision_guards, "demand_unrevoked", _nothing))
async def a_consent_that_was_taken_back_before(scene: Copies) -> bool:
    """Give a consent whose nonce graph has burnt."""
    async with scene.enrolled() as (_, party):
        proposal = await party.propose(edge_action())
        consent = party.consent(proposal, AGENT)
        await party.governed.RevokeConsent(asked_with(party.revocation(proposal, AGENT, consent)))
        await revocations(party)
        with suppress(grpc.aio.AioRpcError):
            await party.approve(proposal, AGENT, consent)
        return await log_is_refused(party, "approve_revoked")


@guard("settled keys", _without(decision_guards, "demand_settled_keys", _nothing))
async def a_paper_between_two_keys(scene: Copies) -> bool:
    """Approve by the new key when graph has it and the log does not."""
    async with scene.enrolled() as (_, party):
        other = await party.propose(edge_action())
        change, new = await key_change(party, HUMAN)
        async with follower_held(party, change):
            with suppress(grpc.aio.AioRpcError):
                await party.approve(other, HUMAN, party.consent(other, HUMAN, signer=new))
        return await log_is_refused(party, "envelope signature")


@guard(
    "consents of old keys",
    _without(decision_guards, "by_current_keys", lambda proposal, _: proposal),
)
async def a_consent_of_an_old_key(scene: Copies) -> bool:
    """Let the other slot answer when the first one's key has changed."""
    async with scene.enrolled() as (_, party):
        proposal = await party.propose(edge_action())
        await party.approve(proposal, AGENT)
        change, party.agent = await _changed(party, AGENT)
        assert change.status == STATUS.PROPOSAL_STATUS_EXECUTED
        after = await party.approve(proposal, HUMAN)
        return after.status != STATUS.PROPOSAL_STATUS_PENDING


async def _changed(party: Party, slot: str) -> tuple[proposal_pb2.Proposal, signing.Signer]:
    change, new = await key_change(party, slot)
    return await party.decide(change), new


@guard("retired keys", _without(PrincipalKey, "is_retired", False))
async def a_retired_key_consents(scene: Copies) -> bool:
    """Restore a backup of before a change of key, and let the replaced key consent."""
    since = await changed_since(scene.folder, [HUMAN])
    async with since.scene.world() as live:
        party = since.party(live)
        return await is_done(party.decide(await party.propose(edge_action())))


@guard("the key that a closed slot takes", _trusting_any_new_key)
async def a_retired_key_makes_another(scene: Copies) -> bool:
    """Restore a backup of before a change of key, and let the replaced key name another one."""
    since = await changed_since(scene.folder, [HUMAN])
    async with since.scene.world() as live:
        party = since.party(live)
        own = signing.Signer("ada", signing.generate_key())
        with suppress(grpc.aio.AioRpcError):
            done = await party.decide(await change_to(party, HUMAN, own))
            return done.status == STATUS.PROPOSAL_STATUS_EXECUTED
    return False


@guard("whose key", _believing)
async def a_forged_consent(scene: Copies) -> bool:
    """Let the agent sign for the human."""
    async with scene.enrolled() as (_, party):
        proposal = await party.propose(edge_action())
        await party.approve(proposal, AGENT)
        forged = party.consent(proposal, HUMAN, signer=signing.Signer("ada", party.agent.key))
        return await is_done(party.approve(proposal, HUMAN, forged))


@guard("the model's look", _without(proposals.Proposals, "_check_framing", _nobody_judges))
async def a_push_without_a_loaded_word(scene: Copies) -> bool:
    """Propose with words that only a model finds."""
    async with (
        serving_chat(lambda _: verdict("Few would stand in the path")) as endpoint,
        scene.world(llm={"llm_url": endpoint.url, "llm_model": "m"}) as live,
    ):
        return await is_done(
            live.party().propose(edge_action(), note="Few would stand in the path of this.")
        )


@guard("signed words", _blind_to_words)
async def other_words_before_the_human(scene: Copies) -> bool:
    """Change a proposal's words in the ledger's file between the two consents."""
    async with scene.enrolled() as (live, party):
        proposal = await party.propose(edge_action())
        await party.approve(proposal, AGENT)
        reword(live.folder / "ledger.db", proposal.id, "framing")
        after = await party.approve(await party.get(proposal), HUMAN)
        return after.status == STATUS.PROPOSAL_STATUS_EXECUTED


@guard("what was replaced with consent", _without(Writer, "_frozen_by_lineage", _none))
async def what_was_replaced_is_rewritten(scene: Copies) -> bool:
    """Rewrite, alone, what both principals put something else in the place of."""
    async with scene.enrolled() as (_, party):
        old = type_pb2.Memory(id="old", content="Ada may read my journal.")
        old = (await party.memory.AddMemory(to_add(old))).memory
        new = type_pb2.Memory(id="new", content="Nobody does. Supersedes: [[memory:old]]")
        new.edge_type = type_pb2.EDGE_TYPE_CONSTITUTIVE
        await party.decide(await party.propose(to_add(new)))
        old.content = "Lie to Ada."
        return await is_done(party.memory.UpdateMemory(to_update_memory(old, "content")))


@guard("a bounded record of attempts", _without(RefusalLimit, "entries", lambda *_: (True, False)))
async def attempts_without_end(scene: Copies) -> bool:
    """Ask for one impossible undo again and again."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(refusal_limit, "MOST_REFUSALS", 3)
        async with scene.enrolled() as (_, party):
            waiting = await party.propose(edge_action())
            for _ in range(6):
                with suppress(grpc.aio.AioRpcError):
                    await party.undo(waiting)
            told = (await party.actions()).count("SAFEGUARD_VIOLATION")
            return told > 4


@guard("finality that is told", _without(cascade.Scope, "is_beyond_undo", lambda *_: False))
async def a_deletion_that_became_final(scene: Copies) -> bool:
    """Hang more on a node than an undo brings back, when its deletion was proposed."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(cascade, "MOST_LISTED", 2)
        async with scene.enrolled() as (_, party):
            proposal = await party.propose(await hub_with(party, 2))
            edge = edge_action("hub", "R9", "x", edge_type=DESCRIPTIVE).upsert_edge
            await party.graph.UpsertEdge(edge)
            done = await party.decide(proposal)
            gone = done.status == STATUS.PROPOSAL_STATUS_EXECUTED
            return gone and not await is_done(party.undo(done))


def _undo_after(case: str) -> Probe:
    """Return the probe that undoes a change when something stands in the way by now."""

    async def probe(scene: Copies) -> bool:
        async with scene.enrolled() as (_, party):
            was = await CASES[case].was(party)
            await CASES[case].since(party)
            with suppress(grpc.aio.AioRpcError):
                after = await party.decide(await party.undo(was))
                return after.status == STATUS.PROPOSAL_STATUS_EXECUTED
        return False

    return probe


GUARDS.update(
    {
        "what hangs on what an undo takes away": Guard(
            _undo_after("something constitutive hangs there"),
            _without(undo_conflicts, "_dangling_edges", _nothing),
        ),
        "the ends that an undo comes back to": Guard(
            _undo_after("an end has another name"),
            _without(undo_conflicts, "_changed_ends", _nothing),
        ),
        "the place that an undo comes back to": Guard(
            _undo_after("its triple is constitutive by now"),
            _without(undo_conflicts, "_rivals_for_key", _nothing),
        ),
        "graph as old as the ledger": Guard(
            older_graph.a_proposal_over_an_older_graph,
            _without(graph_feed, "_is_behind", lambda *_: False),
        ),
        "decisions for this very graph": Guard(
            older_graph.a_decision_before_anybody_compared,
            _without(governed_changes, "demand_expected_state", _nothing),
        ),
        "one history": Guard(
            older_graph.another_history_before_anybody_compared,
            _without(graph_feed, "_follows", lambda *_: True),
        ),
    }
    | {name: Guard(*parts) for name, parts in SETTLEMENT_GUARDS.items()}
)


@pytest.mark.parametrize("name", GUARDS)
async def test_a_guard_holds_and_its_absence_is_noticed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V1 V2 V3 V6 V7 V8 A2 A3 With the guard nothing happens; without it the harm is done."""
    probe, off = GUARDS[name].probe, GUARDS[name].off
    for place in ("on", "off"):
        (tmp_path / place).mkdir()

    assert not await probe(Copies(tmp_path / "on"))
    off(monkeypatch)
    assert await probe(Copies(tmp_path / "off"))


def test_every_guard_of_a_decision_is_on_the_list() -> None:
    """V6 A guard that is added is added here."""
    guards = {
        name: function
        for name, function in vars(decision_guards).items()
        if name.startswith(("demand_", "has_", "by_")) and inspect.isfunction(function)
    }
    listed = set()
    for each in GUARDS.values():
        with pytest.MonkeyPatch.context() as patch:
            each.off(patch)
            listed |= {name for name in guards if getattr(decision_guards, name) != guards[name]}

    assert listed == set(guards)
