"""Two processes of each service, on one Neo4j and one Qdrant; each is started and ended alone."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from concord_chassis.server import probe
from concord_client import credentials
from concord_client.credentials import Credentials
from concord_embedded import distributed_secrets
from concord_testing import neo4j_server, qdrant_server
from concord_testing.scraping import free_port
from concord_testing.up_process import STOP_WITHIN, clean_environ

SERVICES = ("graph", "search", "governance", "dissonance", "gateway")
"""In the order in which their replicas are renewed: who is asked before who asks."""
START_WITHIN = 200.0
FOUND_AGAIN_WITHIN = 3.0
"""Seconds: channels look every 2 for a replica that was gone, and gRPC adds a fifth to that."""
SIGNERS = ("gateway", "search", "governance", "dissonance")


@dataclass
class Replica:
    """One process of a service."""

    service: str
    place: int
    address: str
    environ: dict[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Start it; returns once it serves."""
        self.process = self._process()
        async with asyncio.timeout(START_WITHIN):
            while not await asyncio.to_thread(probe.serves, self.address):
                assert self.process.poll() is None, self.log.read_text("utf-8")[-2000:]
                await asyncio.sleep(0.1)

    def _process(self) -> subprocess.Popen[bytes]:
        # It ends with this process, however that ends.
        alone = ("setpriv", "--pdeathsig", "KILL", sys.executable, "-W", "error")
        command = [*alone, "-m", f"concord_{self.service}"]
        with self.log.open("ab") as log:
            return subprocess.Popen(command, env=self.environ, stdout=log, stderr=log)

    async def renew(self) -> None:
        """End it in order and start it again; returns once every caller has found it again."""
        assert await self.end(signal.SIGTERM) == 0
        await self.start()
        await asyncio.sleep(FOUND_AGAIN_WITHIN)

    async def end(self, how: signal.Signals) -> int:
        """Send a signal; return the exit status."""
        assert self.process is not None
        self.process.send_signal(how)
        return await asyncio.to_thread(self.process.wait, STOP_WITHIN)


@dataclass
class System:
    """All replicas, and the folder of what their clients need."""

    secrets: Path
    replicas: dict[str, list[Replica]] = field(default_factory=dict)

    @property
    def credentials(self) -> Credentials:
        """The addresses and keys."""
        return credentials.read(self.secrets / credentials.FILE_NAME)

    def each(self) -> Iterator[Replica]:
        """Every process, the first ones of all services before the second ones."""
        for pair in zip(*(self.replicas[name] for name in SERVICES), strict=True):
            yield from pair


@asynccontextmanager
async def replicated(
    folder: Path, environ: Mapping[str, str] | None = None
) -> AsyncIterator[System]:
    """Two of each, serving; all ended after the block. `environ` is added to what each is told."""
    with ExitStack() as stack:
        neo4j = stack.enter_context(neo4j_server.running(folder / "neo4j", os.environ))
        qdrant = stack.enter_context(qdrant_server.local(folder / "qdrant", os.environ))
        ports = {name: [free_port(), free_port()] for name in SERVICES}
        at = {name: "|".join(f"127.0.0.1:{port}" for port in ports[name]) for name in SERVICES}
        system = System(folder / "secrets")
        gateways = at["gateway"].replace("|", ",")
        distributed_secrets.make(system.secrets, url=f"ipv4:{gateways}", http_url="http://none")
        stores = {
            "NEO4J_URI": neo4j.uri,
            "NEO4J_USER": neo4j.user,
            "NEO4J_PASSWORD": neo4j.password,
            "QDRANT_URL": qdrant.url,
        }
        told = clean_environ() | stores | dict(environ or {})
        for name in SERVICES:
            system.replicas[name] = [
                Replica(
                    name,
                    place,
                    f"127.0.0.1:{port}",
                    told | _settings(name, place, at, port, system.secrets),
                    folder / f"{name}-{place}.log",
                )
                for place, port in enumerate(ports[name], start=1)
            ]
        try:
            await asyncio.gather(*(each.start() for each in system.each()))
            yield system
        finally:
            for each in system.each():
                if each.process is not None and each.process.poll() is None:
                    await each.end(signal.SIGTERM)


def _settings(
    name: str, place: int, at: Mapping[str, str], port: int, secrets: Path
) -> dict[str, str]:
    keys = secrets / "keys"
    known = {each: keys / f"{each}.pub" for each in SIGNERS}
    trusted = ",".join(f"{each}={path}" for each, path in known.items())
    prefix = name.upper()
    common = {f"{prefix}_LISTEN": f"127.0.0.1:{port}", f"{prefix}_ISSUER_KEYS": trusted}
    own_key = {f"{prefix}_KEY_FILE": str(keys / f"{name}.pem")}
    graph = {f"{prefix}_GRAPH_ADDRESS": at["graph"]}
    match name:
        case "graph":
            return common | {
                "GRAPH_STORE": "neo4j",
                "GRAPH_ENROLMENT_FILE": str(keys / "enrolment.json"),
                "GRAPH_ERASE_CONFIRMERS": "search,governance",
            }
        case "search":
            return (
                common
                | own_key
                | graph
                | {
                    "QDRANT_INDEX_SECRET_FILE": str(keys / "search.pem"),
                    "SEARCH_INDEX_PATH": str(secrets.parent / f"index-{place}"),
                    "SEARCH_DISSONANCE_ADDRESS": at["dissonance"],
                    "SEARCH_EMBEDDER_THREADS": "1",
                    "INDEX_STORE": "qdrant",
                }
            )
        case "dissonance":
            return (
                common
                | own_key
                | graph
                | {
                    "DISSONANCE_SEARCH_ADDRESS": at["search"],
                    "DISSONANCE_GOVERNANCE_ADDRESS": at["governance"],
                }
            )
        case "governance":
            return (
                common
                | own_key
                | graph
                | {
                    "GOVERNANCE_STORE": "neo4j",
                    "GOVERNANCE_GRANT_KEY_FILE": str(keys / "grants.pem"),
                    "GOVERNANCE_LOG_KEY_FILE": str(keys / "audit-log.pem"),
                    "GOVERNANCE_KEYS_FILE": str(keys / "api_keys.json"),
                }
            )
    upstreams = ",".join(f"concord.{each}={at[each]}" for each in SERVICES if each != name)
    return {
        "GATEWAY_GRPC_LISTEN": f"127.0.0.1:{port}",
        "GATEWAY_HTTP_LISTEN": "127.0.0.1:0",
        "GATEWAY_UPSTREAMS": upstreams,
        "GATEWAY_ISSUER_KEY_FILE": str(keys / "gateway.pem"),
    }
