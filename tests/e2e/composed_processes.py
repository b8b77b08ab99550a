"""The distributed system as processes of their own, with the settings that compose gives them.

Of these, paths and addresses are this machine's, and the stores are embedded unless a test says
otherwise.
"""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import yaml
from concord.graph.v1 import memory_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_client import AsyncClient, credentials
from concord_client.credentials import Credentials, Target
from concord_embedded import distributed_secrets, service_certificates
from concord_testing.scraping import free_port

DEPLOY = Path(__file__).parents[2] / "deploy"
SERVICES = ("graph", "search", "dissonance", "governance", "gateway")
READY_WITHIN = 90.0
"""Seconds, for five processes on a busy machine."""
HOST = "localhost"


@dataclass
class Composed:
    """The system: where each service listens, its settings, its log and its process."""

    folder: Path
    ports: Mapping[str, int]
    environs: dict[str, dict[str, str]]
    running: dict[str, asyncio.subprocess.Process] = field(default_factory=dict)

    @property
    def credentials(self) -> Credentials:
        """The keys of the first two spaces, and the gateway's addresses."""
        return credentials.read(self.folder / "secrets" / credentials.FILE_NAME)

    def address(self, service: str) -> str:
        """`host:port` of a service's gRPC."""
        return f"{HOST}:{self.ports[service]}"

    def log(self, service: str) -> str:
        """What a service has written so far."""
        return (self.folder / f"{service}.log").read_text("utf-8")

    async def start(self, service: str) -> None:
        """Starts a service with its settings as they are now."""
        with (self.folder / f"{service}.log").open("ab") as log:
            self.running[service] = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", f"concord_{service}"),
                env={"PATH": os.environ["PATH"], **self.environs[service]},
                stdout=log,
                stderr=log,
            )

    async def stop(self, service: str) -> None:
        """Ends a service, at once."""
        process = self.running.pop(service)
        if process.returncode is None:
            process.kill()
        await process.wait()

    async def until_logged(self, service: str, words: str) -> None:
        """Returns once a service has written `words`. Raises `TimeoutError`."""
        async with asyncio.timeout(READY_WITHIN):
            while words not in self.log(service):  # noqa: ASYNC110 - a file tells nobody
                await asyncio.sleep(0.1)

    async def found(self) -> list[str]:
        """Adds a memory and searches for it, through the gateway; the ids of what is found."""
        known = self.credentials
        async with AsyncClient(Target(known.url, known.keys["default"])) as concord:
            memory = type_pb2.Memory(id="tea", content="Tea is served at four.")
            added = await concord.memory.AddMemory(memory_pb2.AddMemoryRequest(memory=memory))
            fresh = type_pb2.Consistency(at_least_as_fresh=added.token)
            request = search_pb2.SearchRequest(query="when is tea?", consistency=fresh)
            reply = await concord.search.Search(request)
        return [each.memory.id for each in reply.results]

    async def until_serving(self) -> None:
        """Returns once the gateway says that every service serves. Raises `TimeoutError`."""
        async with asyncio.timeout(READY_WITHIN), httpx.AsyncClient(trust_env=False) as http:
            while not await self._all_serve(http):  # noqa: ASYNC110 - health is asked
                await asyncio.sleep(0.2)

    async def _all_serve(self, http: httpx.AsyncClient) -> bool:
        try:
            return (await http.get(f"{self.credentials.http_url}/healthz")).is_success
        except httpx.TransportError:
            return False


@asynccontextmanager
async def composed(
    folder: Path,
    *,
    overlays: Sequence[str] = (),
    services: Sequence[str] = SERVICES,
    settings: Mapping[str, str] | None = None,
) -> AsyncIterator[Composed]:
    """The services of compose.yaml under overlays, started; killed after the block.

    `settings` go to all of them, over everything else.
    """
    ports = {each: free_port() for each in (*SERVICES, "http")}
    secrets = folder / "secrets"
    http_url = f"http://{HOST}:{ports['http']}"
    distributed_secrets.make(secrets, url=f"{HOST}:{ports['gateway']}", http_url=http_url)
    service_certificates.ensure(secrets / "keys", (HOST,))
    read = [yaml.safe_load((DEPLOY / each).read_text()) for each in ("compose.yaml", *overlays)]
    made = Composed(folder, ports, {each: _environ(each, read, folder, ports) for each in SERVICES})
    for environ in made.environs.values():
        environ.update(settings or {})
    async with AsyncExitStack() as stack:
        for service in services:
            await made.start(service)
            stack.push_async_callback(_stopped, made, service)
        yield made


async def _stopped(made: Composed, service: str) -> None:
    if service in made.running:
        await made.stop(service)


def _environ(
    service: str, read: Sequence[Mapping[str, Any]], folder: Path, ports: Mapping[str, int]
) -> dict[str, str]:
    """A service's settings, with this machine's paths and addresses."""
    given: dict[str, str] = {}
    files: dict[str, str] = {}
    for each in read:
        given |= each["services"].get(service, {}).get("environment", {})
        files |= {name: said["file"] for name, said in each.get("secrets", {}).items()}
    known = {f"760{0 if name == 'gateway' else 1}": ports[name] for name in ("gateway", "http")}
    known |= {f"761{n}": ports[name] for n, name in enumerate(SERVICES[:4], 1)}

    def here(value: str) -> str:
        value = re.sub(r"/run/secrets/(\w+)", lambda found: _file(folder, files[found[1]]), value)
        return re.sub(
            r"([\w.]+):(76[01]\d)",
            lambda found: f"{'127.0.0.1' if found[1] == '0.0.0.0' else HOST}:{known[found[2]]}",  # noqa: S104 - compose's word
            value,
        )

    environ = {name: here(value) for name, value in given.items()}
    if "SERVICES_TLS_CERT" in environ:  # a certificate for this machine's name
        environ["SERVICES_TLS_CERT"] = _file(folder, f"/{HOST}.crt")
        environ["SERVICES_TLS_KEY"] = _file(folder, f"/{HOST}.key")
    return environ | {
        "GRAPH_STORE": "sqlite",
        "GRAPH_STORE_PATH": str(folder / "graph.db"),
        "GOVERNANCE_STORE": "sqlite",
        "GOVERNANCE_LEDGER_PATH": str(folder / "ledger.db"),
        "INDEX_STORE": "edge",
        "SEARCH_INDEX_PATH": str(folder / "index"),
        "HEALTH_ADDRESS": f"unix:{folder / service}-health.sock",
    }


def _file(folder: Path, of_compose: str) -> str:
    return str(folder / "secrets" / "keys" / of_compose.rpartition("/")[2])
