"""Sessions that callers name, and the memories that were read together in them (M7)."""

from __future__ import annotations

from dataclasses import dataclass

MOST_CO_READS = 100
"""Memories of a session that count as read together: those read last."""

CO_READ_MICROSECONDS = 180 * 86_400_000_000
"""How long they do (µs): six half-lives of the signal that search makes of them."""


@dataclass(frozen=True, slots=True)
class Session:
    """A session's record (µs): its first use since it last began, its last use, and when it ended;
    0 while it goes on."""

    id: str
    start_time: int
    last_use_time: int
    end_time: int = 0


@dataclass(frozen=True, slots=True)
class Restated:
    """A memory, and which of the sessions that are asked about stated it, sorted."""

    memory_id: str
    session_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CoRead:
    """Two memories that `session_count` sessions read both, the last of them at `last_time` (µs).

    The session that is asked about read `memory_id`.
    """

    memory_id: str
    other_id: str
    session_count: int
    last_time: int
