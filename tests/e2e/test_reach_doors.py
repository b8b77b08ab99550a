"""What keys with the scopes append and own may do, through each door of a system (W7, W9)."""

from collections.abc import Awaitable, Callable

import httpx2
import pytest
from agents_doors import told
from concord.dissonance.v1 import dissonance_pb2
from concord.governance.v1 import access_pb2, proposal_pb2
from concord.graph.v1 import conflict_pb2, lineage_pb2, memory_pb2, space_pb2
from concord.type.v1 import type_pb2
from concord_client import AsyncClient, Refused, connect_async
from concord_embedded import Running
from google.protobuf.json_format import Parse
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

CLAIMED = type_pb2.WRITE_OUTCOME_CLAIMED
SCOPES = {
    "append": access_pb2.KEY_SCOPE_APPEND,
    "own": access_pb2.KEY_SCOPE_OWN,
    "write": access_pb2.KEY_SCOPE_WRITE,
}
Door = Callable[[Running, str, type_pb2.Memory], Awaitable[bool]]


async def _key(system: Running, principal: str, scope: str) -> str:
    """Return a new key of an agent that reads, and what the scope says."""
    async with connect_async(system.url, system.keys["concord:system"]) as operator:
        made = await operator.access.CreateKey(
            access_pb2.CreateKeyRequest(
                space="default",
                principal=principal,
                kind=type_pb2.PRINCIPAL_KIND_AGENT,
                scopes=[access_pb2.KEY_SCOPE_READ, SCOPES[scope]],
            )
        )
    return made.secret


async def _added(client: AsyncClient, content: str) -> type_pb2.Memory:
    request = memory_pb2.AddMemoryRequest(memory=type_pb2.Memory(content=content))
    return (await client.memory.AddMemory(request)).memory


async def _over_grpc(system: Running, key: str, memory: type_pb2.Memory) -> bool:
    """ForgetMemory; whether it only claimed."""
    async with connect_async(system.url, key) as client:
        request = memory_pb2.ForgetMemoryRequest(id=memory.id, etag=memory.etag)
        return (await client.memory.ForgetMemory(request)).outcome == CLAIMED


async def _over_http(system: Running, key: str, memory: type_pb2.Memory) -> bool:
    address = f"{system.http_url}/concord.graph.v1.MemoryService/ForgetMemory"
    asked = {"id": memory.id, "etag": memory.etag, "request_id": f"h{memory.etag}{key[:8]}"}
    async with httpx2.AsyncClient(timeout=60) as http:
        headers = {"authorization": f"Bearer {key}"}
        reply = await http.post(address, json=asked, headers=headers)
    return Parse(reply.text, memory_pb2.ForgetMemoryResponse()).outcome == CLAIMED


async def _over_mcp(system: Running, key: str, memory: type_pb2.Memory) -> bool:
    headers = {"authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{system.http_url}/mcp/all", http_client=http)
        async with Client(transport) as agent:
            asked = {"id": memory.id, "etag": memory.etag}
            return bool(told(await agent.call_tool("forget_memory", asked)).get("claims"))


@pytest.mark.parametrize("door", [_over_grpc, _over_http, _over_mcp])
async def test_each_door_carries_how_far_a_key_reaches(system: Running, door: Door) -> None:
    """W7 W9 The same write of three keys of one agent: claims, claims but for its own, acts."""
    keys = {scope: await _key(system, "bot", scope) for scope in SCOPES}
    other = await _key(system, "other", "write")
    claimed = {}
    for scope, key in keys.items():
        async with connect_async(system.url, key) as mine, connect_async(system.url, other) as them:
            both = await _added(mine, f"Mine, {scope}."), await _added(them, f"Theirs, {scope}.")
        claimed[scope] = tuple([await door(system, key, memory) for memory in both])

    assert claimed == {"append": (True, True), "own": (False, True), "write": (False, False)}


async def test_the_tools_of_a_key_are_those_that_it_may_call(system: Running) -> None:
    """W3 W7 All of a writer's, but what its reach lets in nowhere."""
    names = {}
    for scope in SCOPES:
        headers = {"authorization": f"Bearer {await _key(system, 'bot', scope)}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(f"{system.http_url}/mcp/all", http_client=http)
            async with Client(transport) as agent:
                names[scope] = {tool.name for tool in (await agent.list_tools()).tools}

    assert names["write"] - names["own"] == {"dismiss_conflicts"}
    assert names["append"] <= names["own"] <= names["write"]
    assert {"add_memory", "forget_memory", "update_memory"} <= names["append"]


async def test_dissonance_writes_as_far_as_its_caller_reaches(system: Running) -> None:
    """W7 W9 D5 It passes the caller's token on: a review is a claim, dismissing many refused."""
    key, other = await _key(system, "bot", "append"), await _key(system, "other", "write")
    async with connect_async(system.url, key) as mine, connect_async(system.url, other) as them:
        sides = [await _added(them, f"The sluice is {word}.") for word in ("open", "shut")]
        await them.lineage.AddLineage(
            lineage_pb2.AddLineageRequest(
                relation=type_pb2.LINEAGE_RELATION_CONTRADICTS,
                newer_id=sides[0].id,
                older_id=sides[1].id,
            )
        )
        pair = conflict_pb2.ConflictPair(first_id=sides[0].id, second_id=sides[1].id)
        found = (
            await mine.conflict.GetConflict(conflict_pb2.GetConflictRequest(pair=pair))
        ).conflict
        review = dissonance_pb2.ReviewConflictRequest(
            conflict_id=found.id, action=dissonance_pb2.REVIEW_ACTION_DISMISS
        )
        reply = await mine.dissonance.ReviewConflict(review)
        with pytest.raises(Refused) as many:
            await mine.dissonance.DismissConflicts(
                dissonance_pb2.DismissConflictsRequest(rule="TEXT", context="so")
            )

    assert reply.outcome == CLAIMED
    assert reply.claims[0].action == type_pb2.CLAIM_ACTION_DECIDE
    assert reply.conflict.state == conflict_pb2.CONFLICT_STATE_CONFIRMED
    assert many.value.reason == "ERROR_REASON_PERMISSION_MISSING"
    assert "but only dissonance:append" in str(many.value)


async def test_append_proposes_and_decides_nothing(system: Running) -> None:
    """W7 V1 A proposal waits for who may decide; a whole space comes in by no such key."""
    key, other = await _key(system, "bot", "append"), await _key(system, "other", "write")
    async with connect_async(system.url, key) as mine, connect_async(system.url, other) as them:
        theirs = await _added(them, "The sluice is open.")
        request = proposal_pb2.CreateProposalRequest()
        forget = request.action.forget_memory
        forget.request_id, forget.id, forget.etag = (
            "salt-of-22-characters-or-more",
            theirs.id,
            theirs.etag,
        )
        made = (await mine.proposals.CreateProposal(request)).proposal
        refusals = []
        for call in (
            lambda: mine.proposals.ApproveProposal(
                proposal_pb2.ApproveProposalRequest(proposal_id=made.id)
            ),
            lambda: mine.space.ImportSpace(iter([space_pb2.ImportSpaceRequest()])),
        ):
            with pytest.raises(Refused) as refused:
                await call()
            refusals.append(refused.value.reason)
        now = await mine.memory.GetMemory(memory_pb2.GetMemoryRequest(id=theirs.id, peek=True))

    assert made.status == proposal_pb2.PROPOSAL_STATUS_PENDING
    assert refusals == ["ERROR_REASON_PERMISSION_MISSING"] * 2
    assert not now.memory.HasField("forget_time")
