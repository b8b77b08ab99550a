"""Sockets and channels: where the gateway listens, and whom it reaches."""

import errno
import os
import socket

import grpc
from concord_chassis import keepalive, services_tls
from concord_chassis.addresses import IN_TURN, target
from concord_chassis.keepalive import Keepalive
from concord_chassis.server import BindError

UNLIMITED = -1
BACKLOG = 128


class PortInUse(BindError):
    """Another program listens there already; the text says what to do."""


def bound(listen: str, setting: str) -> socket.socket:
    """A socket bound to `host:port`, not yet listening.

    `setting` is what an operator would change. Raises `PortInUse`, or `BindError` for an address
    that this machine does not have.
    """
    host, _, port = listen.rpartition(":")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches Nagle's algorithm off only where the protocol is named; with it a reply of
    # two writes waits 40 ms for an acknowledgement.
    taken = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # Not to share the port (that needs both sides), only to take it again after a restart.
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((host, int(port)))
        taken.listen(BACKLOG)  # two sockets may be bound with SO_REUSEADDR, but not both listen
    except OSError as error:
        taken.close()
        raise _bind_error(error, listen, setting) from None
    taken.setblocking(False)
    return taken


def _bind_error(error: OSError, listen: str, setting: str) -> BindError:
    if error.errno == errno.EADDRINUSE:
        port = listen.rpartition(":")[2]
        return PortInUse(
            f"{listen} is in use by another program: stop that one "
            f"(`ss -ltnp 'sport = :{port}'` names it), or set {setting} to another port."
        )
    reason = os.strerror(error.errno) if error.errno else "no such host"
    return BindError(f"Cannot listen on {listen}: {reason}. Set {setting} to another address.")


def channel(addresses: str, alive: Keepalive = keepalive.CHANNEL) -> grpc.aio.Channel:
    """A channel to one service, or to its replicas in turn. Connects with the first call.

    No retries here: whoever made the call knows whether it may be repeated. Raises `ConfigError`
    for several addresses where services speak TLS.
    """
    return services_tls.channel(
        target(addresses),
        [
            ("grpc.max_receive_message_length", UNLIMITED),
            ("grpc.max_send_message_length", UNLIMITED),
            ("grpc.enable_retries", 0),
            ("grpc.enable_http_proxy", 0),  # a service is never behind the machine's web proxy
            ("grpc.use_local_subchannel_pool", 1),  # a channel's backoff is its own
            IN_TURN,
            *alive.of_channel(),
            # A service that restarts is found again in a second, not after gRPC's two minutes.
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.min_reconnect_backoff_ms", 5_000),  # the time that one attempt to connect has
            ("grpc.max_reconnect_backoff_ms", 1_000),
            ("grpc.dns_min_time_between_resolutions_ms", 1_000),  # a new container, a new address
        ],
    )
