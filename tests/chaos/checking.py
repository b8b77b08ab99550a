"""What must hold of a running system after a crash."""

import random
import time

from concord.graph.v1.memory_pb2 import ListMemoriesRequest
from concord.search.v1.search_pb2 import (
    FindSimilarRequest,
    GetIndexStatusRequest,
    GetIndexStatusResponse,
    SearchRequest,
)
from concord.type.v1.type_pb2 import Consistency, Memory
from concord_client.client import Client

from tests.chaos.growing_import import BATCH, GrowingImport
from tests.chaos.reading import every_page

CAUGHT_UP_WITHIN = 120.0


def check(client: Client, job: GrowingImport, draw: random.Random, *, sample: int = 12) -> None:
    """Every acknowledged memory is there once and is found; nothing else is; no half batch."""
    request = ListMemoriesRequest(page_size=200)
    listed: list[Memory] = every_page(client.memory.ListMemories, request, "memories")
    by_id = {memory.id: memory for memory in listed}
    assert len(by_id) == len(listed), "an id twice"
    places = job.places()
    found_places = [places[memory.content] for memory in listed]
    assert len(set(found_places)) == len(listed), "a text twice"
    lost = [i for at, i in job.acknowledged.items() if by_id[i].content != job.memories[at].content]
    assert not lost
    _check_whole_batches(set(found_places), len(job.memories))
    status = caught_up(client, job.token)
    assert status.parked_changes == 0
    assert status.indexed_memories == len(listed)
    for memory in draw.sample(listed, min(sample, len(listed))):
        _check_found(client, memory)


def caught_up(client: Client, token: str) -> GetIndexStatusResponse:
    """The index's status, once it has followed all there is and has seen the write `token`."""
    deadline = time.monotonic() + CAUGHT_UP_WITHIN
    while time.monotonic() < deadline:
        status = client.index.GetIndexStatus(GetIndexStatusRequest())
        if status.following and status.applied_seq == status.head_seq:
            if token:
                demand = Consistency(at_least_as_fresh=token)
                request = SearchRequest(query="it", consistency=demand, page_size=1, peek=True)
                client.search.Search(request)
            return status
        time.sleep(0.02)
    raise AssertionError(f"the index did not catch up: {status}")


def _check_whole_batches(places: set[int], total: int) -> None:
    for start in range(0, total, BATCH):
        batch = set(range(start, min(start + BATCH, total)))
        assert not batch & places or batch <= places, f"half of the batch at {start}"


def _check_found(client: Client, memory: Memory) -> None:
    near = client.search.FindSimilar(FindSimilarRequest(text=memory.content, limit=1))
    assert [each.memory_id for each in near.similar] == [memory.id]
    reply = client.search.Search(SearchRequest(query=memory.content, page_size=3, peek=True))
    assert memory.id in [each.memory.id for each in reply.results]
