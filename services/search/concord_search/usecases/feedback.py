"""Takes votes on integrative searches, and calibrates the constitutive weight by them (S7)."""

from dataclasses import dataclass
from enum import Enum, auto

from concord_search.domain import calibration
from concord_search.domain.calibration import Proposal
from concord_search.domain.feedback import Calibration
from concord_search.ports.records import Records

AUTOMATIC = "search"
"""The principal of moves that nobody asked for."""


class Action(Enum):
    """What to do with the weight."""

    DRY_RUN = auto()
    APPLY = auto()
    REVERT = auto()


@dataclass(frozen=True, slots=True)
class Recalibrated:
    """The proposed weight with its evidence, and whether the weight was moved to it."""

    old: float
    new: float
    evidence: str
    moved: bool


class Feedback:
    """The use cases. `start`: the weight of a space whose weight was never moved."""

    def __init__(self, records: Records, start: float) -> None:
        self._records = records
        self._start = start

    async def weight(self, space: str) -> float:
        """The constitutive weight in force."""
        return self._in_force(await self._records.calibration(space))

    async def calibration(self, space: str) -> tuple[float, Calibration]:
        """The weight in force, with its votes and moves."""
        found = await self._records.calibration(space)
        return self._in_force(found), found

    async def submit(
        self, space: str, query_id: str, principal: str, helpful: bool | None, reason: str
    ) -> tuple[float, Calibration]:
        """Stores a vote; moves the weight if enough new votes propose another one.

        Raises `FeedbackRefused`.
        """
        found = await self._records.vote(space, query_id, principal, helpful, reason)
        old = self._in_force(found)
        if found.new_votes < calibration.NEW_VOTES:
            return old, found
        old, found = await self.calibration(space)
        asked = calibration.proposed(old, found.counts)
        if asked.weight != old and await self._records.move(space, found, AUTOMATIC, old, asked):
            return await self.calibration(space)
        return old, found

    async def recalibrate(self, space: str, principal: str, action: Action) -> Recalibrated:
        """Shows or makes the move that the votes propose, or reverts the last move."""
        while True:
            found = await self._records.calibration(space)
            old = self._in_force(found)
            if action is Action.REVERT:
                said = "the last move was taken back" if found.moves else "no move to take back"
                asked = Proposal(found.moves[0].old if found.moves else old, said)
            else:
                asked = calibration.proposed(old, found.counts, by_hand=True)
            if action is Action.DRY_RUN or asked.weight == old:
                return Recalibrated(old, asked.weight, asked.evidence, moved=False)
            if await self._records.move(space, found, principal, old, asked):
                return Recalibrated(old, asked.weight, asked.evidence, moved=True)

    def _in_force(self, found: Calibration) -> float:
        return found.weight or self._start
