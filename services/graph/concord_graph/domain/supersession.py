"""Supersession: whether, when and by which items an item is replaced (T2)."""

from __future__ import annotations

from typing import NamedTuple

from concord_graph.domain.items import FOREVER


class Supersession(NamedTuple):
    """An item's place among its successors at one instant.

    `superseded_from`: the earliest valid_from of a live successor (µs), FOREVER without one; before
    it, the item is not superseded. `orphaned`: its lineage lost an end (V8). `stated_until`:
    FOREVER when open. `amendment_ids`: the live items that amend it and hold at the instant.
    """

    effective_from: int
    stated_until: int = FOREVER
    superseded_from: int = FOREVER
    head_ids: tuple[str, ...] = ()
    predecessor_count: int = 0
    orphaned: bool = False
    amendment_ids: tuple[str, ...] = ()

    def is_superseded(self, valid: int) -> bool:
        """Return whether a successor's valid time has begun at `valid` (µs)."""
        return self.superseded_from <= valid

    @property
    def effective_until(self) -> int:
        """min(stated, max(own valid_from, earliest successor's valid_from)); FOREVER when open."""
        if self.superseded_from == FOREVER:
            return self.stated_until
        return min(self.stated_until, max(self.effective_from, self.superseded_from))

    def is_current(self, valid: int) -> bool:
        """Return whether `valid` (µs) is in the stated interval and no successor has begun."""
        begun = self.effective_from <= valid
        return begun and valid < self.stated_until and not self.is_superseded(valid)
