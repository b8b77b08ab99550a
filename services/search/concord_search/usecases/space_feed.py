"""One space's part of graph's feed, for a follower of its own."""

from concord_search.domain.errors import GraphUnavailable
from concord_search.ports.index import IndexState
from concord_search.usecases.space_follower import FollowerContext, SpaceFollower


async def feed(
    space: str, state: IndexState, follower: SpaceFollower, context: FollowerContext
) -> None:
    """Puts a space's changes after a state to a follower of its own, until the feed ends.

    Raises `GraphUnavailable`.
    """
    async for changes in context.graph.watch_space(space, state.applied_seq):
        if changes.epoch != state.epoch:
            raise GraphUnavailable("the store behind the feed was replaced")
        if changes.space == space:
            await follower.put(changes.changes)
    raise GraphUnavailable("the feed ended")
