"""Reading graph's change feed."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING

import grpc
from concord.graph.v1 import feed_pb2
from concord_chassis.call.failure import from_rpc_error
from concord_chassis.call.streams import merged, ranges

from concord_dissonance.domain.errors import ServiceUnavailable

if TYPE_CHECKING:  # the name exists for type checkers only
    from concord.graph.v1.feed_pb2_grpc import ChangeFeedServiceAsyncStub

CURSORS = 4_000
"""Spaces of one request to the feed: with the longest names they have room in a message."""
SILENCE = 30.0
"""Seconds without even a keep-alive after which the feed counts as lost."""


async def watch(
    feed: "ChangeFeedServiceAsyncStub", heads: Mapping[str, int], gather_millis: int
) -> AsyncGenerator[feed_pb2.WatchChangesResponse]:
    """Yields the changes of all spaces after some of them, by sequence number, and follows.

    Raises `ServiceUnavailable` if the feed breaks.
    """
    requests = [
        feed_pb2.WatchChangesRequest(
            cursors=[feed_pb2.SpaceCursor(space=space, seq=heads[space]) for space in spaces],
            from_space=start,
            before_space=before,
            gather_millis=gather_millis,
        )
        for start, before, spaces in ranges(sorted(heads), CURSORS)
    ]
    async with aclosing(merged([_watch(feed, each) for each in requests])) as watched:
        async for message in watched:
            yield message


def replay(
    feed: "ChangeFeedServiceAsyncStub", space: str, after: int
) -> AsyncGenerator[feed_pb2.WatchChangesResponse]:
    """Yields the changes of one space after one, up to its newest. Raises `ServiceUnavailable`."""
    request = feed_pb2.WatchChangesRequest(
        cursors=[feed_pb2.SpaceCursor(space=space, seq=after)], space=space, replay_only=True
    )
    return _watch(feed, request)


async def _watch(
    feed: "ChangeFeedServiceAsyncStub", request: feed_pb2.WatchChangesRequest
) -> AsyncGenerator[feed_pb2.WatchChangesResponse]:
    call = feed.WatchChanges(request)
    try:
        while True:
            async with asyncio.timeout(SILENCE):
                message = await call.read()
            if not isinstance(message, feed_pb2.WatchChangesResponse):
                return
            yield message
    except TimeoutError:
        raise ServiceUnavailable("graph", "the feed fell silent") from None
    except grpc.aio.AioRpcError as error:
        raise ServiceUnavailable("graph", from_rpc_error(error).summary) from error
    finally:
        call.cancel()
