"""A small graph in memory behind the port of its feed, whose answers a test can spoil."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from concord_search.domain.changes import ChangeKind
from concord_search.domain.digests import digests_of, states_made
from concord_search.domain.errors import GraphUnavailable
from concord_search.domain.instants import PRESENT, AsOf
from concord_search.domain.memory import MemoryState
from concord_search.ports.graph import (
    Change,
    Changes,
    Hydrated,
    SpaceHead,
    StateDigests,
)
from search_lab import START

Spoiler = Callable[[str], None]
"""Raises for an item whose state cannot be read."""


@dataclass
class ScriptedGraph:
    """Changes by space, with the states they made; None stands for an erased memory.

    `down` makes every call fail; `spoil` may fail the reading of one item.
    """

    epoch: str = "epoch-1"
    log: dict[str, list[tuple[Change, MemoryState | None]]] = field(default_factory=dict)
    down: bool = False
    spoil: Spoiler = lambda _: None
    connections: int = 0
    hydrated: int = 0
    confirmed: list[tuple[str, str]] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def say(self, space: str, *states: MemoryState, kind: int = ChangeKind.CREATED) -> None:
        """Records changes that made states."""
        for state in states:
            at = START + state.seq * 1_000_000
            change = Change(state.seq, at, state.id, is_memory=True, kind=int(kind))
            self.log.setdefault(space, []).append((change, replace(state, record_from=at)))
        self.news.set()

    def erase(self, space: str, item_id: str, seq: int) -> None:
        """Records that what a memory said was erased, in every state."""
        erased = [(c, None if c.item_id == item_id else s) for c, s in self.log[space]]
        change = Change(seq, START + seq * 1_000_000, item_id, is_memory=True, kind=8)
        self.log[space] = [*erased, (change, None)]
        self.news.set()

    def fail(self) -> None:
        """Goes down, ending every stream."""
        self.down = True
        self.news.set()

    def _head(self, space: str) -> int:
        return max((change.seq for change, _ in self.log[space]), default=0)

    def _check(self) -> None:
        if self.down:
            raise GraphUnavailable("scripted to be down")

    async def heads(self) -> Sequence[SpaceHead]:
        self._check()
        return [SpaceHead(space, self.epoch, self._head(space)) for space in self.log]

    async def watch(self, applied: Mapping[str, int]) -> AsyncIterator[Changes]:
        async for changes in self._watched(applied, lambda _: True):
            yield changes

    async def watch_space(self, space: str, applied_seq: int) -> AsyncIterator[Changes]:
        async for changes in self._watched({space: applied_seq}, space.__eq__):
            yield changes

    async def _watched(
        self, applied: Mapping[str, int], is_wanted: Callable[[str], bool]
    ) -> AsyncIterator[Changes]:
        self._check()
        self.connections += 1
        sent = dict(applied)
        while True:
            self.news.clear()
            for space in filter(is_wanted, list(self.log)):
                new = [c for c, _ in self.log[space] if c.seq > sent.get(space, 0)]
                if new:
                    sent[space] = new[-1].seq
                    yield Changes(space, self.epoch, self._head(space), new)
            await self.news.wait()
            self._check()

    async def at(self, space: str, changes: Sequence[Change]) -> Sequence[Hydrated | None]:
        self._check()
        self.hydrated += len(changes)
        for change in changes:
            self.spoil(change.item_id)
        states = {(c.item_id, c.seq): s for c, s in self.log[space]}
        found = [states[change.item_id, change.seq] for change in changes]
        return [None if state is None else Hydrated(state, state) for state in found]

    async def digests(self, space: str, through: int) -> StateDigests:
        self._check()
        changes = [change for change, _ in self.log.get(space, []) if change.seq <= through]
        states = states_made((each.item_id, each.seq, each.kind) for each in changes)
        return StateDigests(self.epoch, through, digests_of(states))

    async def current(
        self,
        space: str,
        ids: Sequence[str],
        *,
        count_as_read: bool,  # noqa: ARG002 - reads are not kept
        session_id: str = "",  # noqa: ARG002 - nor their sessions
        unsure: Collection[str] = (),  # noqa: ARG002 - nor which are read together
        as_of: AsOf = PRESENT,  # noqa: ARG002 - nor is what was known before
    ) -> Sequence[Hydrated | None]:
        self._check()
        for each in ids:
            self.spoil(each)
        newest = {change.item_id: state for change, state in self.log.get(space, [])}
        return [
            None if (state := newest.get(each)) is None else Hydrated(state, state) for each in ids
        ]

    async def edges(
        self,
        space: str,  # noqa: ARG002
        ids: Sequence[str],
        as_of: AsOf = PRESENT,  # noqa: ARG002
    ) -> Sequence[Hydrated | None]:
        self._check()
        return [None for _ in ids]

    async def confirm_erase(self, space: str, memory_id: str) -> None:
        self._check()
        self.confirmed.append((space, memory_id))
