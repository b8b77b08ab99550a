"""What a lower writer declared of a relation beforehand ends a person's value in sight (W9, T2)."""

from __future__ import annotations

from claim_world import ada, add, helper, said
from concord.type.v1 import type_pb2
from graph_world import DAY, Calls, World, fact


def _given(reply: object) -> list[tuple[str, str]]:
    """Return (id, declared by) of what gave way."""
    given: type_pb2.GaveWay = reply.gave_way  # type: ignore[attr-defined] # a write's reply
    return [(each.id, each.declared_by) for each in given.items]


async def _tea_then_rum(live: World, person: Calls) -> object:
    await add(person, "I like tea.", id="tea", facts=[fact("Ada", "LIKES", "tea")])
    live.clock.pass_(DAY)
    return await add(person, "I like rum.", id="rum", facts=[fact("Ada", "LIKES", "rum")])


async def test_the_reply_says_who_declared_what_ends_a_value(live: World) -> None:
    """W9 T2 Of the edge and of the memory; who declares otherwise has both again."""
    person, agent = ada(live), helper(live)
    await agent.declare("LIKES")

    reply = await _tea_then_rum(live, person)

    tea = await person.get_triple("Ada", "LIKES", "tea")
    assert sorted(_given(reply)) == sorted([("tea", "helper"), (tea.id, "helper")])
    assert await person.listed() == ["rum"]

    await person.declare("LIKES", functional=False)
    assert sorted(await person.listed()) == ["rum", "tea"]
    again = await agent.declare("LIKES")
    assert [action for action, *_ in said(again)] == ["DECLARE"]
    assert sorted(await person.listed()) == ["rum", "tea"]


async def test_ones_own_declaration_is_named_to_nobody(live: World) -> None:
    """W9 T2 Who says again what a lower one declared has declared it."""
    person, agent = ada(live), helper(live)
    await agent.declare("LIKES")
    await person.declare("LIKES")

    reply = await _tea_then_rum(live, person)

    assert [by for _, by in _given(reply)] == ["", ""]
    (claim,) = said(await agent.declare("LIKES", functional=False))
    assert claim[0] == "DECLARE"
