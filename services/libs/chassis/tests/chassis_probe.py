"""The service of the chassis's tests: a contract compiled here, a servicer and a stub."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import grpc
import pytest
from concord_chassis.call.failure import Failure, from_rpc_error
from concord_chassis.call.identity import Caller
from concord_chassis.server.server import Registration
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import FileDescriptor, MethodDescriptor, ServiceDescriptor
from google.protobuf.message_factory import GetMessageClass
from grpc_tools import protoc  # type: ignore[import-untyped]  # an untyped library

READER = Caller("space-a", "reader", frozenset({"probe:read"}), "AGENT")
WRITER = Caller("space-a", "writer", frozenset({"probe:read", "probe:write"}), "HUMAN")

# The messages' classes are made at run time: no type checker can see their fields.
Dynamic = Any


def compile_file(folder: Path, name: str) -> FileDescriptor:
    """Compiles the contract `folder/name`, adds it to the default pool and returns it."""
    contracts = Path(__file__).parents[4] / "protos"
    with tempfile.TemporaryDirectory() as out:
        described = Path(out) / "set"
        status = protoc.main(
            [
                "protoc",
                f"--proto_path={folder}",
                f"--proto_path={contracts}",
                f"--proto_path={files('grpc_tools') / '_proto'}",
                f"--descriptor_set_out={described}",
                name,
            ]
        )
        assert status == 0
        found = descriptor_pb2.FileDescriptorSet.FromString(described.read_bytes())
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(found.file[0].SerializeToString())
    return pool.FindFileByName(name)


FILE = compile_file(Path(__file__).parent, "probe.proto")
PROBE: ServiceDescriptor = FILE.services_by_name["ProbeService"]
UNGUARDED: ServiceDescriptor = FILE.services_by_name["UnguardedService"]


def message_class(name: str) -> Dynamic:
    """Returns the class of a message of `probe.proto`."""
    return GetMessageClass(FILE.message_types_by_name[name])


Request: Dynamic = message_class("Request")
Reply: Dynamic = message_class("Reply")
Thing: Dynamic = message_class("Thing")
Part: Dynamic = message_class("Part")

Answer = Callable[[Dynamic], Awaitable[str]]


async def echo(request: Dynamic) -> str:
    """Returns the request's `act`."""
    return str(request.act)


class ProbeServicer:
    """Replies to each request with the text that `answer` returns.

    `seen` has the `act` of each request that arrived, `interrupted` of each whose answer failed or
    was cancelled.
    """

    def __init__(self, answer: Answer = echo) -> None:
        self._answer = answer
        self.seen: list[str] = []
        self.interrupted: list[str] = []

    async def Ask(self, request: Dynamic, _context: object) -> Dynamic:  # noqa: N802
        return await self._reply(request)

    async def Change(self, request: Dynamic, _context: object) -> Dynamic:  # noqa: N802
        return await self._reply(request)

    async def Follow(  # noqa: N802
        self, request: Dynamic, _context: object
    ) -> AsyncIterator[Dynamic]:
        for _ in range(3):
            yield await self._reply(request)

    async def Collect(  # noqa: N802
        self, requests: AsyncIterator[Dynamic], _context: object
    ) -> Dynamic:
        texts = [(await self._reply(request)).text async for request in requests]
        return Reply(text=",".join(texts))

    async def Converse(  # noqa: N802
        self, requests: AsyncIterator[Dynamic], _context: object
    ) -> AsyncIterator[Dynamic]:
        async for request in requests:
            yield await self._reply(request)

    async def _reply(self, request: Dynamic) -> Dynamic:
        self.seen.append(request.act)
        finished = False
        try:
            text = await self._answer(request)
            finished = True
            return Reply(text=text)
        finally:
            if not finished:
                self.interrupted.append(request.act)


def add_to(service: ServiceDescriptor) -> Callable[[Any, grpc.aio.Server], None]:
    """Returns the function that registers a servicer of `service`, in place of a generated one."""

    def add(servicer: Any, server: grpc.aio.Server) -> None:
        handlers = {each.name: _handler(each, servicer) for each in service.methods}
        server.add_registered_method_handlers(service.full_name, handlers)

    return add


def _handler(method: MethodDescriptor, servicer: object) -> "grpc.RpcMethodHandler[Any, Any]":
    shapes = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }
    make: Callable[..., grpc.RpcMethodHandler[Any, Any]] = shapes[
        method.client_streaming, method.server_streaming
    ]
    return make(
        getattr(servicer, method.name),
        request_deserializer=GetMessageClass(method.input_type).FromString,
        response_serializer=GetMessageClass(method.output_type).SerializeToString,
    )


def registration(servicer: object) -> Registration:
    """Returns the registration of `servicer` for the probe service."""
    return Registration(PROBE, add_to(PROBE), servicer)


class Stub:
    """The probe service's stub, in place of a generated one; `nonsense` is an unknown method."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        def codec(name: str) -> tuple[str, Dynamic, Dynamic]:
            return f"/{PROBE.full_name}/{name}", Request.SerializeToString, Reply.FromString

        self.ask: Dynamic = channel.unary_unary(*codec("Ask"))
        self.change: Dynamic = channel.unary_unary(*codec("Change"))
        self.follow: Dynamic = channel.unary_stream(*codec("Follow"))
        self.collect: Dynamic = channel.stream_unary(*codec("Collect"))
        self.converse: Dynamic = channel.stream_stream(*codec("Converse"))
        self.nonsense: Dynamic = channel.unary_unary(*codec("Nonsense"))


SECONDS = 30.0
"""The seconds that tests wait for an event that normally is immediate: a machine may be busy."""


async def until(holds: Callable[[], bool]) -> None:
    """Waits until `holds()` is True. Raises `TimeoutError` after `SECONDS`."""
    async with asyncio.timeout(SECONDS):
        while not holds():  # noqa: ASYNC110 - no asyncio event is set when `holds` changes
            await asyncio.sleep(0.005)


async def failure_of(call: Awaitable[object]) -> Failure:
    """Returns the failure with which `call` ends, as its client receives it."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return from_rpc_error(caught.value)
