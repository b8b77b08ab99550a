"""Who wrote a memory down: by the key that it first came with, for good."""

import pytest
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from graph_world import Calls, World, reason
from transfers import export_of, import_into

UNSPECIFIED = type_pb2.ORIGIN_UNSPECIFIED
HUMAN = type_pb2.ORIGIN_HUMAN
AGENT = type_pb2.ORIGIN_AGENT
IMPORT = type_pb2.ORIGIN_IMPORT


@pytest.fixture
def person(live: World) -> Calls:
    """The calls of a person's key in the space "home"."""
    return live.calls(principal="anna", kind="HUMAN", origin="HUMAN")


@pytest.fixture
def agent(live: World) -> Calls:
    """The calls of an agent's key there."""
    return live.calls(origin="AGENT")


async def test_follows_from_the_key_and_never_changes(
    home: Calls, person: Calls, agent: Calls
) -> None:
    """W8 Nobody states it, changes it, or takes it over by writing the same again."""
    said = await person.add("Tea at four.", id="tea", origin=AGENT)
    assert said.origin == HUMAN
    assert (await agent.add("It rains.")).origin == AGENT
    assert (await home.add("No origin in this credential.")).origin == UNSPECIFIED
    (turn,) = await person.append("talk", ("Anna", "Hello."))
    assert turn.origin == HUMAN

    assert (await agent.add("Tea at four.", id="tea")).origin == HUMAN
    said.content = "Tea at five."
    assert (await agent.update(said, "content")).origin == AGENT  # a memory of its own (W9)
    changed = await person.update(said, "content")
    assert changed.origin == HUMAN
    changed.origin = AGENT
    assert await reason(agent.update(changed, "origin")) == "ERROR_REASON_UPDATE_MASK_INVALID"


async def test_a_batch_is_an_import(person: Calls) -> None:
    """W8 What importers write is no person's word, whose key it comes with."""
    await person.batch([type_pb2.Memory(content="From a file.", id="note")])

    assert (await person.get("note")).origin == IMPORT


async def test_lists_go_by_it(person: Calls, agent: Calls) -> None:
    """W8 Filtered in the store."""
    await person.add("Tea at four.")
    await agent.add("It rains.")
    await agent.batch([type_pb2.Memory(content="From a file.")])

    async def listed(*origins: type_pb2.Origin.ValueType) -> set[str]:
        request = memory_pb2.ListMemoriesRequest(filter=memory_pb2.MemoryFilter(origins=origins))
        return {each.content for each in (await agent.memory.ListMemories(request)).memories}

    assert await listed(HUMAN) == {"Tea at four."}
    assert await listed(AGENT, IMPORT) == {"It rains.", "From a file."}
    assert len(await listed()) == 3


async def test_stays_when_the_words_are_erased(person: Calls) -> None:
    """W8 M4 It is left beside kind and times."""
    memory = await person.add("Tea at four.")
    await person.erase(memory)

    request = memory_pb2.GetMemoryHistoryRequest(id=memory.id)
    history = (await person.memory.GetMemoryHistory(request)).versions
    assert {each.memory.origin for each in history} == {HUMAN}


async def test_a_moved_space_keeps_what_it_had(live: World, person: Calls, agent: Calls) -> None:
    """W8 G15 An import of a space says who wrote each memory where it came from."""
    await person.add("Tea at four.", id="tea")
    await agent.add("It rains.", id="rain")
    lines = await export_of(agent)
    elsewhere = live.calls("elsewhere", principal="ada", kind="HUMAN")

    await import_into(elsewhere, lines)

    assert (await elsewhere.get("tea")).origin == HUMAN
    assert (await elsewhere.get("rain")).origin == AGENT
