"""What surfaces without a search, through gRPC, over the real graph and index (spec S9)."""

import asyncio
from itertools import count
from time import process_time

import grpc
import pytest
from concord.graph.v1 import session_pb2
from concord.graph.v1.memory_pb2 import GetMemoryRequest
from concord.search.v1 import suggestion_pb2 as pb
from concord.search.v1.suggestion_pb2_grpc import SuggestionServiceStub
from concord.type.v1 import type_pb2
from concord_chassis.call.failure import from_rpc_error
from concord_concepts.triggers import Situation
from concord_search.usecases import suggest
from search_over_graph import SCOPES, TwoServers

Memory = type_pb2.Memory
TOML = Memory(id="toml", content="Pin the linter here.", surfaces_when=["file:*.toml"])
DB = Memory(id="db", content="Restart the pool first.", surfaces_when=["error:time ?out.*pool"])
SHIP = Memory(id="ship", content="Ask Ada before it.", surfaces_when=["deploy to staging"])
NOISE = Memory(id="noise", content="The office is in Berlin, near the river Spree.")


async def suggested(running: TwoServers, token: str, **said: object) -> list[str]:
    """The suggestions' memories, in order."""
    stub = SuggestionServiceStub(running.channel(running.search, "default", SCOPES))
    request = pb.SuggestProactivelyRequest(**said)  # type: ignore[arg-type] # by name
    request.consistency.at_least_as_fresh = token
    return [each.memory.id for each in (await stub.SuggestProactively(request)).suggestions]


async def test_a_memory_surfaces_by_its_trigger_and_nothing_else_does(running: TwoServers) -> None:
    """S9 By path, by error, by words; nothing rather than noise."""
    token = await running.add(TOML, DB, SHIP, NOISE)

    assert await suggested(running, token, file_path="repo/pyproject.toml") == ["toml"]
    assert await suggested(running, token, error_message="x\nTimeout in POOL 3") == ["db"]
    assert await suggested(running, token, snippet="How to deploy to staging?") == ["ship"]
    assert await suggested(running, token, file_path="notes.txt", snippet="quokkas") == []


async def test_concepts_alone_bring_a_memory_where_half_are_shared(running: TwoServers) -> None:
    """S9 Without a trigger; each says what it shares."""
    token = await running.add(NOISE, Memory(id="pool", content="connection pool"))
    stub = SuggestionServiceStub(running.channel(running.search, "default", SCOPES))
    request = pb.SuggestProactivelyRequest(snippet="the connection pool")
    request.consistency.at_least_as_fresh = token

    (found,) = (await stub.SuggestProactively(request)).suggestions

    assert (found.memory.id, found.trigger) == ("pool", "")
    assert set(found.shared_concepts) >= {"connection", "pool"}


async def test_words_and_meaning_bring_a_memory_of_which_much_is_said(running: TwoServers) -> None:
    """S9 A snippet says much besides: what it shares counts, not which share of it."""
    retry = Memory(
        id="retry",
        content="The payment provider rejects a retried charge without the same idempotency key.",
    )
    token = await running.add(NOISE, retry, Memory(id="mail", content="Mail goes out at noon."))
    snippet = (
        "Next I add a retry around the charge call in the payment client, in case the provider"
        " times out, and then I have lunch in the office."
    )

    assert await suggested(running, token, snippet=snippet) == ["retry"]
    assert await suggested(running, token, snippet="We have lunch at noon in an office.") == []


async def test_a_stated_fact_is_evidence(running: TwoServers) -> None:
    """S9 S11 Its words count as those of the text do."""
    plain = Memory(id="plain", content="She moved there in March.")
    stating = Memory(
        id="stating",
        content="She moved there in April.",
        facts=[type_pb2.Fact(subject="Ada", relation="LIVES_IN", object="Bremen")],
    )
    token = await running.add(NOISE, plain, stating)
    snippet = "Where does Ada live now, is it Bremen? She moved there."

    assert await suggested(running, token, snippet=snippet) == ["stating"]


@pytest.mark.parametrize("trigger", ["file:*", "file:**/*.*", "error:.*", "e", "the"])
async def test_a_trigger_that_anything_meets_brings_nothing(
    running: TwoServers, trigger: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S9 It is named where the memory is near by itself; a telling one goes before it."""
    wide = Memory(id="wide", content="connection pool", surfaces_when=[trigger, "pool size"])
    token = await running.add(NOISE, wide)
    here = {"file_path": "a/b.c", "error_message": "e failed", "repeat": True}

    assert await suggested(running, token, **here, snippet="the quokka") == []
    assert await suggested(running, token, **here, snippet="the pool size") == ["wide"]
    monkeypatch.setattr(suggest, "is_telling", lambda _: True)
    assert await suggested(running, token, **here, snippet="the quokka") == ["wide"]


async def test_a_session_gets_no_memory_twice_unless_it_asks(running: TwoServers) -> None:
    """S9 At most three by default; the next ones come with the next call."""
    many = [Memory(id=f"m{n}", content=f"Note {n}", surfaces_when=["file:*.py"]) for n in range(5)]
    token = await running.add(*many)
    here = {"file_path": "a.py", "session_id": "s"}

    first = await suggested(running, token, **here)
    second = await suggested(running, token, **here)

    assert len(first) == 3
    assert sorted(first + second) == [f"m{n}" for n in range(5)]
    assert await suggested(running, token, **here) == []
    assert await suggested(running, token, **here, repeat=True) == first
    assert await suggested(running, token, file_path="a.py", session_id="other") == first


async def test_memories_read_in_the_session_lift_those_read_with_them(running: TwoServers) -> None:
    """S9 S3 M7 Suggestions are ranked by search's composite, with the session's co-reads."""
    notes = [Memory(id=each, content="A note.", surfaces_when=["file:*.py"]) for each in "ab"]
    token = await running.add(*notes, NOISE)
    situation = {"file_path": "main.py", "limit": 2, "repeat": True}
    first, second = await suggested(running, token, **situation)
    for number in range(12):  # once says little
        for each in (second, "noise"):
            got = GetMemoryRequest(id=each, session_id=f"s{number or ''}")
            await running.memories().GetMemory(got)
    asked = session_pb2.ListCoReadsRequest(session_id="s")
    async with asyncio.timeout(60):
        while not (await running.sessions().ListCoReads(asked)).co_reads:  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.05)

    assert await suggested(running, token, **situation, session_id="other") == [first, second]
    assert await suggested(running, token, **situation, session_id="s") == [second, first]


async def test_what_was_superseded_surfaces_no_more(running: TwoServers) -> None:
    """S9 T4 Its successor does, if it has triggers of its own."""
    after = Memory(id="toml-2", content="Pin it there. Supersedes: [[memory:toml]]")
    token = await running.add(TOML, after)

    assert await suggested(running, token, file_path="x.toml") == []


async def test_time_for_triggers_is_bounded(
    running: TwoServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S9 What was not tried is said, not passed over."""
    await running.add(TOML)
    monkeypatch.setattr(suggest, "TRIED_WITHIN", -1.0)
    stub = SuggestionServiceStub(running.channel(running.search, "default", SCOPES))

    reply = await stub.SuggestProactively(pb.SuggestProactivelyRequest(file_path="x.toml"))

    assert not reply.all_triggers_tried


def test_slow_patterns_of_one_memory_leave_time_for_the_others() -> None:
    """S9 50 ms a call, and nobody's triggers keep all others from surfacing."""
    slow = [f"error:(.*a){{{number}}}.{{90}}z" for number in range(5, 25)]
    said = [("first", slow), *((f"m{at}", ["the pool"]) for at in range(20))]
    ticks = count()

    found, all_tried = suggest.met(
        said,
        Situation(said="the pool", error="ab" * 2_000),
        lambda: next(ticks) / 1_000,  # each look at the clock takes a millisecond
    )

    assert found == {f"m{at}": "the pool" for at in range(20)}
    assert not all_tried


def test_a_thousand_triggers_are_tried_in_a_call() -> None:
    """S9 A long text's words are found once; most errors lack what a pattern begins with."""
    kinds = ("word{} alpha", "error:timeout {} .*pool", "file:src/mod{}/*.py")
    said = [(f"m{at}", [kinds[at % 3].format(at)]) for at in range(1_000)]
    long = Situation(path="src/mod5/a.py", error="It failed at y\n" * 250, said="the river " * 200)
    for _ in range(2):  # the first one reads the triggers
        began = process_time()
        found, _ = suggest.met(said, long, lambda: 0.0)
        took = process_time() - began

    assert list(found) == ["m5"]
    assert took < suggest.TRIED_WITHIN


@pytest.mark.parametrize("text", ["file:", "error:(", "error:(?=x)", "***"])
async def test_a_malformed_trigger_is_refused_at_the_write(running: TwoServers, text: str) -> None:
    """S9 The field and the reason are named, and nothing is written."""
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await running.add(Memory(id="bad", content="x", surfaces_when=["words", text]))
    failure = from_rpc_error(error.value)

    assert failure.reason == "ERROR_REASON_FIELD_INVALID"
    assert [each.field for each in failure.violations] == ["memory.surfaces_when[1]"]
