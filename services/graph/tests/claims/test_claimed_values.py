"""Values of functional relations: a lower writer's value ends no person's (W9 T2)."""

from __future__ import annotations

from claim_world import accept, ada, add, claims, helper, refuse, said
from concord.type.v1 import type_pb2
from graph_world import DAY, SECOND, START, Calls, World, fact


async def _lives_in(calls: Calls) -> set[str]:
    """Return where Ada lives now, by default reads."""
    reply = await calls.neighbors("Ada")
    return {each.neighbor.name for each in reply.neighbors}


async def test_a_later_value_of_an_agent_claims(live: World) -> None:
    """W9 T2 By a fact: the person's edge and memory stay; both memories are marked."""
    person, agent = ada(live), helper(live)
    await person.declare("LIVES_IN")
    hers = await person.add("I live in Berlin.", id="b", facts=[fact("Ada", "LIVES_IN", "Berlin")])
    live.clock.pass_(DAY)

    reply = await add(agent, "She moved.", id="p", facts=[fact("Ada", "LIVES_IN", "Paris")])

    assert said(reply) == [("FOLLOW", "b", "p")]
    assert await _lives_in(person) == {"Berlin", "Paris"}
    now = await person.get("b")
    assert not now.supersession.is_superseded
    assert now.etag == hers.etag
    assert [mark.by_id for mark in now.claims] == ["p"]
    assert (await person.get("p")).claim_count == 1
    assert (await person.get_triple("Ada", "LIVES_IN", "Paris")).claimed


async def test_a_later_value_by_an_edge_claims_until_it_is_accepted(live: World) -> None:
    """W9 T2 UpsertEdge; accepted by one word, it ends the person's value."""
    person, agent = ada(live), helper(live)
    await person.declare("LIVES_IN")
    hers = await person.put_edge("Ada", "LIVES_IN", "Berlin")
    live.clock.pass_(DAY)
    its = await agent.put_edge("Ada", "LIVES_IN", "Paris")
    (claim,) = await claims(person)
    assert (claim.item_id, claim.by_id) == (hers.id, its.id)

    reply = await accept(person, claim.number)

    assert await _lives_in(person) == {"Paris"}
    assert [each.id for each in reply.gave_way.items] == [hers.id]
    assert not (await person.get_edge(its.id)).claimed


async def test_a_refused_value_never_ends_another(live: World) -> None:
    """W9 T2 It stays beside the person's."""
    person, agent = ada(live), helper(live)
    await person.declare("LIVES_IN")
    await person.put_edge("Ada", "LIVES_IN", "Berlin")
    live.clock.pass_(DAY)
    await agent.put_edge("Ada", "LIVES_IN", "Paris")
    (claim,) = await claims(person)

    await refuse(person, claim.number)
    live.clock.pass_(DAY)

    assert "Berlin" in await _lives_in(person)
    assert await claims(person) == []


async def test_a_person_who_states_a_claimed_value_settles_it(live: World) -> None:
    """W9 T2 The owner's own write that says the same accepts the claim."""
    person, agent = ada(live), helper(live)
    await person.declare("LIVES_IN")
    await person.add("I live in Berlin.", facts=[fact("Ada", "LIVES_IN", "Berlin")])
    live.clock.pass_(DAY)
    await agent.add("She moved.", facts=[fact("Ada", "LIVES_IN", "Paris")])
    await agent.add("She has moved.", facts=[fact("Ada", "LIVES_IN", "Paris")])
    assert await _lives_in(person) == {"Berlin", "Paris"}

    await person.add("I moved.", facts=[fact("Ada", "LIVES_IN", "Paris")])

    assert await _lives_in(person) == {"Paris"}
    assert await claims(person) == []
    (claim,) = await claims(person, type_pb2.CLAIM_STATE_ACCEPTED)
    assert claim.settled_by == "ada"


async def test_a_value_put_ahead_of_a_persons_gives_way_to_it(live: World) -> None:
    """W9 T2 An agent's value that begins later was there before the person's was said."""
    person, agent = ada(live), helper(live)
    await agent.declare("LIVES_IN")
    await agent.put_edge("Ada", "LIVES_IN", "Paris", valid_from=START + 5 * SECOND)
    await agent.put_edge("Ada", "LIVES_IN", "Rome", valid_from=START + 9 * SECOND)

    await person.put_edge("Ada", "LIVES_IN", "Berlin")
    live.clock.pass_(DAY)

    assert "Berlin" in await _lives_in(person)
    assert {claim.claimant for claim in await claims(person)} == {"helper"}
    await person.put_edge("Ada", "LIVES_IN", "Bonn")
    assert "Bonn" in await _lives_in(person)
    assert "Berlin" not in await _lives_in(person)


async def test_a_relation_declared_late_by_an_agent_claims(live: World) -> None:
    """W9 T2 A person's several values stay, and the relation undeclared."""
    person, agent = ada(live), helper(live)
    for city in ("Berlin", "Bonn"):
        await person.put_edge("Ada", "LIVES_IN", city)
        live.clock.pass_(DAY)

    reply = await agent.declare("LIVES_IN")

    assert [each[0] for each in said(reply)] == ["DECLARE"]
    assert reply.relation.name == "LIVES_IN"
    assert not reply.relation.functional
    assert await _lives_in(person) == {"Berlin", "Bonn"}
    assert await person.declared() == {}
    (claim,) = await claims(person)
    await accept(person, claim.number)
    assert await _lives_in(person) == {"Bonn"}


async def test_a_relation_declared_late_by_a_person_ends_no_persons_value_by_an_agents(
    live: World,
) -> None:
    """W9 T2 The agent's later value only claims from then on."""
    person, agent = ada(live), helper(live)
    await person.put_edge("Ada", "LIVES_IN", "Berlin")
    live.clock.pass_(DAY)
    await agent.put_edge("Ada", "LIVES_IN", "Paris")
    live.clock.pass_(DAY)

    await person.declare("LIVES_IN")

    assert await _lives_in(person) == {"Berlin", "Paris"}
    (claim,) = await claims(person)
    assert claim.claimant == "helper"


async def test_what_a_person_declared_is_the_persons(live: World) -> None:
    """W9 T2 An agent that takes the declaration back claims."""
    person, agent = ada(live), helper(live)
    await person.declare("LIVES_IN")

    reply = await agent.declare("LIVES_IN", functional=False)

    assert [each[0] for each in said(reply)] == ["DECLARE"]
    assert await person.declared() == {"LIVES_IN": True}


async def test_an_agents_own_values_follow_one_another(live: World) -> None:
    """W9 T2 Between equals nothing changed: the later value ends the earlier one."""
    agent, other = helper(live), helper(live, principal="other")
    await agent.declare("LIVES_IN")
    await agent.put_edge("Ada", "LIVES_IN", "Berlin")
    live.clock.pass_(DAY)
    await other.put_edge("Ada", "LIVES_IN", "Paris")

    assert await _lives_in(agent) == {"Paris"}
    assert await claims(agent) == []
