"""Parses the bytes of requests into messages, and checks these against the contract's rules."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress

import grpc
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from concord_chassis.call.access import Method
from concord_chassis.call.call import Context
from concord_chassis.call.failure import Failure, FieldViolation
from concord_chassis.call.rules import MessageCheck
from concord_chassis.call.sizes import MAX_MESSAGE_BYTES

LONGEST_PAUSE = 1.0
"""Seconds without a message, after which a caller is not in the middle of sending."""
LONGEST_DISCARD = 10.0
"""Seconds after which no more of a refused stream is read."""


class Reader:
    """Parses and checks the request messages of one method."""

    def __init__(self, method: Method, check: MessageCheck) -> None:
        self._parse: Callable[[bytes], Message] = GetMessageClass(method.request).FromString
        self._name = method.request.full_name
        self._breaches = check.breaches

    def read(self, data: bytes) -> Message:
        """Returns the message in `data`.

        Raises `Failure`: MESSAGE_TOO_LARGE above `MAX_MESSAGE_BYTES`, FIELD_INVALID when the bytes
        are not such a message or the message breaks a rule.
        """
        if len(data) > MAX_MESSAGE_BYTES:
            raise Failure(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                "ERROR_REASON_MESSAGE_TOO_LARGE",
                f"The message is larger than {MAX_MESSAGE_BYTES} bytes.",
            )
        try:
            message = self._parse(data)
        except DecodeError as error:
            raise _invalid(f"The bytes are not a {self._name}.") from error
        violations = self._breaches(message)
        if violations:
            first = violations[0]
            raise _invalid(f"{first.field} {first.description}.", violations)
        return message


class RequestStream:
    """A request stream as an iterator, which parses and checks a message when it is taken."""

    def __init__(self, context: Context, read: Callable[[bytes], Message]) -> None:
        self._context = context
        self._read = read

    def __aiter__(self) -> AsyncIterator[Message]:
        return self

    async def __anext__(self) -> Message:
        data = await self._context.read()
        if data is grpc.aio.EOF:
            raise StopAsyncIteration
        return self._read(data)


async def discard_rest(context: Context) -> None:
    """Reads and drops the rest of a request stream, before the call is refused.

    If a call ends while gRPC's asyncio client is sending, the client reports an internal error
    instead of the refusal. So the refusal waits until the caller has sent everything, or has sent
    nothing for `LONGEST_PAUSE` seconds, but for `LONGEST_DISCARD` seconds at most.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(LONGEST_DISCARD):
            read: object = None
            while read is not grpc.aio.EOF:
                async with asyncio.timeout(LONGEST_PAUSE):
                    read = await context.read()


def _invalid(message: str, violations: Sequence[FieldViolation] = ()) -> Failure:
    return Failure(
        grpc.StatusCode.INVALID_ARGUMENT,
        "ERROR_REASON_FIELD_INVALID",
        message,
        violations=violations,
    )
