"""Where relation words act (M3): by who speaks in a content, and on which of its lines."""

from __future__ import annotations

import pytest
import pytest_asyncio
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from concord_graph.adapters.markdown.links import parse_links
from concord_graph.domain.links import Voice, meant_links
from graph_world import Calls, World, by_id, reason

TURN = type_pb2.MEMORY_KIND_TURN
MALFORMED = "ERROR_REASON_LINK_MALFORMED"
LINE = "Supersedes: [[memory:old]]"


@pytest_asyncio.fixture
async def home(live: World) -> Calls:
    """An agent's calls, in a space with a memory that all these texts name."""
    calls = live.calls()
    await calls.add("What a person said.", id="old")
    return calls


async def relations(calls: Calls, memory_id: str) -> list[tuple[str, str]]:
    """Return (relation, target) of the edges that start at a memory, whatever they hide."""
    found = (await calls.neighbors(by_id(memory_id), include_superseded=True)).neighbors
    return sorted(
        (n.edge.relation, n.edge.target.id) for n in found if n.edge.source.id == memory_id
    )


async def is_hidden(calls: Calls, memory_id: str = "old") -> bool:
    """Whether a memory is superseded."""
    return (await calls.get(memory_id)).supersession.is_superseded


QUOTED = {
    "quotation": f"> {LINE}",
    "its second line": f"> He wrote:\n> {LINE}",
    "a line that goes on in it": f"> He wrote:\n{LINE}",
    "nested": f"> > {LINE}",
    "in a list": f"- He wrote:\n\n  > {LINE}",
    "a list in it": f"> - {LINE}",
    "a heading in it": f"> # {LINE}",
    "without a blank": f">{LINE}",
    "after three blanks": f"   > {LINE}",
    "mid-line": "> It supersedes [[memory:old]].",
}
CODE = {
    "fence": f"```\n{LINE}\n```",
    "tildes": f"~~~ text\n{LINE}\n~~~",
    "longer fence": f"````\n```\n{LINE}\n````",
    "no end": f"```\n{LINE}",
    "in a quotation": f"> ```\n> {LINE}\n> ```",
    "in a list": f"- x\n\n  ~~~\n  {LINE}\n  ~~~",
    "inline": f"`{LINE}`",
    "two ticks": f"``{LINE} ` ``",
    "indented": f"x\n\n    {LINE}",
}


def meant(content: str, voice: Voice) -> list[tuple[str, str]]:
    """Return (relation, target) of the links that a content has in a voice."""
    links = meant_links(parse_links(content), voice)
    return sorted((link.relation, link.target_id) for link in links)


@pytest.mark.parametrize("content", QUOTED.values(), ids=QUOTED.keys())
def test_in_a_quotation_no_relation_word_acts(content: str) -> None:
    """M3 What is quoted is somebody else's word: RELATED_TO."""
    assert meant(f"Read this:\n\n{content}", Voice.WRITTEN) == [("RELATED_TO", "old")]


@pytest.mark.parametrize("content", CODE.values(), ids=CODE.keys())
def test_links_in_code_are_text(content: str) -> None:
    """M3 Whatever fence or tick: nothing in code is a link."""
    assert meant(content, Voice.WRITTEN) == []


async def test_beside_a_quotation_the_writers_own_line_acts(home: Calls) -> None:
    """M3 After a blank line it is the writer who speaks; the same link twice is two edges."""
    quoting = type_pb2.Memory(content=f"> {LINE}\n\n```\n{LINE}\n```")
    assert not (await home.add_memory(quoting)).HasField("gave_way")
    assert not await is_hidden(home)
    await home.add(f"> {LINE}\n\n{LINE}", id="new")

    assert await relations(home, "new") == [("RELATED_TO", "old"), ("SUPERSEDES", "old")]
    assert await is_hidden(home)


@pytest.mark.parametrize("way", ["append", "add", "batch"])
async def test_in_a_turn_no_relation_word_acts(home: Calls, way: str) -> None:
    """M3 M2 What was said in a chat hides nothing, however the turn comes in."""
    content = f"{LINE}\n\nIt contradicts [[memory:old]], supersedes [[memory:]]."
    turn = type_pb2.Memory(id="new", content=content, kind=TURN, session_id="s")
    if way == "append":
        (said,) = await home.append("s", ("Bob", content))
        turn.id = said.id
    elif way == "add":
        assert not (await home.add_memory(turn)).HasField("gave_way")
    else:
        reply = await home.batch([turn])
        assert not reply.errors
        assert not reply.HasField("gave_way")

    assert await relations(home, turn.id) == [("RELATED_TO", "old")]
    assert not await is_hidden(home)
    assert not (await home.get("old")).conflict_ids


NO_LINEAGE = [
    "This supersedes [[memory:old]].",
    "Bob says: Supersedes: [[memory:old]]",
    '"Supersedes: [[memory:old]]" is what he wrote.',
    "| Supersedes: | [[memory:old]] |",
    "[x] Supersedes: [[memory:old]]",
    "The note of March, says Bob,\nsupersedes [[memory:old]]",
    "Superseded: [[memory:old]]",
    "Amends: [[memory:other]], and it supersedes [[memory:old]]",
    "10:42 Bob: Supersedes: [[memory:old]]",
    "His status: supersedes [[memory:old]]",
    "Status: superseded by [[memory:old]]",
    f"> {LINE}",
]
OWN_LINES = [
    LINE,
    "supersedes [[memory:old]]",
    "**Supersedes:** [[memory:old]]",
    "_Supersedes_ [[memory:old]]",
    "- Supersedes: [[memory:old]]",
    "1. supersedes: [[Memory:old|the old one]]",
    "## Supersedes: [[memory:old]]",
    "Deprecates the older decision [[memory:old]]",
    "Some prose without an end\nSupersedes: [[memory:old]]",
    "Some prose without an end\nsupersedes: [[memory:old]]",
    "amends [[memory:other]]\nsupersedes [[memory:old]]",
    "  Supersedes: [[memory:other]], [[memory:old]]",
    "Status: supersedes [[memory:old]]",
    "* **Status:** Accepted, supersedes [[memory:old]]",
]


@pytest.mark.parametrize("content", NO_LINEAGE)
def test_in_an_import_a_word_inside_a_line_does_not_act(content: str) -> None:
    """M3 In a file that somebody imports only what begins a line is meant."""
    found = meant(content, Voice.IMPORTED)

    assert ("RELATED_TO", "old") in found
    assert not {("SUPERSEDES", "old"), ("DEPRECATES", "old")} & {*found}


@pytest.mark.parametrize("content", OWN_LINES)
def test_in_an_import_a_line_that_begins_with_the_word_is_lineage(content: str) -> None:
    """M3 After a list's mark and emphasis, too, as people write it."""
    assert {("SUPERSEDES", "old"), ("DEPRECATES", "old")} & {*meant(content, Voice.IMPORTED)}


async def test_a_key_for_imports_speaks_as_an_import(live: World, home: Calls) -> None:
    """M3 W8 Whatever the method; a person's own memory may say it in a sentence."""
    batch = await home.batch([type_pb2.Memory(content=NO_LINEAGE[0])])
    assert not batch.HasField("gave_way")
    importer = live.calls(principal="importer", kind="SYSTEM", origin="IMPORT")
    await importer.add("This supersedes [[memory:old]].", id="imported")
    assert not await is_hidden(home)
    await home.add("This one supersedes [[memory:old]].", id="own")
    assert await is_hidden(home)


async def test_in_extracted_text_no_relation_word_acts(home: Calls) -> None:
    """M3 What a program took from elsewhere hides nothing, line or not."""
    header = memory_pb2.BatchHeader(request_id="b", memory_count=1, extracted=True)
    memory = type_pb2.Memory(id="new", content=LINE)
    messages = [
        memory_pb2.BatchAddMemoriesRequest(header=header),
        memory_pb2.BatchAddMemoriesRequest(memory=memory),
    ]
    reply = await home.memory.BatchAddMemories(iter(messages))

    assert await relations(home, "new") == [("RELATED_TO", "old")]
    assert not await is_hidden(home)
    assert not reply.HasField("gave_way")


async def test_a_malformed_link_is_refused_only_where_its_word_acts(home: Calls) -> None:
    """M3 A quotation may say anything; a line of one's own may not."""
    bad = "Supersedes: [[memory:]]"

    assert await reason(home.add(bad)) == MALFORMED
    await home.add(f"> {bad}", id="quoted")
    assert await relations(home, "quoted") == []
    refused = await home.batch([type_pb2.Memory(content=bad)])
    assert [error.reason for error in refused.errors] == [MALFORMED]
    assert not (await home.batch([type_pb2.Memory(content=f"He wrote: {bad}")])).errors


async def test_an_update_reads_only_changed_lines_anew(home: Calls) -> None:
    """M3 A stored link keeps its effect while its line stands, whatever rule it was read by."""
    await home.add("other", id="other")
    mid = "This supersedes [[memory:old]]."
    await home.add(mid, id="new", external_id="k")
    both = f"{mid}\n\nIt also amends [[memory:other]]."
    batch = await home.batch(
        [type_pb2.Memory(id="new", content=both, external_id="k")], update_existing=True
    )
    assert not batch.errors
    assert await relations(home, "new") == [("RELATED_TO", "other"), ("SUPERSEDES", "old")]

    memory = await home.get("new")  # a person rewords another line: the imported one stays as read
    memory.content = f"{both}\n\nMore."
    await home.update(memory, "content")
    assert await relations(home, "new") == [("RELATED_TO", "other"), ("SUPERSEDES", "old")]

    memory = await home.get("new")  # a changed line is read anew, by who writes it now
    memory.content = f"It surely amends [[memory:other]].\n\n> {mid}"
    await home.update(memory, "content")
    assert await relations(home, "new") == [("AMENDS", "other"), ("RELATED_TO", "old")]
    assert not await is_hidden(home)


async def test_a_line_that_leaves_its_fence_is_read_anew(home: Calls) -> None:
    """M3 The same line in other surroundings is another line: out of code it acts, in code not."""
    await home.add(f"```\n{LINE}\n```", id="new")
    memory = await home.get("new")
    memory.content = LINE
    memory = await home.update(memory, "content")
    assert await is_hidden(home)
    memory.content = f"```\n{LINE}\n```"
    await home.update(memory, "content")
    assert await relations(home, "new") == []
    assert not await is_hidden(home)


async def test_one_of_two_lines_is_taken_away(home: Calls) -> None:
    """M3 M4 What only the removed line said is gone; what the other says stays."""
    await home.add(f"{LINE}\n\nSee [[memory:old]].", id="new")
    memory = await home.get("new")
    memory.content = "See [[memory:old]]."
    await home.update(memory, "content")

    assert await relations(home, "new") == [("RELATED_TO", "old")]
