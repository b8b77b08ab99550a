import asyncio
import socket
from pathlib import Path
from typing import Any

import grpc
import pytest
from gateway_echo import ECHO, INTERNAL, SECONDS, Front, Request, eventually, front
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
SERVICE_UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN


# grpc_health ships no types.
async def health_of(door: Front, service: str = "") -> Any:
    """What the gateway says of `service`, without a key."""
    stub = health_pb2_grpc.HealthStub(door.channel)
    return (await stub.Check(health_pb2.HealthCheckRequest(service=service))).status


async def test_health_needs_no_key_and_says_what_the_services_say(door: Front) -> None:
    """W1: SERVING only when everything behind serves."""
    assert await health_of(door) == SERVING
    assert await health_of(door, ECHO.full_name) == SERVING
    assert await door.gateway.ready()

    await door.upstream.server.stop(0)

    assert await health_of(door) == NOT_SERVING
    assert await health_of(door, ECHO.full_name) == NOT_SERVING
    assert not await door.gateway.ready()
    answer = await door.http.get("/healthz")
    assert (
        answer.status_code,
        answer.json(),
    ) == (503, {"status": "NOT_SERVING", "services": {"gateway_echo": False}})


async def test_one_service_of_two_being_away_is_not_serving(tmp_path: Path) -> None:
    """W1: the whole is as healthy as its weakest part, and the parts are told apart."""
    missing = {"gateway_echo.v1.InternalService": f"unix:{tmp_path / 'nobody'}"}
    async with front(tmp_path, upstreams=missing) as door:
        assert await health_of(door) == NOT_SERVING
        assert await health_of(door, ECHO.full_name) == SERVING
        assert await health_of(door, INTERNAL.full_name) == NOT_SERVING
        stub = health_pb2_grpc.HealthStub(door.channel)
        listed = (await stub.List(health_pb2.HealthListRequest())).statuses
        assert {"": NOT_SERVING, ECHO.full_name: SERVING, INTERNAL.full_name: NOT_SERVING} == {
            name: each.status for name, each in listed.items()
        }


async def test_a_silent_service_does_not_serve(tmp_path: Path) -> None:
    """W1, GATEWAY_HEALTH_TIMEOUT: a service that takes the connection and says nothing is away."""
    path = tmp_path / "silent"
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(path))
        silent.listen()
        missing = {"gateway_echo.v1.InternalService": f"unix:{path}"}
        patient, hasty = tmp_path / "patient", tmp_path / "hasty"
        patient.mkdir()
        hasty.mkdir()
        async with (
            front(patient, upstreams=missing, health_timeout=60.0) as waiting,
            front(hasty, upstreams=missing, health_timeout=0.05) as door,
        ):
            unheard = asyncio.create_task(health_of(waiting))
            async with asyncio.timeout(SECONDS):
                assert await health_of(door) == NOT_SERVING
            assert not unheard.done()
            unheard.cancel()


async def test_a_gateway_that_can_let_nobody_in_is_not_serving(door: Front) -> None:
    """W1, W7: no key is known, and governance, which would know them, is away."""
    await door.governance.server.stop(0)

    assert await health_of(door) == NOT_SERVING
    assert await health_of(door, ECHO.full_name) == NOT_SERVING
    assert (await door.http.get("/healthz")).status_code == 503


async def test_a_gateway_that_knows_keys_serves_what_answers(door: Front) -> None:
    """W1, W7: for a minute after governance's last answer known keys are let in."""
    await door.stub.say(Request())
    await door.governance.server.stop(0)

    assert await health_of(door, ECHO.full_name) == SERVING


async def test_an_unknown_service_is_not_found(door: Front) -> None:
    """W1: as the standard says, NOT_FOUND for a check and SERVICE_UNKNOWN for a watch."""
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await health_of(door, "nobody.v1.NobodyService")
    assert error.value.code() == grpc.StatusCode.NOT_FOUND

    stub = health_pb2_grpc.HealthStub(door.channel)
    watch = stub.Watch(health_pb2.HealthCheckRequest(service="nobody.v1.NobodyService"))
    assert (await watch.read()).status == SERVICE_UNKNOWN
    watch.cancel()


async def test_a_watcher_hears_changes_and_the_end(tmp_path: Path) -> None:
    """W1, GATEWAY_HEALTH_INTERVAL: SERVING, then away, then back, then draining."""
    async with front(tmp_path, health_interval=0.02) as door:
        stub = health_pb2_grpc.HealthStub(door.channel)
        watch = stub.Watch(health_pb2.HealthCheckRequest())
        async with asyncio.timeout(SECONDS):
            assert (await watch.read()).status == SERVING
            await door.upstream.server.stop(0)
            assert (await watch.read()).status == NOT_SERVING
            async with door.revived():
                assert (await watch.read()).status == SERVING
                await door.gateway.stop(SECONDS)
                assert (await watch.read()).status == NOT_SERVING
                assert grpc.aio.EOF is await watch.read()


async def test_stopping_lets_a_call_under_way_end(tmp_path: Path) -> None:
    """W1: the gateway drains; a call gets its grace, and no new one is taken."""
    async with front(tmp_path) as door:
        call = door.stub.collect()
        await call.write(Request(act="a"))
        await eventually(lambda: door.servicer.taken == 1)
        stopping = asyncio.create_task(door.gateway.stop(SECONDS))
        while await door.gateway.ready():  # noqa: ASYNC110 - what it waits for is not asyncio's
            await asyncio.sleep(0.005)
        await call.write(Request(act="b"))
        await call.done_writing()

        assert (await call).text == "a,b"
        await stopping
        assert not await door.gateway.ready()


async def listed_by_reflection(door: Front) -> list[str]:
    """The services that reflection names."""

    async def ask() -> Any:
        yield reflection_pb2.ServerReflectionRequest(list_services="")

    stub = reflection_pb2_grpc.ServerReflectionStub(door.channel)
    async for reply in stub.ServerReflectionInfo(ask(), timeout=SECONDS):
        return [each.name for each in reply.list_services_response.service]
    return []


async def test_reflection_is_off_unless_switched_on(tmp_path: Path, door: Front) -> None:
    """W1, GATEWAY_REFLECTION: by switch, and then it names every service."""
    with pytest.raises(grpc.aio.AioRpcError):
        await listed_by_reflection(door)

    other = tmp_path / "other"
    other.mkdir()
    async with front(other, reflection=True) as open_door:
        listed = await listed_by_reflection(open_door)
        assert {ECHO.full_name, INTERNAL.full_name, "grpc.health.v1.Health"} <= set(listed)
