"""Pages that fit into a reply: bounded by their number and by their bytes."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Generic, TypeVar

from google.protobuf.message import Message

from concord_chassis.sizes import PAGE_BYTES

Row = TypeVar("Row")
M = TypeVar("M", bound=Message)


@dataclass(frozen=True, slots=True)
class Page(Generic[Row, M]):
    """The messages of a page, and the row that it ends with; None when nothing is left."""

    messages: Sequence[M]
    last: Row | None


async def page_of(rows: AsyncGenerator[Row], shown: Callable[[Row], M], size: int) -> Page[Row, M]:
    """Return a page of rows, as messages.

    At most `size` messages (1 or more), and none that would bring them over `PAGE_BYTES` but a
    first one. `rows` is read one row further than is shown, and closed.
    """
    messages: list[M] = []
    last: Row | None = None
    room = PAGE_BYTES
    async with aclosing(rows):
        async for row in rows:
            message = shown(row)
            room -= message.ByteSize()
            if messages and (len(messages) == size or room < 0):
                return Page(messages, last)
            messages.append(message)
            last = row
    return Page(messages, None)
