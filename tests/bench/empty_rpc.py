"""The calls that do nothing: what any call through the chassis costs at least."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import grpc
from concord.rules.v1 import rules_pb2
from concord_chassis.server.server import Registration
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.empty_pb2 import Empty
from google.protobuf.wrappers_pb2 import StringValue

from tests.bench.timing import Lane

PERMISSION = "bench:nothing"
SERVICE = "concord_bench.v1.NothingService"
METHOD = f"/{SERVICE}/DoNothing"
STREAM_METHOD = f"/{SERVICE}/DoNothingWithEach"


def _descriptor() -> ServiceDescriptor:
    """Its contract, made here: nothing but the permission that every method must name."""
    options = descriptor_pb2.MethodOptions()
    options.Extensions[rules_pb2.method].permission = PERMISSION
    name = "concord_bench/v1/nothing.proto"
    file = descriptor_pb2.FileDescriptorProto(
        name=name,
        package="concord_bench.v1",
        syntax="proto3",
        dependency=[
            "google/protobuf/empty.proto",
            "google/protobuf/wrappers.proto",
            rules_pb2.DESCRIPTOR.name,
        ],
        service=[
            descriptor_pb2.ServiceDescriptorProto(
                name="NothingService",
                method=[
                    descriptor_pb2.MethodDescriptorProto(
                        name="DoNothing",
                        input_type=".google.protobuf.Empty",
                        output_type=".google.protobuf.Empty",
                        options=options,
                    ),
                    descriptor_pb2.MethodDescriptorProto(
                        name="DoNothingWithEach",
                        input_type=".google.protobuf.StringValue",
                        output_type=".google.protobuf.Empty",
                        client_streaming=True,
                        options=options,
                    ),
                ],
            )
        ],
    )
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    return pool.FindFileByName(name).services_by_name["NothingService"]


async def _do_nothing(_request: Empty, _context: object) -> Empty:
    return Empty()


async def _do_nothing_with_each(requests: AsyncIterator[StringValue], _context: object) -> Empty:
    async for _ in requests:
        pass
    return Empty()


def _add(_servicer: object, server: grpc.aio.Server) -> None:
    """What generated code would be."""
    each: grpc.RpcMethodHandler[StringValue, Empty] = grpc.stream_unary_rpc_method_handler(
        _do_nothing_with_each,
        request_deserializer=StringValue.FromString,
        response_serializer=Empty.SerializeToString,
    )
    handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
        "DoNothing": _handler(_do_nothing),
        "DoNothingWithEach": each,
    }
    server.add_registered_method_handlers(SERVICE, handlers)


async def stream(channel: grpc.aio.Channel, texts: Iterable[str]) -> None:
    """Send each text, and do nothing with it."""
    call = channel.stream_unary(STREAM_METHOD, StringValue.SerializeToString, Empty.FromString)
    await call(StringValue(value=text) for text in texts)


def _handler(behavior: Callable[..., Any]) -> "grpc.RpcMethodHandler[Empty, Empty]":
    return grpc.unary_unary_rpc_method_handler(
        behavior, request_deserializer=Empty.FromString, response_serializer=Empty.SerializeToString
    )


def registration() -> Registration:
    """The service, to be served beside others, behind the same stages."""
    return Registration(_descriptor(), _add, object())


@asynccontextmanager
async def bare(address: str) -> AsyncIterator[Lane]:
    """The same without a chassis: gRPC's own server, no stage before the method."""
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(SERVICE, {"DoNothing": _handler(_do_nothing)}),)
    )
    server.add_insecure_port(address)
    await server.start()
    try:
        yield Lane(address, (), METHOD, (Empty().SerializeToString(),), Empty)
    finally:
        await server.stop(None)
