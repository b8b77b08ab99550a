"""From bytes to messages that keep the contract's rules."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress

import grpc
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from concord_chassis.access import Method
from concord_chassis.call import Context
from concord_chassis.failure import Failure, FieldViolation
from concord_chassis.rules import MessageCheck

LONGEST_PAUSE = 1.0
LONGEST_DISCARD = 10.0


class Reader:
    """Reads one method's request messages."""

    def __init__(self, method: Method, check: MessageCheck, max_bytes: int) -> None:
        self._parse: Callable[[bytes], Message] = GetMessageClass(method.request).FromString
        self._name = method.request.full_name
        self._breaches = check.breaches
        self._max = max_bytes

    def read(self, data: bytes) -> Message:
        """The message in `data`.

        Raises `Failure`: MESSAGE_TOO_LARGE above the limit, FIELD_INVALID when it does not parse
        or breaks rules.
        """
        if len(data) > self._max:
            raise _too_large(self._max)
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
    """A request stream, each message of which is read as it is taken."""

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
    """Takes what a caller still sends, for at most `LONGEST_DISCARD` seconds.

    gRPC's asyncio client takes a call that ends while it sends for an internal error, and never
    learns the reason; so a refusal waits until all is sent. Who sends nothing for `LONGEST_PAUSE`
    seconds is not in the middle of sending: such a caller hears it then.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(LONGEST_DISCARD):
            while await _next(context) is not grpc.aio.EOF:
                pass


async def _next(context: Context) -> object:
    async with asyncio.timeout(LONGEST_PAUSE):
        return await context.read()


def _too_large(limit: int) -> Failure:
    return Failure(
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "ERROR_REASON_MESSAGE_TOO_LARGE",
        f"The message is larger than {limit} bytes.",
    )


def _invalid(message: str, violations: Sequence[FieldViolation] = ()) -> Failure:
    return Failure(
        grpc.StatusCode.INVALID_ARGUMENT,
        "ERROR_REASON_FIELD_INVALID",
        message,
        violations=violations,
    )
