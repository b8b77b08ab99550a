"""What an agent claims of a person's fact, as dissonance and search see it (W9)."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from concord.graph.v1 import lineage_pb2, lineage_pb2_grpc, memory_pb2, memory_pb2_grpc
from concord.search.v1 import search_pb2, search_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from concord_dissonance.usecases import follow
from concord_search.usecases import advice
from dissonance_over_graph import ASKING, Dissonant, dissonant, waiting
from governed_world import DAY, Party, World, eventually, request_id

PREFER = search_pb2.NEXT_ACTION_PREFER
PERSON = Caller("one", "anna", ASKING | {"search:read"}, "HUMAN", origin="HUMAN")
AGENT = Caller("one", "helper", ASKING | {"search:read"}, "AGENT", origin="AGENT")


@pytest_asyncio.fixture(loop_scope="function")
async def works(live: World) -> AsyncIterator[Dissonant]:
    """Every service, with dissonance that follows what becomes of its findings."""
    async with dissonant(live) as running:
        yield running


async def _add(works: Dissonant, who: Caller, memory_id: str, content: str) -> None:
    stub = memory_pb2_grpc.MemoryServiceStub(works.world.graph.channel(who))
    memory = type_pb2.Memory(id=memory_id, content=content)
    await stub.AddMemory(memory_pb2.AddMemoryRequest(request_id=request_id(), memory=memory))


async def _contradict(works: Dissonant, who: Caller, newer: str, older: str) -> str:
    stub = lineage_pb2_grpc.LineageServiceStub(works.world.graph.channel(who))
    request = lineage_pb2.AddLineageRequest(
        request_id=request_id(),
        relation=type_pb2.LINEAGE_RELATION_CONTRADICTS,
        newer_id=newer,
        older_id=older,
    )
    return (await stub.AddLineage(request)).token


async def _search(works: Dissonant, query: str, token: str) -> search_pb2.SearchResponse:
    assert works.search
    request = search_pb2.SearchRequest(query=query, peek=True, include_context=True)
    request.consistency.at_least_as_fresh = token
    stub = search_pb2_grpc.SearchServiceStub(works.search.channel(PERSON, cap=60))
    return await stub.Search(request)


async def _proposed(party: Party) -> list[str]:
    """Return the conflicts for which proposals wait."""
    return [each.action.review_conflict.conflict_id for each in await waiting(party)]


async def test_an_agents_contradiction_moves_no_advice_and_opens_no_proposal(
    works: Dissonant, party: Party
) -> None:
    """W9 S5 D7 It is shown; a person's own counts as before."""
    await _add(works, PERSON, "wim", "The lighthouse keeper is called Wim.")
    await _add(works, AGENT, "jos", "The tower has a keeper, and Jos is that.")
    token = await _contradict(works, AGENT, "jos", "wim")

    claimed = await _search(works, "What is the lighthouse keeper called?", token)
    home = works.space()
    await home.declare("LIVES_IN")
    for city in ("Berlin", "Paris"):
        await home.edge("Ada", "LIVES_IN", city)
    (typed,) = [each for each in (await home.detect()).conflicts if each.confidence]
    await eventually(lambda: _proposed(party), lambda there: typed.id in there)
    await asyncio.sleep(2 * follow.TOGETHER)  # the next, if there were one

    assert claimed.results[0].memory.id == "wim"
    assert len(claimed.results[0].potential_conflicts) == 1
    assert claimed.next_action != PREFER
    assert await _proposed(party) == [typed.id]

    token = await _contradict(works, PERSON, "wim", "jos")
    said = await _search(works, "What is the lighthouse keeper called?", token)
    assert (said.next_action, said.preferred_memory_id) == (PREFER, "wim")


async def test_the_lower_memory_says_that_it_is_disputed(works: Dissonant) -> None:
    """W9 S5 Where it comes first, the person's is preferred to it."""
    await _add(works, PERSON, "wim", "Wim keeps the light at the shore.")
    await _add(works, AGENT, "jos", "What is the lighthouse keeper called? He is called Jos.")
    token = await _contradict(works, AGENT, "jos", "wim")

    found = await _search(works, "Is Jos the one?", token)

    assert found.results[0].memory.id == "jos"
    assert (found.next_action, found.preferred_memory_id) == (PREFER, "wim")


async def test_a_result_says_what_another_one_would_replace_it_by(works: Dissonant) -> None:
    """W9 S1 In the contract and in the context for a model, quoted; the other says it not again."""
    await _add(works, PERSON, "wim", "The lighthouse keeper is called Wim.")
    stub = memory_pb2_grpc.MemoryServiceStub(works.world.graph.channel(AGENT))
    text = 'The keeper is called "Jos" now.\n\nSupersedes: [[memory:wim]]'
    memory = type_pb2.Memory(id="jos", content=text)
    added = await stub.AddMemory(
        memory_pb2.AddMemoryRequest(request_id=request_id(), memory=memory)
    )

    found = await _search(works, "What is the lighthouse keeper called?", added.token)

    said = {each.memory.id: each.memory.claims[0].by_statement for each in found.results}
    assert said == {"wim": text, "jos": ""}
    assert 'replaced by memory:jos "The keeper is called \\u0022Jos\\u0022 now.' in found.context


async def test_many_contradictions_of_one_agent_hide_no_other_ones(works: Dissonant) -> None:
    """W9 D5 S5 Of more than a result shows, each writer's come in turn; all are counted."""
    honest = Caller("one", "honest", ASKING, "AGENT", origin="AGENT")
    await _add(works, PERSON, "wim", "The lighthouse keeper is called Wim.")
    await _add(works, honest, "jos", "The tower has a keeper, and Jos is that.")
    await _contradict(works, honest, "jos", "wim")
    token = ""
    for number in range(22):
        await _add(works, AGENT, f"n{number}", f"Boat {number} is in the harbour.")
        token = await _contradict(works, AGENT, f"n{number}", "wim")

    found = await _search(works, "What is the lighthouse keeper called?", token)

    first = found.results[0]
    assert (first.memory.id, first.memory.conflict_count) == ("wim", 23)
    assert len(first.potential_conflicts) == 20
    assert first.potential_conflicts[-1].other_id == "jos"


async def test_without_the_rule_it_would(works: Dissonant, monkeypatch: pytest.MonkeyPatch) -> None:
    """W9 S5 What the first test would find."""
    monkeypatch.setattr(advice, "VERIFIED", 4)
    await _add(works, PERSON, "wim", "The lighthouse keeper is called Wim.")
    await _add(works, AGENT, "jos", "The tower has a keeper, and Jos is that.")
    token = await _contradict(works, AGENT, "jos", "wim")

    found = await _search(works, "What is the lighthouse keeper called?", token)

    assert found.next_action == PREFER


async def test_a_claimed_value_stands_as_one_typed_conflict(live: World) -> None:
    """W9 T2 D2 An agent's later value of a person's row counts in no row until it is accepted."""
    async with dissonant(live, with_search=False, follow=False) as works:
        person, agent = works.space(principal="ada", kind="HUMAN"), works.space()
        await person.declare("LIVES_IN")
        await person.add("I live in Berlin.", facts=[_home("Berlin")])
        live.clock.pass_(DAY)
        await agent.add("She moved.", facts=[_home("Paris")])
        await agent.add("To Paris, she said.", facts=[_home("Paris")])

        for _ in range(2):
            await agent.detect()
        listed = (await person.listed()).conflicts

        assert await person.current("Ada") == {"Berlin", "Paris"}
        assert [each.is_text_finding for each in listed] == [False]
        sides = {listed[0].first.statement, listed[0].second.statement}
        assert sides == {"Ada LIVES_IN Berlin", "Ada LIVES_IN Paris"}


def _home(city: str) -> type_pb2.Fact:
    return type_pb2.Fact(subject="Ada", relation="LIVES_IN", object=city)
