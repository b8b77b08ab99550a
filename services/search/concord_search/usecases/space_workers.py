"""The workers that apply the changes of spaces, so many at once as there are workers (spec S10).

A space that has changes to apply waits for its turn; spaces do not wait for one another longer than
that. One that cannot go on now (its embedder is away, the disk is full, a bug of ours) comes back
later. Of a space that rests nothing is kept.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from concord_search.domain.errors import (
    EmbeddingUnavailable,
    GraphUnavailable,
    IndexCorrupt,
    IndexDiskFull,
    IndexUnavailable,
)
from concord_search.ports.graph import Change
from concord_search.ports.index import IndexState
from concord_search.usecases.reconcile import Reconcile
from concord_search.usecases.space_follower import (
    FIRST_WAIT,
    LONGEST_WAIT,
    FollowerContext,
    SpaceFollower,
    state_of,
)

FOLLOW_SPACE = "follow a space"
"""The name of the tasks that apply spaces' changes."""
OF_ALL_SPACES = (GraphUnavailable, IndexCorrupt, IndexUnavailable)
"""What ends the following of all spaces, until graph or the index is there again."""
AT_ONCE = 8
"""Workers."""
MOST_QUEUED = 20_000
"""Changes that wait in memory, of all spaces; of a space for which there is no room they are read
from graph when its turn comes."""


@dataclass(slots=True)
class _Work:
    """A space's changes that wait. `is_whole`: none is missing among them; `is_doubtful`: what the
    index has of it may be of another store."""

    changes: list[Change] = field(default_factory=list)
    is_whole: bool = True
    is_doubtful: bool = False
    wait: float = FIRST_WAIT


class SpaceWorkers:
    """The workers, over one connection to graph. `add` work; run `work` as many times at once as
    there are to be workers."""

    def __init__(self, context: FollowerContext, epoch: str) -> None:
        """`epoch`: the store's."""
        self._context, self._epoch = context, epoch
        self._spaces: dict[str, _Work] = {}
        self._ready: asyncio.Queue[str] = asyncio.Queue()
        self._queued = 0

    def has_work(self, space: str) -> bool:
        """Whether changes of a space wait or are being applied."""
        return space in self._spaces

    def doubtful(self) -> Sequence[str]:
        """The spaces of which the index may have what another store had."""
        return [space for space, work in self._spaces.items() if work.is_doubtful]

    def add(self, space: str, changes: Sequence[Change] = (), *, is_doubtful: bool = False) -> None:
        """Gives a space its turn, with its next changes; without any they are read from graph."""
        work = self._spaces.get(space)
        if work is None:
            work = self._spaces[space] = _Work()
            self._ready.put_nowait(space)
        work.is_doubtful |= is_doubtful
        if not changes or self._queued + len(changes) > MOST_QUEUED:
            self._drop(work)
        elif work.is_whole:
            work.changes += changes
            self._queued += len(changes)

    def _drop(self, work: _Work) -> None:
        self._queued -= len(work.changes)
        work.changes, work.is_whole = [], False

    async def work(self) -> None:
        """Takes one space after the other, until cancelled."""
        while True:
            space = await self._ready.get()
            turn, background = partial(self._turn, space), self._context.background
            if rest := await background.tried(FOLLOW_SPACE, space, turn, passing=OF_ALL_SPACES):
                self._later(space, rest)

    def _later(self, space: str, seconds: float) -> None:
        self._drop(self._spaces[space])
        asyncio.get_running_loop().call_later(seconds, self._ready.put_nowait, space)

    async def _turn(self, space: str) -> None:
        work, progress, log = self._spaces[space], self._context.progress, self._context.log
        try:
            is_left = await self._caught_up(space, work)
        except EmbeddingUnavailable as error:
            log.warning("embedder lost", reason=str(error), retry_in=work.wait)
        except IndexDiskFull as full:
            progress.disk_full = str(full)
            log.warning("disk full", reason=str(full), retry_in=work.wait)
        else:
            work.wait = FIRST_WAIT
            if is_left:
                self._drop(work)
            if work.changes or not work.is_whole:
                self._ready.put_nowait(space)
            else:
                del self._spaces[space]
            return
        self._later(space, work.wait)
        work.wait = min(work.wait * 2, LONGEST_WAIT)

    async def _caught_up(self, space: str, work: _Work) -> bool:
        await self._begun(space, work)
        given = work.changes if work.is_whole else []
        self._queued -= len(work.changes)
        work.changes, work.is_whole = [], True
        return await SpaceFollower(space, self._context).catch_up(given)

    async def _begun(self, space: str, work: _Work) -> None:
        """Begins a space's part, unless there is one of this store."""
        index, progress = self._context.index, self._context.progress
        state = await index.state(space)
        if state is None or state.epoch != self._epoch:
            await index.begin(space, self._epoch)
        elif work.is_doubtful and not await self._is_of_this_store(space, state):
            self._context.log.warning("index of another store", space=space, action="built anew")
            model, head = index.model(space), progress.of(space).head_seq
            await index.remove(space)
            progress.forget(space)
            await index.begin(space, self._epoch, model)
            progress.heard(space, head)
        work.is_doubtful = False
        progress.reached(space, await state_of(index, space))

    async def _is_of_this_store(self, space: str, state: IndexState) -> bool:
        """Whether graph has what the index has of a space: the last change, and every state."""
        if await self._context.graph.lacks(space, state.applied_seq):
            return False
        return (await Reconcile(self._context)(space, repair=False)).agrees
