"""Whose an item is, among many who wrote it or state it (W9)."""

from __future__ import annotations

from claim_world import ada, add, claims, helper, said, update
from concord.graph.v1 import claim_pb2, graph_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord_graph.usecases.write.stands import PAGE
from graph_world import DAY, START, World, fact, struct


async def _claims_among_equals(live: World) -> None:
    settings = claim_pb2.ClaimSettings(claims_among_equals=True)
    request = claim_pb2.SetClaimSettingsRequest(settings=settings)
    await live.calls(principal="root", kind="HUMAN").claim.SetClaimSettings(request)


async def test_an_equal_that_adds_to_a_memory_does_not_own_it(live: World) -> None:
    """W9 A tag more opens no way to another's memory, and closes none to its own writer."""
    one, two = helper(live), helper(live, principal="another")
    await _claims_among_equals(live)
    first = await one.add("I deploy on Mondays.", id="a")
    tagged = type_pb2.Memory(id="a", etag=first.etag, tags=["seen"])
    assert said(await update(two, tagged, "tags")) == []

    reply = await two.memory.ForgetMemory(
        memory_pb2.ForgetMemoryRequest(
            request_id=two.request_id(), id="a", etag=(await one.get("a")).etag
        )
    )

    assert said(reply) == [("FORGET", "a", "")]
    assert [claim.owner for claim in await claims(one)] == ["helper"]
    await one.forget(await one.get("a"))


async def test_an_equal_that_states_the_same_fact_does_not_end_it(live: World) -> None:
    """W9 T2 Agreeing with an agent first gives no right to its fact."""
    one, two = helper(live), helper(live, principal="another")
    await _claims_among_equals(live)
    await one.declare("RUNS_IN")
    await one.add("It runs in Paris.", id="a", facts=[fact("app", "RUNS_IN", "Paris")])
    await two.add("Paris, yes.", id="b", facts=[fact("app", "RUNS_IN", "Paris")])

    reply = await add(two, "Rome.", id="c", facts=[fact("app", "RUNS_IN", "Rome")])

    assert said(reply) == [("FOLLOW", "a", "c")]
    assert [claim.owner for claim in await claims(one)] == ["helper"]
    assert not (await one.get("a")).supersession.is_superseded


async def test_a_value_of_an_equal_that_was_put_ahead_ends_none(live: World) -> None:
    """W9 T2 Whichever was written first, and when the relation is declared only later."""
    one, two, person = helper(live), helper(live, principal="another"), ada(live)
    await _claims_among_equals(live)
    await one.declare("RUNS_IN")
    await two.put_edge("app", "RUNS_IN", "Rome", valid_from=START + 2 * DAY)
    its = await one.put_edge("app", "RUNS_IN", "Paris")
    own = await one.put_edge("app", "USES", "Go")
    live.clock.pass_(DAY)
    await two.put_edge("app", "USES", "Java")
    await person.declare("USES")
    live.clock.pass_(3 * DAY)

    for edge in (its, own):
        assert not (await one.get_edge(edge.id)).supersession.is_superseded
    assert {claim.claimant for claim in await claims(one)} == {"another"}


async def test_many_of_ones_own_writes_hide_no_persons(live: World) -> None:
    """W9 An item stands as high after more additions and statements than one read lists."""
    person, agent = ada(live), helper(live)
    await person.declare("LIVES_IN")
    berlin = [fact("Ada", "LIVES_IN", "Berlin")]
    said_so = [
        type_pb2.Memory(id=f"a{number}", content=f"{number}", facts=berlin)
        for number in range(PAGE)
    ]
    await agent.batch(said_so[:50])
    await agent.batch(said_so[50:])
    await person.add("I live in Berlin.", id="z", facts=berlin)
    await agent.put_node("Ship", label="Thing")
    for number in range(PAGE):
        await agent.put_node("Ship", properties=struct({f"a{number}": 1}))
    await person.put_node("Ship", properties=struct({"built": 1815}))
    for number in range(PAGE):
        await agent.put_node("Ship", properties=struct({f"p{number}": 1}))
    live.clock.pass_(DAY)

    moved = await add(agent, "Paris.", id="p", facts=[fact("Ada", "LIVES_IN", "Paris")])
    changed = await agent.graph.UpsertNode(
        graph_pb2.UpsertNodeRequest(
            request_id="n", node=type_pb2.Node(name="Ship", properties=struct({"built": 1900}))
        )
    )

    assert said(moved) == [("FOLLOW", "z", "p")]
    assert [item for _, item, _ in said(changed)] == [changed.node.id]
    assert not (await person.get("z")).supersession.is_superseded
