"""How much time the current call has left, and how much of it to give away.

gRPC in Python does not hand a deadline on: each outgoing call takes it from here.
"""

import time
from contextvars import ContextVar

import grpc

from concord_chassis.failure import Failure

RESERVE = 0.05
"""Seconds kept back from each outgoing call, to answer our own caller in time."""

_DEADLINE: ContextVar[float | None] = ContextVar("concord_deadline", default=None)


def remaining() -> float | None:
    """Seconds until the current call's deadline (negative once past); None when it has none."""
    deadline = _DEADLINE.get()
    return None if deadline is None else deadline - time.monotonic()


def outgoing(cap: float) -> float:
    """Seconds to allow a call that is made on behalf of the current one: at most `cap`.

    Raises `Failure` (DEADLINE_EXCEEDED) when nothing is left to give.
    """
    left = remaining()
    if left is None:
        return cap
    if left <= RESERVE:
        raise exceeded("There is no time left to ask a dependency.")
    return min(cap, left - RESERVE)


def exceeded(message: str) -> Failure:
    """The failure of a call whose time is over."""
    return Failure(grpc.StatusCode.DEADLINE_EXCEEDED, "ERROR_REASON_DEADLINE_EXCEEDED", message)


def enter(seconds: float | None) -> None:
    """Gives the rest of the running task `seconds` from now; None lifts the deadline."""
    _DEADLINE.set(None if seconds is None else time.monotonic() + seconds)
