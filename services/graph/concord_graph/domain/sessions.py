"""Sessions that callers name, and the memories that were read together in them (M7)."""

from __future__ import annotations

from dataclasses import dataclass

MOST_CO_READS = 100
"""Memories of a session that count as read together: those read last."""

CO_READ_MICROSECONDS = 180 * 86_400_000_000
"""How long two memories count as read together (µs): six half-lives of search's signal."""


@dataclass(frozen=True, slots=True)
class Session:
    """A session's times (µs): its first use since it last began, its last use, and its end, which
    is 0 while the session goes on."""

    id: str
    start_time: int
    last_use_time: int
    end_time: int = 0


@dataclass(frozen=True, slots=True)
class SessionRead:
    """The time (µs) of a session's last read of a memory; at most `MOST_CO_READS` a session."""

    session_id: str
    memory_id: str
    time: int


@dataclass(frozen=True, slots=True)
class Restatement:
    """The time (µs) at which a session first stated a memory that existed before."""

    memory_id: str
    session_id: str
    time: int


SessionRow = Session | SessionRead | Restatement
"""The rows that are stored of sessions; those of one kind are sorted by their ids."""


@dataclass(frozen=True, slots=True)
class Restated:
    """A memory and the sorted ids of the queried sessions that stated it."""

    memory_id: str
    session_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CoRead:
    """Two memories that `session_count` sessions both read, last at `last_time` (µs).

    The queried session read `memory_id`.
    """

    memory_id: str
    other_id: str
    session_count: int
    last_time: int


def key_of(row: SessionRow) -> tuple[str, str]:
    """Return the ids that identify a row among the rows of its kind."""
    match row:
        case Session():
            return row.id, ""
        case SessionRead():
            return row.session_id, row.memory_id
        case Restatement():
            return row.memory_id, row.session_id


KEPT_DAYS = 90


@dataclass(frozen=True, slots=True)
class Recall:
    """An answer: the returned memories in their order, without erased ones. `time` in µs."""

    query_id: str
    principal: str
    session_id: str
    memory_ids: tuple[str, ...]
    time: int = 0


@dataclass(frozen=True, slots=True)
class RecallFilter:
    """Which recalls a list shows; every non-empty part must match."""

    query_id: str = ""
    memory_id: str = ""
    principal: str = ""
    session_id: str = ""
