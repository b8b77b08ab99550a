"""Erasing: what is left of an item when what it said is taken out, and the receipt for it (M4)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from concord_graph.domain.items import Edge, End, Importance, ItemKind, Memory, Node

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
    return Memory(
        id=memory.id,
        content="",
        memory_kind=memory.memory_kind,
        session_id=memory.session_id,
        turn_order=memory.turn_order,
        edge_type=memory.edge_type,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        id_stated=memory.id_stated,
        create_time=memory.create_time,
        deleted=True,
        erase_time=time,
        revision=memory.revision,
    )


def erased_node(node: Node, time: int) -> Node:
    """Return what is left of a node that was only there for facts: no name."""
    return Node(
        id=node.id,
        name="",
        of_facts=node.of_facts,
        create_time=node.create_time,
        deleted=True,
        erase_time=time,
        revision=node.revision,
    )


def erased_edge(edge: Edge, time: int, ghosts: Collection[str]) -> Edge:
    """Return what is left of an edge at an erased memory.

    Lineage between items stays, bare of its context. Every other edge is deleted and loses its
    relation too; one at a ghost that only the memory named, whose id may be a word of it, also the
    ghost's id.
    """
    named = edge.target.id in ghosts
    return replace(
        edge,
        relation=edge.relation if edge.is_lineage else ERASED_RELATION,
        target=End(edge.id, ItemKind.MEMORY) if named else edge.target,
        weight=1.0,
        properties={},
        importance=Importance.UNSET,
        deleted=edge.deleted or named or not edge.is_lineage,
        erase_time=time,
    )
