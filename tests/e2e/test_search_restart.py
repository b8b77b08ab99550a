"""Search and graph over a restart, without the index, and when a memory is erased."""

import asyncio
from pathlib import Path

from concord.graph.v1 import memory_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_search.ports.embedder import Embedder
from concord_testing.polling import SECONDS
from search_over_graph import TwoServers, run


async def test_nothing_is_lost_over_a_restart(tmp_path: Path, minilm: Embedder) -> None:
    """S10 stop everything, start again: the index resumes and finds what was there."""
    async with run(tmp_path, minilm) as system:
        await system.add(type_pb2.Memory(id="a", content="The office is in Berlin."))
    async with run(tmp_path, minilm) as system:
        token = await system.add(type_pb2.Memory(id="b", content="The dog is called Rex."))
        request = search_pb2.SearchRequest(query="office in Berlin")
        request.consistency.at_least_as_fresh = token
        reply = await system.searching().Search(request)
        status = await system.index().GetIndexStatus(search_pb2.GetIndexStatusRequest())

    assert reply.results[0].memory.id == "a"
    assert status.indexed_memories == 2


async def test_a_dropped_index_is_rebuilt(tmp_path: Path, minilm: Embedder) -> None:
    """S10 the index can be dropped and rebuilt from the graph at any time."""
    async with run(tmp_path, minilm) as system:
        token = await system.add(type_pb2.Memory(id="a", content="The office is in Berlin."))
    (tmp_path / "index").rename(tmp_path / "gone")
    async with run(tmp_path, minilm) as system:
        request = search_pb2.SearchRequest(query="office")
        request.consistency.at_least_as_fresh = token
        reply = await system.searching().Search(request)

    assert [result.memory.id for result in reply.results] == ["a"]


async def test_an_erasure_is_completed(running: TwoServers) -> None:
    """M4 S10 From the erasure to its receipt, with every part at work (`make bench` times it)."""
    memories = [type_pb2.Memory(content=f"number {n} of many") for n in range(50)]
    await running.add(*memories, type_pb2.Memory(id="doomed", content="zorblax lives in plingtown"))
    stub = running.memories()
    doomed = (await stub.GetMemory(memory_pb2.GetMemoryRequest(id="doomed"))).memory

    request = memory_pb2.EraseMemoryRequest(request_id="e", id="doomed", etag=doomed.etag)
    reply = await stub.EraseMemory(request)
    async with asyncio.timeout(SECONDS):
        receipt = memory_pb2.EraseReceipt()
        while not receipt.HasField("complete_time"):
            asked = memory_pb2.GetEraseReceiptRequest(erase_id=reply.erase_id)
            receipt = (await stub.GetEraseReceipt(asked)).receipt
            await asyncio.sleep(0.01)

    fresh = type_pb2.Consistency(at_least_as_fresh=reply.token)
    found = await running.searching().Search(
        search_pb2.SearchRequest(query="zorblax", consistency=fresh)
    )
    status = await running.index().GetIndexStatus(search_pb2.GetIndexStatusRequest())
    near = await running.searching().FindSimilar(search_pb2.FindSimilarRequest(memory_id="doomed"))
    assert "doomed" not in {each.memory.id for each in found.results}
    assert near.status == type_pb2.LOOKUP_STATUS_NOT_FOUND
    assert status.unconfirmed_erasures == 0
    assert status.indexed_memories == 50
