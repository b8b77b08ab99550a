"""How long it is remembered what a request did: the same for every store."""

from __future__ import annotations

from typing import Final

from concord_graph.domain.items import FOREVER
from concord_graph.ports import Author

_KEPT_MICROSECONDS: Final = 7 * 86_400_000_000
_DECISIONS: Final = "ApplyGovernedChange"


def counted_from(author: Author, now: int) -> int:
    """Return the time (µs) from which the age of a request's receipt counts.

    A decision's receipt never ages. Governance asks until it knows how the decision ended, however
    long it was away; without the receipt it would hear that the grant is used, and record that
    nothing was done.
    """
    return FOREVER if author.method == _DECISIONS else now


def forgotten_before(now: int) -> int:
    """Return the time (µs) before which receipts are over seven days old."""
    return now - _KEPT_MICROSECONDS
