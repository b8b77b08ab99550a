"""A start with many spaces: it waits for their parts of the index, and says how far it is."""

import asyncio
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from concord.governance.v1 import access_pb2
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from concord_client import AsyncClient
from concord_client.credentials import Target
from concord_embedded import system, up
from concord_search.adapters.edge import shard
from concord_search.adapters.edge.shard import EdgeShard
from concord_search.usecases.follow import Follow

SPACES = 40


async def fill(data: Path) -> None:
    """Makes spaces of one memory each."""
    async with (
        system.running(data) as running,
        AsyncClient(Target(running.url, running.keys["concord:system"])) as operator,
    ):
        for number in range(SPACES):
            space = f"user-{number}"
            await operator.access.CreateSpace(access_pb2.CreateSpaceRequest(space=space))
            wanted = access_pb2.CreateKeyRequest(
                space=space,
                principal="helper",
                kind=type_pb2.PRINCIPAL_KIND_AGENT,
                scopes=[access_pb2.KEY_SCOPE_READ, access_pb2.KEY_SCOPE_WRITE],
            )
            made = await operator.access.CreateKey(wanted)
            async with AsyncClient(Target(running.url, made.secret)) as helper:
                memory = type_pb2.Memory(content=f"User {number} prefers trains.")
                await helper.memory.AddMemory(memory_pb2.AddMemoryRequest(memory=memory))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of a stopped system of many spaces."""
    data = tmp_path_factory.mktemp("many") / "data"
    asyncio.run(fill(data))
    return data


def slowed(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Have each of the engine's shards take some seconds more to be opened."""
    given: Callable[..., EdgeShard] = shard.load

    def slow(*arguments: object) -> EdgeShard:
        time.sleep(seconds)
        return given(*arguments)

    monkeypatch.setattr(shard, "load", slow)


def started(data: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit status of `concord up`, stopped once it is ready."""
    monkeypatch.setattr(up, "_announce", lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    return up.up(data, 0, as_json=True)


def said(stderr: str) -> list[int]:
    """How many of all spaces were ready, line by line."""
    pattern = re.compile(rf"Opening the index: (\d+) of {SPACES} spaces\.")
    return [int(found[1]) for line in stderr.splitlines() if (found := pattern.fullmatch(line))]


def test_a_start_waits_while_it_gets_on(
    filled: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """W4 Shards take longer together to be opened than a start waits for one; a line now and then
    says how many spaces are ready."""
    monkeypatch.setattr(system, "STUCK_AFTER", 5.0)
    monkeypatch.setattr(system, "SAY_EVERY", 0.5)
    slowed(monkeypatch, 1.5)

    assert started(filled, monkeypatch) == 0

    ready = said(capsys.readouterr().err)
    assert len(ready) > 1
    assert ready == sorted(set(ready))
    assert ready[-1] < SPACES


def test_a_start_that_does_not_get_on_ends_and_says_where(
    filled: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """W4 Must hold: it does not wait for ever, and its sentence names the log."""
    monkeypatch.setattr(system, "STUCK_AFTER", 4.0)
    monkeypatch.setattr(Follow, "run", lambda _: asyncio.sleep(12.0))

    assert started(filled, monkeypatch) == 1

    sentence = capsys.readouterr().err.splitlines()[-1]
    assert re.search(rf"nothing has happened for 4 s, and the index has \d+ of {SPACES}", sentence)
    assert "concord.jsonl says why" in sentence
