"""What is in memory of every space at all times, and of the shard that it shares with others."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic

from concord_search.adapters.qdrant.keys import SpaceKey
from concord_search.adapters.qdrant.shard import Points, S
from concord_search.adapters.qdrant.tenant import WATERMARK, Tenant, number_of
from concord_search.adapters.qdrant.watermark import Watermark
from concord_search.domain.memory import Parked
from concord_search.ports.embedder import EmbeddingModel
from concord_search.ports.index import IndexState

FLUSH_EVERY = 2_000
"""Points between two flushes of a shard: opening after a crash replays at most so many."""


@dataclass(slots=True, eq=False)
class Partition(Generic[S]):
    """Some spaces' versions of one model, in one shard that is replaced when it is made anew.

    `removals` counts what removed points of it; the shard has no bytes of the first `clean` ones.
    `leavers` are the tenants that were removed since a copy was begun, and `erased` the items of
    each whose erasure waits for it. `shared`: other processes read it, and may have written it: a
    late write of theirs could still reach a shard that is `inherited`, never one made since.
    """

    path: Path
    number: int
    model: EmbeddingModel
    shard: S
    parts: "dict[int, Part[S]]" = field(default_factory=dict)
    removals: int = 0
    clean: int = 0
    leavers: set[int] = field(default_factory=set)
    erased: Mapping[int, Collection[str]] = field(default_factory=dict)
    unflushed: int = 0
    shared: bool = False
    inherited: bool = False
    leads: bool = True

    def lasting(self, points: Points) -> Points:
        """The points among some that a copy takes: none of an erased item."""
        return [
            each
            for each in points
            if each[2].get("item") not in self.erased.get(number_of(each[0]), ())
        ]

    def wrote(self, points: int) -> None:
        """Flushes the shard now and then."""
        self.unflushed += points
        if self.unflushed >= FLUSH_EVERY:
            self.shard.flush()
            self.unflushed = 0


@dataclass(slots=True, eq=False)
class Part(Generic[S]):
    """One version of a space, of which there may be many thousands.

    `removal`: that of the partition's `removals` which was the last of its points.
    """

    name: str
    secret: bytes
    number: int
    partition: Partition[S]
    mark: Watermark
    removal: int = 0

    @property
    def model(self) -> EmbeddingModel:
        """The model of its vectors."""
        return self.partition.model

    @property
    def tenant(self) -> Tenant:
        """Its points, in the current shard."""
        partition = self.partition
        alone = partition.leads and len(partition.parts) == 1
        write = self.mark.writes + 1 if partition.shared else 0
        return Tenant(partition.shard, self.number, alone, write)

    def id_of(self, item: str) -> str:
        """The id behind the index's name of an item."""
        return SpaceKey(self.secret).id_of(item) if SpaceKey.hides(item) else item

    def write(self, mark: Watermark) -> None:
        """Writes how far it has followed."""
        mark = replace(mark, writes=self.mark.writes + 1)
        self.tenant.upsert([(WATERMARK, {}, mark.payload())])
        self.mark = mark

    def stored(self) -> Watermark | None:
        """How far it has followed, as its shard says it; None if it is gone."""
        found = self.tenant.payload_of(WATERMARK)
        return Watermark.of(found) if found else None

    def read(self) -> None:
        """Reads how far it has followed."""
        self.mark = self.stored() or Watermark()

    def state(self) -> IndexState:
        """How far it has followed, and its parked changes."""
        mark = self.mark
        return IndexState(
            epoch=mark.epoch,
            applied_seq=mark.applied,
            latest=mark.latest,
            memories=mark.memories,
            model=self.model,
            parked_count=mark.parked_count,
            parked=tuple(Parked(seq, self.id_of(item), why) for seq, item, why in mark.parked),
            unconfirmed=[self.id_of(item) for item in mark.unconfirmed],
        )
