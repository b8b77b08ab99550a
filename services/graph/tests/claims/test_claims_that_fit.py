"""Of several claims on one item: accepted after others, or refused with the reason (W9)."""

from __future__ import annotations

import pytest
from claim_world import accept, ada, add, claims, helper, update
from concord.graph.v1 import graph_pb2, memory_pb2
from concord.type.v1 import type_pb2
from google.protobuf.field_mask_pb2 import FieldMask
from graph_world import World, struct

ACCEPTED, REFUSED = type_pb2.CLAIM_STATE_ACCEPTED, type_pb2.CLAIM_STATE_REFUSED
UNSETTLED, CHANGED, GONE = (
    type_pb2.CLAIM_REASON_UNSPECIFIED,
    type_pb2.CLAIM_REASON_ITEM_CHANGED,
    type_pb2.CLAIM_REASON_ITEM_GONE,
)


async def test_accepted_requests_are_done_to_the_item_as_it_is(live: World) -> None:
    """W9 Of two claims on one item the second fits, too, once the first is accepted."""
    person, agent = ada(live), helper(live)
    milk = await person.add("I drink milk.", id="milk")
    milk.importance = type_pb2.IMPORTANCE_LOW
    one = (await update(agent, milk, "importance")).claims[0]
    two = (await agent.erase(milk)).claims[0]

    await accept(person, one.number)
    assert (await person.get("milk")).importance == type_pb2.IMPORTANCE_LOW
    await accept(person, two.number)

    gone = await person.memory.GetMemory(memory_pb2.GetMemoryRequest(id="milk", peek=True))
    assert gone.status == type_pb2.LOOKUP_STATUS_ERASED
    assert await claims(person) == []
    assert {each.reason for each in await claims(person, ACCEPTED)} == {UNSETTLED}


@pytest.mark.parametrize("one_by_one", [True, False])
async def test_claims_on_one_item_are_all_accepted_in_their_order(
    live: World, one_by_one: bool
) -> None:
    """W9 Requests and lineage, of fields that they share, too: the last that is accepted counts."""
    person, agent = ada(live), helper(live)
    milk = await person.add("I drink milk.", id="milk", tags=["home"])
    for number, domain in enumerate(["food", "drink"]):
        milk.domain, milk.category = domain, "habit"
        await update(agent, milk, "domain", *["category"][:number])
        await add(agent, f"{number} Supersedes: [[memory:milk]]")
    asked = [claim.number for claim in reversed(await claims(person))]
    assert len(asked) == 4

    if one_by_one:
        for number in asked:
            await accept(person, number)
    else:
        await accept(person, claimant="helper", up_to_number=asked[-1])

    now = await person.get("milk")
    assert (now.domain, now.category, now.supersession.is_superseded) == ("drink", "habit", True)
    assert await claims(person) == []
    assert len(await claims(person, ACCEPTED)) == 4


async def test_a_claim_whose_item_changed_in_what_it_would_change_is_refused(live: World) -> None:
    """W9 Its reason is shown; a change in something else, or an addition, is none."""
    person, agent = ada(live), helper(live)
    milk = await person.add("I drink milk.", id="milk")
    milk.domain, milk.category = "food", "habit"
    domain = (await update(agent, milk, "domain")).claims[0].number
    category = (await update(agent, milk, "category")).claims[0].number
    forget = memory_pb2.ForgetMemoryRequest(request_id="f", id="milk", etag=milk.etag)
    gone = (await agent.memory.ForgetMemory(forget)).claims[0].number
    milk.domain = "drink"
    await update(person, milk, "domain")
    tagged = await person.get("milk")
    tagged.tags.append("home")
    await update(person, tagged, "tags")

    (claim,) = (await accept(person, domain)).claims
    assert (claim.state, claim.reason, claim.settled_by) == (REFUSED, CHANGED, "ada")
    (claim,) = (await accept(person, category)).claims
    assert (claim.state, claim.reason) == (ACCEPTED, UNSETTLED)
    (claim,) = (await accept(person, gone)).claims

    now = await person.get("milk")
    assert (claim.state, claim.reason) == (REFUSED, CHANGED)
    assert (now.domain, now.category, list(now.tags)) == ("drink", "habit", ["home"])
    assert {each.reason for each in await claims(agent, REFUSED)} == {CHANGED}
    assert await claims(person) == []


async def test_a_claim_on_what_is_gone_is_refused(live: World) -> None:
    """W9 Of nodes and edges, too; a restored memory fits no claim to restore it."""
    person, agent = ada(live), helper(live)
    milk = await person.add("I drink milk.", id="milk")
    milk.importance = type_pb2.IMPORTANCE_LOW
    await update(agent, milk, "importance")
    edge = await person.put_edge("Ada", "LIKES", "tea", weight=0.5)
    edge.weight = 0.1
    await agent.graph.UpdateEdge(
        graph_pb2.UpdateEdgeRequest(
            request_id="e", edge=edge, update_mask=FieldMask(paths=["weight"])
        )
    )
    node = await person.put_node("Garage", properties=struct({"code": "4711"}))
    node.name = "Evil"
    await agent.graph.UpdateNode(
        graph_pb2.UpdateNodeRequest(
            request_id="n", node=node, update_mask=FieldMask(paths=["name"])
        )
    )
    node.name = "Garage"
    await person.forget(milk)
    await person.delete_edge(await person.get_edge(edge.id))
    await person.graph.DeleteNode(
        graph_pb2.DeleteNodeRequest(request_id="d", id=node.id, etag=node.etag)
    )
    asked = [claim.number for claim in await claims(person)]
    assert len(asked) == 3

    reply = await accept(person, *asked)

    assert {(claim.state, claim.reason) for claim in reply.claims} == {(REFUSED, GONE)}
    assert await claims(person) == []
