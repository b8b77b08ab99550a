"""Graph's change feed as services follow it: all spaces at once, in as many streams as it takes."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeVar

import grpc
from concord.graph.v1 import feed_pb2

from concord_chassis.call.failure import Failure, from_rpc_error

if TYPE_CHECKING:  # the name exists for type checkers only
    from concord.graph.v1.feed_pb2_grpc import ChangeFeedServiceAsyncStub

CURSORS = 4_000
"""Spaces of one request to the feed: with the longest names they have room in a message."""
SILENCE = 30.0
"""Seconds without a message, even a keep-alive, after which the feed counts as lost."""

T = TypeVar("T")
R = TypeVar("R", feed_pb2.WatchChangesRequest, feed_pb2.ListSpacesRequest)


class FeedSilent(Failure):
    """The feed fell silent for `SILENCE` seconds: graph or the way to it is gone."""

    summary = "the feed fell silent"

    def __init__(self) -> None:
        unavailable = grpc.StatusCode.UNAVAILABLE
        super().__init__(unavailable, "ERROR_REASON_UNAVAILABLE", "The feed fell silent.")


async def followed(
    feed: "ChangeFeedServiceAsyncStub", cursors: Iterable[feed_pb2.SpaceCursor], **asked: Any
) -> AsyncGenerator[feed_pb2.WatchChangesResponse]:
    """Yields the changes of every space, from after its cursor on; follows until closed.

    `asked` are more fields of the requests. Raises `Failure` if the feed breaks or falls silent.
    """
    requests = requests_of(feed_pb2.WatchChangesRequest, cursors, **asked)
    async with aclosing(merged([stream(feed, each) for each in requests])) as messages:
        async for message in messages:
            yield message


async def stream(
    feed: "ChangeFeedServiceAsyncStub", request: feed_pb2.WatchChangesRequest
) -> AsyncGenerator[feed_pb2.WatchChangesResponse]:
    """Yields the messages of one stream. Raises `Failure` if it breaks or falls silent."""
    call = feed.WatchChanges(request)
    try:
        while True:
            async with asyncio.timeout(SILENCE):
                message = await call.read()
            if not isinstance(message, feed_pb2.WatchChangesResponse):
                return
            yield message
    except TimeoutError:
        raise FeedSilent from None
    except grpc.aio.AioRpcError as error:
        raise from_rpc_error(error) from error
    finally:
        call.cancel()


def requests_of(kind: type[R], cursors: Iterable[feed_pb2.SpaceCursor], **asked: Any) -> list[R]:
    """Returns requests that are together about every space, with the spaces' cursors."""
    by_space = {each.space: each for each in cursors}
    return [
        kind(
            cursors=[by_space[space] for space in spaces],
            from_space=start,
            before_space=before,
            **asked,
        )
        for start, before, spaces in ranges(sorted(by_space), CURSORS)
    ]


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
                source = coming.pop(task)
                try:
                    found = task.result()
                except StopAsyncIteration:
                    return
                coming[asyncio.ensure_future(anext(source))] = source
                yield found
    finally:
        for task in coming:
            task.cancel()
        await asyncio.gather(*coming, return_exceptions=True)
        for source in streams:
            await source.aclose()
