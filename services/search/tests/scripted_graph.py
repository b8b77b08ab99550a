"""A small graph in memory behind the port of its feed, whose answers a test can spoil."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from concord_chassis.channel.cursors import START as BEGINNING
from concord_chassis.channel.cursors import Cursor
from concord_chassis.channel.partitions import partition_of
from concord_search.domain.changes import ChangeKind
from concord_search.domain.digests import digests_of, states_made
from concord_search.domain.errors import GraphUnavailable
from concord_search.domain.instants import PRESENT, AsOf
from concord_search.domain.memory import MemoryState
from concord_search.ports.graph import (
    Change,
    Changes,
    Hydrated,
    Partitions,
    SpaceHead,
    StateDigests,
)
from search_lab import START

PARTITIONS = 4
Spoiler = Callable[[str], None]
"""Raises for an item whose state cannot be read."""


@dataclass
class ScriptedGraph:
    """Changes by space, with the states they made; None stands for an erased memory. `order`: those
    of all spaces as they came.

    `down` makes every call fail; `spoil` may fail the reading of one item.
    """

    epoch: str = "epoch-1"
    log: dict[str, list[tuple[Change, MemoryState | None]]] = field(default_factory=dict)
    order: list[tuple[str, Change]] = field(default_factory=list)
    down: bool = False
    spoil: Spoiler = lambda _: None
    connections: int = 0
    hydrated: int = 0
    confirmed: list[tuple[str, str]] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def say(self, space: str, *states: MemoryState, kind: int = ChangeKind.CREATED) -> None:
        """Records changes that made states."""
        for state in states:
            at = START + state.seq * 1_000_000
            change = Change(state.seq, at, state.id, is_memory=True, kind=int(kind))
            self.log.setdefault(space, []).append((change, replace(state, record_from=at)))
            self.order.append((space, change))
        self.news.set()

    def erase(self, space: str, item_id: str, seq: int) -> None:
        """Records that what a memory said was erased, in every state."""
        erased = [(c, None if c.item_id == item_id else s) for c, s in self.log[space]]
        change = Change(seq, START + seq * 1_000_000, item_id, is_memory=True, kind=8)
        self.log[space] = [*erased, (change, None)]
        self.order.append((space, change))
        self.news.set()

    def lose(self, space: str) -> None:
        """Loses a space's last change, as a store does that is put back from an older copy."""
        lost, _ = self.log[space].pop()
        self.order.remove((space, lost))

    def fail(self) -> None:
        """Goes down, ending every stream."""
        self.down = True
        self.news.set()

    def _head(self, space: str) -> int:
        return max((change.seq for change, _ in self.log[space]), default=0)

    def _check(self) -> None:
        if self.down:
            raise GraphUnavailable("scripted to be down")

    def _of(self, partition: int) -> list[tuple[str, Change]]:
        """The changes of a partition, by number from 1."""
        there = [each for each in self.order if partition_of(each[0], PARTITIONS) == partition]
        return [each for each in there if each[0] in self.log]

    def _cursor(self, partition: int, number: int) -> Cursor:
        if not number:
            return BEGINNING
        space, change = self._of(partition)[number - 1]
        return Cursor(number, f"{self.epoch} {space} {change.seq} {change.item_id}")

    async def partitions(self, known: Mapping[int, Cursor]) -> Partitions:
        self._check()
        return Partitions(
            self.epoch,
            [self._cursor(each, len(self._of(each))) for each in range(PARTITIONS)],
            {
                each
                for each, at in known.items()
                if at.number > len(self._of(each)) or at != self._cursor(each, at.number)
            },
        )

    async def spaces(self, partition: int) -> AsyncIterator[Sequence[SpaceHead]]:
        self._check()
        self.asked.append(("spaces", str(partition)))
        there = [space for space in self.log if partition_of(space, PARTITIONS) == partition]
        yield [SpaceHead(space, self._head(space)) for space in there]

    async def watch(self, cursors: Mapping[int, Cursor]) -> AsyncIterator[Changes]:
        self._check()
        self.connections += 1
        sent = {partition: at.number for partition, at in cursors.items()}
        while True:
            self.news.clear()
            for partition in cursors:
                for space, change in self._of(partition)[sent[partition] :]:
                    sent[partition] += 1
                    through = self._cursor(partition, sent[partition])
                    head = self._head(space)
                    self.asked.append(("watched", space))
                    yield Changes(space, self.epoch, head, [change], partition, through)
            await self.news.wait()
            self._check()

    async def changes(self, space: str, after_seq: int) -> Changes:
        self._check()
        self.asked.append(("changes", space))
        there = [change for change, _ in self.log.get(space, ()) if change.seq > after_seq]
        head = self._head(space) if space in self.log else 0
        return Changes(space, self.epoch, head, there[:500])

    async def lacks(self, space: str, seq: int) -> bool:
        self._check()
        return self._head(space) < seq

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
