"""What is in memory of every space at all times, and of the shard that it shares with others."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic

from concord_search.adapters.qdrant.keys import SpaceKey
from concord_search.adapters.qdrant.shard import S
from concord_search.adapters.qdrant.tenant import WATERMARK, Tenant
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
    `leavers` are the tenants that were removed since a copy was begun.
    """

    path: Path
    number: int
    model: EmbeddingModel
    shard: S
    parts: "dict[int, Part[S]]" = field(default_factory=dict)
    removals: int = 0
    clean: int = 0
    leavers: set[int] = field(default_factory=set)
    unflushed: int = 0

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
        return Tenant(partition.shard, self.number, alone=len(partition.parts) == 1)

    def id_of(self, item: str) -> str:
        """The id behind the index's name of an item."""
        return SpaceKey(self.secret).id_of(item) if SpaceKey.hides(item) else item

    def write(self, mark: Watermark) -> None:
        """Writes how far it has followed."""
        self.tenant.upsert([(WATERMARK, {}, mark.payload())])
        self.mark = mark

    def read(self) -> None:
        """Reads how far it has followed."""
        self.mark = Watermark.of(self.tenant.payload_of(WATERMARK))

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
