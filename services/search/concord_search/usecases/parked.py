"""Lists the parked changes of a space, and tries them again on demand (spec S10)."""

from collections.abc import Sequence
from dataclasses import dataclass

from concord_search.domain.memory import Parked
from concord_search.usecases.retries import RETRIED
from concord_search.usecases.space_follower import FollowerContext, SpaceFollower, state_of


@dataclass(frozen=True, slots=True)
class ParkedPage:
    """Some of `total` parked changes, by sequence number; those beyond 1,000 are only counted."""

    changes: Sequence[Parked]
    total: int
    next_seq: int | None = None
    """The sequence number that the next page starts at; None on the last page."""


class ParkedChanges:
    """The use cases of parked changes. `context` is the followers'."""

    def __init__(self, context: FollowerContext) -> None:
        self._context = context

    async def page(self, space: str, from_seq: int, size: int) -> ParkedPage:
        """Some of a space's parked changes, from a sequence number on."""
        state = await self._context.index.state(space)
        if state is None:
            return ParkedPage((), 0)
        there = sorted(each for each in state.parked if each.seq >= from_seq)
        following = there[size].seq if len(there) > size else None
        return ParkedPage(there[:size], state.parked_count, following)

    async def retry(self, space: str) -> tuple[int, int]:
        """Tries the first 100 again; returns how many were applied, and how many are left.

        Raises `GraphUnavailable`, `IndexCorrupt`.
        """
        self._context.index.demand_lead()
        state = await self._context.index.state(space)
        if state is None:
            return 0, 0
        oldest = sorted(state.parked)[:RETRIED]
        applied = await SpaceFollower(space, self._context).retry(oldest)
        return applied, (await state_of(self._context.index, space)).parked_count
