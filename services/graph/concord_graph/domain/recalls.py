"""The recall log: answers of search with their reader and time, by ids alone (W8)."""

from __future__ import annotations

from dataclasses import dataclass

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
