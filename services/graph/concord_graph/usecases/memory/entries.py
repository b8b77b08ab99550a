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

        `importance`: UNSET counts as MEDIUM.

        Raises:
            WorkingMemoryFull: every entry is HIGH, and none of these is evicted.
        """
        held = await _entries(writer, EntryFilter(_KIND))
        known = next((entry for entry in held if entry.body["content"] == content), None)
        others = [entry for entry in held if entry is not known]
        evicted = [await self._evict(writer, one) for one in self._to_go(others, known)]
        entry = Entry(
            id=known.id if known else writer.tx.new_id(),
            kind=_KIND,
            body={"content": content},
            session_id=session_id,
            rank=importance or Importance.MEDIUM,
        )
        put = await writer.keep(known, entry)
        return WorkingMemoryPut(ref(put), tuple(map(ref, evicted)))

    def _to_go(self, others: list[Entry], known: Entry | None) -> list[Entry]:
        """Return the entries to evict: the least important first, of equal ones the oldest."""
        excess = len(others) + 1 - self.capacity
        movable = [entry for entry in others if entry.rank < Importance.HIGH]
        if excess > len(movable) and known is None:
            raise WorkingMemoryFull(self.capacity)
        movable.sort(key=lambda entry: (entry.rank, entry.revision.record_from))
        return movable[: max(0, excess)]

    async def _evict(self, writer: Writer, entry: Entry) -> Entry:
        body = {**entry.body, "put_time": entry.revision.record_from}
        return await writer.keep(entry, replace(entry, shelf=STALE, body=body))

    async def remove(self, writer: Writer, entry_id: str) -> WorkingMemoryRemoved:
        """Remove an entry, whether it is held or was evicted (stale)."""
        found = await _entries(writer, EntryFilter(_KIND, shelf=None, ids=(entry_id,)))
        if not found:
            raise ItemNotFound(entry_id)
        return await _removed(writer, found)

    async def clear(
        self, writer: Writer, session_id: str, *, include_stale: bool
    ) -> WorkingMemoryRemoved:
        """Remove every entry, or all that a session put there; evicted ones if wanted."""
        shelf = None if include_stale else ""
        filter_ = EntryFilter(_KIND, shelf=shelf, session_id=session_id)
        return await _removed(writer, await _entries(writer, filter_))


async def _entries(writer: Writer, filter_: EntryFilter) -> list[Entry]:
    found, _ = await writer.tx.entries(filter_, Instant(writer.now), limit=MOST_AT_ONCE)
    return list(found)


async def _removed(writer: Writer, entries: list[Entry]) -> WorkingMemoryRemoved:
    for one in entries:
        await writer.keep(one, replace(one, deleted=True))
    return WorkingMemoryRemoved(len(entries))
