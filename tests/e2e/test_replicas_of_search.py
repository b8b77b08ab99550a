"""Two searches, each a process of its own, on one index of a Qdrant server, killed and stopped."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import pytest
from concord.graph.v1 import memory_pb2, memory_pb2_grpc
from concord.search.v1 import search_pb2, search_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller, RenewedToken, TokenIssuer
from concord_chassis.channel.channel import connect
from concord_chassis.server import probe
from concord_chassis.server.key_files import read_private_key
from concord_embedded import distributed_secrets
from concord_testing import qdrant_server
from concord_testing.scraping import free_port
from concord_testing.up_process import clean_environ

pytestmark = [pytest.mark.qdrant, pytest.mark.timeout(600)]

KILLS = int(os.environ.get("CONCORD_KILLS_SEARCH", "4"))
STOPPED = 14.0
"""Seconds for which a leader is stopped: longer than its lease."""
WITHIN = 120.0
SCOPES = frozenset({"memory:read", "memory:write", "search:read", "search:admin"})


@dataclass
class Service:
    """One process."""

    name: str
    address: str
    environ: Mapping[str, str]
    log: Path
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        alone = ("setpriv", "--pdeathsig", "KILL", sys.executable, "-W", "error")
        with self.log.open("ab") as log:
            command = [*alone, "-m", f"concord_{self.name}"]
            self.process = subprocess.Popen(command, env=self.environ, stdout=log, stderr=log)

    async def until_served(self) -> None:
        async with asyncio.timeout(WITHIN):
            while not await asyncio.to_thread(probe.serves, self.address):
                assert self.process is not None
                assert self.process.poll() is None, self.log.read_text("utf-8")[-2000:]
                await asyncio.sleep(0.1)

    def send(self, how: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(how)

    def kill(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None


@dataclass
class Pair:
    """Graph, two searches, and what was written."""

    graph: Service
    searches: Sequence[Service]
    issuer: TokenIssuer
    live: dict[str, str] = field(default_factory=dict)
    erased: list[str] = field(default_factory=list)

    def channel(self, service: Service) -> grpc.aio.Channel:
        who = Caller("default", "tester", SCOPES, "HUMAN")
        return connect(service.address, token=RenewedToken(self.issuer, who))

    async def leader(self) -> Service:
        """The search that writes: it alone compares the index with graph."""
        async with asyncio.timeout(WITHIN):
            while True:
                for each in self.searches:
                    if await self.agrees(each) is not None:
                        return each
                await asyncio.sleep(0.2)

    async def agrees(self, service: Service) -> bool | None:
        """Whether the index equals graph; None from a search that does not write."""
        async with self.channel(service) as channel:
            index = search_pb2_grpc.IndexServiceStub(channel)
            try:
                request = search_pb2.ReconcileIndexRequest()
                return (await index.ReconcileIndex(request, timeout=5)).agrees
            except grpc.aio.AioRpcError:
                return None

    async def write(self, stop: asyncio.Event) -> None:
        """Adds memories, and erases every fifth."""
        async with self.channel(self.graph) as channel:
            memories, number = memory_pb2_grpc.MemoryServiceStub(channel), 0
            while not stop.is_set():
                number += 1
                name, text = f"m{number}", f"The bicycle number{number} is blue."
                memory = type_pb2.Memory(id=name, content=text)
                request = memory_pb2.AddMemoryRequest(request_id=name, memory=memory)
                made = await memories.AddMemory(request)
                self.live[name] = text
                if number % 5 == 0:
                    etag = made.memory.etag
                    erase = memory_pb2.EraseMemoryRequest(request_id=f"e{name}", id=name, etag=etag)
                    await memories.EraseMemory(erase)
                    del self.live[name]
                    self.erased.append(name)
                await asyncio.sleep(0.05)

    async def found(self, service: Service, text: str) -> list[str]:
        async with self.channel(service) as channel:
            request = search_pb2.SearchRequest(query=text, page_size=20, peek=True)
            reply = await search_pb2_grpc.SearchServiceStub(channel).Search(request)
            return [each.memory.id for each in reply.results]

    async def until_confirmed(self) -> None:
        """Waits until every erasure is complete."""
        async with self.channel(self.graph) as channel:
            memories = memory_pb2_grpc.MemoryServiceStub(channel)
            for name in self.erased:
                request = memory_pb2.GetEraseReceiptRequest(memory_id=name)
                async with asyncio.timeout(WITHIN):
                    while not (await memories.GetEraseReceipt(request)).receipt.HasField(  # noqa: ASYNC110
                        "complete_time"
                    ):
                        await asyncio.sleep(0.2)


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Pair]:
    """All of them at work; two searches that differ in their address and directory alone."""
    with ExitStack() as stack:
        qdrant = stack.enter_context(qdrant_server.local(folder / "qdrant", os.environ))
        distributed_secrets.make(folder / "secrets", url="ipv4:127.0.0.1:1", http_url="http://none")
        keys = folder / "secrets" / "keys"
        trusted = f"gateway={keys / 'gateway.pub'},search={keys / 'search.pub'}"
        at = [f"127.0.0.1:{free_port()}" for _ in range(3)]
        graph = clean_environ() | {
            "GRAPH_LISTEN": at[0],
            "GRAPH_ISSUER_KEYS": trusted,
            "GRAPH_STORE_PATH": str(folder / "graph.db"),
            "GRAPH_ERASE_CONFIRMERS": "search",
        }
        search = clean_environ() | {
            "SEARCH_ISSUER_KEYS": trusted,
            "SEARCH_KEY_FILE": str(keys / "search.pem"),
            "SEARCH_GRAPH_ADDRESS": at[0],
            "SEARCH_EMBEDDER_THREADS": "1",
            "INDEX_STORE": "qdrant",
            "QDRANT_URL": qdrant.url,
            "QDRANT_INDEX_SECRET": "of both replicas",
        }
        searches = [
            Service(
                "search",
                address,
                search
                | {"SEARCH_LISTEN": address, "SEARCH_INDEX_PATH": str(folder / f"index-{n}")},
                folder / f"search-{n}.log",
            )
            for n, address in enumerate(at[1:])
        ]
        issuer = TokenIssuer(read_private_key(keys / "gateway.pem"), "gateway")
        made = Pair(Service("graph", at[0], graph, folder / "graph.log"), searches, issuer)
        everyone = (made.graph, *searches)
        try:
            for each in everyone:
                each.start()
                await each.until_served()
            yield made
        finally:
            for each in everyone:
                each.kill()


async def test_killed_and_stopped_replicas_lose_and_revive_nothing(tmp_path: Path) -> None:
    """S10 M4 Kills of either search while memories are added and erased, and a leader that is
    stopped for longer than its lease and wakes: the index equals graph, both answer alike, every
    erasure is confirmed under the one name, and nothing erased is found."""
    draw, seed = random.Random(), random.randrange(1 << 30)
    draw.seed(seed)
    print(f"{KILLS} kills, seed {seed}")
    async with running(tmp_path) as pair:
        stop = asyncio.Event()
        writing = asyncio.create_task(pair.write(stop))
        for _ in range(KILLS):
            await asyncio.sleep(draw.uniform(0.5, 2.0))
            victim = draw.choice(pair.searches)
            victim.kill()
            await asyncio.sleep(draw.uniform(0.2, 1.0))
            victim.start()
            await victim.until_served()
        former = await pair.leader()
        former.send(signal.SIGSTOP)
        await asyncio.sleep(STOPPED)
        (other,) = (each for each in pair.searches if each is not former)
        assert await pair.leader() is other
        former.send(signal.SIGCONT)
        await asyncio.sleep(2.0)
        stop.set()
        await writing
        await pair.until_confirmed()
        async with asyncio.timeout(WITHIN):
            while not await pair.agrees(await pair.leader()):  # noqa: ASYNC110 - other processes
                await asyncio.sleep(0.2)

        assert len(pair.live) > 40
        assert len(pair.erased) > 10
        for name in draw.sample(sorted(pair.live), 10):
            first, second = [await pair.found(each, pair.live[name]) for each in pair.searches]
            assert first == second
            assert first[0] == name
        for name in pair.erased:
            for each in pair.searches:
                assert name not in await pair.found(each, f"bicycle number{name[1:]}")
