"""Reading graph's change feed."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

import grpc
from concord.graph.v1 import feed_pb2
from concord_chassis.failure import from_rpc_error

from concord_dissonance.domain.errors import ServiceUnavailable

if TYPE_CHECKING:  # the name exists for type checkers only
    from concord.graph.v1.feed_pb2_grpc import ChangeFeedServiceAsyncStub

SILENCE = 30.0
"""Seconds without even a keep-alive after which the feed counts as lost."""


async def watch(
    feed: "ChangeFeedServiceAsyncStub",
    cursors: Sequence[feed_pb2.SpaceCursor],
    *,
    replay_only: bool = False,
    gather_millis: int = 0,
) -> AsyncIterator[feed_pb2.WatchChangesResponse]:
    """Yields the feed's messages after some cursors. Raises `ServiceUnavailable` if it breaks."""
    request = feed_pb2.WatchChangesRequest(
        cursors=cursors, replay_only=replay_only, gather_millis=gather_millis
    )
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
