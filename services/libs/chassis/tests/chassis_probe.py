"""The service that the chassis's tests serve: its contract compiled here, and a real servicer."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import grpc
import pytest
from concord_chassis.failure import Failure, from_rpc_error
from concord_chassis.identity import Caller
from concord_chassis.server import Registration
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import FileDescriptor, MethodDescriptor, ServiceDescriptor
from google.protobuf.message_factory import GetMessageClass
from grpc_tools import protoc  # type: ignore[import-untyped]  # it ships no types

READER = Caller("space-a", "reader", frozenset({"probe:read"}), "AGENT")
WRITER = Caller("space-a", "writer", frozenset({"probe:read", "probe:write"}), "HUMAN")

# The messages are made at run time: no checker can know their fields.
Dynamic = Any


def compile_file(folder: Path, name: str) -> FileDescriptor:
    """Compiles `folder/name` and puts it into the default pool, beside the rules it imports."""
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
    """The class of a message of `probe.proto`."""
    return GetMessageClass(FILE.message_types_by_name[name])


Request: Dynamic = message_class("Request")
Reply: Dynamic = message_class("Reply")
Thing: Dynamic = message_class("Thing")
Part: Dynamic = message_class("Part")

Answer = Callable[[Dynamic], Awaitable[str]]


async def echo(request: Dynamic) -> str:
    """Answers with what it was told."""
    return str(request.act)


class ProbeServicer:
    """Answers each request with `answer`, and remembers what reached it and what was cut short."""

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
    """What generated code would be: the function that registers a servicer of `service`."""

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
    """The probe service, answered by `servicer`."""
    return Registration(PROBE, add_to(PROBE), servicer)


class Stub:
    """What a generated stub would be."""

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
"""How long tests wait for what normally comes at once: a busy machine may take its time."""


async def until(holds: Callable[[], bool]) -> None:
    """Waits, for at most `SECONDS`, until `holds()`."""
    async with asyncio.timeout(SECONDS):
        while not holds():  # noqa: ASYNC110 - what it looks at knows no event loop
            await asyncio.sleep(0.005)


async def failure_of(call: Awaitable[object]) -> Failure:
    """The failure that `call` ends with, read back from the wire."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return from_rpc_error(caught.value)
