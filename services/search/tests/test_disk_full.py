"""A disk without room: the index waits, and nothing else stops."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from concord_chassis.call.failure import translate
from concord_search.adapters.edge.disk_space import SPARE, free_bytes
from concord_search.domain.errors import IndexDiskFull
from concord_search.ports.index import Batch
from concord_search.usecases.reconcile import Reconcile
from concord_testing.polling import SECONDS, until
from following import Following, follower_of
from search_lab import NOW, SPACE, OpenLab, plain_state


class Disk:
    """A disk that can be filled."""

    def __init__(self) -> None:
        self.free = SPARE
        self.asked = 0

    def __call__(self, _: Path) -> int:
        self.asked += 1
        return self.free

    async def asked_again(self) -> None:
        """Returns once somebody has looked for room twice more."""
        seen = self.asked
        await until(lambda: self.asked >= seen + 2)


@pytest.fixture
def disk() -> Disk:
    """A disk with room."""
    return Disk()


@pytest.fixture
async def at_work_there(tmp_path: Path, open_lab: OpenLab, disk: Disk) -> AsyncIterator[Following]:
    """A follower of an empty graph, whose index is on that disk."""
    following = follower_of(await open_lab(tmp_path / "index", free_bytes=disk))
    yield following
    await following.stop()


async def test_the_index_waits_for_room_and_then_goes_on(
    at_work_there: Following, disk: Disk
) -> None:
    """S10 Without room nothing is written, what is there is found, and nothing is parked."""
    graph = at_work_there.graph
    await at_work_there.write(plain_state("a", 1, "red fox"))
    disk.free = SPARE - 1
    graph.say(SPACE, plain_state("b", 2, "blue whale"))
    await disk.asked_again()

    assert at_work_there.progress.of(SPACE).applied_seq == 1
    assert at_work_there.progress.following
    assert not at_work_there.progress.keeps_up
    with pytest.raises(IndexDiskFull, match="needs 64 MiB"):
        at_work_there.progress.demand_following("nothing matches")
    assert (await at_work_there.lab.ask("fox")).seqs.tolist() == [1]

    disk.free = SPARE
    state = await at_work_there.reached(2)

    assert (state.memories, state.parked_count) == (2, 0)
    assert at_work_there.progress.keeps_up


async def test_a_comparison_does_not_wait_for_room(at_work_there: Following, disk: Disk) -> None:
    """S10 While a change waits for room, it is told how the index compares, or why it cannot be."""
    graph = at_work_there.graph
    await at_work_there.write(plain_state("a", 1, "red fox"))
    disk.free = 0
    graph.say(SPACE, plain_state("b", 2, "blue whale"))
    await disk.asked_again()
    reconcile = Reconcile(at_work_there.context)
    async with asyncio.timeout(SECONDS):
        assert (await reconcile(SPACE, repair=True)).agrees
        with pytest.raises(IndexDiskFull, match="has 0 MiB left"):
            await reconcile("new", repair=False)

    disk.free = SPARE

    assert (await at_work_there.reached(2)).memories == 2


async def test_a_new_space_waits_for_room(at_work_there: Following, disk: Disk) -> None:
    """S10 A part is not begun without room, and is when there is some."""
    disk.free = 0
    at_work_there.graph.log["new"] = []
    at_work_there.graph.say("new", plain_state("a", 1, "red fox"))
    await disk.asked_again()

    assert "new" not in await at_work_there.lab.index.states()
    assert not at_work_there.progress.keeps_up
    with pytest.raises(IndexDiskFull, match="has 0 MiB left"):
        at_work_there.progress.demand_following("nothing matches")

    disk.free = SPARE

    assert (await at_work_there.reached(1, "new")).memories == 1
    at_work_there.progress.demand_following("nothing matches")


async def test_an_erasure_waits_for_room(at_work_there: Following, disk: Disk) -> None:
    """M4 S10 Files are made anew once there is room for them; then the erasure is confirmed."""
    graph = at_work_there.graph
    await at_work_there.write(plain_state("a", 1, "red fox"))
    disk.free = 0
    graph.erase(SPACE, "a", 2)
    await disk.asked_again()

    assert not graph.confirmed

    disk.free = SPARE
    await until(lambda: bool(graph.confirmed))

    assert (await at_work_there.lab.index.states())[SPACE].memories == 0


async def test_a_write_without_room_changes_nothing_and_says_what_to_do(
    tmp_path: Path, open_lab: OpenLab, disk: Disk
) -> None:
    """S10 The refusal comes before the batch, names the disk, and is typed for who asked."""
    lab = await open_lab(tmp_path / "index", free_bytes=disk)
    disk.free = 5 << 20
    with pytest.raises(IndexDiskFull, match=r"index has 5 MiB left") as caught:
        await lab.index.apply(SPACE, Batch(1, NOW))

    disk.free = SPARE
    await lab.write(plain_state("a", 1, "red fox"))

    assert (await lab.ask("fox")).seqs.tolist() == [1]
    told = translate(caught.value)
    assert told is not None
    assert (told.code.name, told.reason) == ("UNAVAILABLE", "ERROR_REASON_UNAVAILABLE")


def test_room_is_what_the_disk_has(tmp_path: Path) -> None:
    """S10 The index asks the disk that it is on."""
    assert free_bytes(tmp_path) > 0
