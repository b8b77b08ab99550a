"""`python -m concord_chassis.probe HOST:PORT` exits with 0 while the server there serves.

For containers' health checks: what it asks is the standard health service.
"""

import sys

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

ANSWERS_WITHIN = 5.0
"""Seconds."""


def serves(address: str) -> bool:
    """Whether the server at `host:port` or `unix:/path` says that it serves."""
    with grpc.insecure_channel(address, options=[("grpc.enable_http_proxy", 0)]) as channel:
        try:
            reply = health_pb2_grpc.HealthStub(channel).Check(
                health_pb2.HealthCheckRequest(), timeout=ANSWERS_WITHIN
            )
        except grpc.RpcError:
            return False
    return bool(reply.status == health_pb2.HealthCheckResponse.SERVING)


if __name__ == "__main__":
    sys.exit(not serves(sys.argv[1]))
