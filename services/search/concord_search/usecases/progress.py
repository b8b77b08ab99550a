"""How far each space's index has followed the feed, and reads that wait for it."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Container, Mapping
from dataclasses import dataclass, field

from concord_chassis.call import deadline

from concord_search.domain.errors import (
    FreshnessTokenInvalid,
    GraphUnavailable,
    IndexDiskFull,
    IndexStale,
    IndexUnavailable,
)
from concord_search.domain.instants import Micros
from concord_search.ports.index import IndexState

ANSWER_RESERVE = 0.1
"""Seconds before the caller's deadline that waiting for a fresh index leaves for the answer."""

LOOK_EVERY = 0.05
"""Seconds between two questions how far another process wrote a space for which a read waits."""


@dataclass(frozen=True, slots=True)
class Demand:
    """The freshness that a read demands: this space's index has applied this change."""

    space: str
    epoch: str
    seq: int


@dataclass(slots=True)
class SpaceProgress:
    """The newest change in graph and in the index of one space, and the reads that wait."""

    epoch: str = ""
    applied_seq: int = 0
    head_seq: int = 0
    latest: Micros = 0
    parked: int = 0
    waiting: list[tuple[int, int, asyncio.Future[None]]] = field(default_factory=list)


class Progress:
    """The progress of spaces in use; reads wait here for the followers. For one event loop.

    `state_of` says how far the index is in a space that nobody used since the start.
    """

    def __init__(self, state_of: Callable[[str], Awaitable[IndexState | None]]) -> None:
        self._state_of = state_of
        self._spaces: dict[str, SpaceProgress] = {}
        self._tickets = 0
        self.epoch = ""
        """The epoch of the store that is followed."""
        self.following = False
        self.disk_full = ""
        """Why the index cannot follow while its disk has no room; else empty."""
        self.index_lost = ""
        """Why the index's server cannot be asked while it does not answer; else empty."""
        self.broken: Exception | None = None
        self.retries = 0
        self.parts = (0, 0)
        """How many parts of the index are ready, of how many, while they are opened or begun."""
        self.with_parked: set[str] = set()
        """The spaces with parked changes."""
        self.newly_parked = asyncio.Event()
        self.stands_by = False
        """Whether another process writes the index: how far it is must be asked each time."""
        self.differing: dict[str, int] = {}
        """By space, how many memories differed between graph and index in the last comparison."""

    def on_part(self, ready: int, of: int) -> None:
        """Notes how many parts of the index are ready, of how many."""
        self.parts = (ready, of)

    def of(self, space: str) -> SpaceProgress:
        """A space's progress; zeros for an unknown space. `load` it first."""
        return self._spaces.get(space) or SpaceProgress(self.epoch)

    async def load(self, space: str) -> None:
        """Learns how far the index is in a space of which nothing was heard yet, or that another
        process writes.

        Graph has nothing newer of it while the feed is followed: its partition was heard.
        """
        if self.stands_by or space not in self._spaces:
            state = await self._state_of(space)
            if state is not None and (self.stands_by or space not in self._spaces):
                self.reached(space, state)

    def knows(self, space: str) -> bool:
        """Whether anything was heard of a space since the start."""
        return space in self._spaces

    def forget(self, space: str) -> None:
        """Notes that a space's part is gone, and refuses the reads that waited for it."""
        known = self._spaces.pop(space, SpaceProgress())
        self.with_parked.discard(space)
        for _, _, waiter in known.waiting:
            if not waiter.done():
                waiter.set_exception(FreshnessTokenInvalid("the store was restored meanwhile"))

    def begin_anew(self, there: Container[str]) -> None:
        """Notes that the spaces that are not `there` are followed from their beginning again."""
        for space, known in self._spaces.items():
            if space not in there:
                known.applied_seq = 0

    def demand_following(self, unknown: str) -> None:
        """Raises `GraphUnavailable`, or the index's error, unless the feed is followed.

        `unknown`: the clause that nobody can answer then, such as "the space has an index".
        """
        self._demand_writable()
        if self.following:
            return
        raise GraphUnavailable(f"graph does not answer: whether {unknown} is not known")

    def _demand_writable(self) -> None:
        if self.disk_full:
            raise IndexDiskFull(self.disk_full)
        if self.index_lost:
            raise IndexUnavailable(self.index_lost)

    @property
    def keeps_up(self) -> bool:
        """Whether the feed is followed and its changes reach the index."""
        return self.following and not self.disk_full

    def heard(self, space: str, head_seq: int) -> None:
        """Notes graph's newest sequence number."""
        known = self._spaces.setdefault(space, SpaceProgress(self.epoch))
        known.head_seq = max(known.head_seq, head_seq)

    def reached(self, space: str, state: IndexState) -> None:
        """Notes a new state of the index, and wakes the reads that waited for it."""
        known = self._spaces.setdefault(space, SpaceProgress(self.epoch))
        if known.epoch not in ("", state.epoch):  # of a new space, `heard` was of this store
            known.head_seq = 0
        known.epoch = state.epoch
        known.applied_seq = state.applied_seq
        known.latest = state.latest
        if state.parked_count > known.parked:
            self.with_parked.add(space)
            self.newly_parked.set()
        elif not state.parked_count:
            self.with_parked.discard(space)
        known.parked = state.parked_count
        known.head_seq = max(known.head_seq, state.applied_seq)
        while known.waiting and known.waiting[0][0] <= state.applied_seq:
            _, _, waiter = heapq.heappop(known.waiting)
            if not waiter.done():
                waiter.set_result(None)

    def lag(self) -> Mapping[str, int]:
        """Changes not yet applied, by space."""
        return {name: s.head_seq - s.applied_seq for name, s in self._spaces.items()}

    def parked(self) -> int:
        """The number of parked changes in all spaces."""
        return sum(each.parked for each in self._spaces.values())

    async def until_fresh(self, space: str, demand: Demand | None) -> None:
        """Waits until a space is as fresh as a read demands, within its caller's time."""
        await self.load(space)
        if demand is not None:
            left = deadline.remaining()
            await self.wait(space, demand, 30.0 if left is None else left - ANSWER_RESERVE)

    async def wait(self, space: str, demand: Demand, seconds: float) -> None:
        """Waits until a space is as fresh as demanded.

        Raises `FreshnessTokenInvalid` for a token of another space or epoch, `IndexStale` after
        that many seconds, `IndexDiskFull` or `IndexUnavailable` if waiting is of no use.
        """
        if demand.space != space:
            raise FreshnessTokenInvalid("the token belongs to another space")
        await self.load(space)
        known = self._spaces.setdefault(space, SpaceProgress(self.epoch))
        if known.epoch and known.epoch != demand.epoch:
            raise FreshnessTokenInvalid("the store was restored since the token was made")
        if known.epoch and known.applied_seq >= demand.seq:
            return
        await self._wait(space, known, demand.seq, seconds)
        if known.epoch != demand.epoch:
            raise FreshnessTokenInvalid("the store was restored since the token was made")

    async def _wait(self, space: str, known: SpaceProgress, seq: int, seconds: float) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self._tickets += 1
        heapq.heappush(known.waiting, (seq, self._tickets, waiter))
        try:
            async with asyncio.timeout(max(0.0, seconds)):
                while not waiter.done():
                    await asyncio.wait([waiter], timeout=LOOK_EVERY)
                    if self.stands_by:
                        await self.load(space)
                await waiter
        except TimeoutError:
            self._demand_writable()
            raise IndexStale(known.applied_seq, seq) from None
        finally:
            waiter.cancel()
