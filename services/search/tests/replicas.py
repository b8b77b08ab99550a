"""Searches that share one index on a Qdrant server, for tests: all in this process."""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from concord_chassis.server.background import Background
from concord_search.adapters.qdrant_server.index import ServerIndex
from concord_search.adapters.qdrant_server.settings import QdrantConfig
from concord_search.adapters.qdrant_server.versions import SharedVersions
from concord_search.domain.errors import GraphUnavailable
from concord_search.ports.graph import Lease
from concord_search.usecases.embedders import Embedders
from concord_search.usecases.follow import Follow
from concord_search.usecases.lead import Lead
from concord_search.usecases.progress import Demand, Progress
from concord_search.usecases.reindex import Reindex
from concord_search.usecases.scrub import Scrub
from concord_search.usecases.space_follower import FollowerContext
from following import MoodyEmbedder, OtherWords
from pydantic import SecretStr
from scripted_graph import ScriptedGraph
from search_lab import QUIET, SPACE, Lab

SECRET = "the secret of the installation"


def settings_of(prefix: str, secret: str = SECRET) -> QdrantConfig:
    """The settings of a replica."""
    url = os.environ["QDRANT_URL"]
    return QdrantConfig(url=url, prefix=prefix, index_secret=SecretStr(secret))


@dataclass
class ScriptedLeases:
    """One lease. A holder that is `cut` off gets no answer."""

    seconds: float = 1.0
    holder: str = ""
    number: int = 0
    until: float = 0.0
    cut: set[str] = field(default_factory=set)

    async def acquire(self, name: str, holder: str) -> Lease:  # noqa: ARG002 - there is one
        self._demand(holder)
        now = time.monotonic()
        if now >= self.until:
            self.holder, self.number = holder, self.number + 1
        if self.holder == holder:
            self.until = now + self.seconds
        return Lease(self.holder == holder, self.number, self.until - now)

    async def prolong(self, name: str, holder: str, number: int) -> bool:  # noqa: ARG002
        self._demand(holder)
        now = time.monotonic()
        is_ours = (holder, number) == (self.holder, self.number) and now < self.until
        if is_ours:
            self.until = now + self.seconds
        return is_ours

    def _demand(self, holder: str) -> None:
        if holder in self.cut:
            raise GraphUnavailable("scripted to be cut off")


class Replica:
    """One search, without its door."""

    def __init__(
        self, root: Path, prefix: str, graph: ScriptedGraph, leases: ScriptedLeases
    ) -> None:
        self.embedder, other = MoodyEmbedder(), OtherWords()
        settings = settings_of(prefix)
        models = [self.embedder.model, other.model]
        self.server = ServerIndex(root, models, settings)
        self.index = SharedVersions(self.server)
        self.index.hold(0.0)
        self.lab = Lab(self.index, self.embedder)
        self.progress = Progress(self.index.state)
        self.background = Background(QUIET)
        scrub = Scrub(graph=graph, index=self.index, background=self.background, log=QUIET)
        self.context = FollowerContext(
            graph,
            self.index,
            Embedders(self.embedder, other),
            self.progress,
            self.background,
            QUIET,
            scrub.wake,
        )
        self.reindex = Reindex(self.context)
        self.lead = Lead(
            self.context,
            self.index,
            leases,
            lambda: {
                "follow graph": Follow(self.context).run,
                "scrub": scrub.run,
                "resume reindexing": self.reindex.run,
            },
            self.reindex.stop,
        )

    @property
    def leads(self) -> bool:
        """Whether it follows the feed and writes."""
        return not self.progress.stands_by and self.progress.following

    @property
    def embedded(self) -> int:
        """How many texts it embedded."""
        return sum(map(len, self.embedder.asked))

    async def start(self) -> None:
        await self.index.open()
        self.background.start("lead", self.lead.run)

    async def until_applied(self, seq: int, space: str = SPACE, epoch: str = "epoch-1") -> None:
        """Waits as a read with a freshness token does."""
        await self.progress.wait(space, Demand(space, epoch, seq), 30.0)

    async def found(self, text: str, space: str = SPACE) -> list[str]:
        return self.lab.ids(await self.lab.ask(text, space=space), space)

    async def stop(self) -> None:
        await self.background.close()
        await self.index.close()
