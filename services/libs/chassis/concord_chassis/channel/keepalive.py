"""The pings by which a connection notices that the other side has vanished.

A machine that loses its power or its cable does not close its connections: only a ping without an
answer shows the loss.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Keepalive:
    """When a connection pings, how long it waits for the answer, and how often it may be pinged.

    All times are in seconds.
    """

    idle: float
    """The time without data from the other side after which a ping is sent."""
    timeout: float
    """The time for the answer; then the connection is closed: a channel's calls end with
    UNAVAILABLE, a server's calls are cancelled."""
    least_between: float = 10.0
    """The least time between two pings without data between them: a server closes a connection that
    is pinged more often. Channels do not use it."""

    def of_channel(self) -> list[tuple[str, int]]:
        """Returns the options of a channel, which pings only while a call is under way."""
        return [
            ("grpc.keepalive_time_ms", _ms(self.idle)),
            ("grpc.keepalive_timeout_ms", _ms(self.timeout)),
            # Measured: without this option gRPC waits 60 seconds, whatever the timeout above is.
            ("grpc.http2.ping_timeout_ms", _ms(self.timeout)),
            # Otherwise gRPC stops after two pings while this side sends no data (a quiet feed).
            ("grpc.http2.max_pings_without_data", 0),
        ]

    def of_server(self) -> list[tuple[str, int]]:
        """Returns the options of a server, which pings connections without calls, too."""
        return [
            *self.of_channel(),
            ("grpc.keepalive_permit_without_calls", 1),
            ("grpc.http2.min_ping_interval_without_data_ms", _ms(self.least_between)),
        ]


CHANNEL_KEEPALIVE = Keepalive(idle=30.0, timeout=10.0)
SERVER_KEEPALIVE = Keepalive(idle=60.0, timeout=20.0, least_between=10.0)


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
