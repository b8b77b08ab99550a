"""Erasing a memory, with a receipt that every store confirms (M4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from concord_graph.domain.digests import digest
from concord_graph.domain.erasure import (
    STORE,
    Confirmation,
    Erasure,
    erased_edge,
    erased_memory,
)
from concord_graph.domain.errors import ConfirmerUnknown, ItemErased, ItemNotFound
from concord_graph.domain.items import Edge, ItemKind, Memory
from concord_graph.ports import Acknowledged, ChangeType, MemoryErased, Reads, Writes
from concord_graph.usecases.memory.retract_facts import FactRetraction, words_of
from concord_graph.usecases.write.outbox import log
from concord_graph.usecases.write.writer import Writer, existing, ref


class Erasing:
    """Erases memories; `confirmers`: the names of the services that keep derived data."""

    def __init__(self, confirmers: Sequence[str]) -> None:
        self._confirmers = (STORE, *confirmers)

    async def erase(self, writer: Writer, memory_id: str, etag: str, reason: str) -> MemoryErased:
        """Erase the words of every revision of a memory and of its edges; open a receipt."""
        stored = existing(await writer.tx.memory(memory_id), memory_id)
        time = max(writer.now, 1)
        await writer.demand_etag(stored, etag, erased_memory(stored, time))
        if stored.erase_time:
            raise ItemErased(memory_id)
        words = await words_of(writer.tx, stored)
        written = await writer.put(stored, erased_memory(stored, time))
        edges, ghosts = await goes_with(writer.tx, stored)
        for edge in edges:
            await writer.put(edge, erased_edge(edge, time, ghosts))
        retraction = FactRetraction(writer, written, words)
        await retraction.run()
        erasure = Erasure(
            id=writer.tx.new_id(),
            memory_id=memory_id,
            time=written.erase_time,
            principal=writer.author.principal,
            reason=reason,
            digest=digest(stored),
            edge_count=len(edges) + retraction.edge_count,
        )
        await self.open(writer.tx, erasure)
        return MemoryErased(ref(written), erasure.id)

    async def open(self, tx: Writes, erasure: Erasure) -> None:
        """Store the receipt of an erasure, which every confirmer has yet to confirm."""
        waiting = tuple(Confirmation(name) for name in self._confirmers)
        await tx.put_erasure(replace(erasure, confirmations=waiting))

    async def confirm(self, writer: Writer, memory_id: str) -> Acknowledged:
        """Confirm, as the author, that its store holds nothing of an erased memory."""
        erasure = await writer.tx.erasure(memory_id=memory_id)
        if erasure is None:
            raise ItemNotFound(memory_id)
        confirmer = writer.author.principal
        if confirmer == STORE or confirmer not in {e.confirmer for e in erasure.confirmations}:
            raise ConfirmerUnknown
        memory = await writer.tx.memory(memory_id)
        change = await log(
            writer.tx,
            ChangeType.ERASE_CONFIRMED,
            writer.author,
            item_id=memory_id,
            item_kind=ItemKind.MEMORY,
            revision=memory.revision.number if memory else 0,
        )
        await writer.tx.confirm(erasure.id, confirmer, change.record_time)
        return Acknowledged()


async def goes_with(tx: Reads, memory: Memory | Edge) -> tuple[Sequence[Edge], frozenset[str]]:
    """Return the edges at a memory or an edge, and the ghosts that only it names: both are erased
    with it.

    A ghost's id is part of the memory's content; no other item needs it.
    """
    edges = await tx.edges_at(memory.id, live=False)
    kept = [edge for edge in edges if not edge.erase_time]
    named = {edge.target.id for edge in kept if edge.target.kind == ItemKind.MEMORY}
    unknown = named - (await tx.kinds(sorted(named))).keys()
    ghosts = set()
    for ghost in sorted(unknown):
        there = await tx.edges_at(ghost, live=False)
        if all(edge.source.id == memory.id for edge in there):
            ghosts.add(ghost)
    return kept, frozenset(ghosts)
