"""Turns of a dialogue, which are never reworded (M2)."""

from __future__ import annotations

from concord_graph.domain.errors import TurnAppendOnly
from concord_graph.domain.items import Memory, MemoryKind


def said(memory: Memory) -> tuple[object, ...]:
    """Return the fixed part of a turn: words, speaker, role, session and time.

    Annotations, such as concepts, tags, importance and trust, may change.
    """
    by = tuple((s.speaker, s.file, s.turn_ids, s.memory_ids) for s in memory.sources)
    spoken = (memory.memory_kind, memory.content, by, memory.role)
    return (*spoken, memory.session_id, memory.valid_from)


def check_turn_unchanged(before: Memory, after: Memory) -> None:
    """Check that a change leaves a turn as it was said.

    Raises:
        TurnAppendOnly: it rewords a turn, makes one of another memory, or the other way round.
    """
    if MemoryKind.TURN not in {before.memory_kind, after.memory_kind}:
        return
    if said(before) != said(after):
        raise TurnAppendOnly(before.id)
