"""Remembering many texts through the batch RPC, until search finds them."""

from collections.abc import Iterable, Iterator, Sequence

from concord.graph.v1.memory_pb2 import BatchAddMemoriesRequest, BatchHeader
from concord.graph.v1.memory_pb2_grpc import MemoryServiceStub
from concord.search.v1.search_pb2 import SearchRequest
from concord.search.v1.search_pb2_grpc import SearchServiceStub
from concord.type.v1.type_pb2 import Consistency, Memory

from tests.bench.servers import Whole, agent

PATIENCE = 1800.0


async def remember(
    system: Whole, memories: Iterable[Memory], *, name: str, space: str = "bench", size: int = 200
) -> str:
    """Adds `memories` in batches of `size`; returns the last write's freshness token.

    `name` makes the request ids. Raises `RuntimeError` when an item is refused.
    """
    stub = MemoryServiceStub(system.graph.serving.channel(agent(space), cap=None))
    token = ""
    for number, batch in enumerate(batched(memories, size)):
        reply = await stub.BatchAddMemories(requests(f"{name}-{number}", batch), timeout=PATIENCE)
        if reply.errors:
            raise RuntimeError(f"refused: {reply.errors[0].reason}: {reply.errors[0].message}")
        token = reply.token
    return token


async def found(system: Whole, token: str, *, space: str = "bench") -> None:
    """Returns once search has seen the write."""
    stub = SearchServiceStub(system.search.serving.channel(agent(space), cap=None))
    request = SearchRequest(
        query="anything",
        page_size=1,
        peek=True,
        consistency=Consistency(at_least_as_fresh=token),
    )
    await stub.Search(request, timeout=PATIENCE)


def batched(memories: Iterable[Memory], size: int) -> Iterator[Sequence[Memory]]:
    """The memories, `size` at a time."""
    batch: list[Memory] = []
    for memory in memories:
        batch.append(memory)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def requests(request_id: str, batch: Sequence[Memory]) -> Iterator[BatchAddMemoriesRequest]:
    """The messages of one batch."""
    header = BatchHeader(request_id=request_id, memory_count=len(batch))
    yield BatchAddMemoriesRequest(header=header)
    for memory in batch:
        yield BatchAddMemoriesRequest(memory=memory)
