"""The places of candidates in their conversations, from one space's columns alone."""

from collections.abc import Callable

import numpy as np

from concord_search.adapters.qdrant.columns import Columns
from concord_search.adapters.qdrant.payload import ASKS, SAYS_WHEN
from concord_search.domain.candidates import Bools, Floats, Ints, Neighbour, Talk
from concord_search.domain.instants import Micros

Fused = Callable[[Ints], Floats]
"""The fused score of each row; 0 for one that no branch found, and for -1."""


def talk(
    columns: Columns, rows: Ints, terms: Ints, holds: Bools, *, fused: Fused, known_at: Micros
) -> Talk:
    """The places of rows in their sessions, without rows recorded after `known_at`.

    `holds`: which of the query's `terms` each row holds, shape (rows, terms).
    """
    before, after = (_beside(columns, rows, side, known_at) for side in ("before", "after"))
    beside = columns.holds(np.concatenate([before, after]), terms)
    speech = columns["speech"][rows]
    return Talk(
        kind=columns["talk"][rows],
        session=columns["session"][rows],
        speaker_named=(columns["speaker"][rows][:, np.newaxis] == terms).any(axis=1),
        asks=(speech & ASKS) > 0,
        says_when=(speech & SAYS_WHEN) > 0,
        window=holds | beside[: len(rows)] | beside[len(rows) :],
        before=_neighbour(columns, before, fused),
        after=_neighbour(columns, after, fused),
    )


def _beside(columns: Columns, rows: Ints, side: str, known_at: Micros) -> Ints:
    linked = columns.beside(rows, side)
    return np.where(columns["created"][linked] <= known_at, linked, -1)


def _neighbour(columns: Columns, rows: Ints, fused: Fused) -> Neighbour:
    asks = (rows >= 0) & ((columns["speech"][rows] & ASKS) > 0)
    items = [columns.items[row] if row >= 0 else "" for row in rows.tolist()]
    return Neighbour(fused(rows), asks, items)
