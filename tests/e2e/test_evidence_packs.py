"""Evidence packs: results with what makes them usable, within a number of tokens."""

from collections.abc import AsyncIterator

import pytest
from concord.search.v1 import search_pb2 as pb
from concord.search.v1.search_pb2_grpc import SearchServiceStub
from concord.type.v1 import type_pb2
from concord.type.v1.type_pb2 import Fact
from concord_chassis.call.identity import Caller
from concord_search.adapters.minilm import weights
from dissonance_over_graph import Dissonant, Space, dissonant
from governed_world import SCOPES, World
from tokenizers import Tokenizer


@pytest.fixture
async def works(live: World) -> AsyncIterator[Dissonant]:
    """Every service."""
    async with dissonant(live, follow=False) as running:
        yield running


async def packed(works: Dissonant, home: Space, query: str, **said: object) -> pb.SearchResponse:
    """The reply to a search for a pack, of 1,000 tokens unless said otherwise."""
    assert works.search is not None
    channel = works.search.channel(Caller("one", "agent", SCOPES | {"search:read"}, "AGENT"))
    request = pb.SearchRequest(query=query, **({"pack_tokens": 1_000} | said))  # type: ignore[arg-type]
    request.consistency.at_least_as_fresh = home.token
    return await SearchServiceStub(channel).Search(request)


async def turn(home: Space, number: int, speaker: str, content: str) -> None:
    """Add a turn of a dialogue."""
    await home.add(
        content,
        id=f"t{number}",
        kind=type_pb2.MEMORY_KIND_TURN,
        session_id="walk",
        turn_order=number,
        sources=[type_pb2.Source(speaker=speaker)],
    )


def ids(text: str) -> list[str]:
    """The ids of a pack's parts, in order."""
    return [line[1:].partition("]")[0] for line in text.splitlines() if line.startswith("[")]


async def test_an_answer_comes_with_its_question_and_a_question_with_its_answer(
    works: Dissonant,
) -> None:
    """S11 The turn asked before and answered after, though they share no word with the query."""
    home = works.space()
    await turn(home, 1, "Ada", "Which bird was that?")
    await turn(home, 2, "Bob", "A kingfisher, bright blue")
    await turn(home, 3, "Ada", "Where do they nest?")
    await turn(home, 4, "Bob", "Down in the clay bank")

    bird = await packed(works, home, "kingfisher", page_size=1)
    nest = await packed(works, home, "where do they nest", page_size=1)

    assert ids(bird.context) == ["memory:t2", "memory:t1"]
    assert "(asked before: memory:t2)" in bird.context
    assert ids(nest.context) == ["memory:t3", "memory:t4"]
    assert "(answered after: memory:t3)\n  Down in the clay bank" in nest.context


async def test_what_replaces_and_amends_a_result_stands_beside_it(works: Dissonant) -> None:
    """S11 T6 Its successor, where superseded ones were asked for, and what amends it."""
    home = works.space()
    await home.add("The tower is forty metres tall", id="old")
    await home.add("Height: 44.\nSupersedes: [[memory:old]]", id="new")
    await home.add("The gate opens at nine", id="gate")
    await home.add("On Mondays not.\nAmends: [[memory:gate]]", id="monday")

    tower = await packed(
        works, home, "tower metres tall", page_size=1, superseded=pb.SUPERSEDED_MODE_INCLUDE
    )
    gate = await packed(works, home, "gate opens at nine", page_size=1)

    assert ids(tower.context) == ["memory:old", "memory:new"]
    assert ids(gate.context) == ["memory:gate", "memory:monday"]
    assert "(amends it: memory:gate)" in gate.context


async def test_other_values_of_the_relation_that_matched_stand_beside_it(works: Dissonant) -> None:
    """S11 Sister facts, with what states them; none where a filter could not be tested on them."""
    home = works.space()
    for dish, name in (("soup", "a"), ("bread", "b")):
        fact = Fact(subject="Ada", relation="LIKES", object=dish)
        await home.add(f"Noted: {dish}", id=name, facts=[fact])

    reply = await packed(works, home, "does Ada like soup", page_size=1)
    filtered = pb.SearchFilter(kinds=[type_pb2.MEMORY_KIND_FACT])
    alone = await packed(works, home, "does Ada like soup", page_size=1, filter=filtered)

    assert ids(reply.context)[0] == "memory:a"
    assert 'also "Ada LIKES bread"; memory:b' in reply.context
    assert "also Ada LIKES soup" not in reply.context
    assert "LIKES bread" not in alone.context


async def test_a_pack_holds_no_more_tokens_than_asked_and_nothing_twice(works: Dissonant) -> None:
    """S11 What does not fit is left out for what fits; texts in German and English."""
    home = works.space()
    await home.add("Straßenbahn: " + "Die Straßenbahn fährt über die Brücke. " * 60, id="long")
    for number in range(12):
        await home.add(
            f"The tram number {number} crosses the bridge at {number}:30", id=f"n{number}"
        )

    whole = await packed(works, home, "Straßenbahn tram bridge", pack_tokens=8_000)
    small = await packed(works, home, "Straßenbahn tram bridge", pack_tokens=200)
    none = await packed(works, home, "Straßenbahn tram bridge", pack_tokens=1)

    tokens = Tokenizer.from_file(str(weights.installed().tokenizer))
    tokens.no_truncation()
    assert "memory:long" in ids(whole.context)
    assert len(ids(whole.context)) == len(set(ids(whole.context))) == 10
    assert 2 <= len(ids(small.context)) < 10
    assert "memory:long" not in ids(small.context)
    for reply, most in ((whole, 8_000), (small, 200)):
        assert len(tokens.encode(reply.context).ids) <= most
    assert none.context == ""


async def test_what_a_filter_hides_is_no_companion(works: Dissonant) -> None:
    """S2 S11 A turn beside a result is shown where the filter lets it be."""
    home = works.space()
    await turn(home, 1, "Ada", "Which bird was that?")
    await turn(home, 2, "Bob", "A kingfisher, bright blue")

    mine = await packed(works, home, "kingfisher", filter=pb.SearchFilter(source="Bob"))

    assert ids(mine.context) == ["memory:t2"]
