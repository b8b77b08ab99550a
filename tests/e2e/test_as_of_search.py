"""Search and FindSimilar as of another instant, through gRPC, over the real graph and index."""

import asyncio
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from concord.graph.v1 import memory_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_search.domain.instants import DAY, Micros
from concord_testing.embedders import WordEmbedder
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from search_over_graph import START, TwoServers, run

ITEMS = ("m0", "m1", "m2")
TIMES = (START, START + DAY)


def stamp(time: Micros) -> Timestamp:
    """An instant of the contract."""
    seconds, part = divmod(time, 1_000_000)
    return Timestamp(seconds=seconds, nanos=part * 1_000)


def micros(time: Timestamp) -> Micros:
    """An instant in microseconds."""
    return time.seconds * 1_000_000 + time.nanos // 1_000


@dataclass(frozen=True)
class Version:
    """What a memory was from one record time on."""

    recorded: Micros
    id: str
    content: str
    begins: Micros
    live: bool

    def replaces(self, other: str) -> bool:
        """Whether its content says so."""
        return self.live and f"Supersedes: [[memory:{other}]]" in self.content


@dataclass
class Told:
    """Every version in the order of recording, and the calls that record them."""

    running: TwoServers
    space: str
    numbers: Iterator[int] = field(default_factory=itertools.count)
    versions: list[Version] = field(default_factory=list)
    token: str = ""

    def known(self, r: Micros) -> dict[str, Version]:
        """What was known at r."""
        return {v.id: v for v in self.versions if v.recorded <= r}

    def found(self, v: Micros, r: Micros) -> set[tuple[str, str]]:
        """Ids and contents that a search finds at an instant."""
        known = self.known(r)
        return {
            (each.id, each.content)
            for each in known.values()
            if each.live
            and each.begins <= v
            and not any(o.replaces(each.id) and o.begins <= v for o in known.values())
        }

    async def tell(self, item: str, link: str, begins: Micros | None) -> None:
        """Add a memory, give it other words, or restore it."""
        calls, request_id = self.running.memories(self.space), f"r-{next(self.numbers)}"
        former = self.known(1 << 62).get(item)
        content = f"fox {item} {request_id}" + (f"\nSupersedes: [[memory:{link}]]" if link else "")
        memory = type_pb2.Memory(id=item, content=content)
        if begins is not None:
            memory.valid_from.CopyFrom(stamp(begins))
        if former is None:
            added = memory_pb2.AddMemoryRequest(request_id=request_id, memory=memory)
            reply = await calls.AddMemory(added)
            self._note(reply.memory, reply.token)
            return
        memory.etag = (await self._read(item)).etag
        if former.live:
            updated = memory_pb2.UpdateMemoryRequest(
                request_id=request_id,
                memory=memory,
                update_mask=FieldMask(paths=["content", "valid_from"]),
            )
            changed = await calls.UpdateMemory(updated)
            self._note(changed.memory, changed.token)
        else:
            restored = memory_pb2.RestoreMemoryRequest(
                request_id=request_id, id=item, etag=memory.etag
            )
            back = await calls.RestoreMemory(restored)
            self._note(back.memory, back.token)

    async def forget(self, item: str) -> None:
        """Forget a memory that is there."""
        former = self.known(1 << 62).get(item)
        if former is None or not former.live:
            return
        request = memory_pb2.ForgetMemoryRequest(
            request_id=f"r-{next(self.numbers)}", id=item, etag=(await self._read(item)).etag
        )
        reply = await self.running.memories(self.space).ForgetMemory(request)
        self._note(reply.memory, reply.token)

    async def _read(self, item: str) -> type_pb2.Memory:
        request = memory_pb2.GetMemoryRequest(id=item, peek=True)
        return (await self.running.memories(self.space).GetMemory(request)).memory

    def _note(self, memory: type_pb2.Memory, token: str) -> None:
        begins = micros(memory.supersession.effective_valid_from)
        live = not memory.HasField("forget_time")
        version = Version(micros(memory.modify_time), memory.id, memory.content, begins, live)
        self.versions.append(version)
        self.token = token

    async def search(
        self, v: Micros | None, r: Micros | None, query: str = "fox", **said: object
    ) -> search_pb2.SearchResponse:
        """Search at an instant, in an index that has seen everything."""
        request = search_pb2.SearchRequest(query=query, peek=True, **said)  # type: ignore[arg-type] # by name
        request.consistency.at_least_as_fresh = self.token
        if v is not None:
            request.as_of.valid_time.CopyFrom(stamp(v))
        if r is not None:
            request.as_of.record_time.CopyFrom(stamp(r))
        return await self.running.searching(self.space).Search(request)


async def check(told: Told, v: Micros | None, r: Micros | None) -> None:
    """Compare a search with the naive replay."""
    reply = await told.search(v, r)
    now = 1 << 61
    wanted = told.found(now if v is None else v, now if r is None else r)

    assert {(each.memory.id, each.memory.content) for each in reply.results} == wanted


async def play(told: Told, script: list[tuple[str, str, str, Micros | None]]) -> None:
    """Do the operations, then ask about every instant between them."""
    for what, item, other, begins in script:
        if what == "forget":
            await told.forget(item)
        else:
            await told.tell(item, other if other < item else "", begins)
    for version in told.versions[1:]:  # just before an operation: all of the last is recorded
        for valid in (None, START - DAY, START + 1):
            await check(told, valid, version.recorded - 1)
    await check(told, None, None)


operations = st.tuples(
    st.sampled_from(["tell", "tell", "tell", "forget"]),
    st.sampled_from(ITEMS),
    st.sampled_from(["z", *ITEMS]),
    st.none() | st.sampled_from(TIMES),
)


@pytest.mark.parametrize("examples", [3, pytest.param(30, marks=pytest.mark.soak)])
@pytest.mark.timeout(600)
def test_a_search_at_any_instant_equals_a_naive_replay(tmp_path: Path, examples: int) -> None:
    """T3 T4 S10 Through graph, its feed, the index and back."""
    numbers = itertools.count()
    with asyncio.Runner() as runner:
        entered = run(tmp_path, WordEmbedder())
        running = runner.run(entered.__aenter__())

        @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
        @given(st.lists(operations, min_size=4, max_size=9))
        def plays(script: list[tuple[str, str, str, Micros | None]]) -> None:
            runner.run(play(Told(running, f"space-{next(numbers)}"), script))

        try:
            plays()
        finally:
            runner.run(entered.__aexit__(None, None, None))


async def test_former_words_are_found_and_shown_with_as_of_when(running: TwoServers) -> None:
    """T3 S4 A search finds and shows what a memory said then, and says as of when."""
    told = Told(running, "default")
    await told.tell("m1", "", None)
    first = told.versions[-1]
    await told.tell("m1", "", None)
    (result,) = (await told.search(None, first.recorded)).results

    assert result.memory.content == first.content
    assert result.explanation.relevance_reason.startswith("As known at ")
    (now,) = (await told.search(None, None)).results
    assert now.memory.content != first.content
    assert not (await told.search(None, first.recorded - 1)).results


async def test_history_and_replaced_ones_of_then(running: TwoServers) -> None:
    """T3 T4 A chain, and what was replaced, as they were known before the chain went on."""
    told = Told(running, "default")
    await told.tell("m0", "", None)
    await told.tell("m1", "m0", None)
    await told.tell("m2", "m1", None)
    then = told.versions[-1].recorded - 1
    history = await told.search(None, then, superseded=search_pb2.SUPERSEDED_MODE_HISTORY)
    both = await told.search(None, then, superseded=search_pb2.SUPERSEDED_MODE_INCLUDE)

    assert [each.memory.id for each in history.results] == ["m0", "m1"]
    assert {each.memory.id for each in both.results} == {"m0", "m1"}
    assert [list(r.memory.supersession.head_ids) for r in history.results] == [["m1"], ["m1"]]
    assert [each.memory.id for each in (await told.search(None, then)).results] == ["m1"]


async def test_a_filter_chooses_the_matches_of_a_history_and_the_chain_is_whole(
    running: TwoServers,
) -> None:
    """T3 T4 S2 As of a past record time, too, members of the chain need not pass the filter."""
    told = Told(running, "default")
    for item, link in (("m0", ""), ("m1", "m0"), ("m2", "m1")):
        await told.tell(item, link, None)
    last = told.versions[-1].recorded
    before = search_pb2.SearchFilter()
    before.created_before.CopyFrom(stamp(told.versions[1].recorded))  # m0 alone

    for record, chain in ((None, ["m0", "m1", "m2"]), (last - 1, ["m0", "m1"])):
        history = await told.search(
            None, record, superseded=search_pb2.SUPERSEDED_MODE_HISTORY, filter=before
        )
        assert [each.memory.id for each in history.results] == chain


async def test_what_was_near_then(running: TwoServers) -> None:
    """T3 FindSimilar compares with what the memory said then, among what was known then."""
    told = Told(running, "default")
    for item in ("m0", "m1"):
        await told.tell(item, "", None)
    then = told.versions[-1].recorded
    await told.forget("m1")
    await told.forget("m0")
    request = search_pb2.FindSimilarRequest(memory_id="m0")
    request.consistency.at_least_as_fresh = told.token
    now = await running.searching().FindSimilar(request)
    request.as_of.record_time.CopyFrom(stamp(then))
    before = await running.searching().FindSimilar(request)

    assert now.status == type_pb2.LOOKUP_STATUS_NOT_FOUND
    assert before.status == type_pb2.LOOKUP_STATUS_FOUND
    assert [each.memory_id for each in before.similar] == ["m1"]
