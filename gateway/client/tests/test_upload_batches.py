"""How an upload cuts what it sends into batches, against a running system."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from concord_client.client import Client
from concord_client.credentials import Target, read
from concord_client.importers.outcome import Draft
from concord_client.importers.upload import BATCH_FACTS, Upload
from concord_testing.command_line import Unique
from concord_testing.up_process import Spawned

if TYPE_CHECKING:
    from concord.graph.v1.memory_pb2_grpc import MemoryServiceStub


class Counting:
    """The memory service, and how many memories and facts each batch had."""

    def __init__(self, memories: "MemoryServiceStub") -> None:
        self._memories = memories
        self.sent: list[tuple[int, int]] = []

    def BatchAddMemories(  # noqa: N802 - the contract's name
        self, messages: Iterator[memory_pb2.BatchAddMemoriesRequest], timeout: float
    ) -> memory_pb2.BatchAddMemoriesResponse:
        """Sends a batch on."""
        parts = list(messages)
        facts = sum(len(part.memory.facts) for part in parts)
        self.sent.append((len(parts) - 1, facts))
        return self._memories.BatchAddMemories(iter(parts), timeout=timeout)


def test_an_upload_cuts_batches_at_what_graph_takes(system: Spawned, unique: Unique) -> None:
    """W4 W7 facts are counted before a batch is sent: none is refused, nothing is sent twice."""
    numbers = [10, 10, 10, 10, 10, 10, 7, *[0] * 250]
    own = unique("note")
    drafts = [
        Draft(
            type_pb2.Memory(
                content=f"{own} {place}",
                facts=[
                    type_pb2.Fact(subject=f"{own} {place}", relation="NOTED", object=f"thing {of}")
                    for of in range(facts)
                ],
            ),
            "facts.jsonl",
            place + 1,
        )
        for place, facts in enumerate(numbers)
    ]
    key = read(system.data / "credentials.json").keys["default"]
    upload = Upload()

    with Client(Target(system.url, key)) as client:
        counting = Counting(client.memory)
        done = list(upload.send(cast("MemoryServiceStub", counting), drafts))

    assert BATCH_FACTS == 50  # graph takes no more: a batch over it would be refused below
    assert counting.sent == [(5, 50), (200, 17), (52, 0)]
    assert done == [5, 205, 257]
    assert not upload.refusals
    assert upload.counts()["created"] == len(drafts)
