"""Follows a scripted graph into an index, and dies by SIGKILL at the n-th write of the engine.

    python killed_indexer.py DIRECTORY N [reindex]

With 0 for N it lives, and prints how many writes there were.

What it follows is the same for every process, so that the next one can go on where it ended.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from concord_search.adapters.edge.index import EdgeIndex
from concord_search.adapters.edge.shard import EdgeShard
from concord_search.adapters.versions.index import PartVersions
from concord_search.domain.changes import ChangeKind
from concord_search.usecases import slices
from concord_testing.embedders import WordEmbedder
from concord_testing.polling import until
from following import OTHER, Following, OtherWords, follower_of
from scripted_graph import ScriptedGraph
from search_lab import SPACE, Lab, plain_state

LAST = 400


def story(graph: ScriptedGraph) -> None:
    """Memories that are made, changed, forgotten, read and erased."""
    graph.log.setdefault(SPACE, [])
    for seq in range(1, LAST):
        number = seq % 60
        text = f"fox number{number} says {seq // 120}"
        match seq % 7:
            case 5 if seq > 70:
                gone = plain_state(f"m{number}", seq, text, forgotten=True)
                graph.say(SPACE, gone, kind=ChangeKind.DELETED)
            case 6:
                graph.say(SPACE, plain_state(f"read {seq - 1}", seq, text))
            case _:
                graph.say(SPACE, plain_state(f"m{number}", seq, text))
    graph.erase(SPACE, "m7", LAST)


async def at_work(root: Path) -> Following:
    """A follower of the story, over what is in a directory."""
    index = PartVersions(EdgeIndex(root, WordEmbedder.model, OTHER))
    await index.open()
    await index.begin(SPACE, "epoch-1")
    following = follower_of(Lab(index, WordEmbedder()), OtherWords())
    story(following.graph)
    return following


def die_at(write: int) -> Callable[[], int]:
    """Ends this process at a write of the engine: before it, or after it where `write` is odd.

    Returns what counts the writes so far.
    """
    apply, done = EdgeShard._update, 0

    def update(self: EdgeShard, operation: Any) -> None:
        nonlocal done
        done += 1
        if done == write and not write % 2:
            os.kill(os.getpid(), signal.SIGKILL)
        apply(self, operation)
        if done == write:
            os.kill(os.getpid(), signal.SIGKILL)

    EdgeShard._update = update  # type: ignore[method-assign]
    return lambda: done


async def main(root: Path, *, reindex: bool) -> None:
    """Follows to the end; a write comes that ends it, or it ends by itself."""
    following = await at_work(root)
    if reindex:
        await following.reindex(SPACE, OTHER.model_id)
    await following.reached(LAST)
    if reindex:
        await until(lambda: following.lab.index.model(SPACE) == OTHER)


if __name__ == "__main__":
    slices.SLICE = 32
    writes = die_at(int(sys.argv[2]))
    asyncio.run(main(Path(sys.argv[1]), reindex="reindex" in sys.argv))
    print(writes(), flush=True)  # noqa: T201 - what its caller reads
    os._exit(0)
