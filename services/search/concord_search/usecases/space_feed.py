"""One space's part of graph's feed, for a follower of its own."""

from concord_search.domain.errors import GraphUnavailable
from concord_search.ports import IndexState
from concord_search.usecases.space_follower import FollowerContext, SpaceFollower


async def feed(
    space: str, state: IndexState, follower: SpaceFollower, context: FollowerContext
) -> None:
    """Puts a space's changes after a state to a follower of its own, until the feed ends.

    Raises `GraphUnavailable`.
    """
    heads = {head.space: head.head_seq for head in await context.graph.heads()}
    async for changes in context.graph.watch(heads | {space: state.applied_seq}):
        if changes.epoch != state.epoch:
            raise GraphUnavailable("the store behind the feed was replaced")
        if changes.space == space:
            await follower.put(changes.changes)
    raise GraphUnavailable("the feed ended")
