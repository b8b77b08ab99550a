"""Turns of a dialogue: what was said stays said (M2)."""

from __future__ import annotations

from concord_graph.domain.errors import TurnAppendOnly
from concord_graph.domain.items import Memory, MemoryKind


def said(memory: Memory) -> tuple[object, ...]:
    """Return what of a turn nobody rewords: words, speaker, role, session and time.

    What is thought about it, such as concepts, tags, importance and trust, is no part of that.
    """
    by = tuple((s.speaker, s.file, s.turn_ids, s.memory_ids) for s in memory.sources)
    spoken = (memory.memory_kind, memory.content, by, memory.role)
    return (*spoken, memory.session_id, memory.valid_from)


def check_still_said(before: Memory, after: Memory) -> None:
    """Refuse to reword a turn, and to make a turn of another memory or the other way round.

    Raises:
        TurnAppendOnly: the change does so.
    """
    if MemoryKind.TURN not in {before.memory_kind, after.memory_kind}:
        return
    if said(before) != said(after):
        raise TurnAppendOnly(before.id)
