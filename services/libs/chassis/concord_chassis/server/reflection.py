"""gRPC reflection in both of its versions: v1, which today's tools call, and v1alpha.

`grpcio-reflection` has only v1alpha. The messages of v1 have the same bytes; only the name of their
package is another. So one servicer answers both versions.
"""

from collections.abc import Iterable

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format
from grpc_reflection.v1alpha import reflection, reflection_pb2

SERVICE_NAMES = (reflection.SERVICE_NAME, reflection.SERVICE_NAME.replace("v1alpha", "v1"))


def serve_reflection(services: Iterable[str], server: grpc.aio.Server) -> None:
    """Adds reflection about the given services, and about itself, to a server that has not started.

    `services` are full names; their contracts are in the default descriptor pool.
    """
    descriptor_pool.Default().AddSerializedFile(_contract_of_v1())
    servicer = reflection.aio.ReflectionServicer([*services, *SERVICE_NAMES])
    answer = grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    methods = {"ServerReflectionInfo": answer}
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler(name, methods) for name in SERVICE_NAMES]
    )


def _contract_of_v1() -> bytes:
    """Returns the contract of v1, as a serialized file descriptor.

    Tools ask for the contract of each listed service, and v1 is listed.
    """
    file = descriptor_pb2.FileDescriptorProto()
    reflection_pb2.DESCRIPTOR.CopyToProto(file)
    renamed = json_format.MessageToJson(file).replace("v1alpha", "v1")
    return json_format.Parse(renamed, descriptor_pb2.FileDescriptorProto()).SerializeToString()
