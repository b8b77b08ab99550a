"""A follower at work, for tests: what it follows, embeds with and writes to."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from concord_search.ports import Embedder, IndexState, Vectors
from concord_search.usecases.embedders import Embedders
from concord_search.usecases.follow import Follow
from concord_search.usecases.progress import Progress
from concord_search.usecases.reindex import Reindex
from concord_search.usecases.scrub import Scrub
from concord_search.usecases.space_follower import FollowerContext
from concord_testing.embedders import WordEmbedder
from concord_testing.polling import until
from scripted_graph import ScriptedGraph
from search_lab import QUIET, SPACE, Lab


class MoodyEmbedder(WordEmbedder):
    """Embeds words, unless its mood says otherwise."""

    def __init__(self) -> None:
        self.asked: list[Sequence[str]] = []
        self.mood: Callable[[Sequence[str]], None] = lambda _: None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(texts)
        self.mood(texts)
        return await super().embed(texts)


@dataclass
class Following:
    """A follower at work between a scripted graph and a real index."""

    graph: ScriptedGraph
    lab: Lab
    embedder: MoodyEmbedder
    others: Sequence[Embedder]
    progress: Progress
    task: "asyncio.Task[None]"
    scrub: "asyncio.Task[None]"
    context: FollowerContext = field(init=False)
    reindex: Reindex = field(init=False)
    building: "asyncio.Task[None]" = field(init=False)

    def follow(self, **options: float) -> None:
        """Starts a follower, as a restart would."""
        self.progress = Progress()
        scrub = Scrub(graph=self.graph, index=self.lab.index, log=QUIET)
        follow = Follow(
            graph=self.graph,
            index=self.lab.index,
            embedders=Embedders(self.embedder, *self.others),
            progress=self.progress,
            log=QUIET,
            on_erased=scrub.wake,
            **options,
        )
        self.context = follow.context
        self.reindex = Reindex(follow.context)
        self.building = asyncio.create_task(self.reindex.run())
        self.task = asyncio.create_task(follow.run())
        self.scrub = asyncio.create_task(scrub.run())

    async def stop(self) -> None:
        for task in (self.building, self.scrub, self.task):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def reached(self, seq: int, space: str = SPACE) -> IndexState:
        await until(lambda: self.progress.of(space).applied_seq >= seq)
        return (await self.lab.index.states())[space]


def follower_of(lab: Lab, *others: Embedder) -> Following:
    """A follower at work on an empty graph; to be called on a running loop, and stopped."""
    graph, embedder = ScriptedGraph(log={SPACE: []}), MoodyEmbedder()
    idle = asyncio.create_task(asyncio.sleep(0))
    following = Following(graph, lab, embedder, others, Progress(), idle, idle)
    following.follow()
    return following
