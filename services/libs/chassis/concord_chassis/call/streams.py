"""Several streams read as one, for what no single request can name."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import TypeVar

T = TypeVar("T")


def ranges(keys: Sequence[str], size: int) -> list[tuple[str, str, Sequence[str]]]:
    """Cuts sorted keys into ranges (from, before, keys), half-open, of at most `size` keys each.

    Together they cover every string, also those that are no key yet: the first begins at "", and
    the last one's `before` is "", which stands for no end.
    """
    parts = [keys[start : start + size] for start in range(0, len(keys), size)] or [()]
    starts = ["", *(part[0] for part in parts[1:])]
    return list(zip(starts, [*starts[1:], ""], parts, strict=True))


async def merged(streams: Sequence[AsyncGenerator[T]]) -> AsyncGenerator[T]:
    """Yields what the streams yield, as it comes; ends, or fails, with the first that does."""
    coming = {asyncio.ensure_future(anext(each)): each for each in streams}
    try:
        while True:
            done, _ = await asyncio.wait(coming, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                stream = coming.pop(task)
                try:
                    found = task.result()
                except StopAsyncIteration:
                    return
                coming[asyncio.ensure_future(anext(stream))] = stream
                yield found
    finally:
        for task in coming:
            task.cancel()
        await asyncio.gather(*coming, return_exceptions=True)
        for stream in streams:
            await stream.aclose()
