"""`python -m concord_chassis.server.probe ADDRESS` exits with status 0 if that server is SERVING.

For the health checks of containers. The probe calls gRPC's health service: at `host:port` over TLS
if SERVICES_TLS_... are set, at `unix:/path` always without.
"""

import os
import sys

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from concord_chassis.channel import services_tls
from concord_chassis.channel.services_tls import ServicesTls
from concord_chassis.config import ConfigError

ANSWERS_WITHIN = 5.0
"""Seconds for the server's answer."""


def serves(address: str, tls: ServicesTls | None = None) -> bool:
    """Returns whether the health of the server at `host:port` or `unix:/path` is SERVING.

    With `tls`, the server at `host:port` must show a certificate for `tls.name`: the probe runs
    beside the server, with the same certificate.
    """
    with _channel(address, tls) as channel:
        try:
            reply = health_pb2_grpc.HealthStub(channel).Check(
                health_pb2.HealthCheckRequest(), timeout=ANSWERS_WITHIN
            )
        except grpc.RpcError:
            return False
    return bool(reply.status == health_pb2.HealthCheckResponse.SERVING)


def _channel(address: str, tls: ServicesTls | None) -> grpc.Channel:
    direct = ("grpc.enable_http_proxy", 0)
    if tls is None or address.startswith("unix:"):
        return grpc.insecure_channel(address, options=[direct])
    own_name = ("grpc.ssl_target_name_override", tls.name)
    return grpc.secure_channel(address, tls.of_channel(), options=[direct, own_name])


if __name__ == "__main__":
    try:
        sys.exit(not serves(sys.argv[1], services_tls.read(os.environ)))
    except ConfigError as error:
        sys.exit(str(error))
