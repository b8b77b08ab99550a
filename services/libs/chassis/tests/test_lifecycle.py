import asyncio
import contextlib
import os
import signal
import socket
import stat
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
from chassis_probe import (
    READER,
    SECONDS,
    Dynamic,
    ProbeServicer,
    Request,
    Stub,
    failure_of,
    registration,
    until,
)
from concord_chassis.call.identity import TokenVerifier
from concord_chassis.channel.channel import connect
from concord_chassis.observe.log import json_lines
from concord_chassis.server.reflection import SERVICE_NAMES
from concord_chassis.server.server import BindError, Server
from concord_testing.serving import Serving, always_ready, new_issuer, serving
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

SERVICE = "concord_chassis_probe.v1.ProbeService"
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
INTERVAL = 0.02
"""Seconds between two calls of `ready`."""


def _health(live: Serving) -> Dynamic:
    return health_pb2_grpc.HealthStub(live.channel(None))


async def _status(live: Serving, service: str = SERVICE) -> int:
    reply = await _health(live).Check(health_pb2.HealthCheckRequest(service=service))
    return int(reply.status)


class Store:
    """A store whose `ready` returns `answers`, or raises `error` if it is set."""

    def __init__(self, answers: bool) -> None:
        self.answers = answers
        self.error: Exception | None = None

    async def ready(self) -> bool:
        if self.error is not None:
            raise self.error
        return self.answers


async def test_health_tells_whether_the_store_answers() -> None:
    """W1: health is NOT_SERVING until the store answers, and when it no longer answers."""
    store = Store(answers=False)
    async with serving(
        [registration(ProbeServicer())],
        ready=store.ready,
        wait_until_ready=False,
        log=json_lines("test", level="error"),
        health_interval=INTERVAL,
    ) as live:
        assert [await _status(live, name) for name in ("", SERVICE)] == [NOT_SERVING] * 2

        store.answers = True
        await live.server.until_ready()
        assert [await _status(live, name) for name in ("", SERVICE)] == [SERVING] * 2

        store.error = OSError("the disk is gone")
        await _until_status(live, NOT_SERVING)

        store.error = None
        await _until_status(live, SERVING)


async def _until_status(live: Serving, wanted: int) -> None:
    async with asyncio.timeout(SECONDS):
        while await _status(live) != wanted:  # noqa: ASYNC110 - the state is across a socket
            await asyncio.sleep(0.005)


async def test_health_tells_of_a_part_that_the_service_can_do_without() -> None:
    """W1, D4: an optional part that does not answer is NOT_SERVING, but its service is SERVING."""
    answers = True
    service = replace(registration(ProbeServicer()), parts=lambda: {"part": answers})
    asked = health_pb2.HealthCheckRequest(service=f"{SERVICE}/part")
    async with serving([service], health_interval=INTERVAL) as live, asyncio.timeout(SECONDS):
        async for reply in _health(live).Watch(asked):
            if reply.status == SERVING:
                answers = False
            if reply.status == NOT_SERVING:
                break

        assert await _status(live) == SERVING


async def test_health_needs_no_credential_and_knows_no_stranger() -> None:
    """W1: the health service is public; the health of an unknown service is NOT_FOUND."""
    async with serving([registration(ProbeServicer())]) as live:
        assert await _status(live) == SERVING

        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await _status(live, "no.such.Service")

    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


async def test_reflection_speaks_both_versions() -> None:
    """W1: reflection answers in v1, which today's tools call, and v1alpha, also about itself."""
    ask = reflection_pb2.ServerReflectionRequest
    asked = [
        ask(list_services=""),
        *(ask(file_containing_symbol=name) for name in (SERVICE, *SERVICE_NAMES)),
    ]
    async with serving([registration(ProbeServicer())], reflection=True) as live:
        for name in SERVICE_NAMES:
            call: Dynamic = live.channel(None).stream_stream(
                f"/{name}/ServerReflectionInfo",
                ask.SerializeToString,
                reflection_pb2.ServerReflectionResponse.FromString,
            )
            listed, *files = [reply async for reply in call(iter(asked))]

            services = {each.name for each in listed.list_services_response.service}
            assert {SERVICE, "grpc.reflection.v1.ServerReflection"} <= services
            for file in files:
                assert file.file_descriptor_response.file_descriptor_proto


async def test_reflection_is_there_only_when_switched_on() -> None:
    """W1: reflection is off unless it is switched on."""
    async with serving([registration(ProbeServicer())]) as live:
        stub: Dynamic = reflection_pb2_grpc.ServerReflectionStub(live.channel(None))
        request = reflection_pb2.ServerReflectionRequest(list_services="")

        assert (await failure_of(stub.ServerReflectionInfo(iter([request])).read())).reason == (
            "ERROR_REASON_METHOD_UNKNOWN"
        )


async def test_stopping_lets_calls_finish_and_says_not_serving_first() -> None:
    """W1: during a stop, health is NOT_SERVING and calls under way are answered."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def wait(_request: Dynamic) -> str:
        begun.set()
        await go_on.wait()
        return "done"

    async with serving([registration(ProbeServicer(wait))]) as live:
        watching = _health(live).Watch(health_pb2.HealthCheckRequest(service=SERVICE))
        assert (await watching.read()).status == SERVING
        call = asyncio.ensure_future(Stub(live.channel(READER)).ask(Request(act="a")))
        await begun.wait()

        stopping = asyncio.create_task(live.server.stop(SECONDS))
        with contextlib.suppress(grpc.aio.AioRpcError):
            assert (await watching.read()).status == NOT_SERVING
        go_on.set()

        assert (await call).text == "done"
        await stopping


async def test_draining_is_seen_by_a_check_before_anything_closes() -> None:
    """Style 12: from the drain on, while the server still listens, health is NOT_SERVING."""
    async with serving([registration(ProbeServicer())], health_interval=INTERVAL) as live:
        await live.server.drain()

        assert await _status(live) == NOT_SERVING
        await asyncio.sleep(2 * INTERVAL)  # no poll turns it back
        assert await _status(live) == NOT_SERVING


async def test_a_call_that_outlasts_the_grace_is_cut() -> None:
    """W1: a stop cancels a call that lasts longer than the grace period."""
    servicer = ProbeServicer(lambda _request: asyncio.Future())
    async with serving([registration(servicer)]) as live:
        call = asyncio.ensure_future(Stub(live.channel(READER)).ask(Request(act="a")))
        await until(lambda: servicer.seen == ["a"])

        await live.server.stop(0.02)

        await until(lambda: servicer.interrupted == ["a"])
        await asyncio.wait([call])
        assert call.exception() is not None or call.cancelled()


async def test_a_stop_ends_a_stream_without_a_deadline_with_unavailable() -> None:
    """W1: a stop ends a stream without a deadline at once, with UNAVAILABLE."""
    servicer = ProbeServicer(lambda _request: asyncio.Future())
    async with serving([registration(servicer)]) as live:
        async with connect(live.address, token=live.token(READER), cap=None) as channel:
            following = Stub(channel).follow(Request(act="a"))
            reading = asyncio.ensure_future(failure_of(following.read()))
            await until(lambda: servicer.seen == ["a"])

            async with asyncio.timeout(SECONDS):
                await live.server.stop(3600)

            failure = await reading
        assert failure.code is grpc.StatusCode.UNAVAILABLE
        assert failure.reason == "ERROR_REASON_UNAVAILABLE"  # from retries too: nobody listens


async def test_a_health_watch_does_not_hold_up_a_stop() -> None:
    """W1: a stop does not wait for a `Watch` call of the health service."""
    async with serving([registration(ProbeServicer())]) as live:
        channel = live.channel(None, cap=None)
        watching: Dynamic = health_pb2_grpc.HealthStub(channel).Watch(
            health_pb2.HealthCheckRequest(service=SERVICE)
        )
        assert (await watching.read()).status == SERVING

        async with asyncio.timeout(SECONDS):
            await live.server.stop(3600)


def _server(*listen: str) -> Server:
    issuer = new_issuer()
    return Server(
        name="test",
        registrations=[registration(ProbeServicer())],
        verifier=TokenVerifier({issuer.name: issuer.public_key}),
        listen=listen,
        ready=always_ready,
        log=json_lines("test", level="error"),
    )


async def test_a_port_in_use_is_a_sentence_that_says_what_to_do() -> None:
    """W1: a port in use is an error that says what to do; the server does not share the port."""
    first = _server("127.0.0.1:0")
    await first.start()
    try:
        taken = f"127.0.0.1:{first.ports['127.0.0.1:0']}"

        with pytest.raises(BindError, match=f"Cannot listen on {taken}.*choose another address"):
            await _server(taken).start()
    finally:
        await first.stop(0)


async def test_a_server_listens_on_tcp_and_a_socket_at_once(tmp_path: Path) -> None:
    """W1, W6: a server listens on several addresses; `ports` has the chosen port; only its owner
    can use the socket."""
    path = f"unix:{tmp_path / 's'}"
    server = _server("127.0.0.1:0", path)
    await server.start()
    try:
        assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o700
        for address in (f"127.0.0.1:{server.ports['127.0.0.1:0']}", path):
            async with grpc.aio.insecure_channel(address) as channel:
                stub: Dynamic = health_pb2_grpc.HealthStub(channel)
                reply = await stub.Check(health_pb2.HealthCheckRequest(), timeout=SECONDS)
                assert reply.status in {SERVING, NOT_SERVING}
    finally:
        await server.stop(0)


@contextlib.asynccontextmanager
async def _program(folder: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(Path(__file__).with_name("one_server.py")), str(folder)),
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_drains_stops_and_closes(sent: signal.Signals, tmp_path: Path) -> None:
    """Design 4: on SIGTERM or SIGINT the server stops; the status is 0."""
    async with _program(tmp_path) as process, asyncio.timeout(SECONDS):
        assert process.stderr is not None
        lines: list[bytes] = []
        while not any(b'"serving": true' in line for line in lines):
            lines.append(await process.stderr.readline())
            assert lines[-1], "the process has ended"
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(str(tmp_path / "probe"))

        process.send_signal(sent)
        rest = await process.stderr.read()

        assert await process.wait() == 0
    assert (tmp_path / "closed").read_text() == "closed"
    assert b"stopped" in rest
