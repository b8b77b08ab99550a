"""Follows graph's change feed into the index (spec S10).

Changes arrive in sequence per space, and each space has a follower of its own: spaces do not wait
for one another. `space_follower` applies the changes.
"""

import asyncio
from collections.abc import Sequence
from functools import partial

from concord_chassis.server.background import Work

from concord_search.domain.errors import (
    GraphUnavailable,
    IndexCorrupt,
    IndexDiskFull,
    IndexUnavailable,
    reason_of,
)
from concord_search.ports.graph import Changes, SpaceHead
from concord_search.ports.index import IndexState
from concord_search.usecases.space_follower import (
    FIRST_WAIT,
    LONGEST_WAIT,
    FollowerContext,
    SpaceFollower,
)

FOLLOW_SPACE = "follow a space"
"""The name of the task that applies a space's changes."""
OF_ALL_SPACES = (GraphUnavailable, IndexCorrupt, IndexDiskFull, IndexUnavailable)
"""What ends the following of all spaces, until graph or the index is there again."""
CHECK_EVERY = 1.0
"""Seconds between two checks that the index answers: without writes nothing else would notice."""


class Follow:
    """This process's follower of the feed. `run` it as a task and cancel that.

    Every search follows for its own index, without a lease (services/decisions/0067).
    """

    def __init__(self, context: FollowerContext) -> None:
        self._context = context

    async def run(self) -> None:
        """Follows until cancelled, reconnecting when graph goes away.

        Ends by itself only when the index is damaged; `Progress.broken` then says why.
        """
        progress, log = self._context.progress, self._context.log
        wait = FIRST_WAIT
        while progress.broken is None:
            started = asyncio.get_running_loop().time()
            try:
                await self._follow()
            except* GraphUnavailable as lost:
                log.warning("feed lost", reason=reason_of(lost), retry_in=wait)
            except* IndexDiskFull as full:
                progress.disk_full = reason_of(full)
                log.warning("disk full", reason=progress.disk_full, retry_in=wait)
            except* IndexUnavailable as lost:
                progress.index_lost = reason_of(lost)
                log.warning("index lost", reason=progress.index_lost, retry_in=wait)
            except* IndexCorrupt as damaged:
                log.error("index damaged", reason=reason_of(damaged))
                progress.broken = damaged.exceptions[0]
            finally:
                progress.following = False
            lasted = asyncio.get_running_loop().time() - started
            wait = FIRST_WAIT if lasted > LONGEST_WAIT else min(wait * 2, LONGEST_WAIT)
            await asyncio.sleep(wait)

    async def _follow(self) -> None:
        """Follows over one connection until it breaks or the store is another one."""
        index, graph, progress = self._context.index, self._context.graph, self._context.progress
        # Earlier there may have been no room, or no answer.
        await index.open(progress.on_part)
        progress.index_lost = ""
        heads = await graph.heads()
        await self._begin(heads)
        states = await self._states()
        applied = {space: state.applied_seq for space, state in states.items()}
        epochs = {head.epoch for head in heads}
        async with asyncio.TaskGroup() as group:
            group.create_task(self._kept("check the index", self._check))
            followers: dict[str, SpaceFollower] = {}
            for space, state in states.items():
                if state.parked:
                    self._follower(space, followers, group)
            progress.following = True
            progress.disk_full = ""
            async for changes in graph.watch(applied):
                if epochs and changes.epoch not in epochs:
                    raise GraphUnavailable("the store behind the feed was replaced")
                epochs.add(changes.epoch)
                if changes.space:
                    await self._dispatch(changes, followers, group)
            raise GraphUnavailable("the feed ended")

    async def _check(self) -> None:
        while True:
            await asyncio.sleep(CHECK_EVERY)
            await self._context.index.check()

    async def _begin(self, heads: Sequence[SpaceHead]) -> None:
        """Creates parts of the index for graph's spaces; empties those of another store."""
        states = await self._states()
        known = {space: state.epoch for space, state in states.items()}
        wanted = [head for head in heads if known.get(head.space) != head.epoch]
        for ready, head in enumerate(wanted, len(heads) - len(wanted) + 1):
            await self._context.index.begin(head.space, head.epoch)
            self._context.progress.on_part(ready, len(heads))
        named = {head.space for head in heads}
        for space in (await self._states()).keys() - named:
            # Graph's store has no such space: the part is emptied, with that store's epoch.
            await self._context.index.begin(space, heads[0].epoch if heads else "")
        await self._states()
        for head in heads:  # after the states, since a state of another epoch resets the head
            self._context.progress.heard(head.space, head.head_seq)

    async def _states(self) -> dict[str, IndexState]:
        """The index's state of every space; wakes the reads that waited for these."""
        states = dict(await self._context.index.states())
        for space, state in states.items():
            self._context.progress.reached(space, state)
        return states

    async def _dispatch(
        self, changes: Changes, followers: dict[str, SpaceFollower], group: asyncio.TaskGroup
    ) -> None:
        if changes.space not in followers:
            await self._context.index.begin(changes.space, changes.epoch)
        self._context.progress.heard(changes.space, changes.head_seq)
        await self._follower(changes.space, followers, group).put(changes.changes)

    def _follower(
        self, space: str, followers: dict[str, SpaceFollower], group: asyncio.TaskGroup
    ) -> SpaceFollower:
        follower = followers.get(space)
        if follower is None:
            follower = followers[space] = SpaceFollower(space, self._context)
            apply = partial(self._apply, space, [follower])
            group.create_task(self._kept(FOLLOW_SPACE, apply, space))
        return follower

    async def _kept(self, name: str, work: Work, space: str = "") -> None:
        await self._context.background.keep(name, work, space=space, passing=OF_ALL_SPACES)

    async def _apply(self, space: str, given: list[SpaceFollower]) -> None:
        """Applies a space's changes: those that the given follower gets, while there is one.

        After that one died of a bug, a new one has a feed of its own, from the index's watermark
        on, until the feed of all spaces begins anew: the other spaces do not notice.
        """
        if given:
            await given.pop().run()
            return
        follower = SpaceFollower(space, self._context)
        state = (await self._states())[space]
        await self._context.background.together(
            {
                "apply one space's feed": follower.run,
                "read one space's feed": partial(follower.feed, state),
            }
        )
