"""Entries beside memories (M2): episodes, what an agent tried and with which reward; and working
memory, a bounded list that evicts its least important entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from concord_graph.domain.errors import ItemNotFound, WorkingMemoryFull
from concord_graph.domain.items import Entry, Importance, Instant, ItemKind
from concord_graph.ports import EntryFilter, WorkingMemoryPut, WorkingMemoryRemoved, Written
from concord_graph.usecases.write.writer import Writer, ref, written

DEFAULT_CAPACITY = 10
STALE = "stale"
MOST_AT_ONCE = 10_000
_KIND = ItemKind.WORKING_MEMORY


async def add_episode(
    writer: Writer,
    *,
    query: str,
    reward: float,
    reflection: str,
    session_id: str,
    memory_ids: Sequence[str],
) -> Written:
    """Store an episode; `reward` is in [-1, 1]. The memories that it names must exist; they may be
    forgotten."""
    kinds = await writer.tx.kinds(memory_ids)
    for memory_id in memory_ids:
        if kinds.get(memory_id) != ItemKind.MEMORY:
            raise ItemNotFound(memory_id)
    body: dict[str, Any] = {"query": query, "reward": reward, "reflection": reflection}
    body["memory_ids"] = list(memory_ids)
    entry = Entry(writer.tx.new_id(), ItemKind.EPISODE, body, session_id)
    return written(None, await writer.keep(None, entry))


class WorkingMemory:
    """Commands on the working memory of a space, which holds up to `capacity` entries."""

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        self.capacity = capacity

    async def put(
        self, writer: Writer, content: str, importance: Importance, session_id: str
    ) -> WorkingMemoryPut:
        """Put a text into the list, or renew the entry that has it; evict entries if it is full.

        `importance`: UNSET counts as MEDIUM. An entry of who stands above the author stays as it
        is, where the author says the same text, too, and for any other text (W9).

        Raises:
            WorkingMemoryFull: every entry is HIGH, or of who stands above the author.
        """
        held = await _entries(writer, EntryFilter(_KIND))
        known = next((entry for entry in held if entry.body["content"] == content), None)
        if known is not None and await writer.standing.is_noted_above(known):
            return WorkingMemoryPut(ref(known), ())
        others = [entry for entry in held if entry is not known]
        evicted = [
            await self._evict(writer, one) for one in await self._to_go(writer, others, known)
        ]
        entry = Entry(
            id=known.id if known else writer.tx.new_id(),
            kind=_KIND,
            body={"content": content},
            session_id=session_id,
            rank=importance or Importance.MEDIUM,
        )
        put = await writer.keep(known, entry)
        return WorkingMemoryPut(ref(put), tuple(map(ref, evicted)))

    async def _to_go(self, writer: Writer, others: list[Entry], known: Entry | None) -> list[Entry]:
        """Return the entries to evict: the least important first, of equal ones the oldest.

        Those of who stands below the author go first, HIGH ones too: else a flood of them would
        leave one place for what a person notes. Those of who stands above stay.
        """
        excess = len(others) + 1 - self.capacity
        if excess <= 0:
            return []
        movable = []
        for entry in others:
            stand = await writer.standing.noted_by(entry)
            is_lower = stand.rank < writer.standing.rank
            if is_lower or not (
                entry.rank == Importance.HIGH or await writer.standing.is_noted_above(entry)
            ):
                movable.append((not is_lower, entry.rank, entry.revision.record_from, entry))
        if excess > len(movable) and known is None:
            raise WorkingMemoryFull(self.capacity)
        movable.sort(key=lambda each: each[:3])
        return [entry for *_, entry in movable[:excess]]

    async def _evict(self, writer: Writer, entry: Entry) -> Entry:
        body = {**entry.body, "put_time": entry.revision.record_from}
        return await writer.keep(entry, replace(entry, shelf=STALE, body=body))

    async def remove(self, writer: Writer, entry_id: str) -> WorkingMemoryRemoved:
        """Remove an entry, whether it is held or was evicted (stale).

        Raises:
            NotedAbove: who put it stands above the author.
        """
        found = await _entries(writer, EntryFilter(_KIND, shelf=None, ids=(entry_id,)))
        if not found:
            raise ItemNotFound(entry_id)
        return await _removed(writer, found)

    async def clear(
        self, writer: Writer, session_id: str, *, include_stale: bool
    ) -> WorkingMemoryRemoved:
        """Remove every entry, or all that a session put there; evicted ones if wanted. What was put
        by who stands above the author is left."""
        shelf = None if include_stale else ""
        filter_ = EntryFilter(_KIND, shelf=shelf, session_id=session_id)
        found = await _entries(writer, filter_)
        gone = [one for one in found if not await writer.standing.is_noted_above(one)]
        removed = await _removed(writer, gone)
        return replace(removed, left=len(found) - len(gone))


async def _entries(writer: Writer, filter_: EntryFilter) -> list[Entry]:
    found, _ = await writer.tx.entries(filter_, Instant(writer.now), limit=MOST_AT_ONCE)
    return list(found)


async def _removed(writer: Writer, entries: list[Entry]) -> WorkingMemoryRemoved:
    for one in entries:
        await writer.keep(one, replace(one, deleted=True))
    return WorkingMemoryRemoved(len(entries))
