"""Reading graph's change feed."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING

from concord.graph.v1 import feed_pb2
from concord_chassis.call.failure import Failure
from concord_chassis.channel.feed import followed, stream

from concord_dissonance.domain.errors import ServiceUnavailable

if TYPE_CHECKING:  # the name exists for type checkers only
    from concord.graph.v1.feed_pb2_grpc import ChangeFeedServiceAsyncStub


def watch(
    feed: "ChangeFeedServiceAsyncStub", heads: Mapping[str, int], gather_millis: int
) -> AsyncGenerator[feed_pb2.WatchChangesResponse]:
    """Yields the changes of all spaces after some of them, by sequence number, and follows.

    Raises `ServiceUnavailable` if the feed breaks.
    """
    cursors = [feed_pb2.SpaceCursor(space=space, seq=seq) for space, seq in heads.items()]
    return _messages(followed(feed, cursors, gather_millis=gather_millis))


def replay(
    feed: "ChangeFeedServiceAsyncStub", space: str, after: int
) -> AsyncGenerator[feed_pb2.WatchChangesResponse]:
    """Yields the changes of one space after one, up to its newest. Raises `ServiceUnavailable`."""
    request = feed_pb2.WatchChangesRequest(
        cursors=[feed_pb2.SpaceCursor(space=space, seq=after)], space=space, replay_only=True
    )
    return _messages(stream(feed, request))


async def _messages(
    feed: AsyncGenerator[feed_pb2.WatchChangesResponse],
) -> AsyncGenerator[feed_pb2.WatchChangesResponse]:
    try:
        async with aclosing(feed):
            async for message in feed:
                yield message
    except Failure as failure:
        raise ServiceUnavailable("graph", failure.summary) from failure
