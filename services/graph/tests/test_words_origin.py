"""Whose words a memory's are: the lowest of those who wrote what stands now (W8)."""

import uuid

import pytest
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from graph_world import Calls, World
from transfers import export_of, import_into

HUMAN, AGENT = type_pb2.ORIGIN_HUMAN, type_pb2.ORIGIN_AGENT
TOOL, IMPORT = type_pb2.ORIGIN_TOOL, type_pb2.ORIGIN_IMPORT


@pytest.fixture
def person(live: World) -> Calls:
    """The calls of a person's key in the space "home"."""
    return live.calls(principal="anna", kind="HUMAN", origin="HUMAN")


@pytest.fixture
def agent(live: World) -> Calls:
    """The calls of an agent's key there."""
    return live.calls(origin="AGENT")


@pytest.fixture
def tool(live: World) -> Calls:
    """The calls of a tool's key there."""
    return live.calls(principal="tool", kind="SYSTEM", origin="TOOL")


@pytest.fixture
def page(live: World) -> Calls:
    """The agent's calls of an import there."""
    return live.calls(origin="IMPORT")


def whose(memory: type_pb2.Memory) -> tuple[int, int]:
    """A memory's origins: its first writer's, and that of its words."""
    return memory.origin, memory.words_origin


async def test_a_rewording_shows(agent: Calls, page: Calls) -> None:
    """W8 The first writer's stays; the words are of the lowest who wrote them, for good."""
    said = await agent.add("Tea at four.", id="tea")
    assert whose(said) == (AGENT, AGENT)

    said.content = "Tea at five."
    reworded = await page.update(said, "content")
    assert whose(reworded) == (AGENT, IMPORT)
    reworded.content = "Tea at six."
    assert whose(await agent.update(reworded, "content")) == (AGENT, IMPORT)


async def test_a_rewording_by_a_lower_one_is_its_own(person: Calls, agent: Calls) -> None:
    """W8 W9 A person's words stay theirs; the agent's stand beside them, as the agent's."""
    said = await person.add("Tea at four.", id="tea")
    said.content = "Tea at five."
    await agent.update(said, "content")

    everything = (await person.memory.ListMemories(memory_pb2.ListMemoriesRequest())).memories
    assert {each.content: whose(each) for each in everything} == {
        "Tea at four.": (HUMAN, HUMAN),
        "Tea at five.": (AGENT, AGENT),
    }


async def test_what_is_no_word_changes_nothing(agent: Calls, page: Calls) -> None:
    """W8 Tags and importance are nobody's words; a fact that an import adds is."""
    said = await agent.add("Tea at four.", id="tea")
    said.tags.append("tea")
    tagged = await page.update(said, "tags")
    assert whose(tagged) == (AGENT, AGENT)

    tagged.facts.add(subject="Anna", relation="DRINKS", object="tea")
    assert whose(await page.update(tagged, "facts")) == (AGENT, IMPORT)


async def test_a_person_raises_what_they_say(person: Calls, agent: Calls, tool: Calls) -> None:
    """W8 By saying the same, or by words of their own; origin and sources stay."""
    noted = await agent.add("Tea at four.", id="a")
    assert whose(await tool.add("Tea at four.", id="a")) == (AGENT, AGENT)
    assert whose(await person.add("Tea at four.", id="a")) == (AGENT, HUMAN)

    other = await tool.add("It rains.", id="b")
    other.content = "It pours."
    assert whose(await person.update(other, "content")) == (TOOL, HUMAN)
    assert whose(noted) == (AGENT, AGENT)


async def test_what_is_derived_is_not_above_its_sources(
    person: Calls, agent: Calls, tool: Calls
) -> None:
    """W8 A summary by an agent or a program; a person's own text with sources is their own."""
    read = await tool.add("The bank's number is 7.", id="page")
    said = await person.add("I bank at the corner.", id="own")
    both = [type_pb2.Source(memory_ids=[read.id, said.id])]
    own = [type_pb2.Source(memory_ids=[said.id])]

    assert whose(await agent.add("Summary.", sources=both)) == (AGENT, TOOL)
    assert whose(await agent.add("Another.", sources=own)) == (AGENT, AGENT)
    assert whose(await person.add("My conclusion.", sources=both)) == (HUMAN, HUMAN)

    async def concluded(content: str, sources: list[type_pb2.Source]) -> tuple[int, int]:
        memory = type_pb2.Memory(content=content, sources=sources)
        request = memory_pb2.AddMemoryRequest(
            request_id=str(uuid.uuid4()), memory=memory, extracted=True
        )
        return whose((await person.memory.AddMemory(request)).memory)

    assert await concluded("A synthesis.", both) == (HUMAN, TOOL)
    assert await concluded("One of own words.", own) == (HUMAN, HUMAN)
    assert await concluded("From texts.", [type_pb2.Source(speaker="helper")]) == (HUMAN, TOOL)
    assert await concluded("Of nothing known.", [type_pb2.Source(memory_ids=["x"])]) == (
        HUMAN,
        TOOL,
    )


async def test_later_sources_lower_too(agent: Calls, tool: Calls) -> None:
    """W8 An agent that names a tool's memory as a source of its own later."""
    await tool.add("Read somewhere.", id="page")
    noted = await agent.add("Noted.")
    noted.sources.add(memory_ids=["page"])

    assert whose(await agent.update(noted, "sources")) == (AGENT, TOOL)


async def test_an_import_is_one_and_raises_nothing(person: Calls, agent: Calls) -> None:
    """W8 A person's import stands as theirs, and is trusted as an import; what they say again is
    not lowered by it."""
    await agent.add("Tea at four.", id="tea")
    await person.batch([type_pb2.Memory(content="Tea at four.", id="tea")])
    assert whose(await person.get("tea")) == (AGENT, AGENT)
    await person.batch([type_pb2.Memory(content="From a file.", id="note")])
    assert whose(await person.get("note")) == (IMPORT, IMPORT)


async def test_lists_go_by_it(agent: Calls, page: Calls) -> None:
    """W8 Filtered in the store."""
    said = await agent.add("Tea at four.")
    said.content = "Tea at five."
    await page.update(said, "content")
    await agent.add("It rains.")

    async def listed(*origins: type_pb2.Origin.ValueType) -> set[str]:
        filter_ = memory_pb2.MemoryFilter(words_origins=origins)
        request = memory_pb2.ListMemoriesRequest(filter=filter_)
        return {each.content for each in (await agent.memory.ListMemories(request)).memories}

    assert await listed(IMPORT) == {"Tea at five."}
    assert await listed(AGENT) == {"It rains."}
    assert await listed(TOOL) == set()
    assert len(await listed(IMPORT, AGENT)) == 2


async def test_it_moves_and_stays_when_words_are_erased(
    live: World, agent: Calls, page: Calls
) -> None:
    """W8 G15 M4 Exports have it, and erasing leaves it beside the origin."""
    said = await agent.add("Tea at four.", id="tea")
    said.content = "Tea at five."
    reworded = await page.update(said, "content")
    elsewhere = live.calls("elsewhere")
    await import_into(elsewhere, await export_of(agent))
    await agent.erase(reworded)

    assert whose(await elsewhere.get("tea")) == (AGENT, IMPORT)
    request = memory_pb2.GetMemoryHistoryRequest(id="tea")
    history = (await agent.memory.GetMemoryHistory(request)).versions
    assert {whose(each.memory) for each in history} == {(AGENT, IMPORT), (AGENT, AGENT)}


async def test_trust_is_what_the_server_established(
    person: Calls, agent: Calls, tool: Calls
) -> None:
    """W8 By whose words they are; a claim of trust raises nothing, and a doubt lowers."""
    sure = [type_pb2.Source(speaker="owner", trust=type_pb2.TRUST_LEVEL_VERIFIED)]
    doubted = [type_pb2.Source(speaker="Bob", trust=type_pb2.TRUST_LEVEL_DOUBTFUL)]
    levels = {
        "a person's": (await person.add("It is Monday.")).trust,
        "an agent's": (await agent.add("It is Tuesday.", sources=sure)).trust,
        "a tool's": (await tool.add("It is Friday.", sources=sure)).trust,
        "a doubted": (await person.add("It is Sunday.", sources=doubted)).trust,
        "partly doubted": (await person.add("It is noon.", sources=[*doubted, *sure])).trust,
    }

    assert levels == {
        "a person's": type_pb2.TRUST_LEVEL_VERIFIED,
        "an agent's": type_pb2.TRUST_LEVEL_REPORTED,
        "a tool's": type_pb2.TRUST_LEVEL_DOUBTFUL,
        "a doubted": type_pb2.TRUST_LEVEL_DOUBTFUL,
        "partly doubted": type_pb2.TRUST_LEVEL_VERIFIED,
    }


@pytest.mark.parametrize(
    ("guard", "replaced"),
    [
        ("whose_words.of_sources", lambda *_, **__: ()),
        ("memories.reworded", None),
    ],
)
async def test_without_a_guard_words_rise(
    monkeypatch: pytest.MonkeyPatch,
    agent: Calls,
    tool: Calls,
    page: Calls,
    *,
    guard: str,
    replaced: object,
) -> None:
    """W8 The same summary, or rewording, of a page's words stands as high as its teller."""

    async def unchanged(_writer: object, _stored: object, memory: object, **_: object) -> object:
        return memory

    said = await agent.add("Tea at four.")
    read = await tool.add("The bank's number is 7.", id="read")
    summary = [type_pb2.Source(memory_ids=[read.id])]
    monkeypatch.setattr(f"concord_graph.usecases.memory.{guard}", replaced or unchanged)
    told = await agent.add("Summary.", sources=summary)
    said.content = "Tea at five."
    reworded = await page.update(said, "content")

    assert (whose(told)[1] == AGENT) is (replaced is not None)
    assert (whose(reworded)[1] == AGENT) is (replaced is None)
