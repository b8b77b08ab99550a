"""What search itself must remember, and keeps in graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from concord_search.domain.calibration import Proposal
from concord_search.domain.feedback import Calibration
from concord_search.domain.instants import Micros


@dataclass(frozen=True, slots=True)
class CoRead:
    """A memory that a session read, and one that was read with it, in so many sessions; `last`."""

    memory_id: str
    other_id: str
    sessions: int
    last: Micros


@dataclass(frozen=True, slots=True)
class RankedQuery:
    """A query that feedback may name, the weight that ranked it, and whether a value came first."""

    id: str
    text: str
    weight: float
    constitutive_first: bool


@dataclass(frozen=True, slots=True)
class Recall:
    """Which memories an answer returned, in their order, to whom, and in which session, if any."""

    query_id: str
    principal: str
    session_id: str
    memory_ids: Sequence[str]


class Records(Protocol):
    """What search keeps in graph. Every method raises `GraphUnavailable` or `GraphRefused`."""

    async def triggers(self, space: str) -> Sequence[tuple[str, Sequence[str]]]:
        """The live memories that surface by triggers, with these, at most 10,000."""
        ...

    async def co_reads(self, space: str, session_id: str) -> Sequence[CoRead]:
        """What was read together with what a session read, at most 1,000 pairs."""
        ...

    async def put_query(self, space: str, query: RankedQuery) -> None:
        """Keeps a query for feedback, for 30 days."""
        ...

    async def add_recall(self, space: str, recall: Recall) -> None:
        """Keeps what an answer returned, in a space whose recall log is on; else does nothing."""
        ...

    async def vote(
        self, space: str, query_id: str, principal: str, helpful: bool | None, reason: str
    ) -> Calibration:
        """Keeps and counts a vote. Raises `FeedbackRefused`."""
        ...

    async def calibration(self, space: str) -> Calibration:
        """The weight with its evidence."""
        ...

    async def move(
        self, space: str, found: Calibration, principal: str, old: float, asked: Proposal
    ) -> bool:
        """Moves the weight; False where somebody voted or moved it meanwhile."""
        ...

    async def claim(
        self, space: str, session_id: str, memory_ids: Sequence[str], limit: int
    ) -> Sequence[str]:
        """Takes the first of at most 100 memories that a session was not suggested yet."""
        ...
