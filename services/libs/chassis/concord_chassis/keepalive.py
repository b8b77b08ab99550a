"""How a connection notices that the other side vanished without a word.

A machine that lost its power or its cable closes nothing: only pings that stay unanswered show it.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Keepalive:
    """When to ping, and how long to wait for the answer; in seconds."""

    idle: float
    """Without a word from the other side before it is pinged."""
    timeout: float
    """For the answer, before the connection counts as lost and its calls as UNAVAILABLE."""
    least_between: float = 10.0
    """A server ends connections whose pings come closer together than this."""

    def of_channel(self) -> list[tuple[str, int]]:
        """A channel's options. It pings only while a call is under way."""
        return self._pings()

    def of_server(self) -> list[tuple[str, int]]:
        """A server's options. It pings connections without calls too."""
        return [
            *self._pings(),
            ("grpc.keepalive_permit_without_calls", 1),
            ("grpc.http2.min_ping_interval_without_data_ms", _ms(self.least_between)),
        ]

    def _pings(self) -> list[tuple[str, int]]:
        return [
            ("grpc.keepalive_time_ms", _ms(self.idle)),
            ("grpc.keepalive_timeout_ms", _ms(self.timeout)),
            # Measured: without it gRPC waits its own 60 seconds, whatever the line above says.
            ("grpc.http2.ping_timeout_ms", _ms(self.timeout)),
            # Else pings are throttled after two where this side sends nothing, as in a quiet feed.
            ("grpc.http2.max_pings_without_data", 0),
        ]


CHANNEL = Keepalive(idle=30.0, timeout=10.0)
SERVER = Keepalive(idle=60.0, timeout=20.0, least_between=10.0)


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
