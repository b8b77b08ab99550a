"""Retracting the facts of an erased memory: only what other memories state stays (M4)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace

from concord_graph.domain.erasure import erased_edge, erased_node
from concord_graph.domain.facts import Support
from concord_graph.domain.items import Edge, End, Memory, Revision
from concord_graph.ports import Reads, Ref
from concord_graph.usecases.memory.facts import (
    follows_facts,
    move_facts,
    settle,
    stated_content,
    with_content,
)
from concord_graph.usecases.write.writer import Writer

_A_PAGE = 100

Words = frozenset[tuple[str, str, str]]
"""Of each property of a fact: the relation, the property's key and its JSON text."""


async def words_of(tx: Reads, memory: Memory) -> Words:
    """Return the properties of the facts of all versions of a memory."""
    found = set()
    async for version in _versions(tx, memory):
        for fact in version.facts:
            texts = {
                key: json.dumps(value, sort_keys=True) for key, value in fact.properties.items()
            }
            found |= {(fact.relation, key, text) for key, text in texts.items()}
    return frozenset(found)


class FactRetraction:
    """Retracts the facts of an erased memory; `words`: its `words_of` from before the erasure."""

    def __init__(self, writer: Writer, memory: Memory, words: Words) -> None:
        self._writer = writer
        self._memory = memory
        self._words = words
        self.edge_count = 0

    async def run(self) -> None:
        """Remove the memory's facts; erase the edges and nodes that only they created.

        An edge that other memories state stays, with their properties. If one of its revisions may
        hold properties that only the erased memory stated, it is erased and created anew.
        """
        tx = self._writer.tx
        ids = await tx.ever_facts_of(self._memory.id)
        if await tx.facts_of(self._memory.id):
            time = self._memory.revision.record_from
            await self._writer.put_facts(Support(self._memory.id, (), time))
        gone: list[Edge] = []
        for edge in [await tx.edge(edge_id) for edge_id in ids]:
            if edge is None or edge.erase_time or not await follows_facts(self._writer, edge):
                continue
            stated, more = await self._others_state(edge)
            if stated and not more:
                await settle(self._writer, edge.id)
                continue
            await (self._replace(edge) if stated and not edge.deleted else self._erase(edge))
            gone.append(edge)
        self.edge_count = len(gone)
        for node_id in sorted({end.id for edge in gone for end in (edge.source, edge.target)}):
            await self._erase_node(node_id)

    async def _others(self, edge: Edge) -> AsyncIterator[Memory]:
        """Yield the unerased memories, forgotten ones too, that ever stated an edge."""
        for memory_id in await self._writer.tx.ever_stating(edge.id):
            memory = await self._writer.tx.memory(memory_id)
            if memory is not None and not memory.erase_time:
                yield memory

    async def _others_state(self, edge: Edge) -> tuple[bool, bool]:
        """Return whether others state an edge, and whether they lack a property of the erased."""
        own = {each for each in self._words if each[0] == edge.relation}
        stated = False
        async for other in self._others(edge):
            stated = True
            if not own:
                break
            own -= await words_of(self._writer.tx, other)
        return stated, bool(own)

    async def _erase(self, edge: Edge) -> None:
        gone = erased_edge(edge, self._memory.erase_time, ())
        await self._writer.put(edge, gone, follows=True)

    async def _replace(self, edge: Edge) -> None:
        """Erase an edge; create it anew from other memories' facts, with the same lineage."""
        writer = self._writer
        content = await stated_content(writer.tx, edge)
        lineage = await writer.tx.lineage_edges([edge.id])
        await self._erase(edge)
        if content is None:
            return
        blank = replace(
            edge, id=writer.tx.new_id(), valid_from=edge.effective_from, revision=Revision()
        )
        other = await writer.put(None, with_content(blank, content), follows=True)
        await move_facts(writer, edge.id, other.id, other.revision.record_from)
        for link in lineage:
            ends = [
                End(other.id, end.kind) if end.id == edge.id else end
                for end in (link.source, link.target)
            ]
            again = replace(link, id=writer.tx.new_id(), source=ends[0], target=ends[1])
            again = replace(again, valid_from=link.effective_from, revision=Revision())
            await writer.put(None, again, follows=True)

    async def _erase_node(self, node_id: str) -> None:
        tx = self._writer.tx
        node = await tx.node(node_id)
        if node is None or not node.of_facts or node.erase_time or await tx.is_pinned(node_id):
            return
        if not await tx.is_named(node_id):
            gone = erased_node(node, self._memory.erase_time)
            await self._writer.put(node, gone, follows=True)


async def _versions(tx: Reads, memory: Memory) -> AsyncIterator[Memory]:
    for newest in range(memory.revision.number, 0, -_A_PAGE):
        numbers = range(newest, max(newest - _A_PAGE, 0), -1)
        for version in await tx.revisions([Ref(memory.kind, memory.id, each) for each in numbers]):
            if isinstance(version, Memory):
                yield version
