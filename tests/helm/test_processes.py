"""The chart's settings start a system: five processes, with what the chart gives their pods.

Paths and addresses are this machine's, and the stores are embedded; all else is as rendered, TLS
between services too.
"""

import asyncio
import os
import re
import shutil
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import grpc
import pytest
from concord_embedded import distributed_secrets, service_certificates
from concord_testing.scraping import free_port
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.helm.rendering import CHART, HELM, SERVICES, environ, secret_files, service_pod

pytestmark = [
    pytest.mark.helm,
    pytest.mark.slow,
    pytest.mark.skipif(HELM is None, reason="helm is missing: `make helm` builds it with Go"),
]
CASE = "certificates of one's own"
HOST = "localhost"
READY_WITHIN = 200.0
"""Seconds, for five processes on a busy machine."""
EMBEDDED = {
    "graph": {"GRAPH_STORE": "sqlite", "GRAPH_STORE_PATH": "graph.db"},
    "governance": {"GOVERNANCE_STORE": "sqlite", "GOVERNANCE_LEDGER_PATH": "ledger.db"},
    "search": {"INDEX_STORE": "edge", "SEARCH_INDEX_PATH": "index"},
}
CERTIFICATE = {"ca.crt": "services-ca.crt", "tls.crt": f"{HOST}.crt", "tls.key": f"{HOST}.key"}


def laid_out(service: str, folder: Path, ports: Mapping[str, int]) -> dict[str, str]:
    """A service's settings, after its files are where these say, as the kubelet would do it."""
    template = service_pod(CASE, service)
    (container,) = template["spec"]["containers"]
    own = folder / service
    own.mkdir()
    keys = folder / "secrets" / "keys"
    for path, (_, item) in secret_files(template).items():
        shutil.copy(keys / CERTIFICATE.get(item, item), own / path)
    for each in template["spec"].get("initContainers", ()):
        *words, source, target = each["command"]
        assert words == ["install", "-m", "600"]
        (folder / "private").mkdir()
        shutil.copy(own / Path(source).name, folder / "private" / Path(target).name)

    def here(value: str) -> str:
        value = value.replace("/run/secrets", str(own))
        value = value.replace("/run/private", str(folder / "private"))
        value = re.sub(r"memory-concord-[a-z]+:(76\d+)", lambda f: f"{HOST}:{ports[f[1]]}", value)
        health = {"7620": ports[f"{service} health"]}
        return re.sub(
            r"0\.0\.0\.0:(\d+)", lambda f: f"127.0.0.1:{({**ports, **health})[f[1]]}", value
        )

    given = {name: here(value) for name, value in environ(container).items()}
    stores = EMBEDDED.get(service, {})
    return given | {
        name: str(folder / value) if name.endswith("_PATH") else value
        for name, value in stores.items()
    }


async def probed(service: str, port: int) -> list[bool]:
    """What a service's three probes find, asked as the kubelet asks: without a certificate."""
    (container,) = service_pod(CASE, service)["spec"]["containers"]
    found = []
    async with grpc.aio.insecure_channel(f"{HOST}:{port}") as channel:
        for name in ("startup", "readiness", "liveness"):
            asked = health_pb2.HealthCheckRequest(
                service=container[f"{name}Probe"]["grpc"]["service"]
            )
            try:
                reply = await health_pb2_grpc.HealthStub(channel).Check(asked, timeout=5)
            except grpc.aio.AioRpcError:
                found.append(False)
            else:
                found.append(reply.status == health_pb2.HealthCheckResponse.SERVING)
    return found


async def test_the_charts_settings_start_a_system(tmp_path: Path) -> None:
    """W1, W6, W10: every probe finds what it looks for, the story holds through the gateway's TLS,
    and what it erases is confirmed by `search`; a service that is cut off from graph is not
    ready, and lives."""
    ports = {each: free_port() for each in ("7600", "7601", "7611", "7612", "7613", "7614")}
    ports |= {f"{service} health": free_port() for service in SERVICES}
    secrets = tmp_path / "secrets"
    urls = [f"https://{HOST}:{ports[each]}" for each in ("7600", "7601")]
    distributed_secrets.make(secrets, url=urls[0], http_url=urls[1])
    service_certificates.ensure(secrets / "keys", (HOST,))
    running: dict[str, asyncio.subprocess.Process] = {}
    async with AsyncExitStack() as stack:
        for service in SERVICES:
            log = stack.enter_context((tmp_path / f"{service}.log").open("w"))
            running[service] = process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", f"concord_{service}"),
                env={"PATH": os.environ["PATH"], **laid_out(service, tmp_path, ports)},
                stdout=log,
                stderr=log,
            )
            stack.push_async_callback(_ended, process)
        async with asyncio.timeout(READY_WITHIN):
            for service in SERVICES:
                while not all(await probed(service, ports[f"{service} health"])):
                    assert running[service].returncode is None, service
                    await asyncio.sleep(0.3)
        script = (CHART / "story.sh").read_text("utf-8").replace("/tmp/", f"{tmp_path}/")
        told = await asyncio.create_subprocess_exec(
            *("bash", "-euo", "pipefail", "-c", script),
            env={
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "CONCORD_DATA": str(secrets),
                "CONCORD_CA": str(secrets / "keys" / "services-ca.crt"),
                "CONCORD_STATE": str(tmp_path / "state.json"),
                "HOME": str(tmp_path),
            },
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said = (await told.communicate())[0].decode()
        await _ended(running["graph"])
        async with asyncio.timeout(READY_WITHIN):
            while (found := await probed("search", ports["search health"])) == [True] * 3:  # noqa: ASYNC110
                await asyncio.sleep(0.3)

    assert told.returncode == 0, said
    assert len(re.findall(r"^search +\d{4}-", said, re.M)) == 2
    assert found == [True, False, True]


async def _ended(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
    await process.wait()
