import asyncio
import json
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from concord_chassis.server.server import BindError
from concord_gateway import bootstrap
from concord_gateway.config import Config
from concord_gateway.errors import PortInUse
from concord_testing.scraping import free_port, scraped
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from gateway_echo import SECONDS, Front, quiet, write_issuer_key
from grpc_health.v1 import health_pb2, health_pb2_grpc


def config_in(folder: Path, **settings: object) -> Config:
    """A configuration whose services are away."""
    write_issuer_key(folder / "issuer.pem", Ed25519PrivateKey.generate())
    return Config.model_validate(
        {
            "grpc_listen": "127.0.0.1:0",
            "http_listen": "127.0.0.1:0",
            "upstreams": {"concord": f"unix:{folder / 'nobody'}"},
            "issuer_key_file": folder / "issuer.pem",
            **settings,
        }
    )


@pytest.mark.parametrize("setting", ["grpc_listen", "http_listen"])
async def test_a_port_in_use_is_a_sentence_that_says_what_to_do(
    tmp_path: Path, setting: str
) -> None:
    """W4: names the port, the other program's finder and the setting."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        gateway = bootstrap.build(
            config_in(tmp_path, **{setting: f"127.0.0.1:{port}"}), logger=quiet()
        )
        with pytest.raises(PortInUse, match=f"127.0.0.1:{port} is in use") as refused:
            await gateway.start()

    for word in ("stop", f"sport = :{port}", f"GATEWAY_{setting.upper()}"):
        assert word in str(refused.value)
    await gateway.start()
    await gateway.stop(0)


async def test_two_gateways_do_not_share_a_port(door: Front) -> None:
    """W4: gRPC would share it silently (SO_REUSEPORT) and each would get half the calls."""
    config = door.config.model_copy(update={"grpc_listen": f"127.0.0.1:{door.gateway.grpc_port}"})
    from gateway_echo import ECHO, INTERNAL

    second = bootstrap.build(config, services=[ECHO, INTERNAL], logger=quiet())

    with pytest.raises(PortInUse):
        await second.start()


async def test_an_address_of_another_machine_is_a_sentence(tmp_path: Path) -> None:
    """W4: what cannot be listened on is said with its setting."""
    config = config_in(tmp_path, http_listen="203.0.113.1:1", plain_text_network=True)
    gateway = bootstrap.build(config, logger=quiet())

    with pytest.raises(BindError, match="GATEWAY_HTTP_LISTEN"):
        await gateway.start()


async def test_a_gateway_starts_before_its_services_and_stops_twice(tmp_path: Path) -> None:
    """W1: it is not ready, and says so, until they are there; stopping is idempotent."""
    gateway = bootstrap.build(config_in(tmp_path), logger=quiet())
    assert not await gateway.ready()
    await gateway.start()

    assert not await gateway.ready()
    assert gateway.grpc_port > 0
    assert gateway.http_port > 0
    await gateway.stop(0)
    await gateway.stop(0)


@asynccontextmanager
async def process(environ: dict[str, str]) -> AsyncIterator[asyncio.subprocess.Process]:
    """`python -m concord_gateway` with this environment and nothing else."""
    running = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "concord_gateway",
        env=environ,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield running
    finally:
        if running.returncode is None:
            running.kill()
        await running.communicate()


async def grpc_port(running: asyncio.subprocess.Process) -> int:
    """The port that the process says it listens on for gRPC."""
    assert running.stderr is not None
    async for line in running.stderr:
        if b'"listening"' in line:
            return int(json.loads(line)["grpc"])
    raise AssertionError("the process has ended")


async def test_the_process_serves_until_sigterm(tmp_path: Path) -> None:
    """W1, design 4: told by its environment alone; SIGTERM drains and ends with 0."""
    config = config_in(tmp_path)
    environ = {
        "GATEWAY_GRPC_LISTEN": "127.0.0.1:0",
        "GATEWAY_HTTP_LISTEN": "127.0.0.1:0",
        "GATEWAY_UPSTREAMS": f"concord=unix:{tmp_path / 'nobody'}",
        "GATEWAY_ISSUER_KEY_FILE": str(config.issuer_key_file),
        "METRICS_ADDRESS": f"127.0.0.1:{(metrics := free_port())}",
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{free_port()}",  # nobody is there
    }
    async with process(environ) as running:
        async with asyncio.timeout(SECONDS):
            port = await grpc_port(running)
            assert "concord_gateway_handled" in await scraped(metrics)
            async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                reply = await health_pb2_grpc.HealthStub(channel).Check(
                    health_pb2.HealthCheckRequest(), wait_for_ready=True
                )
        assert reply.status == health_pb2.HealthCheckResponse.NOT_SERVING
        running.send_signal(signal.SIGTERM)
        async with asyncio.timeout(SECONDS):
            _, logged = await running.communicate()

    assert running.returncode == 0
    assert b"Traceback" not in logged


async def test_the_process_fails_with_one_sentence() -> None:
    """Style 8: a missing key is named, on standard error, without a traceback."""
    async with process({"GATEWAY_ISSUER_KEY_FILE": "/k"}) as running, asyncio.timeout(SECONDS):
        _, told = await running.communicate()

    assert running.returncode == 1
    assert b"GATEWAY_UPSTREAMS is not set" in told
    assert b"Traceback" not in told
