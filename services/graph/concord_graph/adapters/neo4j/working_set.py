"""A write's cache: the store's answers and the write's own puts, so that the store is asked once.

The transaction holds the space's lock, so nobody else changes the space. An answer stays true but
for this transaction's own puts, which are laid over it here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from concord_graph.domain.digests import content_digest
from concord_graph.domain.items import LINEAGE_WORDS, Edge, Item, Memory, Node, Origin
from concord_graph.domain.succession import UNTOUCHED, Standing

ItemT = TypeVar("ItemT", Node, Edge, Memory)
Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Around:
    """The store's answer for an id: its item and standing, and the live edges writes ask for."""

    item: Item | None = None
    held: bool = False
    lineage: tuple[Edge, ...] = ()
    from_content: tuple[Edge, ...] = ()
    standing: Standing = UNTOUCHED


_NOTHING = Around()


@dataclass(slots=True)
class WorkingSet:
    """Answers by key, as the store gave them, and the newest put of each item."""

    around: dict[str, Around] = field(default_factory=dict)
    named: dict[str, Node | None] = field(default_factory=dict)
    external: dict[str, Memory | None] = field(default_factory=dict)
    saying: dict[str, tuple[Memory, ...]] = field(default_factory=dict)
    triples: dict[Triple, tuple[Edge, ...]] = field(default_factory=dict)
    fresh: set[str] = field(default_factory=set)
    """Ids that this transaction generated: the store has no item with them."""
    is_unused: bool = False
    """Whether the space was empty when the transaction began, so that all ids are new."""
    stood: dict[str, Standing] = field(default_factory=dict)
    """How items stand that this transaction settled."""
    _put: dict[str, Item] = field(default_factory=dict)
    _put_under: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def note(self, item: Item) -> None:
        """Record the newest revision of an item that was put."""
        self._put[item.id] = item
        for key in _keys(item):
            self._put_under.setdefault(key, []).append(item.id)

    def is_new(self, item_id: str) -> bool:
        """Return whether the store cannot have an item with this id."""
        return self.is_unused or item_id in self.fresh

    def was_put(self, item_id: str) -> bool:
        """Return whether this transaction has put the item."""
        return item_id in self._put

    def unknown(self, ids: Iterable[str]) -> list[str]:
        """Return the ids that may be in the store and were not asked for yet."""
        return [i for i in dict.fromkeys(ids) if i not in self.around and not self.is_new(i)]

    def of(self, item_id: str) -> Around:
        """Return the store's answer for an id; an empty one for a new id."""
        return self.around.get(item_id, _NOTHING)

    def item(self, item_id: str) -> Item | None:
        """Return the newest revision of an item."""
        return self._put.get(item_id) or self.of(item_id).item

    def standing(self, item_id: str) -> Standing:
        """Return how an item stands."""
        return self.stood.get(item_id, self.of(item_id).standing)

    def node_named(self, name: str) -> Node | None:
        """Return the live node of a name."""
        found = self._laid_over([self.named[name]], [("name", name)], Node)
        return next((node for node in found if node.name == name and not node.deleted), None)

    def memory_by_external_id(self, external_id: str) -> Memory | None:
        found = self._laid_over([self.external[external_id]], [("external", external_id)], Memory)
        return next((memory for memory in found if memory.external_id == external_id), None)

    def memories_saying(self, digest: str) -> list[Memory]:
        """Return the live memories of a content digest, oldest first."""
        found = self._laid_over(self.saying[digest], [("says", digest)], Memory)
        live = (m for m in found if content_digest(m) == digest and not m.deleted)
        return sorted(live, key=lambda memory: memory.create_time)

    def has_all_of(self, triple: Triple) -> bool:
        """Return whether the edges of a triple are known without asking the store.

        Only lineage may start at an id that has no item, such as a ghost's.
        """
        source_id, relation, target_id = triple
        if self.is_new(source_id) or self.is_new(target_id):
            return True
        source = self.around.get(source_id)
        return source is not None and (relation in LINEAGE_WORDS or source.item is None)

    def edges_of(self, triple: Triple) -> list[Edge]:
        """Return the live edges of a triple by effective valid_from."""
        source_id, relation, target_id = triple
        stored = self.triples.get(triple, self.of(source_id).lineage)
        live = (
            edge
            for edge in self._edges(stored, [source_id])
            if (edge.source.id, edge.relation, edge.target.id) == (source_id, relation, target_id)
        )
        return sorted(live, key=lambda edge: edge.effective_from)

    def lineage_at(self, ids: Collection[str]) -> list[Edge]:
        """Return the live lineage edges that start or end at the ids, by id."""
        stored = (edge for item_id in ids for edge in self.of(item_id).lineage)
        found = {edge.id: edge for edge in self._edges(stored, ids) if edge.is_lineage}
        return [found[edge_id] for edge_id in sorted(found)]

    def content_edges_from(self, memory_id: str) -> list[Edge]:
        found = self._edges(self.of(memory_id).from_content, [memory_id])
        return [e for e in found if e.origin == Origin.CONTENT and e.source.id == memory_id]

    def _edges(self, stored: Iterable[Edge], ends: Collection[str]) -> list[Edge]:
        """Return the live edges at the ends: the stored ones and this transaction's."""
        found = self._laid_over(stored, [("end", item_id) for item_id in ends], Edge)
        return [
            edge
            for edge in found
            if not edge.deleted and {edge.source.id, edge.target.id} & {*ends}
        ]

    def _laid_over(
        self,
        stored: Iterable[ItemT | None],
        keys: Iterable[tuple[str, str]],
        kind: type[ItemT],
    ) -> list[ItemT]:
        """Return the stored items that were not put since, and the items put under the keys."""
        kept = [item for item in stored if item is not None and not self.was_put(item.id)]
        put = dict.fromkeys(i for key in keys for i in self._put_under.get(key, ()))
        return kept + [item for i in put if isinstance(item := self._put[i], kind)]


def _keys(item: Item) -> list[tuple[str, str]]:
    """Return the keys that a put is found by; the caller checks its newest revision."""
    if isinstance(item, Edge):
        return [("end", item.source.id), ("end", item.target.id)]
    if isinstance(item, Node):
        return [("name", item.name)]
    external = [("external", item.external_id)] if item.external_id else []
    return [("says", content_digest(item)), *external]
