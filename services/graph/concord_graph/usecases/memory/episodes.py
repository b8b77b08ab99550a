"""Storing episodes: what an agent tried, and with which reward (M2)."""

from __future__ import annotations

from concord_graph.domain.drafts import EpisodeDraft
from concord_graph.domain.errors import ItemNotFound
from concord_graph.domain.items import Entry, ItemKind
from concord_graph.ports import Written
from concord_graph.usecases.write.writer import Writer, written


async def add_episode(writer: Writer, draft: EpisodeDraft) -> Written:
    """Store an episode. The memories that it names must exist; they may be forgotten."""
    kinds = await writer.tx.kinds(draft.memory_ids)
    for memory_id in draft.memory_ids:
        if kinds.get(memory_id) != ItemKind.MEMORY:
            raise ItemNotFound(memory_id)
    body = {
        "query": draft.query,
        "reward": draft.reward,
        "reflection": draft.reflection,
        "memory_ids": list(draft.memory_ids),
    }
    entry = Entry(writer.tx.new_id(), ItemKind.EPISODE, body, draft.session_id)
    return written(None, await writer.keep(None, entry))
