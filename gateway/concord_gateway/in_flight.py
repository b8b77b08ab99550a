"""Limits on concurrent calls, so that no key can use up the gateway's capacity.

A stream is also a call, and an export is also a stream: each counts in all of its limits. A call
above a limit is refused at once, before any of it is read or forwarded; there is no queue.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import grpc
from concord_chassis.call.failure import Failure

from concord_gateway.routes import Route

RETRY_AFTER = 1.0
"""Seconds that a refused caller is asked to wait."""


@dataclass(frozen=True)
class Limits:
    """How many calls may be under way."""

    calls: int
    """Of one key."""
    streams: int
    """Of one key, in which either side sends more than one message."""
    exports: int
    """Of one key, in which a whole space or audit log is exported."""
    calls_of_all: int
    """Of all keys together."""


class InFlight:
    """Counts the calls that are under way, by key. For use in one event loop."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._of_all = 0
        self._of_keys: Counter[tuple[str, str]] = Counter()

    @contextmanager
    def place(self, key: str, route: Route) -> Iterator[None]:
        """Counts one call of the key while the block runs. Raises `Failure` (OVERLOADED)."""
        most = self._limits.calls_of_all
        if self._of_all >= most:
            raise overloaded("calls_of_all", most, f"{most} calls are under way here.")
        taken = [(key, kind) for kind in _kinds(route)]
        for each in taken:
            most = getattr(self._limits, each[1])
            if self._of_keys[each] >= most:
                raise overloaded(each[1], most, f"{most} {each[1]} of this key are under way.")
        self._of_all += 1
        self._of_keys.update(taken)
        try:
            yield
        finally:
            self._of_all -= 1
            for each in taken:
                self._of_keys[each] -= 1
                if not self._of_keys[each]:
                    del self._of_keys[each]


def overloaded(limit: str, most: int, message: str) -> Failure:
    """The failure of a call above a limit: "calls", "streams", "exports" or "calls_of_all"."""
    return Failure(
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "ERROR_REASON_OVERLOADED",
        message,
        metadata={"limit": limit, "max": str(most)},
        retry_after=RETRY_AFTER,
    )


def _kinds(route: Route) -> list[str]:
    kinds = ["calls"]
    if route.streams:
        kinds.append("streams")
    if route.exports:
        kinds.append("exports")
    return kinds
