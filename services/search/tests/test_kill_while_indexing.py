"""kill -9 of the indexing: afterwards the index follows to the end, and agrees with graph."""

import asyncio
import random
import signal
import sys
from pathlib import Path

import killed_indexer
import pytest
from concord_search.ports import Version
from concord_search.usecases.reconcile import Reconcile
from concord_testing.polling import until
from killed_indexer import LAST, OTHER
from search_lab import SPACE

WRITES = 480
"""Fewer than the engine's writes while the story is followed by two versions; by one, half."""

DRAWN = random.Random(15).sample(range(2, WRITES), 200)


async def killed(root: Path, write: int, *, reindex: bool) -> None:
    """Kills an indexer at a write, and lets the next one finish."""
    at = write if reindex else write // 2
    program = (killed_indexer.__file__, str(root), str(at), *(["reindex"] if reindex else []))
    done = await asyncio.create_subprocess_exec(sys.executable, *program)
    assert await done.wait() == -signal.SIGKILL

    following = await killed_indexer.at_work(root)
    index = following.lab.index
    await following.reached(LAST)
    if SPACE in await index.states(Version.NEXT):
        await until(lambda: index.model(SPACE) == OTHER)
    agreement = await Reconcile(following.context)(SPACE, repair=False)
    state = (await index.states())[SPACE]
    await following.stop()
    await index.close()

    assert agreement.agrees, (write, agreement.differing)
    assert (state.applied_seq, state.parked_count) == (LAST, 0)


@pytest.mark.parametrize("reindex", [False, True])
async def test_a_killed_indexer_leaves_an_index_that_agrees_with_graph(
    tmp_path: Path, *, reindex: bool
) -> None:
    """S10 digests equal graph's after a kill -9: some points, with and without a reindex."""
    for write in DRAWN[:2]:
        await killed(tmp_path / str(write), write, reindex=reindex)


@pytest.mark.soak
@pytest.mark.parametrize("write", DRAWN)
async def test_at_two_hundred_points(tmp_path: Path, write: int) -> None:
    """S10 the same at 200 points, every other one while the index is built anew."""
    await killed(tmp_path, write, reindex=bool(write % 4 // 2))
