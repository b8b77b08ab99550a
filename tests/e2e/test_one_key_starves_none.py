"""Under load: what one key does too much of is refused, and nobody else hears of it."""

import asyncio

import grpc
from concord.graph.v1 import graph_pb2, memory_pb2, space_pb2
from concord.type.v1 import type_pb2
from concord_client import AsyncClient, Refused, connect_async
from concord_embedded import Running

SECONDS = 60.0
EXPORTS = 66
TEXTS = 30


async def remember(client: AsyncClient) -> None:
    """Puts some texts into the caller's space."""
    for number in range(TEXTS):
        memory = type_pb2.Memory(id=f"text-{number}", content=f"text {number}")
        await client.memory.AddMemory(memory_pb2.AddMemoryRequest(memory=memory))


async def exported(client: AsyncClient) -> int:
    """Exports the caller's space; how many lines it has."""
    pieces = client.space.ExportSpace(space_pb2.ExportSpaceRequest())
    return sum([len(piece.lines) async for piece in pieces])


async def written(client: AsyncClient, name: str) -> str:
    """Writes a node and reads it."""
    await client.graph.UpsertNode(graph_pb2.UpsertNodeRequest(node=type_pb2.Node(name=name)))
    return (await client.graph.GetNode(graph_pb2.GetNodeRequest(name=name))).node.name


async def test_export_streams_of_one_key_starve_no_other(system: Running) -> None:
    """W7 Of 66 export streams that a key opens at once some are refused, at once and with their
    reason, and the others come whole; another key meanwhile reads, writes and exports."""
    mine = connect_async(system.url, system.keys["default"], timeout=SECONDS)
    other = connect_async(system.url, system.keys["demo"], timeout=SECONDS)
    async with mine, other:
        await remember(mine)
        exports = [asyncio.ensure_future(exported(mine)) for _ in range(EXPORTS)]
        names = [f"Ada {number}" for number in range(10)]
        assert names == [await written(other, name) for name in names]
        assert await exported(other) == len(names)
        found = await asyncio.gather(*exports, return_exceptions=True)

    refused = [each for each in found if isinstance(each, Refused)]
    whole = [each for each in found if not isinstance(each, BaseException)]
    assert len(refused) + len(whole) == EXPORTS
    assert set(whole) == {TEXTS}
    assert refused
    for each in refused:
        assert each.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert each.reason == "ERROR_REASON_OVERLOADED"
        assert each.metadata == {"limit": "exports", "max": "2"}
        assert each.retry_after == 1.0
