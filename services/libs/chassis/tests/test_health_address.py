"""The health at an address of its own: without a certificate, and nothing beside it."""

import asyncio
import io
import socket
from pathlib import Path

import grpc
import pytest
from chassis_probe import ProbeServicer, Request, Stub, registration
from concord_chassis.config import ConfigError
from concord_chassis.observe.log import json_lines
from concord_chassis.server import background
from concord_chassis.server.background import Background
from concord_chassis.server.health import LIVE
from concord_chassis.server.health_address import answering, read
from concord_chassis.server.server import BindError
from concord_testing.scraping import free_port
from concord_testing.serving import serving
from grpc_health.v1 import health_pb2, health_pb2_grpc

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


@pytest.fixture
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A free address of the kind that a test asks for."""
    kind: str = request.param
    return f"unix:{tmp_path}/h" if kind == "socket" else f"127.0.0.1:{free_port()}"


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> Background:
    """Background tasks that begin anew at once."""
    monkeypatch.setattr(background, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(background, "LONGEST_WAIT", 0.001)
    return Background(json_lines("test", stream=io.StringIO()))


async def said(address: str, service: str) -> int:
    """What health says there."""
    async with grpc.aio.insecure_channel(address) as channel:
        reply = await health_pb2_grpc.HealthStub(channel).Check(
            health_pb2.HealthCheckRequest(service=service), timeout=5
        )
    return int(reply.status)


@pytest.mark.parametrize("address", ["socket", "port"], indirect=True)
async def test_it_tells_the_health_and_takes_no_calls(address: str) -> None:
    """W1, W6, W10: whoever checks a container there learns the health, and reaches no method."""
    async with (
        serving([registration(ProbeServicer())]) as live,
        answering(live.server.health, address),
    ):
        whole = await said(address, "")
        async with grpc.aio.insecure_channel(address) as channel:
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await Stub(channel).ask(Request(act="a"), timeout=5)

    assert whole == SERVING
    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("address", ["socket"], indirect=True)
async def test_a_socket_is_its_users_alone_and_replaces_a_killed_ones(address: str) -> None:
    """W6: whatever the umask; a socket that was left there is no obstacle."""
    path = Path(address.removeprefix("unix:"))
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    async with (
        serving([registration(ProbeServicer())]) as live,
        answering(live.server.health, address),
    ):
        assert path.stat().st_mode & 0o777 == 0o600  # noqa: ASYNC240
        assert await said(address, "") == SERVING


@pytest.mark.parametrize("address", ["port"], indirect=True)
async def test_the_process_lives_while_its_store_does_not_answer(address: str) -> None:
    """W10: what waits for its store is not restarted for it; what is stuck is, and what drains
    takes no new calls."""
    answers = True

    async def ready() -> bool:
        return answers

    async with (
        serving([registration(ProbeServicer())], ready=ready, health_interval=0.01) as live,
        answering(live.server.health, address),
    ):
        answers = False
        async with asyncio.timeout(5):
            while await said(address, "") == SERVING:  # noqa: ASYNC110 - across a socket
                await asyncio.sleep(0.01)
        waiting = await said(address, LIVE)
        await live.server.drain()
        draining = await said(address, LIVE)

    assert (waiting, draining) == (SERVING, NOT_SERVING)


@pytest.mark.parametrize("address", ["port"], indirect=True)
async def test_a_stuck_process_does_not_live(address: str, hasty: Background) -> None:
    """W10: a background task that dies time and again is a reason to restart."""

    async def dies() -> None:
        raise ValueError

    async with (
        serving([registration(ProbeServicer())], background=hasty, health_interval=0.01) as live,
        answering(live.server.health, address),
    ):
        hasty.start("work", dies)
        async with asyncio.timeout(5):
            while await said(address, LIVE) == SERVING:  # noqa: ASYNC110 - across a socket
                await asyncio.sleep(0.01)
    await hasty.close()


async def test_an_address_that_cannot_be_had_is_named_with_its_setting(tmp_path: Path) -> None:
    """W6: nothing starts without the check that its container waits for."""
    async with serving([registration(ProbeServicer())]) as live:
        with pytest.raises(BindError, match="HEALTH_ADDRESS"):
            async with answering(live.server.health, f"unix:{tmp_path}/nowhere/h"):
                pass
        async with answering(live.server.health, ""):
            pass
    with pytest.raises(ConfigError, match="HEALTH_ADDRESS is not valid"):
        read({"HEALTH_ADDRESS": "health"})
    assert read({}).address == ""
