"""Graph's change feed as services follow it: all partitions in one stream."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import grpc
from concord.graph.v1 import feed_pb2

from concord_chassis.call.failure import Failure, from_rpc_error
from concord_chassis.channel.cursors import Cursor

if TYPE_CHECKING:  # the name exists for type checkers only
    from concord.graph.v1.feed_pb2_grpc import ChangeFeedServiceAsyncStub

PAGE = 500
"""Spaces of one request."""
SILENCE = 30.0
"""Seconds without a message, even a keep-alive, after which the feed counts as lost."""


class FeedSilent(Failure):
    """The feed fell silent for `SILENCE` seconds: graph or the way to it is gone."""

    summary = "the feed fell silent"

    def __init__(self) -> None:
        unavailable = grpc.StatusCode.UNAVAILABLE
        super().__init__(unavailable, "ERROR_REASON_UNAVAILABLE", "The feed fell silent.")


async def followed(
    feed: "ChangeFeedServiceAsyncStub", cursors: Mapping[int, Cursor], *, gather_millis: int = 0
) -> AsyncGenerator[feed_pb2.WatchChangesResponse]:
    """Yields the changes of partitions, of each from after its cursor on; follows until closed.

    Raises `Failure` if the feed breaks or falls silent.
    """
    call = feed.WatchChanges(
        feed_pb2.WatchChangesRequest(cursors=messages_of(cursors), gather_millis=gather_millis)
    )
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


def messages_of(cursors: Mapping[int, Cursor]) -> list[feed_pb2.PartitionCursor]:
    """The cursors as requests name them."""
    return [
        feed_pb2.PartitionCursor(partition=each, number=at.number, change_digest=at.digest)
        for each, at in sorted(cursors.items())
    ]


def through_of(message: feed_pb2.WatchChangesResponse) -> Cursor | None:
    """The change of the message's partition up to which nothing is missing after the message."""
    return Cursor(message.through, message.through_digest) if message.through else None


async def spaces_of(
    listed: Callable[[feed_pb2.ListSpacesRequest], Awaitable[Sequence[feed_pb2.SpaceHead]]],
    partition: int,
) -> AsyncGenerator[Sequence[feed_pb2.SpaceHead]]:
    """Yields the spaces of a partition, page by page."""
    after = ""
    while True:
        page = await listed(
            feed_pb2.ListSpacesRequest(partition=partition, after=after, page_size=PAGE)
        )
        if page:
            yield page
        if len(page) < PAGE:
            return
        after = page[-1].space
