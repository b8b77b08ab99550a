"""What caused a proposal: dissonance alone may say so (V3, D7)."""

from __future__ import annotations

import json
from typing import Any

import grpc
import pytest
from concord.governance.v1 import proposal_pb2, proposal_pb2_grpc
from concord.graph.v1 import governed_pb2
from concord.type.v1 import type_pb2
from concord_governance.domain import dissonance as rules
from governed_steps import demand_honest
from governed_world import AGENT, Party, World, edge_action, refused, request_id

MANUAL = proposal_pb2.PROPOSAL_TRIGGER_MANUAL
DISSONANCE = proposal_pb2.PROPOSAL_TRIGGER_DISSONANCE
SESSION_END = proposal_pb2.PROPOSAL_TRIGGER_SESSION_END
PROACTIVE = proposal_pb2.PROPOSAL_TRIGGER_PROACTIVE
DESCRIPTIVE = type_pb2.EDGE_TYPE_DESCRIPTIVE


def asked(
    action: governed_pb2.GovernedAction | None = None, **fields: Any
) -> proposal_pb2.CreateProposalRequest:
    """Return a new request to propose, of a descriptive edge unless said otherwise."""
    action = action or edge_action(edge_type=DESCRIPTIVE)
    return proposal_pb2.CreateProposalRequest(request_id=request_id(), action=action, **fields)


@pytest.mark.parametrize(
    "cause",
    [
        {"trigger": DISSONANCE},
        {"trigger": SESSION_END, "session_id": "s"},
        {"trigger": PROACTIVE, "session_id": "s"},
        {"session_id": "s"},
    ],
)
async def test_nobody_else_says_what_caused_a_proposal(cause: dict[str, Any], party: Party) -> None:
    """V3 A key's proposal is MANUAL; one that names another cause is refused, and audited."""
    failure = await refused(party.proposals.CreateProposal(asked(**cause)))

    assert failure.reason == "ERROR_REASON_SAFEGUARD_VIOLATION"
    assert (await party.actions())[-1] == "SAFEGUARD_VIOLATION"
    assert (await party.propose(edge_action())).trigger == MANUAL


@pytest.mark.parametrize(("principal", "kind"), [("dissonance", "SYSTEM"), ("ada", "HUMAN")])
async def test_the_name_alone_is_not_dissonance(principal: str, kind: str, live: World) -> None:
    """V3 Another issuer's token does not speak for dissonance, whatever stands in it."""
    stub = proposal_pb2_grpc.ProposalServiceStub(live.channel(principal, kind))

    failure = await refused(
        stub.CreateProposal(asked(trigger=SESSION_END, session_id="s")),
    )

    assert failure.reason == "ERROR_REASON_SAFEGUARD_VIOLATION"


@pytest.mark.parametrize("trigger", [DISSONANCE, SESSION_END, PROACTIVE])
async def test_a_cause_has_its_ground(
    trigger: proposal_pb2.ProposalTrigger.ValueType, live: World
) -> None:
    """V3 Without a conflict or a session there is no such cause."""
    failure = await refused(live.dissonance().CreateProposal(asked(trigger=trigger)))

    assert failure.reason == "ERROR_REASON_SAFEGUARD_VIOLATION"


@pytest.mark.parametrize(
    ("trigger", "language", "detected"),
    [
        (SESSION_END, "en", "When a session ended, the addition of an item was proposed."),
        (SESSION_END, "de", "Am Ende einer Sitzung wurde das Hinzufügen eines Eintrags"),
        (PROACTIVE, "en", "Without a request, the addition of an item was proposed."),
        (PROACTIVE, "de", "Ohne Anfrage wurde das Hinzufügen eines Eintrags vorgeschlagen."),
    ],
)
async def test_the_words_say_the_cause_that_is_signed(
    trigger: proposal_pb2.ProposalTrigger.ValueType,
    language: str,
    detected: str,
    live: World,
    party: Party,
) -> None:
    """V3 V6 Trigger and session stand in the signed bytes, the trigger in the template's words, and
    a new revision keeps both; what the agent then decides is an honest log."""
    stub = live.dissonance()
    request = asked(trigger=trigger, session_id="s-1", language=language)
    made = (await stub.CreateProposal(request)).proposal

    assert made.framing.detected.startswith(detected)
    assert (made.trigger, made.session_id, made.proposer) == (trigger, "s-1", "dissonance")
    revised = await stub.ReviseProposal(
        proposal_pb2.ReviseProposalRequest(
            request_id=request_id(),
            proposal_id=made.id,
            revision=1,
            action=edge_action(target="rest", edge_type=DESCRIPTIVE),
        )
    )
    document = json.loads(revised.proposal.canonical)
    name = proposal_pb2.ProposalTrigger.Name(trigger).removeprefix("PROPOSAL_TRIGGER_")
    assert (document["trigger"], document["session_id"]) == (name, "s-1")
    await party.approve(revised.proposal, AGENT)
    await demand_honest(party)


async def test_findings_bury_nobody(
    live: World, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D7 V1 So many of dissonance's proposals wait in a space and no more; others go on."""
    assert rules.MOST_PENDING == 20
    monkeypatch.setattr("concord_governance.usecases.proposals.MOST_PENDING", 2)
    stub = live.dissonance()
    cause = {"trigger": SESSION_END, "session_id": "s"}
    for target in ("tea", "rest"):
        await stub.CreateProposal(asked(edge_action(target=target), **cause))

    found = await refused(stub.CreateProposal(asked(edge_action(target="more"), **cause)))

    assert found.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert (found.reason, found.metadata["max"]) == ("ERROR_REASON_TOO_MANY_PENDING", "2")
    await live.dissonance("two").CreateProposal(asked(edge_action(target="more"), **cause))
    for target in ("a", "b", "c"):
        await party.propose(edge_action(target=target))
