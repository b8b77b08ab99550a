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
class SessionRead:
    """When (µs) a session read a memory last; one of those that count as read together."""

    session_id: str
    memory_id: str
    time: int


@dataclass(frozen=True, slots=True)
class Restatement:
    """When (µs) a session first stated a memory that was there already."""

    memory_id: str
    session_id: str
    time: int


SessionRow = Session | SessionRead | Restatement
"""What is kept of sessions. Rows of a kind are sorted by their ids."""


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


def key_of(row: SessionRow) -> tuple[str, str]:
    """Return the ids that name a row among those of its kind."""
    match row:
        case Session():
            return row.id, ""
        case SessionRead():
            return row.session_id, row.memory_id
        case Restatement():
            return row.memory_id, row.session_id
