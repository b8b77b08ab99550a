"""Tries parked changes again, of all spaces in one task (spec S10)."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from concord_search.usecases.space_follower import FollowerContext, SpaceFollower

RETRY = "retry what was set aside"
"""The name of the task that does it."""
RETRY_EVERY = 300.0
"""Most seconds between two rounds of a space; the first comes at the start."""
FIRST_RETRY = 5.0
"""Seconds from a change's parking to the next round, doubled after each round without success: a
model may refuse every text for a while, with HTTP 400, and that must not cost hours."""
RETRIED = 100
"""The most parked changes that one round tries; the next round goes on after them."""


@dataclass(slots=True)
class _Turn:
    """When a space's next round is due, how long to wait after it, and where it begins."""

    due: float
    wait: float
    parked: int
    start: int = 0


class Retries:
    """The task. `run` it and cancel that."""

    def __init__(self, context: FollowerContext, passing: tuple[type[Exception], ...]) -> None:
        """`passing`: what ends it."""
        self._context, self._passing = context, passing
        self._turns: dict[str, _Turn] = {}

    async def run(self) -> None:
        """Tries what is parked at once, then now and then, until cancelled."""
        progress, time = self._context.progress, asyncio.get_running_loop().time
        for space in progress.with_parked:
            self._turns[space] = _Turn(time(), _first(), progress.of(space).parked)
        while True:
            progress.newly_parked.clear()
            self._note_parked()
            for space in [s for s, turn in self._turns.items() if turn.due <= time()]:
                tried = partial(self._round, space)
                await self._context.background.tried(RETRY, space, tried, passing=self._passing)
            left = min((turn.due - time() for turn in self._turns.values()), default=None)
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await progress.newly_parked.wait()

    def _note_parked(self) -> None:
        """Puts off the round of a space whose newest change was parked just now."""
        progress, now = self._context.progress, asyncio.get_running_loop().time()
        self._turns = {s: turn for s, turn in self._turns.items() if s in progress.with_parked}
        for space in progress.with_parked:
            parked = progress.of(space).parked
            turn = self._turns.setdefault(space, _Turn(now + _first(), _first(), parked))
            if parked > turn.parked:
                turn.wait = _first()
                turn.due = min(turn.due, now + turn.wait)
            turn.parked = parked

    async def _round(self, space: str) -> None:
        """Tries some of a space's parked changes; the next round comes at once if all succeed."""
        turn = self._turns[space]
        turn.due = asyncio.get_running_loop().time() + turn.wait
        state = await self._context.index.state(space)
        parked = state.parked if state is not None else ()
        start = turn.start if turn.start < len(parked) else 0
        round_ = parked[start : start + RETRIED]
        failed = len(round_) - await SpaceFollower(space, self._context).retry(round_)
        turn.start, turn.parked = start + failed, self._context.progress.of(space).parked
        now = asyncio.get_running_loop().time()
        turn.due = now + turn.wait if failed else now
        turn.wait = min(turn.wait * 2, RETRY_EVERY)


def _first() -> float:
    return min(FIRST_RETRY, RETRY_EVERY)
