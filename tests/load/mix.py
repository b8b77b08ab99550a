"""What clients ask: seven of ten calls search, two add, one does something else."""

import random
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import grpc
from concord.graph.v1 import conflict_pb2, memory_pb2
from concord.graph.v1.conflict_pb2_grpc import ConflictServiceStub
from concord.graph.v1.memory_pb2_grpc import MemoryServiceStub
from concord.search.v1 import search_pb2
from concord.search.v1.search_pb2_grpc import SearchServiceStub
from concord.type.v1 import type_pb2
from concord_client.refusal import from_rpc_error

from tests.bench import sentences
from tests.load.system import Space, bearer
from tests.load.traffic import Call

Q = TypeVar("Q")
R = TypeVar("R")

TIMEOUT = 30.0
KINDS = ("search", "add", "get", "list", "conflicts")
WEIGHTS = (70, 20, 4, 3, 3)


class Client:
    """One client with a connection of its own; it asks in the spaces at random.

    Without retries: what fails is counted.
    """

    def __init__(self, address: str, spaces: Sequence[Space], seed: int) -> None:
        self._channel = grpc.aio.insecure_channel(
            address, options=[("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)]
        )
        self._search = SearchServiceStub(self._channel)
        self._memory = MemoryServiceStub(self._channel)
        self._conflicts = ConflictServiceStub(self._channel)
        self._spaces = spaces
        self._questions = sentences.questions(seed=seed)
        self._texts = sentences.endless(seed=seed)

    def pick(self, draw: random.Random) -> tuple[str, Call]:
        """A kind of call by weight, and the call in a random space."""
        (kind,) = draw.choices(KINDS, WEIGHTS)
        space = draw.choice(self._spaces)
        return kind, self._call(kind, space, draw)

    def _call(self, kind: str, space: Space, draw: random.Random) -> Call:
        if kind == "search":
            query = search_pb2.SearchRequest(query=next(self._questions))
            return _asked(self._search.Search, query, space)
        if kind == "add":
            adding = memory_pb2.AddMemoryRequest(
                request_id=str(uuid.uuid4()), memory=type_pb2.Memory(content=next(self._texts))
            )
            return _asked(self._memory.AddMemory, adding, space)
        if kind == "get":
            getting = memory_pb2.GetMemoryRequest(id=draw.choice(space.ids))
            return _asked(self._memory.GetMemory, getting, space)
        if kind == "list":
            listing = memory_pb2.ListMemoriesRequest(page_size=20)
            return _asked(self._memory.ListMemories, listing, space)
        conflicts = conflict_pb2.ListConflictsRequest(page_size=20)
        return _asked(self._conflicts.ListConflicts, conflicts, space)

    async def close(self) -> None:
        """Ends the connection."""
        await self._channel.close()


def _asked(
    method: "grpc.aio.UnaryUnaryMultiCallable[Q, R]", request: Q, space: Space
) -> Callable[[], Awaitable[R]]:
    async def ask() -> R:
        try:
            return await method(request, metadata=bearer(space.key), timeout=TIMEOUT)
        except grpc.aio.AioRpcError as error:
            raise from_rpc_error(error) from error

    return ask
