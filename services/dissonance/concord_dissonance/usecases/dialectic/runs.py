"""Runs and their events, which are kept for a while so that callers can resume them."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from enum import Enum

from concord_chassis.call import deadline
from concord_chassis.call.failure import Failure
from concord_chassis.observe.log import Logger

from concord_dissonance.domain.errors import (
    DissonanceError,
    RequestIdReused,
    RunCancelled,
    RunUnknown,
    TooManyRuns,
)
from concord_dissonance.ports.calls import Clock

KEPT_SECONDS = 600
"""Seconds for which a run is kept after its end."""
ABANDONED_SECONDS = 2.0
"""Seconds after which a run that nobody follows is cancelled: a broken connection can come back."""
MOST_UNDER_WAY = 8
"""The most runs of one space under way."""
MOST_KEPT = 200
"""The most runs of all spaces that are kept; the one that ended first is dropped first."""


class Stage(Enum):
    """The stages of a run."""

    READING = 1
    THESES = 2
    CONTRADICTIONS = 3
    SYNTHESIS = 4
    KEEPING = 5
    REVIEWING = 6
    REVISING = 7


@dataclass(frozen=True, slots=True)
class RunId:
    """The space and principal of a run, and the id of the request that began it."""

    space: str
    principal: str
    request_id: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The end of a run without a result, and its error."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a run: its number, from 1, the run's progress in percent, and a message.

    `said`: the message; None for progress alone.
    """

    number: int
    stage: Stage
    percent: float
    said: object = None


class Run:
    """A run, under way or over."""

    def __init__(self, run_id: RunId, digest: bytes, clock: Clock, log: Logger) -> None:
        self.id, self.digest = run_id, digest
        self.events: list[Event] = []
        self.ended: int | None = None
        """When it ended, in microseconds; None while it is under way."""
        self._clock, self._log = clock, log
        self._more = asyncio.Event()
        self._followers = 0
        self._abandoning: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self, work: "Work") -> None:
        """Begin the work, which the caller's deadline does not end."""
        self._task = asyncio.get_running_loop().create_task(self._carry(work), name="run")

    def say(self, stage: Stage, percent: float, said: object = None) -> None:
        """Append an event; its percentage never falls below the last event's."""
        former = self.events[-1].percent if self.events else 0.0
        self.events.append(Event(len(self.events) + 1, stage, max(former, percent), said))
        more, self._more = self._more, asyncio.Event()
        more.set()

    async def follow(self, after: int = 0) -> AsyncGenerator[Event, None]:
        """Yield the events after a number, until the run ends."""
        self._followers += 1
        if self._abandoning is not None:
            self._abandoning.cancel()
        try:
            while True:
                for event in self.events[after:]:
                    after = event.number
                    yield event
                if after < len(self.events):
                    continue
                if self.ended is not None:
                    return
                await self._more.wait()
        finally:
            self._followers -= 1
            if not self._followers and self.ended is None:
                loop = asyncio.get_running_loop()
                self._abandoning = loop.call_later(ABANDONED_SECONDS, self.cancel)

    def cancel(self) -> None:
        """Cancel the run's work, if it is under way; it ends with `RunCancelled`."""
        if self._task is not None:
            self._task.cancel()

    async def over(self) -> None:
        """Wait until the run is over."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _carry(self, work: "Work") -> None:
        deadline.enter(None)
        result: object
        try:
            result = await work(self)
        except asyncio.CancelledError:
            result = Failed(RunCancelled())
        except Exception as error:  # noqa: BLE001 - the run's edge: its followers get it
            if not isinstance(error, DissonanceError | Failure):
                self._log.error("a run died", exc_info=error)
            result = Failed(error)
        self.ended = self._clock()
        stage = self.events[-1].stage if self.events else Stage.READING
        self.say(stage, 0.0 if isinstance(result, Failed) else 100.0, result)


Work = Callable[[Run], Awaitable[object]]
"""A run's work: it calls `say` for its events, and returns the message of the last one."""


class Runs:
    """The runs of this process."""

    def __init__(self, clock: Clock, log: Logger) -> None:
        self._clock, self._log = clock, log
        self._runs: dict[RunId, Run] = {}

    def begin(self, run_id: RunId, digest: bytes, work: Work) -> Run:
        """Begin a run, or return the one that the same request began; `digest`: the request's.

        Raises `RequestIdReused` if the id began a run of another request, and `TooManyRuns`.
        """
        self._drop_old()
        if (known := self._runs.get(run_id)) is not None:
            if known.digest != digest:
                raise RequestIdReused(run_id.request_id)
            return known
        runs = (each for each in self._runs.values() if each.id.space == run_id.space)
        if sum(each.ended is None for each in runs) >= MOST_UNDER_WAY:
            raise TooManyRuns(MOST_UNDER_WAY)
        run = self._runs[run_id] = Run(run_id, digest, self._clock, self._log)
        run.start(work)
        return run

    def of(self, run_id: RunId) -> Run:
        """Return the run of an id. Raises `RunUnknown`."""
        self._drop_old()
        if run_id not in self._runs:
            raise RunUnknown(run_id.request_id)
        return self._runs[run_id]

    async def close(self) -> None:
        """Cancel all runs under way, and wait for their ends."""
        for run in self._runs.values():
            run.cancel()
            await run.over()

    def _drop_old(self) -> None:
        ended = [(each.ended, each.id) for each in self._runs.values() if each.ended is not None]
        oldest = self._clock() - KEPT_SECONDS * 1_000_000
        spare = len(self._runs) - MOST_KEPT
        for place, (when, run_id) in enumerate(sorted(ended, key=lambda each: each[0])):
            if when <= oldest or place < spare:
                del self._runs[run_id]
