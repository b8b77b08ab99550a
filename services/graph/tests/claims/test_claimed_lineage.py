"""Lineage and new words of a lower writer at what a person said: claims, which do nothing (W9)."""

from __future__ import annotations

import pytest
from claim_world import action_name, ada, add, claims, helper, said, tool, update
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from graph_world import AMENDS, DEPRECATES, SUPERSEDES, Calls, World, known_at


async def _is_untouched(calls: Calls, before: type_pb2.Memory) -> None:
    now = await calls.get(before.id)
    assert not now.supersession.is_superseded
    assert not now.supersession.amendment_ids
    assert (now.etag, now.content) == (before.etag, before.content)
    assert before.id in await calls.listed()


@pytest.mark.parametrize(
    ("word", "action"),
    [("Supersedes", "SUPERSEDE"), ("Deprecates", "DEPRECATE"), ("Amends", "AMEND")],
)
async def test_a_link_of_an_agent_at_a_persons_memory_claims(
    live: World, word: str, action: str
) -> None:
    """W9 The reply is OK and says CLAIMED; both are shown marked; nothing gave way."""
    person, agent = ada(live), helper(live)
    tea = await person.add("I drink tea.", id="tea")

    reply = await add(agent, f"She drinks coffee.\n\n{word}: [[memory:tea]]", id="coffee")

    assert said(reply) == [(action, "tea", "coffee")]
    assert reply.created
    assert not reply.HasField("gave_way")
    assert (reply.claims[0].owner, reply.claims[0].claimant) == ("ada", "helper")
    await _is_untouched(person, tea)
    for shown in (reply.memory, await person.get("tea"), await person.get("coffee")):
        (mark,) = shown.claims
        assert (action_name(mark.action), mark.item_id, mark.by_id) == (action, "tea", "coffee")
        assert (mark.claimant, mark.number, shown.claim_count) == (
            "helper",
            reply.claims[0].number,
            1,
        )
    (edge,) = (await person.lineage("tea")).edges
    assert edge.claimed
    assert not (await person.get("coffee")).supersession.predecessor_count


@pytest.mark.parametrize("relation", [SUPERSEDES, DEPRECATES, AMENDS])
async def test_stated_lineage_claims(
    live: World, relation: type_pb2.LineageRelation.ValueType
) -> None:
    """W9 AddLineage claims as a link does; to say it again claims nothing more."""
    person, agent = ada(live), helper(live)
    tea = await person.add("I drink tea.", id="tea")
    await agent.add("She drinks coffee.", id="coffee")

    reply = await agent.relate(relation, "coffee", "tea")
    again = await agent.relate(relation, "coffee", "tea")

    assert len(said(reply)) == 1
    assert reply.edge.claimed
    assert said(again) == []
    assert len(await claims(person)) == 1
    await _is_untouched(person, tea)


async def test_lineage_between_edges_claims(live: World) -> None:
    """W9 A resolution record between two edges, of which the older one is a person's."""
    person, agent = ada(live), helper(live)
    hers = await person.put_edge("Ada", "LIKES", "tea")
    its = await agent.put_edge("Ada", "LIKES", "coffee")

    reply = await agent.relate(SUPERSEDES, its.id, hers.id)

    assert said(reply) == [("SUPERSEDE", hers.id, its.id)]
    assert not (await person.get_edge(hers.id)).supersession.is_superseded
    assert [mark.by_id for mark in (await person.get_edge(hers.id)).claims] == [its.id]


async def test_new_words_for_a_persons_memory_are_a_memory_of_the_agent(live: World) -> None:
    """W9 An update of words becomes a new memory of the caller with a claimed SUPERSEDES."""
    person, agent = ada(live), helper(live)
    tea = await person.add("I drink tea.", id="tea", external_id="note-1", tags=["drink"])

    given = type_pb2.Memory(id="tea", etag=tea.etag, content="I drink coffee.")
    reply = await update(agent, given, "content")

    assert said(reply) == [("SUPERSEDE", "tea", reply.memory.id)]
    assert reply.memory.id != "tea"
    assert reply.memory.content == "I drink coffee."
    assert list(reply.memory.tags) == ["drink"]
    assert reply.memory.origin == type_pb2.ORIGIN_AGENT
    await _is_untouched(person, tea)
    assert (await person.get("tea")).external_id == "note-1"


async def test_a_batch_that_updates_leaves_a_persons_memory(live: World) -> None:
    """W9 An import by an agent's key, of a key that a person's memory has."""
    person, agent = ada(live), helper(live)
    tea = await person.add("I drink tea.", external_id="note-1")

    other = type_pb2.Memory(content="I drink coffee.", external_id="note-1")
    reply = await agent.batch([other], update_existing=True)

    (result,) = reply.results
    assert result.outcome == 5  # CLAIMED
    assert said(reply) == [("SUPERSEDE", tea.id, result.memory_id)]
    await _is_untouched(person, tea)


async def test_a_turn_of_a_dialogue_claims(live: World) -> None:
    """W9 Links in a turn that an agent's key appends."""
    person, agent = ada(live), helper(live)
    tea = await person.add("I drink tea.", id="tea")

    await agent.append("s", ("Eve", "Supersedes: [[memory:tea]]"))

    await _is_untouched(person, tea)


async def test_a_person_an_agent_and_a_tool_stand_above_each_other(live: World) -> None:
    """W9 HUMAN > AGENT > TOOL: whoever stands higher, or as high, acts at once."""
    person, agent, cron = ada(live), helper(live), tool(live)
    await person.add("a person's", id="p")
    await agent.add("an agent's", id="a")
    await cron.add("a tool's", id="t")

    assert said(await add(cron, "Supersedes: [[memory:a]]", id="t1")) == [("SUPERSEDE", "a", "t1")]
    assert said(await add(agent, "Supersedes: [[memory:t]]", id="a1")) == []
    assert said(await add(helper(live, principal="other"), "Supersedes: [[memory:a]]")) == []
    assert said(await add(person, "Supersedes: [[memory:a1]]", id="p1")) == []
    assert said(await add(ada(live, principal="bob"), "Supersedes: [[memory:p]]")) == []


async def test_a_memory_that_a_person_reworded_is_the_persons_too(live: World) -> None:
    """W9 A person who says what an agent wrote makes it theirs."""
    person, agent = ada(live), helper(live)
    tea = await agent.add("She drinks tea.", id="tea")
    assert said(await add(agent, "Supersedes: [[memory:tea]]", id="a1")) == []
    other = await agent.add("She drinks milk.", id="milk")
    other.content = "I drink milk."
    await person.update(other, "content")

    assert said(await add(agent, "Supersedes: [[memory:milk]]", id="a2")) != []
    assert tea.id == "tea"


async def test_a_ghost_and_a_claimed_chain_close_no_circle(live: World) -> None:
    """W9 M3 A claimed SUPERSEDES hides nothing: the person may still replace the other."""
    person, agent = ada(live), helper(live)
    await person.add("I drink tea.", id="tea")
    await add(agent, "Supersedes: [[memory:tea]]", id="coffee")

    reply = await person.relate(SUPERSEDES, "tea", "coffee")

    assert said(reply) == []
    assert (await person.get("coffee")).supersession.is_superseded


async def test_what_was_known_before_a_claim_shows_none(live: World) -> None:
    """W9 T3 Claims are known from their record time on, and an export replays them."""
    person, agent = ada(live), helper(live)
    await person.add("I drink tea.", id="tea")
    before = live.clock.now
    live.clock.pass_(1_000_000)
    await add(agent, "Supersedes: [[memory:tea]]", id="coffee")

    then = memory_pb2.GetMemoryRequest(id="tea", as_of=known_at(before), peek=True)
    assert not (await person.memory.GetMemory(then)).memory.claims
    assert (await person.get("tea")).claims
