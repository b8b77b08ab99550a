"""A memory is found by the facts that it states, through gRPC, over graph and index."""

from collections.abc import AsyncIterator

import pytest
from concord.search.v1 import search_pb2 as pb
from concord.search.v1.search_pb2_grpc import SearchServiceStub
from concord.type.v1.type_pb2 import Fact
from concord_chassis.call.identity import Caller
from dissonance_over_graph import Dissonant, dissonant
from governed_world import SCOPES, World


@pytest.fixture
async def works(live: World) -> AsyncIterator[Dissonant]:
    """Every service."""
    async with dissonant(live, follow=False) as running:
        yield running


async def found(works: Dissonant, query: str, token: str) -> list[pb.SearchResult]:
    """The results of a query, once the index knows a write."""
    assert works.search is not None
    channel = works.search.channel(Caller("one", "agent", SCOPES | {"search:read"}, "AGENT"))
    request = pb.SearchRequest(query=query, peek=True)
    request.consistency.at_least_as_fresh = token
    return list((await SearchServiceStub(channel).Search(request)).results)


@pytest.mark.parametrize("query", ["Where does Ada live?", "Ada's address", "Wo wohnt Ada?"])
async def test_a_fact_is_found_in_the_words_that_people_ask_with(
    works: Dissonant, query: str
) -> None:
    """S11 The relation's words count beside the content's; the result says which fact matched."""
    space = works.space()
    home = Fact(subject="Ada", relation="LIVES_IN", object="Bremen")
    pet = Fact(subject="Ada", relation="HAS_PET", object="Momo")
    await space.added("Ada moved to Bremen in March 2024", id="home", facts=[pet, home])
    await space.added("Ada prefers window seats", id="seat")
    token = (await space.added("Ada asks where the keys are", id="keys")).token

    first, *others = await found(works, query, token)

    assert (first.memory.id, first.matched_fact) == ("home", home)
    assert not any(each.HasField("matched_fact") for each in others)
    reasons = {each.signal_name: each.reason for each in first.explanation.signals}
    assert reasons["lexical"].endswith("it states Ada LIVES_IN Bremen")


OTHERS = ("Jonas", "Priya", "Tarek", "Lena", "Sofia", "Emeka", "Yuki", "Carla")


@pytest.mark.parametrize("others", [0, 24])
async def test_the_stated_home_of_another_is_not_the_asked_one(
    works: Dissonant, others: int
) -> None:
    """S11 Three memories, or a space of many of which three of one person state facts."""
    space = works.space()
    for name, text, relation, value in (
        (
            "cottage",
            "It's been the old lighthouse keeper's cottage since spring.",
            "LIVES_IN",
            "Texel",
        ),
        ("counter", "Back behind the counter, and the smell of bread.", "WORKS_AT", "Zeeman"),
        ("sane", "She keeps him sane on busy days.", "HAS_BOSS", "Wilma"),
    )[: 3 if others else 1]:
        fact = Fact(subject="Bram", relation=relation, object=value)
        await space.added(text, id=name, facts=[fact])
    for number in range(others):
        await space.added(f"{OTHERS[number % 8]} drinks tea number {number}.", id=f"tea-{number}")
    await space.added("Mira moved to Turku in 2022.", id="turku")
    token = (await space.added("Mira likes aisle seats.", id="seats")).token

    for query in ("where does Mira live?", "where does mira live", "Mira's home"):
        first, *rest = await found(works, query, token)
        assert first.memory.id in {"turku", "seats"}  # the tests' model knows no meaning
        assert not any(each.HasField("matched_fact") for each in rest)
    for query in ("Where does Bram live?", "Brams Adresse", "Who lives in Texel?", "what is home?"):
        first, *_ = await found(works, query, token)
        assert (first.memory.id, first.matched_fact.object) == ("cottage", "Texel")


async def test_a_fact_that_is_added_or_taken_back_changes_what_is_found(works: Dissonant) -> None:
    """S11 Words of facts are those of the memory's current state; its text stays as it was."""
    space = works.space()
    home = Fact(subject="Ada", relation="LIVES_IN", object="Bremen")
    news = await space.add("Big news from the north", id="news")
    news = await space.updated(news, facts=[home])
    token = (await space.added("The weather is fine", id="weather")).token
    (with_fact, *_) = await found(works, "Ada's address", token)
    await space.updated(news, facts=[])
    token = (await space.added("The sea is calm", id="sea")).token
    without = await found(works, "Ada's address", token)

    assert (with_fact.memory.id, with_fact.matched_fact) == ("news", home)
    lexical = {
        each.memory.id: signal.score
        for each in without
        for signal in each.explanation.signals
        if signal.signal_name == "lexical"
    }
    assert lexical.get("news", 0.0) == 0.0
