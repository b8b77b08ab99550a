"""Batches of one space beside the writes of others."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import neo4j_at_hand
import pytest
import pytest_asyncio
from concord.type.v1 import type_pb2
from concord_graph.ports import GraphStore, Writes
from concord_graph.servicer.memory import MOST_FACTS
from graph_world import SECONDS, Calls, Clock, fact, opened_store, refused


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[GraphStore]:
    """A store."""
    opened = await opened_store(tmp_path / "graph.db", Clock())
    yield opened
    await opened.close()


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
