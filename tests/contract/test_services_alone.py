"""Each service as a process that finds nothing but what its own lock and distribution name."""

import asyncio
import json
import os
import runpy
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import distribution
from pathlib import Path

import pytest
import service_locks as locks  # a script beside the locks, in no distribution
from concord.graph.v1 import memory_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_chassis.server.probe import serves
from concord_client import connect_async
from concord_embedded import credentials, distributed_secrets
from concord_embedded.data_directory import DataDirectory
from concord_testing.polling import SECONDS, until

ROOT = Path(__file__).parents[2]
NAMES = tuple(locks.SERVICES)
ASKED = ("graph", "search", "governance")
"""Whom dissonance asks."""
Settings = Callable[[str], dict[str, str]]


def test_the_locks_are_what_run_lock_and_the_distributions_say() -> None:
    """Must hold: each service has its own hash-pinned set; none is forgotten when one changes."""
    assert locks.main(["--check"]) == 0


def installed_alone(service: str, folder: Path) -> Path:
    """A folder with links to the files of what a service needs, and of nothing else."""
    ours, others = locks.needs(locks.SERVICES[service])
    files = {name: distribution(name).files or [] for name in others}
    shares = Counter(top for each in files.values() for top in {file.parts[0] for file in each})
    for name, each in files.items():
        # A whole folder at once, unless several distributions have files in it.
        for part in {file if shares[top] > 1 else top for file in each for top in file.parts[:1]}:
            _link(Path(str(distribution(name).locate_file(part))), folder / part)
    for name in ours:
        top = locks.folders()[name]
        for package in (top / "gen" / "concord", *top.glob("concord_*/")):
            _link(package, folder / package.name)
    return folder


def _link(source: Path, target: Path) -> None:
    if ".." not in target.parts and source.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(source)


class Running:
    """A process, and what it wrote."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.written: list[str] = []
        self._reading = asyncio.create_task(self._read())

    async def says(self, *words: str) -> str:
        """The first line that holds these words, once it is there."""
        await until(lambda: self._lines(words) != [])
        return self._lines(words)[0]

    async def ended(self) -> int:
        """Its exit status, once it has one and all that it wrote is read."""
        await self._reading
        return await self.process.wait()

    def _lines(self, words: tuple[str, ...]) -> list[str]:
        return [line for line in self.written if all(word in line for word in words)]

    async def _read(self) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.written.append(line.decode())


class Installations:
    """The services, each installed alone, and processes of them."""

    def __init__(self, folder: Path) -> None:
        self._at = {name: installed_alone(name, folder / name) for name in NAMES}

    @asynccontextmanager
    async def process(self, service: str, settings: dict[str, str]) -> AsyncIterator[Running]:
        """`python -m` the service: `-S` leaves out whatever else is installed here."""
        environ = {"PYTHONPATH": str(self._at[service]), "PATH": os.environ["PATH"], **settings}
        command = (sys.executable, "-S", "-P", "-m", f"concord_{service}")
        process = await asyncio.create_subprocess_exec(*command, env=environ, stderr=PIPE)
        running = Running(process)
        try:
            yield running
        finally:
            if process.returncode is None:
                process.terminate()
            await running.ended()


@pytest.fixture(scope="module")
def installations(tmp_path_factory: pytest.TempPathFactory) -> Installations:
    """All five, installed apart."""
    return Installations(tmp_path_factory.mktemp("installed"))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """The settings of each service on sockets and files of this test's own."""
    distributed_secrets.make(tmp_path, url="-", http_url="-")
    keys = DataDirectory(tmp_path).keys
    at = {name: f"unix:{tmp_path}/{name}" for name in NAMES}
    trusts = {
        "graph": ("gateway", "search", "governance", "dissonance"),
        "search": ("gateway", "dissonance"),
        "governance": ("gateway", "dissonance"),
        "dissonance": ("gateway", "search"),
    }

    def of(service: str) -> dict[str, str]:
        mine = {
            "graph": {
                "STORE_PATH": str(tmp_path / "store" / "graph.db"),
                "ENROLMENT_FILE": str(keys / "enrolment.json"),
            },
            "search": {"INDEX_PATH": str(tmp_path / "index"), "GRAPH_ADDRESS": at["graph"]},
            "governance": {
                "LEDGER_PATH": str(tmp_path / "ledger.db"),
                "KEYS_FILE": str(keys / "api_keys.json"),
                "GRANT_KEY_FILE": str(keys / "grants.pem"),
                "LOG_KEY_FILE": str(keys / "audit-log.pem"),
                "GRAPH_ADDRESS": at["graph"],
            },
            "dissonance": {f"{each.upper()}_ADDRESS": at[each] for each in ASKED},
            "gateway": {
                "GRPC_LISTEN": "127.0.0.1:0",
                "HTTP_LISTEN": "127.0.0.1:0",
                "UPSTREAMS": ",".join(f"concord.{each}={at[each]}" for each in NAMES[:-1]),
                "ISSUER_KEY_FILE": str(keys / "gateway.pem"),
            },
        }[service]
        if service in trusts:
            issuers = ",".join(f"{name}={keys / name}.pub" for name in trusts[service])
            mine |= {"LISTEN": at[service], "ISSUER_KEYS": issuers}
        if service in ("search", "governance", "dissonance"):
            mine["KEY_FILE"] = str(keys / f"{service}.pem")
        return {f"{service.upper()}_{key}": value for key, value in mine.items()}

    return of


@pytest.mark.parametrize("service", NAMES)
def test_a_service_without_settings_names_one(
    service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Must hold: what is missing is named at the start, in one line, and nothing serves."""
    monkeypatch.setattr(os, "environ", {})
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # this process is not the service's

    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"concord_{service}", run_name="__main__")

    line = str(ended.value.code)  # sys.exit prints a text and ends with status 1
    assert "\n" not in line
    assert f"{service.upper()}_" in line
    assert "is not set" in line


async def test_each_waits_for_what_it_needs_and_then_serves(
    installations: Installations, settings: Settings, tmp_path: Path
) -> None:
    """Must hold W1: alone it says what is missing and is not ready; no start follows an order."""
    async with AsyncExitStack() as undo:
        started = {
            name: await undo.enter_async_context(installations.process(name, settings(name)))
            for name in reversed(NAMES)
        }
        for name in ("search", "governance", "dissonance"):
            await started[name].says(f"{name.upper()}_GRAPH_ADDRESS", "does not answer")
            assert not await asyncio.to_thread(serves, f"unix:{tmp_path}/{name}")
        await started["graph"].says("waiting for the store", str(tmp_path / "store"))
        address = f"127.0.0.1:{json.loads(await started['gateway'].says('listening'))['grpc']}"
        assert not await asyncio.to_thread(serves, address)

        (tmp_path / "store").mkdir()
        async with asyncio.timeout(SECONDS):
            while not await asyncio.to_thread(serves, address):  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0.1)
        known = credentials.ensure(DataDirectory(tmp_path))
        async with connect_async(address, known.keys["default"]) as concord:
            memory = type_pb2.Memory(content="Tea is at four.")
            added = await concord.memory.AddMemory(memory_pb2.AddMemoryRequest(memory=memory))
            fresh = type_pb2.Consistency(at_least_as_fresh=added.token)
            found = await concord.search.Search(
                search_pb2.SearchRequest(query="when is tea", consistency=fresh)
            )

    assert [result.memory.id for result in found.results] == [added.memory.id]
    assert [each.process.returncode for each in started.values()] == [0] * len(NAMES)
