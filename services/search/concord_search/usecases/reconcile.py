"""Compares a space's index with graph, and repairs differences (spec S10).

The index's stored states are compared up to the last change that it applied; newer changes wait
meanwhile. Digests show which of 256 buckets differ. Only for these the feed is read again, and only
the memories that differ are dropped and indexed anew.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from concord_search.domain.digests import State, bucket_of, digests_of, states_made
from concord_search.domain.errors import GraphUnavailable
from concord_search.ports.graph import Change, StateDigests
from concord_search.ports.index import IndexState
from concord_search.usecases.slices import listed
from concord_search.usecases.space_follower import FollowerContext, SpaceFollower


@dataclass(frozen=True, slots=True)
class Agreement:
    """The result of a comparison up to change `seq`.

    `missing`: states that the index lacked; `surplus`: states that graph does not have; `agrees`:
    whether both agree now, after a repair.
    """

    seq: int
    states: int
    missing: Sequence[State] = ()
    surplus: Sequence[State] = ()
    agrees: bool = True

    @property
    def differing(self) -> list[str]:
        """The ids of the memories that differed."""
        return sorted({memory_id for memory_id, _ in (*self.missing, *self.surplus)})


class Reconcile:
    """The reconcile use case. `context`: the followers', whose index and locks it shares."""

    def __init__(self, context: FollowerContext) -> None:
        self._context = context

    async def __call__(self, space: str, *, repair: bool) -> Agreement:
        """Compares; repairs if asked to.

        Raises `GraphUnavailable`, `IndexCorrupt`, or `IndexDiskFull` if the disk has no room for
        the repair, or had none when the space's part was to be created.
        """
        self._context.index.demand_lead()
        async with self._context.write_lock(space):
            state = await self._context.index.state(space)
            if state is None:
                self._context.progress.demand_following("the space has an index")
                return Agreement(0, 0)
            found, changes = await self._compared(space, state)
            if found.agrees or not repair:
                return found
            differing = set(found.differing)
            await self._context.index.drop(space, differing)
            follower = SpaceFollower(space, self._context)
            await follower.again([each for each in changes if each.item_id in differing])
            after, _ = await self._compared(space, state)
            return replace(found, agrees=after.agrees)

    async def _compared(self, space: str, state: IndexState) -> tuple[Agreement, Sequence[Change]]:
        """The comparison, which is noted, and all changes of memories in buckets that differ."""
        held = await self._context.index.held(space)
        theirs = StateDigests(state.epoch, 0, digests_of(()))
        if state.applied_seq:  # 0 would ask for the digests of all changes
            theirs = await self._context.graph.digests(space, state.applied_seq)
        if theirs.epoch != state.epoch:
            raise GraphUnavailable("the store behind the feed was replaced")
        mine = digests_of(held)
        differing = {place for place, each in enumerate(theirs.buckets) if each != mine[place]}
        every = await self._changes(space, theirs.seq) if differing else ()
        changes = [each for each in every if bucket_of(each.item_id) in differing]
        kept = held if differing else ()
        here = Counter(each for each in kept if bucket_of(each[0]) in differing)
        there = Counter(states_made((each.item_id, each.seq, each.kind) for each in changes))
        found = Agreement(
            theirs.seq,
            sum(count for count, _ in theirs.buckets),
            tuple((there - here).elements()),
            tuple((here - there).elements()),
            agrees=not differing,
        )
        self._context.progress.differing[space] = len(found.differing)
        return found, changes

    async def _changes(self, space: str, through: int) -> Sequence[Change]:
        """The changes of the space's memories, from the first up to and with a change."""
        found: list[Change] = []
        if through:
            async for page in listed(self._context.graph, space, 0):
                found += page.changes
                if found[-1].seq >= through:
                    break
        return [change for change in found if change.is_memory and change.seq <= through]
