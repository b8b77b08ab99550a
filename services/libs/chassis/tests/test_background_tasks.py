"""Background tasks that die are started again, and health says which died, and of what."""

import asyncio
import io
import json
from collections.abc import AsyncIterator

import grpc
import pytest
from chassis_probe import ProbeServicer, registration, until
from concord_chassis.observe.log import json_lines
from concord_chassis.server import background
from concord_chassis.server.background import Background
from concord_chassis.server.health import FAILING_KEY
from concord_testing.killing import kill, mortal
from concord_testing.serving import Serving, serving
from grpc_health.v1 import health_pb2, health_pb2_grpc

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class Work:
    """Work that raises its error, while it has one, each time that it begins."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error, self.begun = error, 0

    async def __call__(self) -> None:
        self.begun += 1
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        await asyncio.Event().wait()


@pytest.fixture
def said() -> io.StringIO:
    """What is logged."""
    return io.StringIO()


@pytest.fixture
async def tasks(said: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Background]:
    """A service's tasks, which begin again at once and are soon well."""
    monkeypatch.setattr(background, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(background, "WELL_AFTER", 0.2)
    made = Background(json_lines("test", stream=said))
    yield made
    await made.close()


async def status(live: Serving, service: str) -> tuple[int, list[str]]:
    """A service's health, and the failing tasks that it names."""
    asked = health_pb2.HealthCheckRequest(service=service)
    call = health_pb2_grpc.HealthStub(live.channel(None)).Check(asked)
    try:
        reply = await call
    except grpc.aio.AioRpcError:
        return 0, []
    found = [str(value) for key, value in await call.trailing_metadata() if key == FAILING_KEY]
    return reply.status, found


@pytest.mark.parametrize("error", [KeyError("secret"), asyncio.CancelledError()])
async def test_a_task_that_dies_begins_again_and_is_named_until_it_is_well(
    tasks: Background, said: io.StringIO, error: BaseException
) -> None:
    """B1 By a bug, or by a cancellation that nobody asked for; the error's text is not told."""
    work = Work(error)
    async with serving([registration(ProbeServicer())], background=tasks, health_interval=0.01) as (
        live
    ):
        tasks.start("work", work)
        await until(lambda: work.begun > background.MOST_DEATHS)
        while (await status(live, ""))[0] != NOT_SERVING:  # noqa: ASYNC110 - across a socket
            await asyncio.sleep(0.005)
        failing, named = await status(live, "background/work")
        work.error = None
        while (await status(live, ""))[0] != SERVING:  # noqa: ASYNC110 - across a socket
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.05)
        well = await status(live, "background/work")

    assert failing == NOT_SERVING
    assert [each.split(" at ")[0] for each in named] == [f"work: {type(error).__name__}"]
    assert "secret" not in str(named)
    assert well == (SERVING, [])
    lines = [json.loads(each) for each in said.getvalue().splitlines()]
    died = [each for each in lines if each["event"] == "background task died"]
    assert [each["deaths"] for each in died][:3] == [1, 2, 3]
    assert {each["task"] for each in died} == {"work"}
    assert all(type(error).__name__ in each["exception"] for each in died)


async def test_the_pause_doubles_up_to_its_longest(
    tasks: Background, said: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B1 A task that dies each time costs little."""
    monkeypatch.setattr(background, "LONGEST_WAIT", 0.005)
    work = Work(ValueError())
    tasks.start("work", work)
    await until(lambda: work.begun > 5)

    lines = [json.loads(each) for each in said.getvalue().splitlines()]
    assert [each["again_in"] for each in lines][:5] == [0.001, 0.002, 0.004, 0.005, 0.005]


async def test_a_space_that_fails_does_not_end_serving(tasks: Background) -> None:
    """B1 Neither a space's own task nor a piece of work in one space takes the others down."""
    tasks.start("follow", own := Work(ValueError()), space="one")
    piece = Work(ValueError())
    rests = [await tasks.tried("scrub", "one", piece) for _ in range(4)]
    await until(lambda: own.begun > background.MOST_DEATHS)

    assert not tasks.is_stuck
    assert rests == [0.001, 0.002, 0.004, 0.008]
    assert tasks.fails("follow", "one")
    assert not tasks.fails("follow", "two")
    assert set(tasks.failing) == {"follow", "scrub"}

    async def does() -> None:
        pass

    assert not await tasks.tried("scrub", "one", does)
    assert set(tasks.failing) == {"follow"}


async def test_what_the_caller_expects_passes(tasks: Background) -> None:
    """B1 Errors that whoever began the work deals with are no deaths."""
    with pytest.raises(ValueError, match="expected"):
        await tasks.keep("work", Work(ValueError("expected")), passing=(ValueError,))
    with pytest.raises(ValueError, match="expected"):
        await tasks.tried("work", "one", Work(ValueError("expected")), passing=(ValueError,))

    assert not tasks.failing


@pytest.mark.parametrize("error", [ValueError("first"), asyncio.CancelledError()])
async def test_the_steps_of_a_task_end_together(tasks: Background, error: BaseException) -> None:
    """B1 No step goes on, or waits for ever, without the others."""
    whole, dies = Work(), Work(error)

    expected = "first" if isinstance(error, ValueError) else "dies was cancelled"
    with pytest.raises((ValueError, RuntimeError), match=expected):
        await tasks.together({"whole": whole, "dies": dies})

    assert not tasks.running


async def test_a_cancelled_task_ends(tasks: Background) -> None:
    """B1 A stop is no death; a kill, where it waits, is one."""
    with mortal():
        killed, stopped = (tasks.start(name, Work()) for name in ("killed", "stopped"))
        await asyncio.sleep(0.01)
        assert kill(killed)
        stopped.cancel()
        await asyncio.wait([stopped])
        await until(lambda: bool(tasks.failing))

    assert set(tasks.failing) == {"killed"}
    assert stopped.cancelled()
    assert not killed.done()
