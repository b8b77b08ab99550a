"""Kill -9 at random moments of an import: what was acknowledged is there, once, and is found."""

import random
from pathlib import Path

import pytest
from concord_testing.up_process import spawned

from tests.chaos.checking import check
from tests.chaos.growing_import import GrowingImport
from tests.chaos.killing import client_of, kill_while_starting, killed_after, seed
from tests.chaos.stores_on_disk import copy_of, indexed, remembered

LONGEST = 2.0
"""Seconds from the start of sending to the kill, at most: about half of the kills find the import
under way, the others the index behind it."""


def survive(folder: Path, total: int, kills: int, draw: random.Random) -> None:
    """Imports `total` memories through so many kills, and checks after each."""
    data = folder / "data"
    job = GrowingImport(total, draw.randrange(1 << 31))
    for left in range(kills, 0, -1):
        with spawned(data) as server, client_of(server) as client:
            check(client, job, draw)
            share = -(-(job.batches - job.done) // (left + 1))
            with killed_after(server, draw.uniform(0, LONGEST)):
                job.send(client, share)
        if draw.random() < 0.2:
            kill_while_starting(data, draw.uniform(0.2, LONGEST))
        with copy_of(data, folder / "copy") as copy:
            assert indexed(copy) <= remembered(copy), "an orphan in the index"
    finish(folder, job, draw)


def finish(folder: Path, job: GrowingImport, draw: random.Random) -> None:
    """Completes the import, repeats it whole, and compares the stores state by state."""
    data = folder / "data"
    with spawned(data) as server, client_of(server) as client:
        check(client, job, draw)
        job.send(client, job.batches)
        check(client, job, draw, sample=40)
        assert job.repeat(client) == 0
        check(client, job, draw)
        assert server.stop() == 0
    with copy_of(data, folder / "copy") as copy:
        states = remembered(copy)
        assert len({item for item, _ in states}) == len(job.memories)
        assert indexed(copy) == states


def test_an_import_survives_a_few_kills(tmp_path: Path) -> None:
    """Must hold, item 8: kill -9 loses nothing acknowledged, doubles nothing, leaves no orphan."""
    survive(tmp_path, total=400, kills=2, draw=random.Random(seed()))


@pytest.mark.chaos
@pytest.mark.parametrize("import_number", range(5))
def test_an_import_of_5000_survives_ten_kills(tmp_path: Path, import_number: int) -> None:
    """Must hold: 5 imports of 5,000 memories with 10 kills each are 50 random points."""
    survive(tmp_path, total=5_000, kills=10, draw=random.Random(seed() + import_number))
