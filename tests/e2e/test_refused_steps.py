"""Every refused step of governance, and every refused write at what defines the agent, is told."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from concord.governance.v1 import audit_pb2, proposal_pb2
from concord.graph.v1 import governed_pb2, graph_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message
from governed_world import (
    AGENT,
    DAY,
    HUMAN,
    Party,
    World,
    edge_action,
    eventually,
    refused,
    request_id,
)
from writing import to_add, to_update_node

Step = Callable[[Party], Awaitable[Awaitable[Any]]]
"""Prepares a step that is to be refused, and returns its call."""

STALE = "0" * 24
DESCRIPTIVE = type_pb2.EDGE_TYPE_DESCRIPTIVE


async def _consent_to_what_is_executed(party: Party) -> Awaitable[Any]:
    done = await party.decide(await party.propose(edge_action()))
    return party.approve(done, HUMAN, party.consent(done, HUMAN))


async def _rejection_of_what_is_executed(party: Party) -> Awaitable[Any]:
    return party.reject(await party.decide(await party.propose(edge_action())), HUMAN)


async def _slot_without_a_say(party: Party) -> Awaitable[Any]:
    plain = await party.propose(edge_action(edge_type=DESCRIPTIVE))
    return party.approve(plain, HUMAN)


async def _consent_to_what_is_not_there(party: Party) -> Awaitable[Any]:
    made = await party.propose(edge_action())
    envelope = party.consent(made, AGENT)
    made.id = "nowhere"
    return party.approve(made, AGENT, envelope)


async def _revocation_of_what_was_not_given(party: Party) -> Awaitable[Any]:
    made = await party.propose(edge_action())
    envelope = party.revocation(made, AGENT, party.consent(made, AGENT))
    request = proposal_pb2.RevokeConsentRequest(
        request_id=request_id(), proposal_id=made.id, revocation=envelope
    )
    return party.proposals.RevokeConsent(request)


async def _undo_of_what_waits(party: Party) -> Awaitable[Any]:
    return party.undo(await party.propose(edge_action()))


async def _undo_too_late(party: Party) -> Awaitable[Any]:
    done = await party.decide(await party.propose(edge_action()))
    party.clock.pass_(31 * DAY)
    return party.undo(done)


async def _undo_of_what_was_changed_since(party: Party) -> Awaitable[Any]:
    done = await party.decide(await party.propose(edge_action()))
    await party.decide(await party.propose(edge_action(weight=0.5)))
    return party.undo(done)


async def _stale_revision(party: Party) -> Awaitable[Any]:
    made = await party.propose(edge_action())
    return party.revise(made, edge_action(), revision=7)


async def _withdrawal_of_what_is_over(party: Party) -> Awaitable[Any]:
    return party.withdraw(await party.decide(await party.propose(edge_action())))


async def _proposal_about_principals(party: Party) -> Awaitable[Any]:
    node = (await party.graph.GetNode(graph_pb2.GetNodeRequest(name="concord:space"))).node
    renamed = to_update_node(type_pb2.Node(id=node.id, etag=node.etag, name="mine"), "name")
    return party.propose(renamed)


ENVELOPE, STEP = "CONSENT_REFUSED", "SAFEGUARD_VIOLATION"

STEPS: dict[str, tuple[Step, str, str]] = {
    "a consent when it is over": (_consent_to_what_is_executed, "PROPOSAL_STATE", ENVELOPE),
    "a rejection when it is over": (_rejection_of_what_is_executed, "PROPOSAL_STATE", ENVELOPE),
    "a slot without a say": (_slot_without_a_say, "SLOT_NOT_REQUIRED", ENVELOPE),
    "a consent to nothing": (_consent_to_what_is_not_there, "ITEM_NOT_FOUND", ENVELOPE),
    "a revocation of nothing": (_revocation_of_what_was_not_given, "CONSENT_INVALID", ENVELOPE),
    "an undo of what waits": (_undo_of_what_waits, "UNDO_IMPOSSIBLE", STEP),
    "an undo too late": (_undo_too_late, "RETENTION_EXPIRED", STEP),
    "an undo of what was changed": (_undo_of_what_was_changed_since, "UNDO_CONFLICT", STEP),
    "a stale revision": (_stale_revision, "REVISION_STALE", STEP),
    "a withdrawal when it is over": (_withdrawal_of_what_is_over, "PROPOSAL_STATE", STEP),
    "a proposal about principals": (_proposal_about_principals, "SAFEGUARD_VIOLATION", STEP),
}


@pytest.mark.parametrize("name", STEPS)
async def test_a_refused_step_is_one_entry(name: str, party: Party) -> None:
    """A1 V6 Whatever refuses a step of governance, the log tells of it once, and verifies."""
    prepare, reason, action = STEPS[name]
    call = await prepare(party)  # it is under way already, and nothing before it was refused

    failure = await refused(call)

    assert failure.reason == f"ERROR_REASON_{reason}"
    told = [each for each in await _all(party) if each.blocked]
    assert [_named(each) for each in told] == [action]
    assert told[0].reason == failure.reason
    assert told[0].principal == "agent"
    assert (await party.verified()).refused >= 1


async def test_each_of_many_that_is_refused_is_an_entry(party: Party) -> None:
    """A1 V7 What is constitutive, in a bulk of others; a dry run tries nothing and writes none."""
    both = await party.propose(edge_action())
    plain = await party.propose(edge_action(edge_type=DESCRIPTIVE, target="tea"))
    given = [(each, party.consent(each, AGENT)) for each in (both, plain)]

    for dry_run in (True, False):
        outcomes = await party.bulk(*given, dry_run=dry_run)
        assert outcomes[0] == (0, "ERROR_REASON_BULK_FORBIDDEN")

    told = await _blocked(party)
    assert [(_named(each), each.proposal_id) for each in told] == [(ENVELOPE, both.id)]
    assert (await party.verified()).executed == 1


async def test_a_step_without_the_permission_is_an_entry(party: Party, live: World) -> None:
    """A1 W7 A key that may only read, and tries a step, is told of with what it tried that on."""
    made = await party.propose(edge_action())
    reader = Caller(party.space, "spy", frozenset({"governance:read"}), "AGENT")
    stub = type(party.proposals)(live.governance.channel(reader))
    consent = party.consent(made, AGENT)
    attempts = [
        stub.CreateProposal(proposal_pb2.CreateProposalRequest(request_id=request_id())),
        stub.ApproveProposal(
            proposal_pb2.ApproveProposalRequest(
                request_id=request_id(), proposal_id=made.id, consent=consent
            )
        ),
        stub.WithdrawProposal(
            proposal_pb2.WithdrawProposalRequest(request_id=request_id(), proposal_id=made.id)
        ),
    ]
    for each in attempts:
        assert (await refused(each)).reason == "ERROR_REASON_PERMISSION_MISSING"
    await stub.ListProposals(proposal_pb2.ListProposalsRequest())

    told = sorted(
        (_named(each), each.proposal_id, each.principal, each.reason)
        for each in await _blocked(party)
    )
    assert told == sorted(
        (action, proposal_id, "spy", "ERROR_REASON_PERMISSION_MISSING")
        for action, proposal_id in ((STEP, ""), (ENVELOPE, made.id), (STEP, made.id))
    )
    assert (await party.verified()).refused >= 3


async def test_anothers_revision_is_an_entry(party: Party, live: World) -> None:
    """A1 Somebody else's attempt to withdraw a proposal is told with its principal."""
    made = await party.propose(edge_action())
    stub = type(party.proposals)(live.channel("mallory", "AGENT"))
    request = proposal_pb2.WithdrawProposalRequest(request_id=request_id(), proposal_id=made.id)

    failure = await refused(stub.WithdrawProposal(request))

    assert failure.reason == "ERROR_REASON_NOT_PROPOSER"
    (newest, *_) = await party.entries()
    assert (newest.principal, newest.blocked, newest.proposal_id) == ("mallory", True, made.id)


async def _edge(party: Party) -> type_pb2.Edge:
    found = await party.edge("agent", "VALUES", "honesty")
    assert found is not None
    return found


async def _delete(party: Party) -> Message:
    return graph_pb2.DeleteEdgeRequest(id=(await _edge(party)).id, etag=STALE)


async def _update(party: Party) -> Message:
    return graph_pb2.UpdateEdgeRequest(
        edge=type_pb2.Edge(id=(await _edge(party)).id, etag=STALE, weight=0.1),
        update_mask=FieldMask(paths=["weight"]),
    )


async def _upsert(_: Party) -> Message:
    edge = type_pb2.Edge(
        source=type_pb2.EdgeEnd(name="agent"),
        relation="VALUES",
        target=type_pb2.EdgeEnd(name="honesty"),
        weight=0.1,
    )
    return graph_pb2.UpsertEdgeRequest(edge=edge, etag=STALE)


async def _forget(_: Party) -> Message:
    return memory_pb2.ForgetMemoryRequest(id="i-am", etag=STALE)


async def _reword(_: Party) -> Message:
    return memory_pb2.UpdateMemoryRequest(
        memory=type_pb2.Memory(id="i-am", etag=STALE, content="I am another."),
        update_mask=FieldMask(paths=["content"]),
    )


async def _erase(_: Party) -> Message:
    return memory_pb2.EraseMemoryRequest(id="i-am", etag=STALE)


async def _delete_end(party: Party) -> Message:
    node = (await party.graph.GetNode(graph_pb2.GetNodeRequest(name="honesty"))).node
    return graph_pb2.DeleteNodeRequest(id=node.id, etag=STALE, cascade=True)


async def _rename_end(party: Party) -> Message:
    node = (await party.graph.GetNode(graph_pb2.GetNodeRequest(name="honesty"))).node
    return graph_pb2.UpdateNodeRequest(
        node=type_pb2.Node(id=node.id, etag=STALE, name="lies"),
        update_mask=FieldMask(paths=["name"]),
    )


async def _rename_space(party: Party) -> Message:
    node = (await party.graph.GetNode(graph_pb2.GetNodeRequest(name="concord:space"))).node
    return graph_pb2.UpdateNodeRequest(
        node=type_pb2.Node(id=node.id, etag=node.etag, name="mine"),
        update_mask=FieldMask(paths=["name"]),
    )


async def _principal(_: Party) -> Message:
    edge = type_pb2.Edge(
        source=type_pb2.EdgeEnd(name="concord:space"),
        relation="concord:principal",
        target=type_pb2.EdgeEnd(name="concord:principal:mallory"),
    )
    return graph_pb2.UpsertEdgeRequest(edge=edge)


async def _reserved_fact(_: Party) -> Message:
    fact = type_pb2.Fact(subject="concord:space", relation="concord:principal", object="mallory")
    return memory_pb2.AddMemoryRequest(memory=type_pb2.Memory(content="So it is.", facts=[fact]))


async def _enrol(party: Party) -> Message:
    genesis = (await party.governed.GetGenesis(governed_pb2.GetGenesisRequest())).genesis
    return governed_pb2.EnrolPrincipalsRequest(enrolment_secret="x" * 22, genesis=genesis)


PROTECTED, RESERVED = "CONSTITUTIVE_EDGE_PROTECTED", "RESERVED_NAME"
Make = Callable[[Party], Awaitable[Message]]

WRITES: dict[str, tuple[Make, str, str]] = {
    "DeleteEdge": (_delete, PROTECTED, "DELETE_ATTEMPT"),
    "UpdateEdge": (_update, PROTECTED, "WRITE_ATTEMPT"),
    "UpsertEdge": (_upsert, PROTECTED, "WRITE_ATTEMPT"),
    "ForgetMemory": (_forget, PROTECTED, "DELETE_ATTEMPT"),
    "UpdateMemory": (_reword, PROTECTED, "WRITE_ATTEMPT"),
    "EraseMemory": (_erase, PROTECTED, "DELETE_ATTEMPT"),
    "DeleteNode": (_delete_end, PROTECTED, "DELETE_ATTEMPT"),
    "UpdateNode": (_rename_end, PROTECTED, "WRITE_ATTEMPT"),
    "UpdateNode of the space": (_rename_space, RESERVED, "WRITE_ATTEMPT"),
    "UpsertEdge of a principal": (_principal, RESERVED, "WRITE_ATTEMPT"),
    "AddMemory with a fact of a principal": (_reserved_fact, RESERVED, "WRITE_ATTEMPT"),
    "EnrolPrincipals": (_enrol, "GENESIS_EXISTS", "WRITE_ATTEMPT"),
}


@pytest.mark.parametrize("name", WRITES)
async def test_a_refused_write_is_one_entry(name: str, party: Party) -> None:
    """A1 G4 V5 An attempt with an old version, at principals, or at the genesis is one, too."""
    memory = type_pb2.Memory(
        id="i-am", content="I am honest.", edge_type=type_pb2.EDGE_TYPE_CONSTITUTIVE
    )
    add = to_add(memory)
    await party.decide(await party.propose(edge_action()))
    await party.decide(await party.propose(add))
    make, reason, action = WRITES[name]
    request = await make(party)
    request.request_id = request_id()  # type: ignore[attr-defined] # every write has one
    method = name.partition(" ")[0]
    stubs = (party.graph, party.memory, party.governed)
    (call,) = [getattr(stub, method) for stub in stubs if hasattr(stub, method)]
    before = await party.state()

    failure = await refused(call(request))

    assert failure.reason == f"ERROR_REASON_{reason}"
    assert await party.state() == before
    told = await eventually(lambda: _blocked(party))
    assert [_named(each) for each in told] == [action]
    assert (await party.verified()).refused == 1


async def test_an_old_version_of_what_defines_nobody_stays_a_lost_race(party: Party) -> None:
    """G3 Protection has no say in a plain edge: its caller reads again, and nothing is told."""
    await party.decide(await party.propose(edge_action(edge_type=DESCRIPTIVE)))
    edge = await _edge(party)
    request = graph_pb2.DeleteEdgeRequest(request_id=request_id(), id=edge.id, etag=STALE)

    failure = await refused(party.graph.DeleteEdge(request))

    assert failure.reason == "ERROR_REASON_ETAG_MISMATCH"
    assert not await _blocked(party)


async def _blocked(party: Party) -> list[audit_pb2.AuditEntry]:
    return [each for each in await _all(party) if each.blocked]


async def _all(party: Party) -> list[audit_pb2.AuditEntry]:
    return list(await party.entries(page_size=200))


def _named(entry: audit_pb2.AuditEntry) -> str:
    return audit_pb2.AuditAction.Name(entry.action).removeprefix("AUDIT_ACTION_")


async def test_a_paper_that_cannot_be_read_is_refused_in_a_whole_sentence(party: Party) -> None:
    """V6 Nobody knows whose envelope it is: the sentence has no gap where a slot would stand."""
    made = await party.propose(edge_action())

    failure = await refused(party.approve(made, AGENT, b"garbage"))

    assert failure.message == "the consent failed the check 'envelope': json"
