"""`concord say`, `dialogue`, `episode`, `episodes`, `hold`, `working` against a running system."""

from collections.abc import Iterator

import pytest
from concord.graph.v1.dialogue_pb2 import AppendDialogueResponse, ListDialogueResponse
from concord.graph.v1.episode_pb2 import AddEpisodeResponse, ListEpisodesResponse
from concord.graph.v1.session_pb2 import ListSessionsResponse
from concord.graph.v1.working_memory_pb2 import ListWorkingMemoryResponse, PutWorkingMemoryResponse
from concord.type.v1 import type_pb2
from concord_testing.command_line import CommandLine, Unique


def test_what_was_said_is_shown_in_its_order(concord: CommandLine, unique: Unique) -> None:
    """W4 M2 Each turn with its place, time and speaker; a dialogue that is none says so."""
    session = unique("talk")
    first = concord.done("say", session, "Ada", "Where do we meet?", "--time", "2026-03-01")
    concord.done("say", session, "Bob", "-", "--role", "assistant", stdin="In Bremen.\n")
    lines = concord.done("dialogue", session).splitlines()

    assert first.startswith("Turn 1 ")
    assert lines[1].split() == ["1", "2026-03-01", '"Ada"', "Where", "do", "we", "meet?"]
    assert lines[2].endswith("In Bremen.")
    assert concord.done("dialogue", unique("silence")) == "Nothing was said.\n"


def test_say_and_dialogue_take_every_option(concord: CommandLine, unique: Unique) -> None:
    """W4 M2 M5 A key is kept once; pages go on; what was said by a time."""
    session, key = unique("talk"), unique("chat")
    said = ("say", session, "Ada", "Hello", "--external-id", key, "--time", "2026-03-01")
    first = concord.reply(AppendDialogueResponse, *said)
    again = concord.done(*said)
    concord.done("say", session, "Ada", "Later")
    page = concord.reply(ListDialogueResponse, "dialogue", session, "--limit", "1")
    rest = concord.reply(
        ListDialogueResponse, "dialogue", session, "--page-token", page.next_page_token
    )
    then = concord.reply(ListDialogueResponse, "dialogue", session, "--as-of", "2026-03-02")

    assert again == f"Known already: {first.turns[0].id}\n"
    assert first.turns[0].external_id == key
    assert [[turn.content for turn in each.turns] for each in (page, rest, then)] == [
        ["Hello"],
        ["Later"],
        ["Hello"],
    ]
    assert "--page-token" in concord.done("dialogue", session, "--limit", "1")
    got = concord.done("get", first.turns[0].id)
    assert ["turn", "1"] in [line.split() for line in got.splitlines()]


def test_a_session_is_listed_and_ended(concord: CommandLine, unique: Unique) -> None:
    """W4 M7 Ending again changes nothing; one that nobody used is refused with its reason."""
    name = unique("talk")
    concord.done("say", name, "Ada", "Hello")
    listed = concord.reply(ListSessionsResponse, "session", "list", "--state", "open")
    ended = concord.done("session", "end", name)

    assert listed.sessions[0].id == name
    assert name in ended
    assert concord.done("session", "end", name) == ended
    assert name in concord.done("session", "list", "--state", "ended")
    ends = concord.done("operations", "--type", "session_ended")
    assert name in ends
    refused = concord("session", "end", unique("silence"))
    assert refused.exit_code == 1
    assert "ITEM_NOT_FOUND" in refused.stderr


def test_the_end_of_a_session_says_what_was_found(concord: CommandLine, unique: Unique) -> None:
    """W4 D7 What the session wrote disagrees with what was there."""
    city, relation, name = unique("city"), unique("LIES_IN"), unique("talk")
    concord.done("relation", relation, "--functional", "--temporal-class", "eternal")
    for value, session in (("north", unique("before")), ("south", name)):
        stated = ("--fact", f"{city}|{relation}|{value}", "--session", session)
        concord.done("add", f"{city} lies in the {value}.", *stated)
    shown = concord.done("session", "end", name)

    assert f"{city} {relation} north" in shown
    assert "contradiction" in shown


def test_the_end_of_a_session_of_texts_says_that_none_was_compared(
    concord: CommandLine, unique: Unique
) -> None:
    """W4 D7 Texts are not compared unasked: that nothing disagrees would not be known."""
    own = ("--space", unique("alone"))  # other tests' edges of these seconds would be compared
    concord.done("space", "create", own[1], "--save")
    person = ("--principal", "ada", "--kind", "human", "--scopes", "read,write,govern")
    concord.done("key", "create", *own, *person, "--save")
    for text in ("The mill is open on Sunday.", "The mill is never open on Sunday."):
        concord.done("add", text, "--session", "talk", *own)
    shown = concord.done("session", "end", "talk", *own)

    assert "Nothing was compared." in shown
    assert "disagrees" not in shown


def test_episodes_are_kept_and_listed(concord: CommandLine, unique: Unique) -> None:
    """W4 M2 With reward, reflection and what they are about, the newest first, by page."""
    session, memory = unique("lab"), unique("memory")
    concord.done("add", f"A memory. {memory}", "--id", memory)
    kept = concord.reply(
        AddEpisodeResponse,
        *("episode", "Boil water", "--reward", "-0.5", "--reflection", "Use a lid"),
        *("--about", memory, "--session", session),
    ).episode
    result = concord.done("episode", "Make tea", "--reward", "1", "--session", session)
    listed = ("episodes", "--session", session, "--since", "2024-01-01")
    page = concord.reply(ListEpisodesResponse, *listed, "--limit", "1", "--skip", "1")
    shown = concord.done(*listed)

    assert (kept.query, kept.reward, kept.reflection) == ("Boil water", -0.5, "Use a lid")
    assert list(kept.memory_ids) == [memory]
    assert [each.id for each in page.episodes] == [kept.id]
    assert page.total_count == 2
    assert result.removeprefix("Kept ").strip() in shown
    assert shown.index("Make tea") < shown.index("-0.50") < shown.index("Use a lid")
    assert shown.endswith("2 of 2\n")


def test_no_episodes_say_which_session_is_spelt_alike(concord: CommandLine, unique: Unique) -> None:
    """W4 G13 A miss is an answer."""
    session = unique("workshop")
    concord.done("episode", "Saw", "--reward", "0", "--session", session)

    near = concord.done("episodes", "--session", session.replace("sh", "s"))
    assert near == f"No episodes. Sessions spelt alike: {session}\n"
    assert concord.done("episodes", "--session", "quux!") == "No episodes.\n"


@pytest.fixture
def empty_mind(concord: CommandLine) -> Iterator[None]:
    """An empty working memory before and after."""
    concord.done("working", "--clear", "--stale")
    yield
    concord.done("working", "--clear", "--stale")


@pytest.mark.usefixtures("empty_mind")
def test_what_is_held_is_shown_and_removed(concord: CommandLine) -> None:
    """W4 M2 The most important first, with the room there is."""
    put = concord.reply(
        PutWorkingMemoryResponse, "hold", "Call Bob", "--importance", "High", "--session", "s"
    )
    concord.done("hold", "Buy tea")
    shown = concord.done("working")
    one = concord.reply(ListWorkingMemoryResponse, "working", "--session", "s")
    left = concord.done("working", "--remove", put.entry.id)

    assert put.entry.importance == type_pb2.IMPORTANCE_HIGH
    assert shown.index("high") < shown.index("Call Bob") < shown.index("Buy tea")
    assert shown.endswith("2 of 2; room for 10\n")
    assert [entry.content for entry in one.entries] == ["Call Bob"]
    assert "Call Bob" not in left
    assert concord.done("working", "--clear") == "Nothing is held.\n"
    assert concord.done("working", "--stale") == "Nothing is stale.\n"


@pytest.mark.usefixtures("empty_mind")
def test_what_makes_room_is_told(concord: CommandLine) -> None:
    """W4 M2 The eviction with the put, and on the stale list; a full mind refuses."""
    for number in range(10):
        concord.done("hold", f"Thought {number}", "--importance", "low" if number else "high")
    result = concord.done("hold", "One more")
    for number in range(9):
        concord.done("hold", f"Principle {number}", "--importance", "high")
    refused = concord("hold", "Too much")

    assert result.endswith("Evicted: Thought 1\n")
    assert "Thought 1" in concord.done("working", "--stale")
    assert refused.exit_code == 1
    assert "ERROR_REASON_WORKING_MEMORY_FULL" in refused.stderr


def test_get_says_what_is_spelt_alike(concord: CommandLine, unique: Unique) -> None:
    """W4 G13 A node's name and a memory's own id, each once."""
    name = unique("Rosalind")
    concord.done("link", name, "KNOWS", unique("Francis"))
    missed = concord("get", name.replace("sal", "sla"))

    assert missed.exit_code == 1
    assert f" Spelt alike: {name}" in missed.stderr
