"""Background tasks: one that dies is started again, and health says which died, and of what.

Every task of a service that outlives a request begins here, so none can end unseen. What a task
expects (a store that does not answer, a feed that breaks) it handles itself; it dies of our bugs
alone. A task whose work cannot go on, such as over a damaged index, returns: that is its end.
"""

import asyncio
import contextvars
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from concord_chassis.observe.log import Logger

FIRST_WAIT, LONGEST_WAIT = 0.1, 10.0
"""Seconds from a task's death to its next start: doubled with each death in a row."""

WELL_AFTER = 10.0
"""Seconds for which a task must run after a death until health no longer names it."""

MOST_DEATHS = 3
"""So many deaths in a row of a task of the whole service, and the service no longer serves."""

Work = Callable[[], Coroutine[None, None, None]]
"""Begins a task's work; called once more after each death."""
Passing = tuple[type[Exception], ...]

_OF_SERVICE = ""


@dataclass(slots=True)
class _Deaths:
    """A task's deaths in a row: how many, the last one's cause, and the timer until it is well."""

    count: int
    cause: str
    timer: asyncio.TimerHandle | None = None


class Background:
    """The background tasks of one service."""

    def __init__(self, log: Logger) -> None:
        self._log = log
        self._context = contextvars.copy_context()
        self._started: set[asyncio.Task[None]] = set()
        self._running: dict[asyncio.Task[object], str] = {}
        self._names: set[str] = set()
        self._deaths: dict[tuple[str, str], _Deaths] = {}

    @property
    def running(self) -> Mapping[asyncio.Task[object], str]:
        """The tasks that run now, and each one's name; those of several spaces have one name."""
        return dict(self._running)

    @property
    def names(self) -> frozenset[str]:
        """The names of all tasks that ever ran."""
        return frozenset(self._names)

    @property
    def failing(self) -> Mapping[str, str]:
        """By name, what a task died of that has not run well since: the error's type and place.

        Without the error's text, which may hold what somebody stored, and without the space.
        """
        return {name: each.cause for (name, _), each in self._deaths.items()}

    @property
    def deaths(self) -> Mapping[str, int]:
        """By name, how often in a row a task died that has not run well since."""
        most: dict[str, int] = {}
        for (name, _), each in self._deaths.items():
            most[name] = max(each.count, most.get(name, 0))
        return most

    @property
    def is_stuck(self) -> bool:
        """Whether a task of the whole service died `MOST_DEATHS` times in a row.

        A space's own task does not count: the other spaces are served.
        """
        return any(
            space == _OF_SERVICE and each.count >= MOST_DEATHS
            for (_, space), each in self._deaths.items()
        )

    def fails(self, name: str, space: str) -> bool:
        """Return whether a space's task died and has not run well since."""
        return (name, space) in self._deaths

    def start(self, name: str, work: Work, *, space: str = _OF_SERVICE) -> asyncio.Task[None]:
        """Begin a task as `keep` does; it ends with `close`, or when whoever began it cancels it.

        It inherits nothing from a request that is being answered, such as its deadline.
        """
        task = asyncio.get_running_loop().create_task(
            self.keep(name, work, space=space),
            name=f"{name} {space}".rstrip(),
            context=self._context.copy(),
        )
        self._started.add(task)
        task.add_done_callback(self._started.discard)
        return task

    async def keep(
        self, name: str, work: Work, *, space: str = _OF_SERVICE, passing: Passing = ()
    ) -> None:
        """Do work, again after each death, until it returns or this is cancelled.

        Raises what work raises of `passing`.
        """
        with self._known(name) as task:
            while True:
                try:
                    await work()
                    break
                except passing:
                    raise
                except asyncio.CancelledError as stray:
                    if task.cancelling():
                        raise
                    wait = self._died(name, space, stray)
                except Exception as error:  # noqa: BLE001 - whatever it died of, it begins anew
                    wait = self._died(name, space, error)
                await asyncio.sleep(wait)
                self._begin_again(name, space)
            self._forget(name, space)

    async def tried(self, name: str, space: str, work: Work, *, passing: Passing = ()) -> float:
        """Do a task's piece of work in one space; if it dies, the task goes on in other spaces.

        Returns 0.0 if it did not die, else the seconds after which to try it again. Raises what
        work raises of `passing`.
        """
        task = asyncio.current_task()
        try:
            await work()
        except passing:
            raise
        except asyncio.CancelledError as stray:
            if task is None or task.cancelling():
                raise
            error: BaseException = stray
        except Exception as bug:  # noqa: BLE001 - whatever it died of, the other spaces go on
            error = bug
        else:
            if (name, space) in self._deaths:
                self._well(name, space)
            return 0.0
        wait = self._died(name, space, error)
        self._begin_again(name, space, wait)  # it may not be tried again: nothing is left to do
        return wait

    async def together(self, steps: Mapping[str, Work]) -> None:
        """Do the steps of one task side by side, until the first one ends; then end the others.

        Raises what that one raised; `RuntimeError` if it was cancelled, which no one meant.
        """
        tasks = [
            asyncio.get_running_loop().create_task(self._step(name, work), name=name)
            for name, work in steps.items()
        ]
        try:
            ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in tasks:
                each.cancel()
            await asyncio.wait(tasks)
            failed = [each for each in tasks if not each.cancelled() and each.exception()]
        for each in (*ended.intersection(failed), *ended):
            if each.cancelled():
                raise RuntimeError(f"{each.get_name()} was cancelled")
            each.result()

    async def close(self) -> None:
        """End all tasks."""
        tasks = list(self._started)
        for each in tasks:
            each.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for name, space in list(self._deaths):
            self._forget(name, space)

    async def _step(self, name: str, work: Work) -> None:
        with self._known(name):
            await work()

    @contextmanager
    def _known(self, name: str) -> Iterator[asyncio.Task[object]]:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - coroutines run in tasks
        outer = self._running.get(task)
        self._running[task] = name
        self._names.add(name)
        try:
            yield task
        finally:
            if outer is None:
                del self._running[task]
            else:
                self._running[task] = outer

    def _died(self, name: str, space: str, error: BaseException) -> float:
        """Note a death, and log it in full; return the seconds until the next start."""
        before = self._deaths.get((name, space))
        if before is not None and before.timer is not None:
            before.timer.cancel()
        count = 1 if before is None else before.count + 1
        self._deaths[name, space] = _Deaths(count, _cause(error))
        wait = float(min(FIRST_WAIT * 2 ** min(count - 1, 30), LONGEST_WAIT))
        self._log.error(
            "background task died",
            task=name,
            **_named(space),
            deaths=count,
            again_in=wait,
            exc_info=error,
        )
        return wait

    def _begin_again(self, name: str, space: str, wait: float = 0.0) -> None:
        """Have a task count as well some seconds after its next start, unless it dies again."""
        later = asyncio.get_running_loop().call_later
        self._deaths[name, space].timer = later(wait + WELL_AFTER, self._well, name, space)

    def _well(self, name: str, space: str) -> None:
        self._log.info("background task is well again", task=name, **_named(space))
        self._forget(name, space)

    def _forget(self, name: str, space: str) -> None:
        deaths = self._deaths.pop((name, space), None)
        if deaths is not None and deaths.timer is not None:
            deaths.timer.cancel()


def _named(space: str) -> Mapping[str, str]:
    return {"space": space} if space else {}


def _cause(error: BaseException) -> str:
    """Return an error's type, and the module and line of ours that raised it or called what did."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    place, frames = "", error.__traceback__
    while isinstance(frames, TracebackType):
        path = Path(frames.tb_frame.f_code.co_filename)
        if any(part.startswith("concord_") for part in path.parts) and path != Path(__file__):
            place = f" at {path.name}:{frames.tb_lineno}"
        frames = frames.tb_next
    return f"{type(error).__name__}{place}"
