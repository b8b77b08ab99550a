"""Batches of memories: whole or not at all, said once, and beside the writes of other spaces."""

import asyncio
import threading

import neo4j_at_hand
import pytest
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from concord_graph.ports import GraphStore, Writes
from concord_graph.servicer.memory import MOST_FACTS
from graph_world import SECONDS, Calls, fact, refused

CREATED = memory_pb2.BATCH_OUTCOME_CREATED
UNCHANGED = memory_pb2.BATCH_OUTCOME_UNCHANGED


async def test_a_write_goes_before_the_batches_that_wait(store: GraphStore) -> None:
    """W7 while batches of a space queue, a write of another is done before the next batch begins:
    the space that used the writer least comes next. On Neo4j it waits for none of them."""
    begun, go = threading.Event(), threading.Event()
    done: list[str] = []

    async def hold(_: Writes) -> None:
        begun.set()
        if neo4j_at_hand.is_chosen():
            await asyncio.to_thread(go.wait, SECONDS)
        else:  # in the writer's thread
            go.wait(SECONDS)

    async def write(space: str, name: str) -> None:
        async def work(_: Writes) -> None:
            done.append(name)

        await store.write(space, work)

    batches = [asyncio.create_task(store.write("home", hold))]
    await asyncio.to_thread(begun.wait, SECONDS)
    for name in ("second batch", "third batch"):
        batches.append(asyncio.create_task(write("home", name)))
        await asyncio.sleep(0)  # it waits for the writer now
    single = asyncio.create_task(write("other", "single"))
    await asyncio.sleep(0)
    if neo4j_at_hand.is_chosen():
        await single
    go.set()
    await asyncio.gather(single, *batches)

    assert done == ["single", "second batch", "third batch"]


@pytest.mark.parametrize("over", [0, 1])
async def test_a_batch_of_too_many_facts_is_refused_whole(home: Calls, over: int) -> None:
    """W7 a batch states so many facts at most, for all writers wait for it; one more, and it is
    refused by name, with the number, and nothing is written. One memory alone always has room."""
    memories = [
        type_pb2.Memory(
            content=f"m{number}",
            facts=[fact(f"m{number}", "NOTED", f"{number}-{of}") for of in range(10)],
        )
        for number in range(MOST_FACTS // 10)
    ]
    memories += [type_pb2.Memory(content="last", facts=[fact("last", "NOTED", "one")])] * over

    if not over:
        assert len((await home.batch(memories)).results) == len(memories)
        return
    failure = await refused(home.batch(memories))

    assert failure.reason == "ERROR_REASON_TOO_MANY_FACTS"
    assert failure.metadata == {"limit": str(MOST_FACTS)}
    assert await home.listed() == []
    assert await home.changes() == []


async def test_ten_times_the_same_corpus_adds_nothing(home: Calls) -> None:
    """M5 M6 With and without keys; the second time everything is unchanged."""
    corpus = [
        type_pb2.Memory(content="loose"),
        type_pb2.Memory(id="a", content="A"),
        type_pb2.Memory(external_id="b", content="B. Supersedes: [[memory:a]]"),
    ]
    first = await home.batch(corpus)
    state, seq = await home.export(), (await home.changes())[-1].seq
    for _ in range(9):
        again = await home.batch(corpus, update_existing=True)
        assert [result.outcome for result in again.results] == [UNCHANGED] * 3

    assert [result.outcome for result in first.results] == [CREATED] * 3
    assert await home.export() == state
    assert await home.changes(after=seq) == []


async def test_a_batch_is_all_or_nothing_with_its_errors(home: Calls) -> None:
    """M6 Each item that is wrong is named with its reason; nothing is written."""
    await home.add("stored", id="stored")
    reply = await home.batch(
        [
            type_pb2.Memory(content="fine"),
            type_pb2.Memory(id="stored", content="other"),
            type_pb2.Memory(content="Supersedes: [[memory:]]"),
            type_pb2.Memory(id="self", content="Supersedes: [[memory:self]]"),
        ]
    )

    assert not reply.results
    assert [
        (error.index, error.reason.removeprefix("ERROR_REASON_")) for error in reply.errors
    ] == [
        (1, "ITEM_EXISTS"),
        (2, "LINK_MALFORMED"),
        (3, "LINEAGE_CYCLE"),
    ]
    assert await home.listed() == ["stored"]


def _header(count: int) -> memory_pb2.BatchAddMemoriesRequest:
    header = memory_pb2.BatchHeader(request_id="batch", memory_count=count)
    return memory_pb2.BatchAddMemoriesRequest(header=header)


def _item() -> memory_pb2.BatchAddMemoriesRequest:
    return memory_pb2.BatchAddMemoriesRequest(memory=type_pb2.Memory(content="x"))


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [_item()],
        [_header(1)],
        [_header(1), _header(1), _item()],
        [_header(2), _item()],
        [_header(1), _item(), _item()],
    ],
)
async def test_a_batch_is_a_header_and_as_many_memories_as_it_says(
    home: Calls, messages: list[memory_pb2.BatchAddMemoriesRequest]
) -> None:
    """M6 Anything else, a stream that was given up halfway included, writes nothing."""
    failure = await refused(home.memory.BatchAddMemories(iter(messages)))

    assert failure.reason == "ERROR_REASON_FIELD_INVALID"
    assert await home.changes() == []
