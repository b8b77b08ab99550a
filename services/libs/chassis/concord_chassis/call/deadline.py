"""The time that is left to the current call, and how much of it an outgoing call may take.

gRPC in Python does not pass a deadline on to outgoing calls: `channel` takes it from this module.
"""

import time
from contextvars import ContextVar

import grpc

from concord_chassis.call.failure import Failure

DEFAULT = 30.0
"""Seconds for a unary call that came without a deadline."""
RESERVE = 0.05
"""Seconds that no outgoing call gets: they are for the reply to our own caller."""

_DEADLINE: ContextVar[float | None] = ContextVar("concord_deadline", default=None)


def remaining() -> float | None:
    """Returns the seconds until the current call's deadline; negative after it, None without it."""
    deadline = _DEADLINE.get()
    return None if deadline is None else deadline - time.monotonic()


def outgoing(cap: float) -> float:
    """Returns the seconds for an outgoing call: at most `cap`, and `RESERVE` less than remain.

    Raises `Failure` (DEADLINE_EXCEEDED) when at most `RESERVE` seconds remain.
    """
    left = remaining()
    if left is None:
        return cap
    if left <= RESERVE:
        raise exceeded("There is no time left to ask a dependency.")
    return min(cap, left - RESERVE)


def exceeded(message: str) -> Failure:
    """Returns the failure (DEADLINE_EXCEEDED) of a call whose time is over."""
    return Failure(grpc.StatusCode.DEADLINE_EXCEEDED, "ERROR_REASON_DEADLINE_EXCEEDED", message)


def enter(seconds: float | None) -> None:
    """Sets the deadline of the running task to `seconds` from now; None removes the deadline."""
    _DEADLINE.set(None if seconds is None else time.monotonic() + seconds)
