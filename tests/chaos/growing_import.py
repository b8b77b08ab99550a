"""An import that is cut off again and again, and what it was told was remembered."""

import uuid
from collections.abc import Mapping, Sequence
from itertools import islice

from concord.graph.v1.memory_pb2 import BATCH_OUTCOME_CREATED, BatchAddMemoriesResponse
from concord.type.v1.type_pb2 import Memory
from concord_client.client import Client

from tests.bench import sentences
from tests.bench.filling import requests

BATCH = 200


class GrowingImport:
    """So many memories, sent in batches of 200 in their order.

    Every other memory has a key of the importer's; the rest are known again by what they say.
    """

    def __init__(self, total: int, seed: int) -> None:
        self.memories: Sequence[Memory] = [
            Memory(content=text, external_id=f"import/{at}" if at % 2 else "")
            for at, text in enumerate(islice(sentences.endless(seed), total))
        ]
        self.acknowledged: dict[int, str] = {}
        self.token = ""
        self._under_way: tuple[int, str] | None = None

    @property
    def batches(self) -> int:
        """How many batches there are in all."""
        return -(-len(self.memories) // BATCH)

    @property
    def done(self) -> int:
        """How many batches were acknowledged."""
        return -(-len(self.acknowledged) // BATCH)

    def send(self, client: Client, batches: int) -> None:
        """Sends the next batches. Raises `Refused`; what was cut off comes first the next time.

        A batch that was cut off is sent again under its former request id.
        """
        for number in range(self.done, min(self.done + batches, self.batches)):
            if self._under_way is None or self._under_way[0] != number:
                self._under_way = (number, str(uuid.uuid4()))
            reply = self._sent(client, number, self._under_way[1])
            for at, result in enumerate(reply.results):
                self.acknowledged[number * BATCH + at] = result.memory_id
            self.token = reply.token

    def repeat(self, client: Client) -> int:
        """Sends everything again, as a new import; returns how many memories that created."""
        created = 0
        for number in range(self.batches):
            reply = self._sent(client, number, str(uuid.uuid4()))
            created += sum(each.outcome == BATCH_OUTCOME_CREATED for each in reply.results)
            self.token = reply.token
        return created

    def places(self) -> Mapping[str, int]:
        """The place of each text in the import."""
        return {memory.content: at for at, memory in enumerate(self.memories)}

    def _sent(self, client: Client, number: int, request_id: str) -> BatchAddMemoriesResponse:
        memories = self.memories[number * BATCH : (number + 1) * BATCH]
        reply = client.memory.BatchAddMemories(requests(request_id, memories), timeout=60.0)
        assert not reply.errors
        return reply
