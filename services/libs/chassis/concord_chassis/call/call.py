"""One incoming call on its way through the stages."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.message import Message

from concord_chassis.call.access import Method
from concord_chassis.call.identity import Caller

# The types of a context's messages depend on the method, which is known only at run time.
Context = grpc.aio.ServicerContext[Any, Any]

Request = bytes | Message | AsyncIterator[Message]
"""The received bytes, which the stage `validated` replaces by the parsed message; for a request
stream, gRPC's iterator, which it replaces by an iterator of the parsed messages."""


@dataclass(slots=True)
class Call:
    """One call and what the stages have found out about it so far.

    `started` is in `time.monotonic` seconds. `code` and `reason` are those of the outcome.
    """

    context: Context
    request: Request
    metadata: dict[str, str | bytes]
    started: float = field(default_factory=time.monotonic)
    request_id: str = ""
    caller: Caller | None = None
    code: grpc.StatusCode = grpc.StatusCode.OK
    reason: str = ""


Step = Callable[[Call], Awaitable[bytes | None]]
"""Processes a call. Returns the reply's bytes, or None after it has written a reply stream."""

Stage = Callable[[Method, Step], Step]
"""Returns the step that runs this stage and then the given step of one method.

Called once per method, when the server is built."""
