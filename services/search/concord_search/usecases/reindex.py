"""Builds another version of a space's index beside the one that serves, and swaps the two (S10).

The next version is built from graph's feed, by a follower of its own, with the vectors of its
model. Meanwhile the serving version follows and answers. Once the next version has caught up,
writes wait for a moment, and it serves every search that embeds its query from then on. The version
that served before is kept as the former one. A roll back does the same, but starts from the former
version instead of an empty one, and so only adds the changes since.

The versions are on the disk: if a process ends meanwhile, the next one goes on.
"""

import asyncio
from dataclasses import replace
from functools import partial
from weakref import WeakValueDictionary

from concord_search.domain.errors import (
    FormerMissing,
    IndexCorrupt,
    IndexMissing,
    ReindexUnderWay,
    SearchError,
)
from concord_search.ports.index import IndexState, Version
from concord_search.usecases.progress import Progress
from concord_search.usecases.retries import RETRIED, RETRY_EVERY
from concord_search.usecases.space_follower import (
    FIRST_WAIT,
    LONGEST_WAIT,
    FollowerContext,
    SpaceFollower,
    state_of,
)

BUILD = "build another version"
"""The name of the task that builds a space's next version."""
LOOK_AGAIN = 1.0
"""Seconds until a version with more parked changes than the serving one is looked at again, doubled
each time."""


class Reindex:
    """The reindex use cases. Each version that is begun has a background task that builds it.

    `context`: of the serving version's followers.
    """

    def __init__(self, context: FollowerContext) -> None:
        self._serving = context
        self._index = context.index
        self._log = context.log
        self._building: dict[str, asyncio.Task[None]] = {}
        self._starting = asyncio.Lock()

    async def __call__(self, space: str, model_id: str) -> IndexState:
        """Begins to build the next version of a space's index; no `model_id`: with its own model.

        The same call again, while that version is being built, changes nothing.

        A space whose first change has not arrived yet gets the part that it would get then. Raises
        `ModelUnknown`, `ReindexUnderWay`, `IndexDiskFull`, `GraphUnavailable`, and `IndexMissing`
        if nothing was ever written.
        """
        self._index.demand_lead()
        embedders = self._serving.embedders
        model = embedders.named(model_id) if model_id else self._index.model(space)
        await embedders.of(model)
        async with self._starting:
            building = await self._index.state(space, Version.NEXT)
            if building is not None and building.model == model:
                return building
            await self._demand_no_other(space)
            await self._begin_serving(space)
            await self._index.begin_next(space, model)
            return await self._begun(space)

    async def roll_back(self, space: str) -> IndexState:
        """Begins to bring the former version up to date, so that it serves again.

        Raises `FormerMissing`, `ModelUnknown`, `ReindexUnderWay`.
        """
        self._index.demand_lead()
        async with self._starting:
            await self._demand_no_other(space)
            former = await self._index.state(space, Version.FORMER)
            if former is None:
                raise FormerMissing
            await self._serving.embedders.of(former.model)
            await self._index.recall(space)
            return await self._begun(space)

    async def remove(self, space: str, version: Version) -> bool:
        """Removes a version that does not serve; returns whether there was one."""
        self._index.demand_lead()
        async with self._starting:
            was_there = await self._index.state(space, version) is not None
            if version is Version.NEXT and (building := self._building.pop(space, None)):
                building.cancel()
                await asyncio.wait([building])
            await self._index.remove_version(space, version)
            self._serving.on_erased()  # confirmations of erasures waited for this version
            return was_there

    async def _demand_no_other(self, space: str) -> None:
        if await self._index.state(space, Version.NEXT) is not None:
            raise ReindexUnderWay

    async def _begin_serving(self, space: str) -> None:
        """Begins the serving version of a space that graph has and the feed has not told of."""
        if await self._index.state(space) is not None:
            return
        # an index that is not open yet may have the part on the disk
        self._serving.progress.demand_following("the space has an index")
        found = await self._serving.graph.changes(space, 0)
        if not found.changes:
            raise IndexMissing
        await self._index.begin(space, found.epoch)

    async def _begun(self, space: str) -> IndexState:
        self._build_beside(space)
        return await state_of(self._index, space, Version.NEXT)

    async def stop(self) -> None:
        """Ends all builders: another process goes on with their versions."""
        building, self._building = [*self._building.values()], {}
        for each in building:
            each.cancel()
        if building:
            await asyncio.wait(building)

    async def run(self) -> None:
        """Goes on with the versions that an earlier process left half built."""
        for space in await self._index.states(Version.NEXT):
            self._build_beside(space)

    def _build_beside(self, space: str) -> None:
        """Has a space's next version built, by its one builder."""
        if space not in self._building:
            build = partial(self._build, space)
            self._building[space] = self._serving.background.start(BUILD, build, space=space)

    async def _build(self, space: str) -> None:
        wait = FIRST_WAIT
        while await self._is_wanted(space):
            try:
                await self._follow(space)
            except IndexCorrupt as damaged:
                if await self._index.state(space, Version.NEXT) is not None:
                    self._log.error("reindex given up", space=space, reason=str(damaged))
                    await self._index.remove_version(space, Version.NEXT)
            except SearchError as lost:
                self._log.warning("reindex waits", reason=str(lost), retry_in=wait)
                await asyncio.sleep(wait)
                wait = min(wait * 2, LONGEST_WAIT)

    async def _is_wanted(self, space: str) -> bool:
        """Whether there is a next version to build; if not, the space's builder is gone.

        Under the lock under which versions begin: either this builder sees the new version, or
        whoever began it sees no builder and starts another.
        """
        async with self._starting:
            if await self._index.state(space, Version.NEXT) is not None:
                return True
            self._building.pop(space, None)
            return False

    async def _follow(self, space: str) -> None:
        """Builds the next version from graph's changes, until it serves."""
        context = replace(
            self._serving,
            progress=Progress(partial(self._index.state, version=Version.NEXT)),
            version=Version.NEXT,
            _write_locks=WeakValueDictionary(),
            on_erased=lambda: None,  # its erasures are confirmed once it serves
        )
        wait = LOOK_AGAIN
        while True:
            await self._caught_up(space, context)
            async with self._serving.write_lock(space):
                await self._caught_up(space, context)
                serving = await state_of(self._index, space)
                built = await state_of(self._index, space, Version.NEXT)
                # Searches do not find parked changes: the next version may not have more of them.
                if built.parked_count <= serving.parked_count:
                    await self._promote(space)
                    return
            await asyncio.sleep(wait)
            wait = min(wait * 2, RETRY_EVERY)
            await SpaceFollower(space, context).retry(sorted(built.parked)[:RETRIED])

    async def _caught_up(self, space: str, context: FollowerContext) -> None:
        while await SpaceFollower(space, context).catch_up():
            pass

    async def _promote(self, space: str) -> None:
        await self._index.promote(space)
        state = await state_of(self._index, space)
        self._serving.progress.reached(space, state)
        self._serving.on_erased()  # scrubbing of erased memories waited for this version
        self._log.info("reindexed", space=space, model=state.model.model_id)
