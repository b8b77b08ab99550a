"""A Qdrant server that is gone, killed, hanging or closed to us: nothing is lost, all is told."""

import asyncio
import os
import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import grpc
import pytest
from concord_chassis.call.failure import translate
from concord_search.adapters.qdrant_server.index import ServerIndex
from concord_search.adapters.qdrant_server.settings import QdrantConfig
from concord_search.adapters.versions.index import PartVersions
from concord_search.domain.changes import ChangeKind
from concord_search.domain.errors import IndexUnavailable
from concord_search.usecases.reconcile import Reconcile
from concord_testing import qdrant_server
from concord_testing.embedders import WordEmbedder
from concord_testing.polling import until
from concord_testing.qdrant_server import LocalQdrant
from following import Following, follower_of
from pydantic import SecretStr
from search_lab import SPACE, Lab, plain_state

pytestmark = pytest.mark.qdrant

TIMEOUT = 1.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalQdrant]:
    """A server of these tests' own, as they kill it."""
    with qdrant_server.local(tmp_path_factory.mktemp("own"), os.environ) as own:
        yield own


def index_on(server: LocalQdrant, root: Path) -> PartVersions:
    """An index on that server; not opened yet."""
    there = QdrantConfig(url=server.url, timeout=TIMEOUT, prefix=f"t{abs(hash(root)) % 10**12}")
    parts = ServerIndex(root, [WordEmbedder.model], there)
    return PartVersions(parts)


@pytest.fixture
async def at_work(server: LocalQdrant, tmp_path: Path) -> AsyncIterator[Following]:
    """A follower of a graph with one memory, whose index is on that server."""
    index = index_on(server, tmp_path)
    await index.open()
    following = follower_of(Lab(index, WordEmbedder()))
    await following.write(plain_state("a", 1, "red fox"))
    yield following
    await following.stop()
    await index.close()


async def agrees(following: Following) -> bool:
    """Whether the digests of what the server holds equal graph's."""
    return (await Reconcile(following.context)(SPACE, repair=False)).agrees


async def back(following: Following) -> None:
    """Returns once the index is followed again."""
    await until(lambda: following.progress.following and not following.progress.index_lost)


async def test_a_server_that_is_gone_is_told_and_caught_up_with(
    server: LocalQdrant, at_work: Following
) -> None:
    """S10 Searches fail with a type, health is lost, graph's changes wait and come in after."""
    server.kill()
    with pytest.raises(IndexUnavailable, match="does not answer") as refused:
        await at_work.lab.ask("fox")
    at_work.graph.say(SPACE, plain_state("b", 2, "blue whale"))
    await until(lambda: not at_work.progress.following)
    with pytest.raises(IndexUnavailable):
        at_work.progress.demand_following("nothing matches")

    server.start()
    state = await at_work.reached(2)

    failure = translate(refused.value)
    assert failure is not None
    assert (failure.code, failure.reason) == (
        grpc.StatusCode.UNAVAILABLE,
        "ERROR_REASON_UNAVAILABLE",
    )
    assert (state.memories, state.parked_count) == (2, 0)
    assert at_work.lab.ids(await at_work.lab.ask("whale"))[0] == "b"
    assert await agrees(at_work)


async def test_its_absence_is_noticed_while_nothing_is_written(
    server: LocalQdrant, at_work: Following
) -> None:
    """S10 Health tells the truth of an idle system, too, and comes back by itself."""
    server.kill()
    await until(lambda: not at_work.progress.following)
    server.start()
    await back(at_work)

    assert at_work.lab.ids(await at_work.lab.ask("fox")) == ["a"]


async def test_a_server_that_hangs_is_given_up_in_time(
    server: LocalQdrant, at_work: Following
) -> None:
    """S10 No search waits longer than the setting says; it goes on when the server does."""
    server.pause(paused=True)
    try:
        began = asyncio.get_running_loop().time()
        with pytest.raises(IndexUnavailable, match="no answer in 1 s"):
            await at_work.lab.ask("fox")
        took = asyncio.get_running_loop().time() - began
    finally:
        server.pause(paused=False)
    at_work.graph.say(SPACE, plain_state("b", 2, "blue whale"))

    assert took >= TIMEOUT
    assert (await at_work.reached(2)).memories == 2
    assert await agrees(at_work)


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.chaos)])
async def test_killed_at_many_points_it_loses_nothing(
    server: LocalQdrant, at_work: Following, kills: int
) -> None:
    """S10 kill -9 of the server while it is written to: afterwards its digests equal graph's."""
    draw, seq = random.Random(kills), 1
    for _ in range(kills):
        for _ in range(draw.randint(5, 60)):
            seq += 1
            item = f"m{draw.randint(0, 40)}"
            kind = ChangeKind.CREATED if draw.random() < 0.5 else ChangeKind.UPDATED
            at_work.graph.say(SPACE, plain_state(item, seq, f"{item} says {seq}"), kind=kind)
        await asyncio.sleep(draw.random() * 0.2)
        server.kill()
        server.start()
        await back(at_work)
    state = await at_work.reached(seq)

    assert state.parked_count == 0
    assert await agrees(at_work)


async def test_what_was_lost_with_the_servers_disk_is_followed_anew(
    server: LocalQdrant, at_work: Following
) -> None:
    """S10 The index is derived: a server that comes back empty is filled from graph's feed."""
    server.kill()
    await until(lambda: not at_work.progress.following)
    server.wipe()
    server.start()
    await back(at_work)
    state = await at_work.reached(1)

    assert state.memories == 1
    assert at_work.lab.ids(await at_work.lab.ask("fox")) == ["a"]
    assert await agrees(at_work)


async def test_a_key_that_the_server_refuses_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W6 What is wrong is the key, and which setting holds it; the right one is let in."""
    monkeypatch.setenv("QDRANT_API_KEY", "right")
    with qdrant_server.local(tmp_path / "server", os.environ) as own:
        for key in ("", "wrong", "right"):
            there = QdrantConfig(url=own.url, api_key=SecretStr(key))
            index = ServerIndex(tmp_path / "ix", [WordEmbedder.model], there)
            if key == "right":
                await index.open()
            else:
                with pytest.raises(IndexUnavailable, match="QDRANT_API_KEY"):
                    await index.open()
            await index.close()
