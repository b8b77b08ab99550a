"""The gRPC server: health, reflection if it is switched on, and the proxy for other methods."""

from collections.abc import Sequence

import grpc
from concord_chassis.channel.keepalive import SERVER_KEEPALIVE
from concord_chassis.server.reflection import serve_reflection
from concord_chassis.server.server import BindError, options
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health_pb2, health_pb2_grpc

from concord_gateway.config import Config
from concord_gateway.grpc.health import Health
from concord_gateway.grpc.proxy import Proxy
from concord_gateway.tls import Tls


def build(
    proxy: Proxy,
    health: Health,
    config: Config,
    services: Sequence[ServiceDescriptor],
    tls: Tls | None,
) -> tuple[grpc.aio.Server, int]:
    """A server that is bound to its TCP address, and the port.

    `services`: those that reflection shows, if it is on. Raises `BindError`.
    """
    listen = config.grpc_listen
    server = grpc.aio.server(
        options=[
            *options(config.max_message_bytes),
            ("grpc.max_send_message_length", -1),
            *SERVER_KEEPALIVE.of_server(),
        ]
    )
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    if config.reflection:
        health_service = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
        names = [service.full_name for service in services]
        serve_reflection([*names, health_service], server)
    server.add_generic_rpc_handlers((proxy,))  # last: it answers every method
    try:
        if tls:
            return server, server.add_secure_port(listen, tls.grpc_credentials())
        return server, server.add_insecure_port(listen)
    except RuntimeError:
        raise BindError(f"Cannot listen on {listen}: gRPC could not bind it.") from None
