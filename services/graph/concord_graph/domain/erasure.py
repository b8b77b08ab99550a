"""Erasing: what is left of an item when what it said is taken out, and the receipt for it (M4)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import MISSING, dataclass, replace
from typing import Any

from concord_graph.domain.fields import erased_fields
from concord_graph.domain.items import Edge, End, Entry, ItemKind, Memory, Node

ERASED_RELATION = "ERASED"
STORE = "graph"
"""The confirmer that is the store itself."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """Whether a confirmer holds nothing more; `time` (µs) is None until it says so."""

    confirmer: str
    time: int | None = None


@dataclass(frozen=True, slots=True)
class Erasure:
    """The receipt. `digest` is salted with what was erased too; `time` in µs."""

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
        """When the last confirmer confirmed (µs); None while one has not."""
        times = [each.time for each in self.confirmations]
        return None if None in times else max(time for time in times if time is not None)


def erased_memory(memory: Memory, time: int) -> Memory:
    """Return what is left: ids, kind, edge type, and times, on which others' supersession rests."""
    return replace(memory, **_defaults(Memory), content="", deleted=True, erase_time=time)


def erased_node(node: Node, time: int) -> Node:
    """Return what is left of a node that was only there for facts: no name."""
    return replace(node, **_defaults(Node), name="", deleted=True, erase_time=time)


def erased_edge(edge: Edge, time: int, ghosts: Collection[str]) -> Edge:
    """Return what is left of an edge at an erased memory.

    Lineage between items stays, bare of its context. Every other edge is deleted and loses its
    relation too; one at a ghost that only the memory named, whose id may be a word of it, also the
    ghost's id.
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
    """Return what is left of a conflict when a side of it is erased: no words of its review."""
    return replace(entry, **_defaults(Entry), erase_time=time)


def _defaults(kind: type) -> dict[str, Any]:
    return {each.name: each.default for each in erased_fields(kind) if each.default is not MISSING}
