"""Whether the index holds what graph remembers is proved by digests, and what differs is mended."""

import asyncio
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from concord.graph.v1 import memory_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_search.adapters.edge import shard
from concord_search.adapters.edge.shard import EdgeShard
from concord_testing.embedders import WordEmbedder
from concord_testing.index_files import every_state, key_at, partition_at, tenant_at
from concord_testing.polling import SECONDS, until
from search_over_graph import TwoServers, run

Memory = type_pb2.Memory
Consistency = type_pb2.Consistency
KEPT = ("item", "seq", "rf", "closed", "till", "gone", "ended", "text")


async def story(running: TwoServers) -> None:
    """Write memories with everything that makes a state, or ends one."""
    stub = running.memories()
    for number in range(40):
        await running.add(Memory(id=f"m{number}", content=f"tea {number}"))
    await running.add(Memory(id="new", content="coffee now. Supersedes: [[memory:m1]]"))
    for number, request_id in ((2, "f2"), (3, "f3")):
        reply = await stub.GetMemory(memory_pb2.GetMemoryRequest(id=f"m{number}", peek=True))
        gone = await stub.ForgetMemory(
            memory_pb2.ForgetMemoryRequest(
                request_id=request_id, id=f"m{number}", etag=reply.memory.etag
            )
        )
    restored = memory_pb2.RestoreMemoryRequest(request_id="r3", id="m3", etag=gone.memory.etag)
    await stub.RestoreMemory(restored)
    told = await stub.GetMemory(memory_pb2.GetMemoryRequest(id="m4", peek=True))
    erased = memory_pb2.EraseMemoryRequest(request_id="e4", id="m4", etag=told.memory.etag)
    token = (await stub.EraseMemory(erased)).token
    await followed(running, token)


async def followed(running: TwoServers, token: str) -> None:
    """Wait until the index has followed, and its files hold nothing of what was erased."""
    seen = Consistency(at_least_as_fresh=token)
    async with asyncio.timeout(SECONDS):
        await running.searching().Search(search_pb2.SearchRequest(query="tea", consistency=seen))
        while True:
            status = await running.index().GetIndexStatus(search_pb2.GetIndexStatusRequest())
            if (status.applied_seq, status.unconfirmed_erasures) == (status.head_seq, 0):
                return
            await asyncio.sleep(0.01)


async def reconciled(running: TwoServers, *, repair: bool) -> search_pb2.ReconcileIndexResponse:
    """Ask whether both agree."""
    request = search_pb2.ReconcileIndexRequest(repair=repair)
    return await running.index().ReconcileIndex(request)


def shard_of(data: Path) -> EdgeShard:
    """Open the only space's files, while search is down."""
    (path,) = partition_at(data / "index").glob("shard*")
    return shard.load(path)


def points(data: Path) -> Counter[str]:
    """What the files say of every state, whatever number its point has."""
    with closing(shard_of(data)) as shard:
        return Counter(
            repr({name: values.get(name) for name in KEPT}) for _, values in every_state(shard)
        )


def mutilate(data: Path) -> None:
    """Take states away, and put in one that never was and one that is there already."""
    key = key_at(data / "index")
    with closing(shard_of(data)) as shard:
        tenant = tenant_at(data / "index", shard)
        known = {
            (key.id_of(values["item"]), int(values["seq"])): (row, values)
            for row, values in tenant.scroll()
        }
        of = {item: row for (item, _), (row, _) in known.items()}
        tenant.delete([of["m10"], of["m11"], of["m3"]])
        row, values = next(v for (item, _), v in known.items() if item == "m20")
        vectors = tenant.vectors_of([row])[row]
        never = values | {"item": key.item("never"), "seq": 7}
        tenant.upsert([(9_000, vectors, never), (9_001, vectors, values)])
        shard.flush()


async def test_a_sound_index_agrees(tmp_path: Path) -> None:
    """S10 Whatever made, ended or erased states: the digests of both sides are equal."""
    async with run(tmp_path, WordEmbedder()) as running:
        await story(running)

        reply = await reconciled(running, repair=False)

    assert reply.agrees
    assert not reply.differing_ids
    assert reply.state_count > 40


async def test_a_mutilated_index_is_found_and_mended(tmp_path: Path) -> None:
    """S10 What is missing, what never was, and what is there twice; all else is left alone."""
    async with run(tmp_path, WordEmbedder()) as running:
        await story(running)
    sound = points(tmp_path)
    mutilate(tmp_path)
    async with run(tmp_path, WordEmbedder()) as running:
        await until(lambda: running.app.progress.following)
        found = await reconciled(running, repair=False)
        differing = dict(running.app.progress.differing)
        mended = await reconciled(running, repair=True)
        again = await reconciled(running, repair=False)
        ask = search_pb2.SearchRequest(query="tea 10", page_size=3, peek=True)
        shown = [each.memory.id for each in (await running.searching().Search(ask)).results]

    assert not found.agrees
    assert found.differing_ids == ["m10", "m11", "m20", "m3", "never"]
    assert (differing, running.app.progress.differing) == ({"default": 5}, {"default": 0})
    assert (found.missing_state_count, found.surplus_state_count) == (3, 2)
    assert mended.agrees
    assert mended.differing_ids == found.differing_ids
    assert again.agrees
    assert not again.differing_ids
    assert "m10" in shown
    assert points(tmp_path) == sound


@pytest.mark.parametrize("repair", [False, True])
async def test_a_space_without_an_index_agrees(tmp_path: Path, repair: bool) -> None:
    """S10 Nothing is remembered, nothing is held."""
    async with run(tmp_path, WordEmbedder()) as running:
        reply = await reconciled(running, repair=repair)

    assert reply == search_pb2.ReconcileIndexResponse(agrees=True)


async def test_an_index_that_applied_nothing_yet_agrees_through_no_change(tmp_path: Path) -> None:
    """S10 It is compared through the last change that it applied, not with all that graph has."""
    async with run(tmp_path, WordEmbedder()) as running:
        await followed(running, await running.add(Memory(id="m1", content="tea")))
        index = running.app._index
        epoch = (await index.states())["default"].epoch
        await index.begin("default", "another store's")
        await index.begin("default", epoch)
        reply = await reconciled(running, repair=False)

    assert reply == search_pb2.ReconcileIndexResponse(agrees=True)


async def test_changes_go_on_while_it_is_mended(tmp_path: Path) -> None:
    """S10 What is written meanwhile waits, and is in the index after."""
    async with run(tmp_path, WordEmbedder()) as running:
        await story(running)
    mutilate(tmp_path)
    async with run(tmp_path, WordEmbedder()) as running:
        await until(lambda: running.app.progress.following)
        new = [Memory(id=f"n{number}", content=f"juice {number}") for number in range(30)]
        mending = asyncio.ensure_future(reconciled(running, repair=True))
        token = await running.add(*new)
        mended = await mending
        await followed(running, token)
        after = await reconciled(running, repair=False)

    assert mended.agrees
    assert after.agrees
    assert after.state_count >= mended.state_count
