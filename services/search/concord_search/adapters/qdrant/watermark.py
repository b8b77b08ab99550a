"""How far a space's version has followed: a point without vectors, written after the changes."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from sys import intern
from typing import Any

from concord_search.adapters.qdrant.keys import SpaceKey
from concord_search.adapters.qdrant.payload import MARK, Payload
from concord_search.domain.instants import Micros
from concord_search.ports.index import Batch

KEPT_PARKED = 1_000
"""Parked changes that are stored by name and tried again; further ones are only counted."""


@dataclass(frozen=True, slots=True)
class Watermark:
    """The payload of the point.

    `parked`: number, item and reason of each change. `memories`: how many the index holds, without
    the forgotten. `writes` counts the writes of the space, `removals` those that removed points.
    """

    epoch: str = ""
    applied: int = 0
    latest: Micros = 0
    memories: int = 0
    parked: Sequence[Sequence[Any]] = ()
    parked_count: int = 0
    unconfirmed: Sequence[str] = ()
    writes: int = 0
    removals: int = 0

    @classmethod
    def of(cls, found: Payload) -> "Watermark":
        """The watermark in a payload; with many spaces, what is equal in all is in memory once."""
        values: Payload = {each.name: found.get(each.name) or each.default for each in fields(cls)}
        return cls(**values | {"epoch": intern(values["epoch"])})

    def payload(self) -> Payload:
        """The point's payload."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        lists = {name: list(values[name]) for name in ("parked", "unconfirmed")}
        return values | lists | {MARK: 1}

    def after(self, batch: Batch, key: SpaceKey, memories: int) -> "Watermark":
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
            memories=memories,
            parked=(left + new)[:KEPT_PARKED],
            parked_count=self.parked_count + len(new) - settled,
            unconfirmed=tuple(dict.fromkeys((*self.unconfirmed, *to_confirm))),
            removals=self.removals + bool(batch.erased),
        )
