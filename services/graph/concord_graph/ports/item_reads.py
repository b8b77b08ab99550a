"""The reads of items, and of what supersedes what, in a consistent view of one space."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from concord_graph.domain.drafts import EndRef
from concord_graph.domain.items import (
    FOREVER,
    DeclaredRelation,
    Edge,
    Instant,
    ItemKind,
    Memory,
    Node,
    Record,
)
from concord_graph.domain.spelling import NameKind
from concord_graph.domain.succession import Standing
from concord_graph.ports.results import Ref
from concord_graph.ports.values import (
    Place,
    State,
    ValuesAround,
    View,
)


class ItemReads(Protocol):
    """Items by id, name, key or digest, and the edges at them."""

    async def node(self, node_id: str) -> Node | None:
        """Return a node by id."""
        ...

    async def live_node_named(self, name: str) -> Node | None:
        """Return the live node of that exact (NFC) name."""
        ...

    async def edge(self, edge_id: str) -> Edge | None:
        """Return an edge by id."""
        ...

    async def live_edges_of_triple(
        self, source_id: str, relation: str, target_id: str, record: int = FOREVER
    ) -> Sequence[Edge]:
        """Return the live edges of a triple by effective valid_from."""
        ...

    async def memory(self, memory_id: str) -> Memory | None:
        """Return a memory by id."""
        ...

    async def memory_by_external_id(self, external_id: str, record: int = FOREVER) -> Memory | None:
        """Return the live memory with an importer's key, else the latest forgotten one."""
        ...

    async def live_memories_with_digest(self, content_digest: str) -> Sequence[Memory]:
        """Return the live memories with equal content, kind and sources, oldest first."""
        ...

    async def revision(self, ref: Ref) -> Record | None:
        """Return an item exactly as that revision had it."""
        ...

    async def kinds(self, ids: Collection[str], record: int = FOREVER) -> Mapping[str, ItemKind]:
        """Return the kind of item that each id names; ids that name none are absent."""
        ...

    async def find(self, end: EndRef, at: Instant) -> str | None:
        """Return the id of the live node, memory or edge that an end names, as known then."""
        ...

    async def revisions(self, refs: Sequence[Ref]) -> Sequence[Record | None]:
        """Return these very revisions, in the order asked, with their record intervals."""
        ...

    async def edges_at(self, item_id: str, *, live: bool) -> Sequence[Edge]:
        """Return the edges that start or end at the item, by id: the live ones, or all."""
        ...

    async def content_edges_from(self, memory_id: str) -> Sequence[Edge]:
        """Return the live edges that the memory's own content made."""
        ...

    async def is_named(self, item_id: str) -> bool:
        """Return whether an edge that is not erased, maybe a deleted one, starts or ends there."""
        ...

    async def names_near(self, kind: NameKind, asked: str, most: int) -> Sequence[str]:
        """Return live names that may be spelt like `asked`; the caller judges.

        A bounded number: `most` on either side of it among the folded names, and among the reversed
        ones (`domain.spelling`), or as good a choice by another index.
        """
        ...


class SupersessionReads(Protocol):
    """Relations, succession, lineage and facts, and views of items with all of these."""

    async def relation(self, name: str, record: int = FOREVER) -> DeclaredRelation | None:
        """Return a relation's declaration; None without one."""
        ...

    async def list_relations(
        self, at: Instant, after: str, limit: int
    ) -> Sequence[DeclaredRelation]:
        """Return the declared relations with a name greater than `after`, by name."""
        ...

    async def functional(self, record: int = FOREVER) -> Collection[str]:
        """Return the names of the relations that are declared functional."""
        ...

    async def values_around(
        self, places: Sequence[Place], most: int, record: int = FOREVER
    ) -> Sequence[ValuesAround]:
        """Return, for each place, up to `most` live values of its row before, at and after it, in
        the order of the places: the nearest first. Values that never held are in no row."""
        ...

    async def exits_of(self, source_ids: Collection[str], record: int = FOREVER) -> Collection[str]:
        """Return the ids of the edges whose `Standing.exit_of` is one of these."""
        ...

    async def standings(
        self, ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, Standing]:
        """Return how edges and memories stand; absent is one whose standing is `UNTOUCHED`."""
        ...

    async def items(
        self, ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, Edge | Memory]:
        """Return edges and memories, deleted ones too; unknown ids are absent."""
        ...

    async def rivals(self, relation: str, limit: int) -> Sequence[str]:
        """Return up to `limit` ids of live edges of a relation whose source has another target at
        another instant: their supersession depends on whether the relation is functional."""
        ...

    async def facts_of(self, memory_id: str, record: int = FOREVER) -> Sequence[str]:
        """Return the ids of the edges of a memory's facts, in the facts' order; also of a forgotten
        memory, whose facts do not hold."""
        ...

    async def facts_of_each(
        self, memory_ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, Sequence[str]]:
        """Return `facts_of` many memories; one without facts is absent."""
        ...

    async def stating(
        self, edge_ids: Collection[str], after: str = "", limit: int | None = None
    ) -> Sequence[tuple[str, int]]:
        """Return live memories that state any of the edges, with an id greater than `after`, by id:
        (id, place of the fact among its facts)."""
        ...

    async def ever_facts_of(self, memory_id: str) -> Sequence[str]:
        """Return the ids of the edges that a memory ever stated as facts, each once."""
        ...

    async def ever_stating(self, edge_id: str) -> Sequence[str]:
        """Return the ids of the memories that ever stated an edge, each once."""
        ...

    async def views(self, kind: ItemKind, ids: Collection[str], at: Instant) -> Mapping[str, View]:
        """Return items (deleted memories too) with their supersession; unknown ids are absent.

        `supersession.head_ids` is the item itself when it is live and not superseded then,
        else empty: `usecases.shown` follows chains.
        """
        ...

    async def amendments(self, ids: Collection[str], record: int = FOREVER) -> Sequence[Edge]:
        """Return the live AMENDS edges that end at the ids, void ones too."""
        ...

    async def lineage_edges(self, ids: Collection[str], record: int = FOREVER) -> Sequence[Edge]:
        """Return the live lineage edges that start or end at the ids, void ones too."""
        ...

    async def is_pinned(self, item_id: str, record: int = FOREVER) -> bool:
        """Return whether a consent depends on the item, as known at `record` (µs).

        A live constitutive edge starts or ends at it, or live lineage that was made with consent
        starts at it or at an edge of which it is an end.
        """
        ...

    async def frozen_by_lineage(self) -> frozenset[str]:
        """Return the ids of the items at which live lineage that was made with consent ends, and of
        the ends of edges among them. Both principals signed each lineage: there are few."""
        ...

    async def states(
        self, refs: Sequence[tuple[str, int]], valid: int, record: int = FOREVER
    ) -> Sequence[State | None]:
        """Return memories as they were after a change (seq), judged at `valid` (µs).

        For seq 0, as they were known at `record`, with the lineage known then.
        """
        ...
