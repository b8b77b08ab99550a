"""How far a shard has followed: a point of it without vectors, written after the changes."""

from dataclasses import dataclass, field, fields, replace
from typing import Any
from uuid import UUID

from concord_search.adapters.qdrant.keys import SpaceKey
from concord_search.domain.instants import Micros
from concord_search.ports.index import Batch

WATERMARK = UUID(int=0)
"""The point that holds the shard's watermark; the only one that is no row."""

KEPT_PARKED = 1_000
"""Parked changes that are stored by name and tried again; further ones are only counted."""


@dataclass(frozen=True, slots=True)
class Watermark:
    """The payload of the point.

    `parked`: number, item and reason of each change. `traces`: points were deleted whose bytes the
    engine's files may still hold.
    """

    epoch: str = ""
    applied: int = 0
    latest: Micros = 0
    parked: list[list[Any]] = field(default_factory=list)
    parked_count: int = 0
    unconfirmed: list[str] = field(default_factory=list)
    traces: bool = False

    def payload(self) -> dict[str, Any]:
        """The point's payload; its lists are the watermark's own, which nobody changes."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def after(self, batch: Batch, key: SpaceKey) -> "Watermark":
        """The watermark once a batch is written."""
        known = {seq for seq, _, _ in self.parked}
        new = [
            [each.seq, key.item(each.item_id), each.reason]
            for each in batch.parked
            if each.seq not in known
        ]
        left = [each for each in self.parked if each[0] not in batch.settled]
        settled = len(self.parked) - len(left)
        to_confirm = map(key.item, batch.to_confirm)
        return replace(
            self,
            applied=max(self.applied, batch.applied_seq),
            latest=max(self.latest, batch.latest),
            parked=(left + new)[:KEPT_PARKED],
            parked_count=self.parked_count + len(new) - settled,
            unconfirmed=list(dict.fromkeys((*self.unconfirmed, *to_confirm))),
        )
