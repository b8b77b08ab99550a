"""Who wrote a memory down that was proposed: whoever proposed it, whoever agreed."""

import json

import pytest
from concord.governance.v1 import proposal_pb2, proposal_pb2_grpc
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from governed_steps import DESCRIPTIVE, EXECUTED, creed, demand_honest
from governed_world import CONSTITUTIVE, SCOPES, Party, World, edge_action, request_id

HUMAN = type_pb2.ORIGIN_HUMAN


@pytest.mark.parametrize("edge_type", [CONSTITUTIVE, DESCRIPTIVE])
async def test_is_its_proposers_and_signed(
    party: Party, live: World, edge_type: type_pb2.EdgeType.ValueType
) -> None:
    """W8 V6 A person's key proposes, both or the agent consent: the memory is of HUMAN origin, as
    stands in the bytes that were signed."""
    action = creed()
    action.add_memory.memory.edge_type = edge_type
    action.add_memory.memory.origin = type_pb2.ORIGIN_TOOL
    person = Caller("one", "ada", SCOPES, "HUMAN", origin="HUMAN")
    theirs = proposal_pb2_grpc.ProposalServiceStub(live.governance.channel(person))
    request = proposal_pb2.CreateProposalRequest(request_id=request_id(), action=action)

    proposed = (await theirs.CreateProposal(request)).proposal
    done = await party.decide(proposed)

    assert done.status == EXECUTED
    assert json.loads(proposed.canonical)["origin"] == "HUMAN"
    made = (await party.memory.GetMemory(memory_pb2.GetMemoryRequest(id="creed"))).memory
    assert made.origin == HUMAN
    await demand_honest(party)


async def test_is_named_only_where_a_memory_is_added(party: Party, live: World) -> None:
    """W8 An edge has none, and a key without an origin gives none."""
    person = Caller("one", "ada", SCOPES, "HUMAN", origin="HUMAN")
    theirs = proposal_pb2_grpc.ProposalServiceStub(live.governance.channel(person))
    request = proposal_pb2.CreateProposalRequest(request_id=request_id(), action=edge_action())

    of_edge = (await theirs.CreateProposal(request)).proposal
    nobodys = await party.decide(await party.propose(creed()))

    assert nobodys.status == EXECUTED
    for each in (of_edge, nobodys):
        assert "origin" not in json.loads(each.canonical)
    made = (await party.memory.GetMemory(memory_pb2.GetMemoryRequest(id="creed"))).memory
    assert made.origin == type_pb2.ORIGIN_UNSPECIFIED
