"""Erasure: the form of an item whose content was erased, and the receipt (M4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass, replace
from typing import Any

from concord_graph.domain.fields import erased_fields
from concord_graph.domain.items import Edge, End, Entry, ItemKind, Memory, Node

ERASED_RELATION = "ERASED"
_BLANK_BODIES: Mapping[ItemKind, Mapping[str, Any]] = {
    ItemKind.EPISODE: {"query": "", "reward": 0.0, "reflection": "", "memory_ids": []},
    ItemKind.WORKING_MEMORY: {"content": ""},
}
STORE = "graph"
"""The confirmer that is the store itself."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A confirmer's statement that it holds no more of the item; `time` (µs) is None until then."""

    confirmer: str
    time: int | None = None


@dataclass(frozen=True, slots=True)
class Erasure:
    """The receipt of an erasure at `time` (µs). The salt of `digest` was erased with the item."""

    id: str
    memory_id: str
    time: int
    principal: str
    reason: str
    digest: str
    edge_count: int
    confirmations: tuple[Confirmation, ...] = ()

    @property
    def complete_time(self) -> int | None:
        """The time of the last confirmation (µs); None while one is missing."""
        times = [each.time for each in self.confirmations]
        return None if None in times else max(time for time in times if time is not None)


def erased_memory(memory: Memory, time: int) -> Memory:
    """Return a memory's tombstone: ids, kind, edge type and the times that supersession needs."""
    return replace(memory, **_defaults(Memory), content="", deleted=True, erase_time=time)


def erased_node(node: Node, time: int) -> Node:
    """Return the tombstone of a node that only facts made: it has no name."""
    return replace(node, **_defaults(Node), name="", deleted=True, erase_time=time)


def erased_edge(edge: Edge, time: int, ghosts: Collection[str]) -> Edge:
    """Return an edge of an erased memory in its erased form.

    Lineage between items stays, without its context. Every other edge is deleted and loses its
    relation. An edge at one of `ghosts`, which only the memory named, also loses the ghost's id,
    since that id may be a word of the memory.
    """
    named = edge.target.id in ghosts
    return replace(
        edge,
        **_defaults(Edge),
        relation=edge.relation if edge.is_lineage else ERASED_RELATION,
        target=End(edge.id, ItemKind.MEMORY) if named else edge.target,
        deleted=edge.deleted or named or not edge.is_lineage,
        erase_time=time,
    )


def erased_entry(entry: Entry, time: int) -> Entry:
    """Return an entry in its erased form: a conflict without its review's words, a claim without
    its request, an episode or an entry of working memory as one that is gone and says nothing."""
    blank = replace(entry, **_defaults(Entry), erase_time=time)
    if entry.kind in (ItemKind.CONFLICT, ItemKind.CLAIM):
        return blank
    return replace(blank, body=_BLANK_BODIES[entry.kind], deleted=True)


def _defaults(kind: type) -> dict[str, Any]:
    return {each.name: each.default for each in erased_fields(kind) if each.default is not MISSING}
