"""Memories are found by the facts that they state, and edges by their words, over real services."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from concord.graph.v1 import graph_pb2
from concord.search.v1 import search_pb2 as pb
from concord.search.v1.search_pb2_grpc import SearchServiceStub
from concord.type.v1 import type_pb2
from concord.type.v1.type_pb2 import Edge, EdgeEnd, Fact
from concord_chassis.call.identity import Caller
from dissonance_over_graph import Dissonant, Space, dissonant
from google.protobuf.timestamp_pb2 import Timestamp
from governed_world import SCOPES, World, request_id
from writing import to_erase, to_upsert_edge


@pytest.fixture
async def works(live: World) -> AsyncIterator[Dissonant]:
    """Every service."""
    async with dissonant(live, follow=False) as running:
        yield running


async def found(works: Dissonant, query: str, token: str, **said: object) -> list[pb.SearchResult]:
    """The results of a query, once the index knows a write."""
    return list((await answered(works, query, token, **said)).results)


async def answered(works: Dissonant, query: str, token: str, **said: object) -> pb.SearchResponse:
    """The reply to a query, once the index knows a write."""
    assert works.search is not None
    channel = works.search.channel(Caller("one", "agent", SCOPES | {"search:read"}, "AGENT"))
    request = pb.SearchRequest(query=query, peek=True, **said)  # type: ignore[arg-type]
    request.consistency.at_least_as_fresh = token
    return await SearchServiceStub(channel).Search(request)


async def related(space: Space, source: str, relation: str, target: str, **said: object) -> str:
    """Add an edge between two nodes; the token of that write."""
    ends = {"source": EdgeEnd(name=source), "target": EdgeEnd(name=target)}
    edge = Edge(relation=relation, **ends, **said)  # type: ignore[arg-type]
    return (await space.graph.UpsertEdge(to_upsert_edge(edge))).token


def day(text: str) -> Timestamp:
    """Midnight UTC of a day."""
    return Timestamp(seconds=int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()))


def edges(results: list[pb.SearchResult]) -> list[str]:
    """The edges among results, in words."""
    found = [each.edge for each in results if each.HasField("edge")]
    return [f"{each.source.name} {each.relation} {each.target.name}" for each in found]


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
    assert reasons["lexical"].endswith('it states "Ada LIVES_IN Bremen"')


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


@pytest.mark.parametrize("query", ["Who mentors Bob?", "is anybody Bob's mentor", "mentors"])
async def test_an_edge_that_no_memory_states_is_found_by_its_words(
    works: Dissonant, query: str
) -> None:
    """S11 Only if it is asked for, with its explanation, and as a part of the text for a prompt."""
    space = works.space()
    await space.added("Bob prefers window seats", id="seat")
    await related(space, "Acme", "MAKES", "anvils")
    token = await related(space, "Ada", "MENTORS", "Bob")

    reply = await answered(works, query, token, include_edges=True, include_context=True)
    without = await found(works, query, token)

    first = reply.results[0]
    assert edges([first]) == ["Ada MENTORS Bob"]
    assert first.explanation.signals
    assert first.provenance.startswith("edge; since ")
    assert not first.HasField("memory")
    head, said = reply.context.split("\n\n")[0].splitlines()
    assert head == f"[edge:{first.edge.id}] {first.provenance}"
    assert said == "  Ada MENTORS Bob"
    assert edges(without) == []
    assert {each.memory.id for each in without} <= {"seat"}


async def test_an_edge_that_a_writer_added_is_not_trusted(works: Dissonant) -> None:
    """S11 W8 Nothing is established of it: only what both principals agreed to is VERIFIED."""
    token = await related(works.space(), "Ada", "MENTORS", "Bob")

    wanted = pb.SearchFilter(min_trust=type_pb2.TRUST_LEVEL_DOUBTFUL)
    trusted = await found(works, "mentors", token, include_edges=True, filter=wanted)

    assert edges(await found(works, "mentors", token, include_edges=True)) == ["Ada MENTORS Bob"]
    assert edges(trusted) == []


async def test_edges_are_those_of_now_and_fit_the_filter(works: Dissonant) -> None:
    """S11 S2 T4 Neither deleted nor superseded ones, and none that cannot match the filter; of a
    past instant those of then; in a pack beside memories."""
    space = works.space()
    await space.declare("LEADS")
    await space.added("Ada prefers window seats", id="seat")
    await related(space, "Ada", "LEADS", "Docs", valid_from=day("2020-01-01"))
    token = await related(space, "Ada", "LEADS", "Search", valid_from=day("2024-01-01"))
    asked = "what does Ada lead"

    async def leads(**said: object) -> list[str]:
        return edges(await found(works, asked, token, include_edges=True, **said))

    assert await leads() == ["Ada LEADS Search"]
    assert await leads(as_of=type_pb2.AsOf(valid_time=day("2021-01-01"))) == ["Ada LEADS Docs"]
    assert set(await leads(superseded=pb.SUPERSEDED_MODE_INCLUDE)) == {
        "Ada LEADS Docs",
        "Ada LEADS Search",
    }
    assert await leads(superseded=pb.SUPERSEDED_MODE_HISTORY) == []
    assert await leads(filter=pb.SearchFilter(kinds=[type_pb2.MEMORY_KIND_FACT])) == []
    assert await leads(filter=pb.SearchFilter(node="Search")) == ["Ada LEADS Search"]
    assert await leads(filter=pb.SearchFilter(node="Docs")) == []
    packed = await answered(works, asked, token, include_edges=True, pack_tokens=1_000)
    assert "  Ada LEADS Search" in packed.context.splitlines()

    (edge,) = [each.edge for each in packed.results if each.HasField("edge")]
    gone = graph_pb2.DeleteEdgeRequest(request_id=request_id(), id=edge.id, etag=edge.etag)
    token = (await space.graph.DeleteEdge(gone)).token
    assert await leads() == ["Ada LEADS Docs"]


async def test_a_changed_edge_is_found_by_what_it_says_now(works: Dissonant) -> None:
    """S11 S10 Its stated times are followed; a fact that a memory states is no edge of its own."""
    space = works.space()
    token = await related(space, "Ada", "MENTORS", "Bob")
    (result,) = await found(works, "Who mentors Bob?", token, include_edges=True)
    edge = result.edge
    ended = type_pb2.Edge(id=edge.id, etag=edge.etag, valid_until=day("2025-01-01"))
    ended.valid_from.CopyFrom(day("2024-01-01"))
    request = graph_pb2.UpdateEdgeRequest(request_id=request_id(), edge=ended)
    request.update_mask.paths.extend(["valid_from", "valid_until"])
    token = (await space.graph.UpdateEdge(request)).token
    assert await found(works, "Who mentors Bob?", token, include_edges=True) == []

    fact = Fact(subject="Cleo", relation="MENTORS", object="Dan")
    token = (await space.added("Noted.", id="noted", facts=[fact])).token
    results = await found(works, "Who mentors Dan?", token, include_edges=True)
    assert (edges(results), [each.memory.id for each in results]) == ([], ["noted"])


async def test_an_edge_that_a_caller_wrote_outlives_the_memory(works: Dissonant) -> None:
    """S11 M4 A fact's edge is no result of its own until a caller writes it; then it stays one when
    the memory is erased, as it does in graph."""
    space = works.space()
    fact = Fact(subject="Cleo", relation="MENTORS", object="Dan")
    memory = await space.add("Noted.", id="noted", facts=[fact])
    asked = "Who mentors Dan?"
    before = edges(await found(works, asked, space.token, include_edges=True))
    token = await related(space, "Cleo", "MENTORS", "Dan")
    (of_both,) = {
        tuple(each.edge.sources)
        for each in await found(works, asked, token, include_edges=True)
        if each.HasField("edge")
    }
    token = (await space.memories.EraseMemory(to_erase(memory))).token
    after = await found(works, asked, token, include_edges=True)

    assert (before, of_both) == ([], ("noted",))
    assert edges(after) == ["Cleo MENTORS Dan"]
    assert [each.memory.id for each in after if each.HasField("memory")] == []
