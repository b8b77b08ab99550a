"""Reading a session's turns in their order (M2)."""

from __future__ import annotations

from concord_graph.domain.items import Instant, ItemKind
from concord_graph.ports import Reads
from concord_graph.usecases.read.shown import Shown, show, with_heads

Place = tuple[int, int, str]
"""A turn's place in its dialogue: its order, its create time (µs), its id."""


async def list_turns(
    tx: Reads, session_id: str, at: Instant, *, now: int, after: Place | None, limit: int
) -> tuple[list[tuple[Place, Shown]], int]:
    """Return a session's live turns by order, as of `now` (µs), and the instant that was asked
    about."""
    places = await tx.turns(session_id, at, after, limit)
    views = await tx.views(ItemKind.MEMORY, [turn_id for _, _, turn_id in places], at)
    ordered = await with_heads(tx, [views[turn_id] for _, _, turn_id in places], at)
    shown = [show(view, now) for view in ordered]
    return list(zip(places, shown, strict=True)), at.valid
