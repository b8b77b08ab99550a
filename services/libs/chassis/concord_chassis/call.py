"""One incoming call on its way through the stages."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.message import Message

from concord_chassis.access import Method
from concord_chassis.identity import Caller

# Which messages a context carries, only the method knows at run time.
Context = grpc.aio.ServicerContext[Any, Any]

Request = bytes | Message | AsyncIterator[Message]
"""Bytes as they came, until `Validated` has parsed them; for request streams an iterator."""


@dataclass(slots=True)
class Call:
    """What the stages know of a call; each adds its part. Times are `time.monotonic` seconds."""

    context: Context
    request: Request
    metadata: dict[str, str | bytes]
    started: float = field(default_factory=time.monotonic)
    request_id: str = ""
    caller: Caller | None = None
    code: grpc.StatusCode = grpc.StatusCode.OK
    reason: str = ""


Step = Callable[[Call], Awaitable[bytes | None]]
"""Carries a call on: returns the reply's bytes, or None when it wrote a stream of them itself."""

Stage = Callable[[Method, Step], Step]
"""Puts itself before a step of one method. Called once per method, when the server is built."""
