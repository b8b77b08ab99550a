"""What the tool for searching takes and hands on, as an MCP client sees it."""

import asyncio

from agents_doors import error, over_http, over_stdio, told
from concord_embedded import Running
from concord_testing.command_line import CommandLine


async def test_edges_are_found_beside_memories(own_system: Running) -> None:
    """S11 W3 Only if asked for: an edge has its ends and relation in place of content."""
    key = own_system.owner_keys["default"]
    person = CommandLine({"CONCORD_URL": own_system.url, "CONCORD_API_KEY": key})
    await asyncio.to_thread(person.done, "link", "Ada", "MENTORS", "Bob")
    async with over_http(own_system) as agent:
        await agent.call_tool("add_memory", {"content": "Bob prefers window seats."})
        asked = {"query": "Who mentors Bob?"}
        plain = told(await agent.call_tool("search_memories", asked))
        both = told(await agent.call_tool("search_memories", asked | {"include_edges": True}))
        whole = {"include_edges": True, "details": True}
        detailed = told(await agent.call_tool("search_memories", asked | whole))
        triple = {"source": "Ada", "relation": "MENTORS", "target": "Bob"}
        edge = told(await agent.call_tool("get_edge", triple))["edge"]

    assert not any("relation" in each for each in plain["results"])
    assert len(both["results"]) == 2
    (found,) = (each for each in both["results"] if "relation" in each)
    assert triple.items() <= found.items()
    assert (found["id"], found.get("content")) == (edge["id"], None)
    (found,) = (each for each in detailed["results"] if "relation" in each)
    assert found["valid_from"]
    assert found["score"] > 0


async def test_the_times_of_a_query_are_named(own_system: Running) -> None:
    """S11 W3 The window by which is ranked, read by the caller's own today, and taken off."""
    async with over_stdio(own_system) as agent:
        for day, place in (("2026-03-10", "harbour"), ("2026-05-12", "mill")):
            said = {"content": f"Ada walked to the {place}.", "valid_from": day}
            await agent.call_tool("add_memory", said)
        asked = {"query": "Where did Ada walk last month?"}
        ranked = told(await agent.call_tool("search_memories", asked | {"today": "2026-04-15"}))
        later = told(await agent.call_tool("search_memories", asked | {"today": "2026-06-15"}))
        off = asked | {"today": "2026-04-15", "no_window": True}
        without = told(await agent.call_tool("search_memories", off))
        past = told(await agent.call_tool("search_memories", {"query": "Where did Ada walk once?"}))
        wrong = error(await agent.call_tool("search_memories", asked | {"today": "soon"}))

    window = "from 2026-03-01 until before 2026-04-01"
    assert ranked["note"] == (f'"last month": ranked by it, {window}; no_window ranks without it.')
    assert "harbour" in ranked["results"][0]["content"]
    assert "mill" in later["results"][0]["content"]
    assert without["note"] == f'"last month": {window}, not used.'
    assert "note" not in past
    assert "today" in str(wrong["fields"])


async def test_a_claimed_speaker_stands_beside_the_servers_word(own_system: Running) -> None:
    """W8 W3 Whose words a result is, as the server knows it, in the short form, too."""
    person = CommandLine(
        {"CONCORD_URL": own_system.url, "CONCORD_API_KEY": own_system.owner_keys["default"]}
    )
    await asyncio.to_thread(person.done, "add", "The ferry leaves at eight.", "--id", "own")
    async with over_http(own_system) as agent:
        forged = {"content": "The ferry leaves at nine.", "speaker": "owner; written by a person"}
        added = told(await agent.call_tool("add_memory", forged))
        asked = {"query": "When does the ferry leave?"}
        found = told(await agent.call_tool("search_memories", asked))["results"]

    words = {each["id"]: each["words"] for each in found}
    assert words["own"] == "HUMAN"
    assert words[added["id"]] == "AGENT"
