"""Pages that fit into a reply: the number of their messages and their bytes are bounded."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Generic, TypeVar

from google.protobuf.message import Message

from concord_chassis.call.sizes import PAGE_BYTES

Row = TypeVar("Row")
M = TypeVar("M", bound=Message)


@dataclass(frozen=True, slots=True)
class Page(Generic[Row, M]):
    """The messages of a page. `last` is the row of its last message; None if no page follows."""

    messages: Sequence[M]
    last: Row | None


async def page_of(
    rows: AsyncGenerator[Row], message_of: Callable[[Row], M], size: int
) -> Page[Row, M]:
    """Returns a page of messages, which `message_of` makes from rows.

    The page has at most `size` messages (`size` is 1 or more) and at most `PAGE_BYTES` bytes; a
    first message over `PAGE_BYTES` is a page by itself. `rows` is read one row further, to find out
    whether a page follows, and then closed.
    """
    messages: list[M] = []
    last: Row | None = None
    room = PAGE_BYTES
    async with aclosing(rows):
        async for row in rows:
            message = message_of(row)
            room -= message.ByteSize()
            if messages and (len(messages) == size or room < 0):
                return Page(messages, last)
            messages.append(message)
            last = row
    return Page(messages, None)
