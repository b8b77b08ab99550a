"""Search through gRPC, over the real graph, the real index and the real model."""

import asyncio
from typing import Any

import grpc
import pytest
from concord.graph.v1 import feed_pb2, memory_pb2, session_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.failure import Failure, from_rpc_error
from concord_chassis.call.opaque import seal, unseal
from concord_testing.polling import until
from google.protobuf.json_format import ParseDict
from search_over_graph import TwoServers

Memory = type_pb2.Memory
DOG = Memory(id="dog", content="My dog is called Rex and likes long walks.", tags=["pet"])
OFFICE = Memory(id="office", content="The office is in Berlin, near the river.", domain="work.it")
PAY = Memory(id="pay", content="Salaries are paid on the last day of the month.", domain="work.hr")
NEW_DOG = Memory(
    id="dog-2", content="My dog is called Bello now.\nSupersedes: [[memory:dog]]", tags=["pet"]
)


async def search(
    running: TwoServers, query: str, *, space: str = "default", fresh: str = "", **said: object
) -> search_pb2.SearchResponse:
    """Searches at least as fresh as `fresh`, when given."""
    request = search_pb2.SearchRequest(query=query, **said)  # type: ignore[arg-type] # by name
    request.consistency.at_least_as_fresh = fresh
    return await running.searching(space).Search(request)


def ids(reply: search_pb2.SearchResponse) -> list[str]:
    """The results' memories, in order."""
    return [result.memory.id for result in reply.results]


async def refused(
    running: TwoServers, query: str, *, space: str = "default", fresh: str = "", **said: object
) -> Failure:
    """The failure that a search ends with."""
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await search(running, query, space=space, fresh=fresh, **said)
    return from_rpc_error(error.value)


async def test_a_write_is_found_by_the_search_that_carries_its_token(
    running: TwoServers,
) -> None:
    """S10, design 3: freshness is an argument and a token, never a sleep."""
    token = await running.add(OFFICE, DOG)

    reply = await search(running, "what is my dog's name?", fresh=token)

    assert ids(reply)[0] == "dog"
    assert reply.index_token
    assert reply.results[0].memory.content == DOG.content


async def test_what_is_sure_or_got_was_read_together_in_the_session(running: TwoServers) -> None:
    """M7 S3 S9 Of the results of searches that name a session, those of HIGH confidence, and what
    is got in it; a search in it then lifts what was read with what it read."""
    token = await running.add(OFFICE, DOG, PAY)
    asked = session_pb2.ListCoReadsRequest(session_id="s")

    await search(running, OFFICE.content, fresh=token, session_id="peeked", peek=True)
    sure = await search(running, OFFICE.content, fresh=token, session_id="s")
    got = memory_pb2.GetMemoryRequest(id="dog", session_id="s")
    await running.memories().GetMemory(got)
    async with asyncio.timeout(60):
        while not (found := (await running.sessions().ListCoReads(asked)).co_reads):  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.05)

    high = [each.confidence == search_pb2.CONFIDENCE_BAND_HIGH for each in sure.results]
    assert dict(zip(ids(sure), high, strict=True)) == {"office": True, "dog": False, "pay": False}
    assert {(each.memory_id, each.other_id) for each in found} == {
        ("dog", "office"),
        ("office", "dog"),
    }
    asked.session_id = "peeked"
    assert not (await running.sessions().ListCoReads(asked)).co_reads

    reply = await search(running, "Berlin", fresh=token, session_id="s", peek=True)
    outside = await search(running, "Berlin", fresh=token, session_id="other", peek=True)

    for result in reply.results:
        scores = {each.signal_name: each.score for each in result.explanation.signals}
        together = 0.0 if result.memory.id == "pay" else pytest.approx(1 / 27, abs=0.01)
        assert scores["coactivation"] == together
    dropped = [each.signal_name for each in outside.results[0].explanation.dropped]
    assert "coactivation" in dropped


async def test_each_result_explains_itself(running: TwoServers) -> None:
    """S3, S4 contributions sum to the composite, by which results come; the raw cosine stands
    beside, unblended."""
    token = await running.add(DOG, OFFICE, PAY)

    reply = await search(running, "Where is the Berlin office?", fresh=token, domain="work.hr")

    assert ids(reply)[0] == "office"
    scores = [result.composite_score for result in reply.results]
    assert scores == sorted(scores, reverse=True)
    for result in reply.results:
        parts = result.explanation.signals
        assert sum(part.contribution for part in parts) == pytest.approx(result.composite_score)
        assert sum(part.weight for part in parts) == pytest.approx(1.0)
        assert all(part.reason for part in parts)
        assert result.explanation.relevance_reason.startswith("It surfaced mostly by ")
        dropped = {each.signal_name: each.reason for each in result.explanation.dropped}
        assert dropped.keys() >= {"coactivation", "context_window", "head_of_chain"}
        assert dropped.keys().isdisjoint(part.signal_name for part in parts)
        assert all(dropped.values())
    top = {part.signal_name: part for part in reply.results[0].explanation.signals}
    assert top["vector_similarity"].score == pytest.approx(reply.results[0].vector_similarity)
    assert "berlin" in top["concept_overlap"].reason
    assert top["domain_match"].score == 0.5
    assert "never read" in top["authority"].reason


async def test_the_reply_carries_its_band_lines_and_next_action(running: TwoServers) -> None:
    """S5 three lines, the top result's band, and a next action."""
    token = await running.add(DOG)

    reply = await search(running, "my dog's name", fresh=token)
    short = await search(
        running, "my dog's name", stac=search_pb2.StacOptions(max_lines=1, hide_why=True)
    )

    assert reply.confidence == reply.results[0].confidence
    assert [line.split(":")[0] for line in reply.stac_lines] == ["Why", "Relevance", "Next"]
    assert reply.next_action != search_pb2.NEXT_ACTION_UNSPECIFIED
    assert [line.split(":")[0] for line in short.stac_lines] == ["Relevance"]


async def test_of_two_results_in_conflict_one_is_preferred(running: TwoServers) -> None:
    """S5 An open conflict among the results: the next action says which of the two to prefer."""
    words = "The gate of the old harbour opens at nine in the morning."
    later = "The gate of the old harbour opens at ten. Contradicts: [[memory:nine]]"
    token = await running.add(
        Memory(id="nine", content=words),
        Memory(id="ten", content=later, importance=type_pb2.IMPORTANCE_HIGH),
    )

    both = await search(running, words, fresh=token)
    only = search_pb2.SearchFilter(importances=[type_pb2.IMPORTANCE_HIGH])
    alone = await search(running, words, filter=only)

    assert ids(both) == ["nine", "ten"]
    assert both.next_action == search_pb2.NEXT_ACTION_PREFER
    assert both.preferred_memory_id == "ten"
    said = "Next: prefer ten, and say that nine conflicts with it."
    assert both.stac_lines[-1] == f'{said} Times not used: "morning".'
    assert ids(alone) == ["ten"]
    assert alone.next_action == search_pb2.NEXT_ACTION_CAVEAT
    assert "nine conflicts with it" in alone.stac_lines[-1]
    assert alone.preferred_memory_id == ""


async def test_nothing_found_is_unknown_and_no_error(running: TwoServers) -> None:
    """S2, S5 unrelated queries may return nothing."""
    token = await running.add(DOG)

    reply = await search(running, "quantum chromodynamics", fresh=token, min_score=0.99)
    empty = await search(running, "anything", space="empty")

    for each in (reply, empty):
        assert ids(each) == []
        assert each.confidence == search_pb2.CONFIDENCE_BAND_UNKNOWN
        assert each.next_action == search_pb2.NEXT_ACTION_REFINE


async def test_a_replaced_memory_gives_way_to_its_head(running: TwoServers) -> None:
    """T4 superseded is excluded by default; the head says that it is current."""
    token = await running.add(DOG, NEW_DOG)

    reply = await search(running, "dog called Rex", fresh=token)

    assert ids(reply) == ["dog-2"]
    signals = {part.signal_name: part.reason for part in reply.results[0].explanation.signals}
    assert signals["head_of_chain"] == "current: it replaces 1 older memory"


async def test_on_request_replaced_memories_follow_their_head(running: TwoServers) -> None:
    """T4 superseded ones are listed after their head."""
    token = await running.add(DOG, NEW_DOG, OFFICE)

    reply = await search(
        running, "my dog is called", fresh=token, superseded=search_pb2.SUPERSEDED_MODE_INCLUDE
    )

    found = ids(reply)
    assert found.index("dog") == found.index("dog-2") + 1


@pytest.mark.parametrize("size", [1, 2, 10])
async def test_what_was_replaced_and_alone_answers_is_not_hidden(
    running: TwoServers, size: int
) -> None:
    """T4 A replaced memory is listed behind its head unless it alone holds a searched word and is
    found clearly better; no page size changes the order."""
    token = await running.add(
        Memory(id="kestrel", content="The project is called Kestrel."),
        Memory(id="heron", content="Heron it is now.\nSupersedes: [[memory:kestrel]]"),
        DOG,
        NEW_DOG,
    )
    asked = "What is my dog called?", "Which project is called Kestrel?"
    found = []
    for query in asked:
        request = search_pb2.SearchRequest(
            query=query,
            page_size=size,
            peek=True,
            superseded=search_pb2.SUPERSEDED_MODE_INCLUDE,
        )
        request.consistency.at_least_as_fresh = token
        order: list[str] = []
        while not order or request.page_token:
            reply = await running.searching().Search(request)
            order += ids(reply)
            request.page_token = reply.next_page_token
        found.append(order)

    assert found[0][:2] == ["dog-2", "dog"]
    assert found[1][0] == "kestrel"


async def test_what_was_replaced_and_alone_holds_a_word_is_named(running: TwoServers) -> None:
    """T4 S5 It is no result, but the reply names it, with the word; where a current memory holds
    the word, too, or superseded ones were asked for, or nobody holds it, nothing is said."""
    token = await running.add(
        Memory(id="name-1", content="The project is called Kestrel."),
        Memory(id="name-2", content="The project has another name.\nSupersedes: [[memory:name-1]]"),
        DOG,
        OFFICE,
    )

    named, unknown, held = [
        await search(running, query, fresh=token)
        for query in ("What is Kestrel?", "What is Zyzzyva?", "Where is the office?")
    ]
    wider = await search(running, "What is Kestrel?", superseded=search_pb2.SUPERSEDED_MODE_INCLUDE)
    other = await search(
        running, "What is Kestrel?", filter=search_pb2.SearchFilter(tags_any=["x"])
    )

    assert "name-1" not in ids(named)
    assert named.superseded_match.memory_id == "name-1"
    assert list(named.superseded_match.concepts) == ["kestrel"]
    assert "memory name-1 alone says kestrel: include" in named.stac_lines[-1]
    for each in (unknown, held, wider, other):
        assert not each.HasField("superseded_match")
        assert "uperseded" not in each.stac_lines[-1]


async def test_history_returns_the_whole_chain_by_valid_time(running: TwoServers) -> None:
    """T4 history mode: the chain of a result, also members that share no word with the query."""
    newest = Memory(id="cat", content="There is a cat now.\nSupersedes: [[memory:dog-2]]")
    token = await running.add(DOG, NEW_DOG, newest, OFFICE, PAY)

    pages = await history_pages(running, "Rex likes long walks", token, page_size=1)

    assert pages[0] == ["dog", "dog-2", "cat"]
    assert sorted(each for page in pages for each in page) == [
        *("cat", "dog", "dog-2", "office", "pay"),
    ]


async def test_pages_of_history_reach_everything_once(running: TwoServers) -> None:
    """T4 every match's chain comes on some page, and on no two."""
    notes = [Memory(id=f"m{at}", content=f"note number {at} about rivers") for at in range(6)]
    heads = [
        Memory(id=f"n{at}", content=f"newer note about rivers\nSupersedes: [[memory:m{at}]]")
        for at in range(2)
    ]
    token = await running.add(*notes, *heads)

    pages = await history_pages(running, "a note about rivers", token, page_size=2)

    found = [each for page in pages for each in page]
    assert sorted(found) == sorted(memory.id for memory in (*notes, *heads))
    for older, newer in (("m0", "n0"), ("m1", "n1")):
        assert any({older, newer} <= set(page) for page in pages)


async def history_pages(
    running: TwoServers, query: str, token: str, *, page_size: int
) -> list[list[str]]:
    """The ids of each page of a history, following every token."""
    pages: list[list[str]] = []
    page_token = ""
    while not pages or page_token:
        reply = await search(
            running,
            query,
            fresh=token,
            superseded=search_pb2.SUPERSEDED_MODE_HISTORY,
            page_size=page_size,
            page_token=page_token,
        )
        pages.append(ids(reply))
        page_token = reply.next_page_token
    return pages


async def test_pages_follow_one_another_without_overlap(running: TwoServers) -> None:
    """S3 a page token is bound to its query and freezes its now."""
    memories = [Memory(id=f"m{at}", content=f"note number {at} about rivers") for at in range(7)]
    token = await running.add(*memories)

    first = await search(running, "rivers", fresh=token, page_size=3)
    second = await search(
        running, "rivers", fresh=token, page_size=3, page_token=first.next_page_token
    )
    third = await search(
        running, "rivers", fresh=token, page_size=3, page_token=second.next_page_token
    )

    found = ids(first) + ids(second) + ids(third)
    assert sorted(found) == sorted(memory.id for memory in memories)
    assert third.next_page_token == ""


async def test_a_page_token_of_another_query_is_refused(running: TwoServers) -> None:
    """Must hold: a page token of another query is a typed error."""
    token = await running.add(DOG, OFFICE)
    first = await search(running, "dog", fresh=token, page_size=1)

    other = await refused(running, "office", page_size=1, page_token=first.next_page_token)
    damaged = await refused(running, "dog", page_size=1, page_token="AAAA")

    for failure in (other, damaged):
        assert failure.code == grpc.StatusCode.INVALID_ARGUMENT
        assert failure.reason == "ERROR_REASON_PAGE_TOKEN_INVALID"


def wanting(**values: Any) -> search_pb2.SearchFilter:
    """A filter, by the names of its fields."""
    return ParseDict(values, search_pb2.SearchFilter())


NFD = "scho\N{COMBINING DIAERESIS}n"
"""A word in the spelling of some file systems; graph keeps it composed."""
TREE = ParseDict(
    {
        **{"id": "tree", "content": "A tree.", "domain": f"{NFD}.sub", "category": NFD},
        **{"tags": [NFD], "concepts": [NFD], "sources": [{"speaker": NFD}]},
        "properties": {NFD: NFD, "status": "open", "votes": 3, "pinned": True},
    },
    Memory(),
)
EVERY = {"dog", "office", "pay", "tree"}
FILTERS: list[tuple[search_pb2.SearchFilter, set[str]]] = [
    (wanting(tags_any=["pet", "x"]), {"dog"}),
    (wanting(tags_none=["pet"]), EVERY - {"dog"}),
    (wanting(domain="work"), {"office", "pay"}),
    (wanting(kinds=["MEMORY_KIND_PLAN"]), set()),
    (wanting(concepts=["Offices"]), {"office"}),
    (wanting(any_of=[{"tags_all": ["pet"]}, {"domain": "work.hr"}]), {"dog", "pay"}),
    (wanting(none_of=[{"domain": "work"}]), {"dog", "tree"}),
    (wanting(properties={"status": "open"}), {"tree"}),
    (wanting(properties={"status": "open", "votes": 3}), {"tree"}),
    (wanting(properties={"votes": "3"}), set()),
    (wanting(properties={"pinned": True}), {"tree"}),
    (wanting(properties={"pinned": 1}), set()),
    (wanting(tags_any=[NFD]), {"tree"}),
    (wanting(tags_all=[NFD]), {"tree"}),
    (wanting(tags_none=[NFD]), EVERY - {"tree"}),
    (wanting(domain=NFD), {"tree"}),
    (wanting(concepts=[NFD]), {"tree"}),
    (wanting(source=NFD), {"tree"}),
    (wanting(category=NFD), {"tree"}),
    (wanting(properties={NFD: NFD}), {"tree"}),
    (wanting(any_of=[{"tags_any": [NFD]}]), {"tree"}),
]


async def test_filters_apply_before_anything_is_ranked(running: TwoServers) -> None:
    """S2 M1 By tag, domain, kind, concept, source and each property's very value, with and/or/not;
    a filter and the query's domain are composed (NFC) as stored words are."""
    token = await running.add(DOG, OFFICE, PAY, TREE)
    for wanted, expected in FILTERS:
        reply = await search(running, "dog office salary tree", fresh=token, filter=wanted)
        assert set(ids(reply)) == expected, wanted

    (tree,) = (await search(running, "tree", filter=FILTERS[-1][0], domain=f"{NFD}.sub")).results
    signals = {part.signal_name: part.score for part in tree.explanation.signals}
    assert signals["domain_match"] == 1


def deep(levels: int) -> search_pb2.SearchFilter:
    """A filter nested so deep."""
    inner = wanting(domain="work")
    for _ in range(levels):
        inner = search_pb2.SearchFilter(all_of=[inner])
    return inner


async def test_a_filter_that_cannot_be_applied_is_an_error(running: TwoServers) -> None:
    """S2 a filter is never ignored."""
    for wanted, field in (
        (wanting(concepts=[" "]), "filter.concepts"),
        (wanting(properties={"a": None}), "filter.properties.a"),
        (wanting(none_of=[{}]), "filter.none_of"),
        (deep(6), "filter" + ".all_of[0]" * 6),
    ):
        failure = await refused(running, "dog", filter=wanted)

        assert failure.code == grpc.StatusCode.INVALID_ARGUMENT
        assert failure.reason == "ERROR_REASON_FILTER_UNSUPPORTED"
        assert [violation.field for violation in failure.violations] == [field]


async def test_a_search_counts_as_reading_unless_it_peeks(running: TwoServers) -> None:
    """G6 the returned page counts, with the access data from before this read."""
    token = await running.add(DOG, OFFICE)

    peeked = await search(running, "dog", fresh=token, page_size=1, peek=True)
    first = await search(running, "dog", page_size=1)
    stub = running.memories()
    dog = await stub.GetMemory(memory_pb2.GetMemoryRequest(id="dog", peek=True))
    office = await stub.GetMemory(memory_pb2.GetMemoryRequest(id="office", peek=True))

    assert peeked.results[0].memory.access.access_count == 0
    assert first.results[0].memory.access.access_count == 0
    assert (dog.memory.access.access_count, office.memory.access.access_count) == (1, 0)


async def test_a_damaged_token_is_refused(running: TwoServers) -> None:
    """S10 a freshness token that is none is a typed error."""
    failure = await refused(running, "dog", fresh="nonsense")

    assert failure.code == grpc.StatusCode.INVALID_ARGUMENT
    assert failure.reason == "ERROR_REASON_CONSISTENCY_TOKEN_INVALID"


async def test_an_index_that_is_not_fresh_in_time_says_how_far_it_is(
    running: TwoServers,
) -> None:
    """S10 INDEX_STALE names both sequence numbers, also to a channel that sends calls again.

    It would be DEADLINE_EXCEEDED otherwise: the first attempt has used up the caller's time.
    """
    token = await running.add(DOG)
    reply = await search(running, "dog", fresh=token)
    ahead = _ahead(reply.index_token, 1_000)
    request = search_pb2.SearchRequest(query="dog")
    request.consistency.at_least_as_fresh = ahead

    for seconds in (0.4, 2.0, 10.0):  # a busy machine may answer behind the first of them
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await running.searching().Search(request, timeout=seconds)
        failure = from_rpc_error(error.value)
        if failure.reason != "ERROR_REASON_DEADLINE_EXCEEDED":
            break

    assert failure.reason == "ERROR_REASON_INDEX_STALE"
    assert failure.code == grpc.StatusCode.UNAVAILABLE
    applied, demanded = (int(failure.metadata[f"{name}_seq"]) for name in ("applied", "demanded"))
    assert demanded == applied + 1_000


def _ahead(token: str, by: int) -> str:
    fresh = type_pb2.FreshnessToken.FromString(unseal(token))
    fresh.seq += by
    return seal(fresh.SerializeToString(deterministic=True))


async def test_without_graph_search_is_unavailable_and_never_empty(
    running: TwoServers,
) -> None:
    """Must hold: a dependency that is down is told, not taken for no results."""
    await running.add(DOG)
    await search(running, "dog", fresh=await running.add(OFFICE))
    await running.graph.server.stop(0)
    await until(lambda: not running.app.progress.following)

    some = await refused(running, "dog")
    none = await refused(running, "quantum", min_score=0.99)
    empty_space = await refused(running, "dog", space="empty")

    for failure in (some, none, empty_space):
        assert failure.code == grpc.StatusCode.UNAVAILABLE
        assert failure.reason == "ERROR_REASON_UNAVAILABLE"


@pytest.mark.parametrize(
    "mode", [search_pb2.SUPERSEDED_MODE_INCLUDE, search_pb2.SUPERSEDED_MODE_HISTORY]
)
async def test_what_was_replaced_is_not_stated(
    running: TwoServers, mode: search_pb2.SupersededMode.ValueType
) -> None:
    """S5 T4 Band and next action are those of the first result, which is LOW where what it says was
    replaced; of a history, which begins with the oldest, they are the head's."""
    words = "The gate of the old harbour opens at nine in the morning."
    later = "It is locked, see the board. Supersedes: [[memory:gate]]"
    token = await running.add(
        Memory(id="gate", content=words, importance=type_pb2.IMPORTANCE_HIGH),
        Memory(id="locked", content=later),
    )

    reply = await search(running, words, fresh=token, superseded=mode)
    alone = await search(
        running,
        words,
        superseded=search_pb2.SUPERSEDED_MODE_INCLUDE,
        filter=search_pb2.SearchFilter(importances=[type_pb2.IMPORTANCE_HIGH]),
    )

    results = {result.memory.id: result for result in reply.results}
    assert results["gate"].composite_score > results["locked"].composite_score
    assert results["gate"].confidence == search_pb2.CONFIDENCE_BAND_LOW
    is_history = mode == search_pb2.SUPERSEDED_MODE_HISTORY
    told = results["locked" if is_history else ids(reply)[0]]
    assert ids(reply) == ["gate", "locked"]
    assert reply.confidence == told.confidence
    assert f"Relevance: {told.composite_score:.2f}" in reply.stac_lines[1]
    assert reply.stac_lines[0].endswith("Found 2.")
    assert ids(alone) == ["gate"]
    assert alone.confidence == search_pb2.CONFIDENCE_BAND_LOW
    assert alone.next_action == search_pb2.NEXT_ACTION_SUMMARISE


async def test_how_sure_a_result_is_hangs_on_no_page(running: TwoServers) -> None:
    """S5 S6 The band and the composite of a result are the same beside few and beside many."""
    texts = [f"The gate {number} opens at nine, says Ada." for number in range(12)]
    turns = [Memory(id=f"g{at}", content=text) for at, text in enumerate(texts)]
    token = await running.add(*turns)
    asked = "When does the gate 3 open?"
    history = search_pb2.SUPERSEDED_MODE_HISTORY
    seen = []
    for size in (1, 12):
        by_values = await running.searching().IntegrativeSearch(
            search_pb2.IntegrativeSearchRequest(
                query=asked,
                context_node="nobody",
                limit=size,
                peek=True,
                consistency=type_pb2.Consistency(at_least_as_fresh=token),
            )
        )
        chains = await search(running, asked, page_size=size, peek=True, superseded=history)
        plain = await search(running, asked, page_size=size, peek=True)
        seen += [
            (each.confidence, round(each.composite_score, 4))
            for reply in (by_values, chains, plain)
            for each in reply.results
            if each.memory.id == "g3"
        ]

    assert seen == seen[-1:] * 6


async def test_similar_memories_come_by_cosine(running: TwoServers) -> None:
    """S1 FindSimilar: near to a memory or a text, the memory itself left out, no read counted."""
    cat = Memory(id="cat", content="My cat is called Mia and likes long naps.")
    token = await running.add(DOG, cat, OFFICE)
    stub = running.searching()
    fresh = type_pb2.Consistency(at_least_as_fresh=token)

    to_dog = await stub.FindSimilar(
        search_pb2.FindSimilarRequest(memory_id="dog", consistency=fresh)
    )
    to_text = await stub.FindSimilar(
        search_pb2.FindSimilarRequest(text="a pet that sleeps", min_similarity=0.2, limit=1)
    )
    got = await running.memories().GetMemory(memory_pb2.GetMemoryRequest(id="cat", peek=True))

    similarities = [each.similarity for each in to_dog.similar]
    assert to_dog.status == type_pb2.LOOKUP_STATUS_FOUND
    assert [each.memory_id for each in to_dog.similar] == ["cat", "office"]
    assert similarities == sorted(similarities, reverse=True)
    assert [each.memory_id for each in to_text.similar] == ["cat"]
    assert got.memory.access.access_count == 0


async def test_similar_to_what_is_replaced_or_forgotten(running: TwoServers) -> None:
    """T4, G13 replaced ones only on request; a forgotten memory is as one that never was."""
    token = await running.add(DOG, NEW_DOG)
    stub = running.searching()
    near = search_pb2.FindSimilarRequest(text="a dog called Rex")
    near.consistency.at_least_as_fresh = token

    standard = await stub.FindSimilar(near)
    near.include_superseded = True
    everything = await stub.FindSimilar(near)
    unknown = await stub.FindSimilar(search_pb2.FindSimilarRequest(memory_id="nobody"))

    assert [each.memory_id for each in standard.similar] == ["dog-2"]
    assert {each.memory_id for each in everything.similar} == {"dog", "dog-2"}
    assert unknown.status == type_pb2.LOOKUP_STATUS_NOT_FOUND


async def test_the_status_says_how_far_the_index_is(running: TwoServers) -> None:
    """S10 applied and head, the model, whether the feed is followed."""
    token = await running.add(DOG, NEW_DOG)
    await search(running, "dog", fresh=token)

    status = await running.index().GetIndexStatus(search_pb2.GetIndexStatusRequest())
    changes = await running.feed().ListChanges(feed_pb2.ListChangesRequest(space="default"))

    assert status.applied_seq == status.head_seq == changes.changes.head_seq
    assert status.indexed_memories == 2
    assert (status.parked_changes, list(status.parked)) == (0, [])
    assert status.following
    assert (status.model.model_id, status.model.dimension) == ("all-MiniLM-L6-v2", 384)
    assert len(status.model.revision) == 64
