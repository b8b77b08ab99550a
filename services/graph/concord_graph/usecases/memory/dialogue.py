"""Reading a session's turns in their order (M2)."""

from __future__ import annotations

from dataclasses import dataclass

from concord_graph.domain.items import Instant, ItemKind
from concord_graph.ports import Reads
from concord_graph.usecases.read.shown import Shown, show, with_heads

Place = tuple[int, int, str]
"""A turn's place in its dialogue: its order, its create time (µs), its id."""


@dataclass(frozen=True, slots=True)
class TurnPage:
    """A page of turns; the next page begins after `last`, which is None on the last page."""

    turns: tuple[Shown, ...]
    last: Place | None
    valid: int


async def list_turns(
    tx: Reads, session_id: str, at: Instant, *, now: int, after: Place | None, limit: int
) -> TurnPage:
    """Return a page of a session's live turns by order, as of `now` (µs)."""
    places = await tx.turns(session_id, at, after, limit + 1)
    page = places[:limit]
    views = await tx.views(ItemKind.MEMORY, [turn_id for _, _, turn_id in page], at)
    ordered = [views[turn_id] for _, _, turn_id in page]
    shown = tuple(show(view, now) for view in await with_heads(tx, ordered, at))
    return TurnPage(shown, page[-1] if len(places) > limit else None, at.valid)
