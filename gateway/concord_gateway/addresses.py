"""Sockets on which the gateway listens, and channels to the services behind it."""

import errno
import os
import socket

import grpc
from concord_chassis.channel import services_tls
from concord_chassis.channel.addresses import ROUND_ROBIN, target
from concord_chassis.channel.keepalive import CHANNEL_KEEPALIVE, SERVER_KEEPALIVE, Keepalive
from concord_chassis.server.server import BindError

from concord_gateway.errors import PortInUse

UNLIMITED = -1
BACKLOG = 128


def bound(listen: str, setting: str) -> socket.socket:
    """A socket bound to `host:port`, not yet listening.

    `setting`: the environment variable of the address, named in errors. Raises `PortInUse`, or
    `BindError` for an address that this machine does not have.
    """
    host, _, port = listen.rpartition(":")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches Nagle's algorithm off only if the protocol is named. With the algorithm on,
    # a reply of two writes waits 40 ms for an acknowledgement.
    taken = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        _notice_the_vanished(taken)
        # So that a restart can bind the port at once. Two programs share a port only if both ask.
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((host, int(port)))
        taken.listen(BACKLOG)  # two sockets may be bound with SO_REUSEADDR, but not both listen
    except OSError as error:
        taken.close()
        raise _bind_error(error, listen, setting) from None
    taken.setblocking(False)
    return taken


def _notice_the_vanished(listening: socket.socket) -> None:
    """Has TCP close accepted connections whose other side is gone, after as long as gRPC's pings.

    HTTP has no pings of its own, and on a silent stream nothing else would show the loss.
    """
    if not hasattr(socket, "TCP_USER_TIMEOUT"):  # only Linux has it
        return
    idle, timeout = round(SERVER_KEEPALIVE.idle), round(SERVER_KEEPALIVE.timeout)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, idle)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, timeout // 2)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, (idle + timeout) * 1000)


def _bind_error(error: OSError, listen: str, setting: str) -> BindError:
    if error.errno == errno.EADDRINUSE:
        port = listen.rpartition(":")[2]
        return PortInUse(
            f"{listen} is in use by another program: stop that one "
            f"(`ss -ltnp 'sport = :{port}'` names it), or set {setting} to another port."
        )
    reason = os.strerror(error.errno) if error.errno else "no such host"
    return BindError(f"Cannot listen on {listen}: {reason}. Set {setting} to another address.")


def channel(addresses: str, keepalive: Keepalive = CHANNEL_KEEPALIVE) -> grpc.aio.Channel:
    """A channel to one service, or to its replicas in turn. Connects with the first call.

    The channel never retries: only the caller knows whether a call may be repeated. Raises
    `ConfigError` for several addresses if services speak TLS.
    """
    return services_tls.channel(
        target(addresses),
        [
            ("grpc.max_receive_message_length", UNLIMITED),
            ("grpc.max_send_message_length", UNLIMITED),
            ("grpc.enable_retries", 0),
            ("grpc.enable_http_proxy", 0),  # a service is never behind the machine's web proxy
            ("grpc.use_local_subchannel_pool", 1),  # channels share no backoff
            ROUND_ROBIN,
            *keepalive.of_channel(),
            # Reconnects to a restarted service within a second, not after gRPC's two minutes.
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.min_reconnect_backoff_ms", 5_000),  # the timeout of one attempt to connect
            ("grpc.max_reconnect_backoff_ms", 1_000),
            ("grpc.dns_min_time_between_resolutions_ms", 1_000),  # a new container, a new address
        ],
    )
