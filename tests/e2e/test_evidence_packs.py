"""Evidence packs: results with what makes them usable, and paths of facts, within some tokens."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from concord.graph.v1 import relation_pb2
from concord.search.v1 import search_pb2 as pb
from concord.search.v1.search_pb2_grpc import SearchServiceStub
from concord.type.v1 import type_pb2
from concord.type.v1.type_pb2 import AsOf, Fact
from concord_chassis.call.identity import Caller
from concord_search.adapters.minilm import weights
from concord_search.usecases import companions, paths
from dissonance_over_graph import Dissonant, Space, dissonant
from google.protobuf.timestamp_pb2 import Timestamp
from governed_world import SCOPES, World
from tokenizers import Tokenizer


@pytest.fixture
async def works(live: World, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Dissonant]:
    """Every service; paths are looked for as long as a busy machine needs."""
    monkeypatch.setattr(paths, "WITHIN", 30.0)
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
    assert '\n(states "Ada LIKES soup")\n  Noted: soup' in reply.context
    assert "LIKES bread" not in alone.context


async def test_a_value_that_only_a_replaced_memory_states_is_no_other_value(
    works: Dissonant,
) -> None:
    """S11 T4 Nobody who moved is also said to live where a replaced memory says so, though the
    relation is not functional; what a current memory states, too, stays."""
    home = works.space()
    for name, town in (("old", "Kiel"), ("both", "Rome"), ("second", "Rome")):
        fact = Fact(subject="Ada", relation="LIVES_IN", object=town)
        await home.add(f"Noted as {name}: {town}", id=name, facts=[fact])
    bremen = Fact(subject="Ada", relation="LIVES_IN", object="Bremen")
    links = "[[memory:old]], [[memory:both]]"
    await home.add(f"Ada lives in Bremen.\nSupersedes: {links}", id="new", facts=[bremen])

    reply = await packed(works, home, "Where does Ada live, in Bremen?", page_size=1)

    assert ids(reply.context)[0] == "memory:new"
    assert 'also "Ada LIVES_IN Rome"' in reply.context
    assert "Kiel" not in reply.context


async def test_so_many_memories_are_read_beside_a_page(
    works: Dissonant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S11 MOST_MEMORIES: of what amends a result, no more are read."""
    monkeypatch.setattr(companions, "MOST_MEMORIES", 2)
    home = works.space()
    await home.add("The gate opens at nine", id="gate")
    for number in range(3):
        await home.add(f"Not on day {number}.\nAmends: [[memory:gate]]", id=f"day{number}")

    reply = await packed(works, home, "gate opens at nine", page_size=1)

    assert len(ids(reply.context)) == 1 + 2


async def test_of_so_many_relations_other_values_stand_beside_a_page(
    works: Dissonant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S11 MOST_RELATIONS: of the relations that matched, no more are looked up."""
    monkeypatch.setattr(companions, "MOST_RELATIONS", 1)
    home = works.space()
    for who in ("Ada", "Bea"):
        for dish in ("soup", "bread"):
            fact = Fact(subject=who, relation="LIKES", object=dish)
            await home.add(f"Noted of {who}: {dish}", id=f"{who}-{dish}", facts=[fact])

    reply = await packed(works, home, "Ada and Bea like soup", page_size=2)

    assert {each.matched_fact.subject for each in reply.results} == {"Ada", "Bea"}
    assert reply.context.count("] also ") == 1


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
    assert "long" in small.unfit_memory_ids
    for reply in (whole, small, none):  # what is not in the text is named
        there = {*ids(reply.context)}
        told = [each.memory.id for each in reply.results if f"memory:{each.memory.id}" not in there]
        assert told == list(reply.unfit_memory_ids)


async def test_what_a_filter_hides_is_no_companion(works: Dissonant) -> None:
    """S2 S11 A turn beside a result is shown where the filter lets it be."""
    home = works.space()
    await turn(home, 1, "Ada", "Which bird was that?")
    await turn(home, 2, "Bob", "A kingfisher, bright blue")

    mine = await packed(works, home, "kingfisher", filter=pb.SearchFilter(source="Bob"))

    assert ids(mine.context) == ["memory:t2"]


def day(text: str) -> Timestamp:
    """Midnight UTC of a day."""
    return Timestamp(seconds=int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()))


async def state(home: Space, name: str, *fact: str, **times: Timestamp) -> None:
    """Add a memory that states a fact, in words that no question shares."""
    subject, relation, target = fact
    stated = Fact(subject=subject, relation=relation, object=target)
    await home.add(f"Noted under {name}", id=name, facts=[stated], **times)


def said(reply: pb.SearchResponse) -> list[str]:
    """The paths of a reply, in words."""
    return [
        "; ".join(f"{each.subject} {each.relation} {each.object}" for each in path.facts)
        for path in reply.paths
    ]


async def test_a_question_over_several_hops_is_answered_by_a_path(works: Dissonant) -> None:
    """S11 In English and German; with the memories that state the facts, first in the pack."""
    home = works.space()
    await state(home, "a", "Ada", "SISTER", "Bea")
    await state(home, "b", "Bea", "LIVES_IN", "Bremen")
    await state(home, "c", "Bea", "MANAGED_BY", "Cleo")
    await state(home, "d", "Cleo", "worksFor", "Acme")

    reply = await packed(works, home, "Where does Ada's sister live?")

    assert said(reply) == ["Ada SISTER Bea; Bea LIVES_IN Bremen"]
    assert list(reply.paths[0].memory_ids) == ["a", "b"]
    first, *parts = reply.context.split("\n\n")
    assert first.endswith(
        '] path: "Ada SISTER Bea"; "Bea LIVES_IN Bremen"; stated by memory:a, memory:b'
    )
    assert [part.partition("]")[0] for part in parts[:2]] == ["[memory:a", "[memory:b"]
    assert reply.context.count("[memory:a]") == 1
    for question, answer in (
        ("Wo wohnt die Schwester von Ada?", "Bea LIVES_IN Bremen"),
        ("Wo wohnt Adas Schwester?", "Bea LIVES_IN Bremen"),
        ("wo arbeitet Beas Chefin?", "Cleo worksFor Acme"),
        ("where does ada's sister's boss work", "Cleo worksFor Acme"),
        ("Who is the manager of Ada's sister?", "Bea MANAGED_BY Cleo"),
    ):
        (path,) = said(await packed(works, home, question))
        assert path.endswith(answer), question


@pytest.mark.parametrize(
    "question",
    [
        "Where does Ada's sister work?",  # nothing says so
        "Where does Ada's brother live?",  # a sister is none
        "Where does Ada's boss live?",  # whom she manages is none
        "Who manages Ada's sister?",  # asks against the edge's direction
        "Where does Ada's sister's boss live?",
        "Where does Zoe's sister live?",
        "Where does Ada live?",  # one hop is a plain result
        "Ada's sister called. Where do we live?",
        "What did Ada's sister say about where Bob lives?",
    ],
)
async def test_nothing_is_guessed(works: Dissonant, question: str) -> None:
    """S11 Without a path that each word names, a pack holds none."""
    home = works.space()
    await state(home, "a", "Ada", "SISTER", "Bea")
    await state(home, "b", "Bea", "LIVES_IN", "Bremen")
    await state(home, "c", "Ada", "MANAGES", "Dan")
    await state(home, "d", "Dan", "LIVES_IN", "Rome")

    reply = await packed(works, home, question)

    assert (list(reply.paths), "path:" in reply.context) == ([], False)


async def test_a_path_is_as_of_the_time_that_is_asked_about(works: Dissonant) -> None:
    """S11 T4 Facts of then, marked with their end; who the sister is may be known since today."""
    home = works.space()
    await state(home, "a", "Ada", "SISTER", "Bea")
    times = {"valid_from": day("2020-01-01"), "valid_until": day("2023-06-01")}
    await state(home, "old", "Bea", "LIVES_IN", "Kiel", **times)
    await state(home, "new", "Bea", "LIVES_IN", "Bremen", valid_from=day("2023-06-01"))

    async def asked(question: str, **more: object) -> list[str]:
        return said(await packed(works, home, question, **more))

    assert await asked("Where does Ada's sister live?") == ["Ada SISTER Bea; Bea LIVES_IN Bremen"]
    assert await asked("Where did Ada's sister live in 2021?") == [
        "Ada SISTER Bea; Bea LIVES_IN Kiel"
    ]
    assert await asked("Wo wohnte Adas Schwester im Jahr 2023?") == [
        "Ada SISTER Bea; Bea LIVES_IN Bremen",
        "Ada SISTER Bea; Bea LIVES_IN Kiel",
    ]
    assert await asked("Where did Ada's sister live in 2018?") == []
    assert await asked("Where did Ada's sister live before the flood?") == []
    past = await packed(works, home, "Where did Ada's sister live in 2021?")
    assert '"Bea LIVES_IN Kiel" (until 2023-06-01)' in past.context
    then = AsOf(valid_time=day("2021-01-01"))
    assert await asked("Where does Ada's sister live?", as_of=then) == []


async def test_no_path_goes_along_what_only_a_replaced_memory_states(works: Dissonant) -> None:
    """S11 T4 A replaced memory's fact leads nowhere, but where a time is asked about."""
    home = works.space()
    await state(home, "a", "Ada", "SISTER", "Bea", valid_from=day("2019-01-01"))
    await state(home, "old", "Bea", "LIVES_IN", "Kiel", valid_from=day("2020-01-01"))
    bremen = Fact(subject="Bea", relation="LIVES_IN", object="Bremen")
    content = "Noted under new\nSupersedes: [[memory:old]]"
    await home.add(content, id="new", facts=[bremen], valid_from=day("2023-06-01"))

    for question, town in (
        ("Where does Ada's sister live?", "Bremen"),
        ("Where did Ada's sister live in 2024?", "Bremen"),
        ("Where did Ada's sister live in 2021?", "Kiel"),
    ):
        reply = await packed(works, home, question)
        assert said(reply) == [f"Ada SISTER Bea; Bea LIVES_IN {town}"], question


async def test_paths_are_for_first_pages_of_unfiltered_packs(works: Dissonant) -> None:
    """S2 S11 A fact has no kind that a filter could test; a plain search holds none."""
    home = works.space()
    await state(home, "a", "Ada", "SISTER", "Bea")
    await state(home, "b", "Bea", "LIVES_IN", "Bremen")
    asked = "Where does Ada's sister live?"

    first = await packed(works, home, asked, page_size=1)
    second = await packed(works, home, asked, page_size=1, page_token=first.next_page_token)
    tagged = await packed(works, home, asked, filter=pb.SearchFilter(tags_none=["x"]))
    plain = await packed(works, home, asked, pack_tokens=0)

    assert [len(each.paths) for each in (first, second, tagged, plain)] == [1, 0, 0, 0]


async def test_paths_are_bounded_in_number_time_and_calls(
    works: Dissonant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S11 At most three; what is not found in time, or with few calls, is left out."""
    home = works.space()
    for number in range(5):
        await state(home, f"s{number}", "Ada", "SISTER", f"Bea{number}")
        await state(home, f"h{number}", f"Bea{number}", "LIVES_IN", f"Town{number}")
    asked = "Where does Ada's sister live?"

    assert len((await packed(works, home, asked)).paths) == paths.MOST_PATHS == 3
    monkeypatch.setattr(paths, "WITHIN", 0.0)
    late = await packed(works, home, asked)
    assert late.results
    assert not late.paths
    monkeypatch.setattr(paths, "WITHIN", 30.0)
    monkeypatch.setattr(paths, "MOST_CALLS", 2)
    assert not (await packed(works, home, asked)).paths


async def test_a_disputed_fact_on_a_path_is_named_so(works: Dissonant) -> None:
    """S4 S11 Both values, each with the conflict that is open."""
    home = works.space()
    await home.declare("BORN_IN", temporal_class=relation_pb2.TEMPORAL_CLASS_ETERNAL)
    await state(home, "a", "Ada", "SISTER", "Bea")
    await state(home, "b", "Bea", "BORN_IN", "Kiel")
    await state(home, "c", "Bea", "BORN_IN", "Rome")
    (conflict,) = (await home.detect()).conflicts

    reply = await packed(works, home, "Where was Ada's sister born?")

    lines = [line for line in reply.context.splitlines() if "] path:" in line]
    assert lines
    assert all(f"(disputed: conflict {conflict.id})" in line for line in lines)


async def test_a_path_without_a_memory_is_named_by_its_edges(works: Dissonant) -> None:
    """S11 An edge that was added as such is on the path, too."""
    home = works.space()
    await state(home, "a", "Ada", "SISTER", "Bea")
    edge = await home.edge("Bea", "LIVES_IN", "Bremen")

    reply = await packed(works, home, "Where does Ada's sister live?")

    assert reply.paths[0].edge_ids[1] == edge.id
    assert list(reply.paths[0].memory_ids) == ["a"]
