"""The call that does nothing: what any call through the chassis costs at least."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
from concord.rules.v1 import rules_pb2
from concord_chassis.server import Registration
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.empty_pb2 import Empty

from tests.bench.timing import Lane

PERMISSION = "bench:nothing"
SERVICE = "concord_bench.v1.NothingService"
METHOD = f"/{SERVICE}/DoNothing"


def _descriptor() -> ServiceDescriptor:
    """Its contract, made here: nothing but the permission that every method must name."""
    options = descriptor_pb2.MethodOptions()
    options.Extensions[rules_pb2.method].permission = PERMISSION
    name = "concord_bench/v1/nothing.proto"
    file = descriptor_pb2.FileDescriptorProto(
        name=name,
        package="concord_bench.v1",
        syntax="proto3",
        dependency=["google/protobuf/empty.proto", rules_pb2.DESCRIPTOR.name],
        service=[
            descriptor_pb2.ServiceDescriptorProto(
                name="NothingService",
                method=[
                    descriptor_pb2.MethodDescriptorProto(
                        name="DoNothing",
                        input_type=".google.protobuf.Empty",
                        output_type=".google.protobuf.Empty",
                        options=options,
                    )
                ],
            )
        ],
    )
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    return pool.FindFileByName(name).services_by_name["NothingService"]


async def _do_nothing(_request: Empty, _context: object) -> Empty:
    return Empty()


def _add(_servicer: object, server: grpc.aio.Server) -> None:
    """What generated code would be."""
    server.add_registered_method_handlers(SERVICE, {"DoNothing": _handler(_do_nothing)})


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
