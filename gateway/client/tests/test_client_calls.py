"""What the clients add to a call, and what they make of a refusal: against a live server."""

import asyncio
import select
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import grpc
import pytest
from concord.graph.v1 import memory_pb2, space_pb2
from concord.type.v1.type_pb2 import Memory
from concord_chassis.call.failure import Failure, FieldViolation, trailing_metadata
from concord_client import AsyncClient, Client, Refused, Unreachable, Violation
from concord_client.cli.commands.agents.mcp import ClientCalls
from concord_client.credentials import Target

KEY = "ck_of-this-test"

# Of what type a handler's messages are, only its method knows.
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


@dataclass
class Heard:
    """What the server was told in the calls' metadata and messages."""

    keys: list[object] = field(default_factory=list)
    calls: list[object] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    busy: int = 0
    """How many calls from now on are answered UNAVAILABLE."""
    cancelled: int = 0
    """How many after these are answered CANCELLED, without a reason, as by a server that stops."""

    def note(self, context: grpc.ServicerContext) -> None:
        metadata = dict(context.invocation_metadata())
        self.keys.append(metadata.get("authorization"))
        self.calls.append(metadata.get("x-request-id"))
        self.seconds.append(context.time_remaining() or 0.0)


def refuse(context: grpc.ServicerContext, failure: Failure) -> None:
    """Ends the call as a server of the chassis does."""
    context.set_trailing_metadata(trailing_metadata(failure, "r-1"))
    context.abort(failure.code, failure.message)


REFUSAL = Failure(
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    "ERROR_REASON_OVERLOADED",
    "Too much at once.",
    metadata={"limit": "3"},
    violations=[FieldViolation("memory.content", "must be kinder")],
    retry_after=1.5,
)
BUSY = Failure(grpc.StatusCode.UNAVAILABLE, "ERROR_REASON_UNAVAILABLE", "Busy.")


class Memories:
    """Refuses the content "refuse"."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard

    def add(
        self, request: memory_pb2.AddMemoryRequest, context: grpc.ServicerContext
    ) -> memory_pb2.AddMemoryResponse:
        self._heard.note(context)
        self._heard.writes.append(request.request_id)
        if self._heard.busy:
            self._heard.busy -= 1
            refuse(context, BUSY)
        if self._heard.cancelled:
            self._heard.cancelled -= 1
            context.abort(grpc.StatusCode.CANCELLED, "")
        if request.memory.content == "refuse":
            refuse(context, REFUSAL)
        return memory_pb2.AddMemoryResponse(memory=request.memory, created=True)

    def add_batch(
        self,
        request_iterator: Iterator[memory_pb2.BatchAddMemoriesRequest],
        context: grpc.ServicerContext,
    ) -> memory_pb2.BatchAddMemoriesResponse:
        messages = list(request_iterator)
        self._heard.note(context)
        self._heard.writes.append(messages[0].header.request_id)
        if any(message.memory.content == "refuse" for message in messages):
            refuse(context, REFUSAL)
        results = [memory_pb2.BatchResult(memory_id=each.memory.id) for each in messages[1:]]
        return memory_pb2.BatchAddMemoriesResponse(results=results)

    def export(
        self, _request: space_pb2.ExportSpaceRequest, context: grpc.ServicerContext
    ) -> Iterator[space_pb2.ExportSpaceResponse]:
        self._heard.note(context)
        yield space_pb2.ExportSpaceResponse(lines=["one"])
        yield space_pb2.ExportSpaceResponse(lines=["two"])
        refuse(context, REFUSAL)

    def handlers(self) -> list[grpc.GenericRpcHandler]:
        """The methods under the contract's names."""
        memory: dict[str, Handler] = {
            "AddMemory": grpc.unary_unary_rpc_method_handler(
                self.add,
                memory_pb2.AddMemoryRequest.FromString,
                memory_pb2.AddMemoryResponse.SerializeToString,
            ),
            "BatchAddMemories": grpc.stream_unary_rpc_method_handler(
                self.add_batch,
                memory_pb2.BatchAddMemoriesRequest.FromString,
                memory_pb2.BatchAddMemoriesResponse.SerializeToString,
            ),
        }
        space: dict[str, Handler] = {
            "ExportSpace": grpc.unary_stream_rpc_method_handler(
                self.export,
                space_pb2.ExportSpaceRequest.FromString,
                space_pb2.ExportSpaceResponse.SerializeToString,
            )
        }
        return [
            grpc.method_handlers_generic_handler("concord.graph.v1.MemoryService", memory),
            grpc.method_handlers_generic_handler("concord.graph.v1.SpaceService", space),
        ]


@pytest.fixture
def heard() -> Heard:
    """What the server has heard."""
    return Heard()


@pytest.fixture
def target(heard: Heard) -> Iterator[Target]:
    """A live server of three methods, and a key to it."""
    with ThreadPoolExecutor(4) as threads:
        server = grpc.server(threads)
        server.add_generic_rpc_handlers(tuple(Memories(heard).handlers()))
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        yield Target(f"127.0.0.1:{port}", KEY)
        server.stop(None).wait()


def add(content: str, request_id: str = "") -> memory_pb2.AddMemoryRequest:
    """A request to remember."""
    return memory_pb2.AddMemoryRequest(request_id=request_id, memory=Memory(content=content))


def batch(*contents: str) -> Iterator[memory_pb2.BatchAddMemoriesRequest]:
    """The messages of a batch."""
    header = memory_pb2.BatchHeader(request_id="b-1", memory_count=len(contents))
    yield memory_pb2.BatchAddMemoriesRequest(header=header)
    for content in contents:
        yield memory_pb2.BatchAddMemoriesRequest(memory=Memory(content=content))


def test_each_call_carries_key_request_id_and_deadline(target: Target, heard: Heard) -> None:
    """W4 Nothing of that is the caller's business; a call's own timeout wins."""
    with Client(target, timeout=2000.0) as client:
        client.memory.AddMemory(add("a"))
        client.memory.AddMemory(add("b"), timeout=500.0)

    assert heard.keys == [f"Bearer {KEY}"] * 2
    assert len(set(heard.calls)) == 2
    assert heard.seconds == pytest.approx([2000, 500], abs=60)


def test_a_write_without_a_request_id_gets_a_new_one(target: Target, heard: Heard) -> None:
    """W4 Two calls are two writes, and the caller's message stays as it was."""
    request = add("a")
    with Client(target) as client:
        client.memory.AddMemory(request)
        client.memory.AddMemory(request)
        client.memory.AddMemory(add("a", request_id="mine"))

    assert request.request_id == ""
    assert heard.writes[2] == "mine"
    assert len(set(heard.writes)) == 3
    assert all(heard.writes)


def test_a_busy_server_is_asked_again_with_the_same_request_id(
    target: Target, heard: Heard
) -> None:
    """W4, S10 UNAVAILABLE and a stopping server's CANCELLED are retried as the contract allows: one
    write, however often it is sent."""
    heard.busy, heard.cancelled = 2, 1
    with Client(target) as client:
        assert client.memory.AddMemory(add("a")).created

    assert len(heard.writes) == 4
    assert len(set(heard.writes)) == 1


def check(refused: Refused) -> None:
    """The refusal is what the server sent."""
    assert refused.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert refused.reason == "ERROR_REASON_OVERLOADED"
    assert refused.message == "Too much at once."
    assert refused.metadata == {"limit": "3"}
    assert refused.violations == (Violation("memory.content", "must be kinder"),)
    assert refused.retry_after == 1.5
    assert refused.request_id == "r-1"
    assert str(refused) == "ERROR_REASON_OVERLOADED: Too much at once."
    assert not isinstance(refused, Unreachable)


CALLS: list[Callable[[Client], object]] = [
    lambda client: client.memory.AddMemory(add("refuse")),
    lambda client: client.memory.BatchAddMemories(batch("a", "refuse", "b")),
    lambda client: list(client.space.ExportSpace(space_pb2.ExportSpaceRequest())),
]


@pytest.mark.parametrize("call", CALLS, ids=["unary", "stream in", "stream out"])
def test_a_refusal_is_read_from_every_shape_of_call(
    target: Target, call: Callable[[Client], object]
) -> None:
    """W4 `Refused` carries code, reason, message, metadata and violations."""
    with Client(target) as client, pytest.raises(Refused) as caught:
        call(client)

    check(caught.value)


def test_replies_come_before_a_refusal(target: Target) -> None:
    """W4 What a stream sent before it failed is not lost; a stream can be left early."""
    with Client(target) as client:
        replies = client.space.ExportSpace(space_pb2.ExportSpaceRequest())
        assert [next(replies).lines, next(replies).lines] == [["one"], ["two"]]
        with pytest.raises(Refused):
            next(replies)
        client.space.ExportSpace(space_pb2.ExportSpaceRequest()).cancel()


def test_nobody_at_the_address_is_unreachable() -> None:
    """W4 Not running is told apart from a server that says UNAVAILABLE."""
    with Client(Target("127.0.0.1:1", KEY)) as client, pytest.raises(Unreachable) as caught:
        client.memory.AddMemory(add("a"))

    assert caught.value.reason == "ERROR_REASON_UNAVAILABLE"


def test_a_server_that_says_unavailable_is_not_unreachable(target: Target, heard: Heard) -> None:
    """W4 Its own sentence comes through."""
    heard.busy = 100
    with Client(target) as client, pytest.raises(Refused, match="Busy") as caught:
        client.memory.AddMemory(add("a"))

    assert not isinstance(caught.value, Unreachable)


async def test_the_asynchronous_client_does_the_same(target: Target, heard: Heard) -> None:
    """W4 Key, ids, deadline, and refusals of every shape of call."""

    async def messages() -> AsyncIterator[memory_pb2.BatchAddMemoriesRequest]:
        for message in batch("a", "refuse"):
            yield message

    async with AsyncClient(target, timeout=2000.0) as client:
        reply = await client.memory.AddMemory(add("a"))
        with pytest.raises(Refused) as unary:
            await client.memory.AddMemory(add("refuse"))
        with pytest.raises(Refused) as incoming:
            await client.memory.BatchAddMemories(messages())
        with pytest.raises(Refused) as outgoing:
            [each async for each in client.space.ExportSpace(space_pb2.ExportSpaceRequest())]

    assert reply.created
    assert set(heard.keys) == {f"Bearer {KEY}"}
    assert len(set(heard.calls)) == len(heard.calls) == 4
    assert all(heard.writes)
    assert heard.seconds == pytest.approx([2000] * 4, abs=60)
    for caught in (unary, incoming, outgoing):
        check(caught.value)


async def test_a_tools_run_may_take_longer_than_a_call(target: Target, heard: Heard) -> None:
    """W3 D9 Models answer in their own time: over stdio a run is followed for ten minutes, as over
    HTTP, and its refusal is told as a call's."""
    async with AsyncClient(target) as client:
        with pytest.raises(Exception, match="Too much at once"):
            await ClientCalls(client).last(
                "/concord.graph.v1.SpaceService/ExportSpace",
                space_pb2.ExportSpaceRequest(),
                space_pb2.ExportSpaceResponse,
            )

    assert heard.seconds == pytest.approx([600], abs=60)


async def test_an_asynchronous_call_can_be_cancelled(target: Target) -> None:
    """W4 Cancelling the task ends the call, as cancellation."""
    async with AsyncClient(target) as client:
        task = asyncio.ensure_future(client.memory.AddMemory(add("a")))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


def relay(source: socket.socket, sink: socket.socket) -> None:
    """Hands on what comes until either side leaves, and then tells the other."""
    with suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_RDWR)


def test_a_server_that_is_slow_to_greet_is_waited_for(target: Target) -> None:
    """W4 A busy machine may take longer than a moment to answer a new connection."""
    port = int(target.url.rpartition(":")[2])
    with socket.create_server(("127.0.0.1", 0)) as door, ThreadPoolExecutor(2) as threads:

        def let_in() -> None:
            with door.accept()[0] as outside:
                select.select([door], [], [], 0.3)  # nobody else comes: this is only the wait
                with socket.create_connection(("127.0.0.1", port)) as inside:
                    there = threads.submit(relay, outside, inside)
                    relay(inside, outside)
                    there.result()

        served = threads.submit(let_in)
        with Client(Target(f"127.0.0.1:{door.getsockname()[1]}", KEY)) as client:
            assert client.memory.AddMemory(add("a")).created
        served.result()
