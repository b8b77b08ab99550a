"""What a contract case is, and the table of all of them.

An entry states a request once, as a function of a furnished home. The cases follow: *success*
sends it for the caller's own home; *bad input* sends a spoilt one; *replay* sends a write twice;
the tests of isolation send, as a caller of A, the request of home B.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any  # replies, whose type only the method knows

import grpc
from concord_chassis.call.identity import Caller
from contract_homes import Home
from contract_live import Answer, Request, member


@dataclass(frozen=True)
class Refused:
    """The call must fail with this code and machine reason, naming this field if any."""

    code: grpc.StatusCode
    reason: str
    field: str = ""

    def unmet_by(self, answer: Answer) -> str:
        """Say what is wrong with an answer; empty when it is as demanded."""
        if answer.refusal is None:
            return f"was answered: {answer.replies!r:.300}"
        fields = [violation.field for violation in answer.refusal.violations]
        if (answer.code, answer.reason) != (self.code, f"ERROR_REASON_{self.reason}"):
            return f"failed otherwise: {answer.refusal}"
        return "" if not self.field or self.field in fields else f"named {fields}"


@dataclass(frozen=True)
class Answered:
    """The call must succeed, and what it replies must hold."""

    holds: Callable[[Any], bool] = lambda _: True

    def unmet_by(self, answer: Answer) -> str:
        """Say what is wrong with an answer; empty when it is as demanded."""
        if answer.refusal is not None:
            return f"failed: {answer.refusal}"
        one = answer.replies[0] if len(answer.replies) == 1 else answer.replies
        return "" if self.holds(one) else f"replied {answer.replies!r:.500}"


Expected = Refused | Answered


NO_MESSAGE = b"\x0b\xff"
"""Bytes that are no message of any type: a group that nobody closes."""


def invalid(field: str = "", reason: str = "FIELD_INVALID") -> Refused:
    """Return the refusal of a bad field."""
    return Refused(grpc.StatusCode.INVALID_ARGUMENT, reason, field)


def _member(home: Home) -> Caller:
    return member(home.space)


@dataclass(frozen=True)
class Contract:
    """The cases of one method. `replies` bounds how much of an endless stream is read."""

    request: Callable[[Home], Request]
    success: Callable[[Any, Home], bool]
    bad_input: tuple[Callable[[Home], Request], Refused] = (lambda _: NO_MESSAGE, invalid())
    """A spoilt request; of a method whose request has no rules, what is no message."""
    other: Callable[[Home], Request] | None = None
    """For a write: another good request with the same request_id."""
    caller: Callable[[Home], Caller] = _member
    replies: int = 0
    reused: Expected = Refused(grpc.StatusCode.ALREADY_EXISTS, "REQUEST_ID_REUSED")
    """What becomes of `other`."""
    on_record: frozenset[str] | None = None
    """By which methods the stores have the write on record, when not by its own."""
    once: str = ""
    """A field of the reply that a replay shows otherwise: what is told once."""
