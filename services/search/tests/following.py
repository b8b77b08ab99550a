"""A follower at work, for tests: what it follows, embeds with and writes to."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from concord_chassis.server.background import Background
from concord_search.domain.errors import EmbeddingRefused
from concord_search.domain.memory import MemoryState
from concord_search.ports.embedder import Embedder, EmbeddingModel, Vector, Vectors
from concord_search.ports.index import IndexState
from concord_search.usecases.embedders import Embedders
from concord_search.usecases.follow import Follow
from concord_search.usecases.progress import Progress
from concord_search.usecases.reindex import Reindex
from concord_search.usecases.scrub import Scrub
from concord_search.usecases.space_follower import FollowerContext
from concord_testing.embedders import WordEmbedder
from concord_testing.polling import until
from scripted_graph import ScriptedGraph
from search_lab import QUIET, SPACE, Lab, plain_state


class MoodyEmbedder(WordEmbedder):
    """Embeds words, unless its mood says otherwise."""

    def __init__(self) -> None:
        self.asked: list[Sequence[str]] = []
        self.mood: Callable[[Sequence[str]], None] = lambda _: None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(texts)
        self.mood(texts)
        return await super().embed(texts)


def refuses(word: str, error: Exception | None = None) -> Callable[[Sequence[str]], None]:
    """A mood that refuses texts with a word."""

    def mood(texts: Sequence[str]) -> None:
        if any(word in text for text in texts):
            raise error or EmbeddingRefused(word)

    return mood


OTHER = EmbeddingModel("other words", 384, "1")


class OtherWords(MoodyEmbedder):
    """Knows words too, and every direction the other way round."""

    model = OTHER

    def vector(self, text: str) -> Vector:
        return np.ascontiguousarray(super().vector(text)[::-1])


@dataclass
class Following:
    """A follower at work between a scripted graph and a real index."""

    graph: ScriptedGraph
    lab: Lab
    embedder: MoodyEmbedder
    others: Sequence[Embedder]
    progress: Progress
    background: Background = field(init=False)
    task: "asyncio.Task[None]" = field(init=False)
    context: FollowerContext = field(init=False)
    reindex: Reindex = field(init=False)

    def follow(self) -> None:
        """Starts a follower, as a restart would."""
        self.progress = Progress(self.lab.index.state)
        self.background = background = Background(QUIET)
        scrub = Scrub(graph=self.graph, index=self.lab.index, background=background, log=QUIET)
        self.context = FollowerContext(
            self.graph,
            self.lab.index,
            Embedders(self.embedder, *self.others),
            self.progress,
            background,
            QUIET,
            scrub.wake,
        )
        follow = Follow(self.context)
        self.reindex = Reindex(self.context)
        background.start("resume reindexing", self.reindex.run)
        self.task = background.start("follow graph", follow.run)
        background.start("scrub", scrub.run)

    async def stop(self) -> None:
        await self.background.close()

    async def write(self, *states: MemoryState, space: str = SPACE) -> IndexState:
        """Has graph say that these states were made, and waits until the index has them."""
        self.graph.say(space, *states)
        return await self.reached(states[-1].seq, space)

    async def reached(self, seq: int, space: str = SPACE) -> IndexState:
        await self.progress.load(space)
        await until(lambda: self.progress.of(space).applied_seq >= seq)
        return (await self.lab.index.states())[space]


def numbered(count: int, *, said: str = "fox number") -> list[MemoryState]:
    """States of so many memories, m1 with the first change, m2 with the second, and so on."""
    return [plain_state(f"m{seq}", seq, f"{said}{seq}") for seq in range(1, count + 1)]


def follower_of(lab: Lab, *others: Embedder) -> Following:
    """A follower at work on an empty graph; to be called on a running loop, and stopped."""
    graph, embedder = ScriptedGraph(log={SPACE: []}), MoodyEmbedder()
    following = Following(graph, lab, embedder, others, Progress(lab.index.state))
    following.follow()
    return following
