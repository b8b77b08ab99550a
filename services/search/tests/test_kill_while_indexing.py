"""kill -9 of the indexing: afterwards the index follows to the end, and agrees with graph."""

import asyncio
import random
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import killed_indexer
import pytest
from concord_search.ports.index import Version
from concord_search.usecases.reconcile import Reconcile
from concord_testing.polling import until
from following import OTHER
from killed_indexer import LAST
from search_lab import SPACE

DRAWN = random.Random(15).sample(range(1_000), 200)
"""Thousandths of the writes, at which to kill."""

SPARE = 8
"""Writes by which two runs may differ: how changes are joined into slices hangs on the machine."""


@pytest.fixture(scope="module")
def writes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[bool, int]:
    """The writes of an indexer that lives, without and with a reindex."""
    return {
        reindex: int(
            subprocess.run(
                program(tmp_path_factory.mktemp("counted"), 0, reindex=reindex),
                check=True,
                capture_output=True,
            ).stdout
        )
        for reindex in (False, True)
    }


def program(root: Path, write: int, *, reindex: bool) -> tuple[str, ...]:
    """The command of an indexer that is killed at a write; at none for 0."""
    ways = ["reindex"] if reindex else []
    return (sys.executable, killed_indexer.__file__, str(root), str(write), *ways)


async def killed(root: Path, writes: int, drawn: int, *, reindex: bool) -> None:
    """Kills an indexer at a drawn part of so many writes, and lets the next one finish."""
    for attempt in range(3):
        part = root / str(attempt)
        command = program(part, point(writes, drawn), reindex=reindex)
        done = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        said, _ = await done.communicate()
        if done.returncode == -signal.SIGKILL:
            break
        writes = int(said)  # it ended before, with fewer writes than the one that was counted
    assert done.returncode == -signal.SIGKILL

    following = await killed_indexer.at_work(part)
    index = following.lab.index
    await following.reached(LAST)
    if SPACE in await index.states(Version.NEXT):
        await until(lambda: index.model(SPACE) == OTHER)
    agreement = await Reconcile(following.context)(SPACE, repair=False)
    state = (await index.states())[SPACE]
    await following.stop()
    await index.close()

    assert agreement.agrees, (command, agreement.differing)
    assert (state.applied_seq, state.parked_count) == (LAST, 0)


def point(writes: int, drawn: int) -> int:
    """The write at which to kill, of so many."""
    return 2 + (writes - SPARE) * drawn // 1_000


@pytest.mark.parametrize("reindex", [False, True])
async def test_a_killed_indexer_leaves_an_index_that_agrees_with_graph(
    tmp_path: Path, writes: Mapping[bool, int], *, reindex: bool
) -> None:
    """S10 digests equal graph's after a kill -9: some points, with and without a reindex."""
    for drawn in DRAWN[:2]:
        await killed(tmp_path / str(drawn), writes[reindex], drawn, reindex=reindex)


@pytest.mark.soak
@pytest.mark.parametrize("drawn", DRAWN)
async def test_at_two_hundred_points(
    tmp_path: Path, writes: Mapping[bool, int], drawn: int
) -> None:
    """S10 the same at 200 points, every other one while the index is built anew."""
    reindex = bool(drawn % 4 // 2)
    await killed(tmp_path, writes[reindex], drawn, reindex=reindex)
