"""Assembles search: the only module that knows every part."""

import asyncio
import secrets
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast
from uuid import UUID

from concord.search.v1 import (
    feedback_pb2,
    feedback_pb2_grpc,
    health_pb2,
    health_pb2_grpc,
    search_pb2,
    search_pb2_grpc,
    suggestion_pb2,
    suggestion_pb2_grpc,
)
from concord_chassis.call.identity import Claims, TokenIssuer
from concord_chassis.observe.log import Logger, json_lines
from concord_chassis.observe.metrics import Metrics
from concord_chassis.server.background import Background, Work
from concord_chassis.server.server import Registration
from concord_chassis.server.workers import Workers

from concord_search.adapters.dissonance.client import JudgesClient
from concord_search.adapters.graph_feed.client import GraphClient
from concord_search.adapters.graph_feed.leases import LeaseClient
from concord_search.adapters.graph_feed.records import RecordsClient
from concord_search.adapters.minilm.embedder import MiniLm
from concord_search.adapters.qdrant_server.settings import QdrantConfig
from concord_search.adapters.versions.index import PartVersions
from concord_search.config import IndexConfig
from concord_search.domain.errors import IndexDiskFull, SearchError
from concord_search.domain.instants import Clock, Micros
from concord_search.ports.embedder import Embedder, EmbeddingModel
from concord_search.ports.index import Index, SharedIndex
from concord_search.servicer.feedback import FeedbackServicer
from concord_search.servicer.health import MemoryHealthServicer
from concord_search.servicer.search import IndexServicer, SearchServicer
from concord_search.servicer.suggestion import SuggestionServicer
from concord_search.usecases.assess_health import AssessHealth
from concord_search.usecases.check_statements import CheckStatements
from concord_search.usecases.embedders import Embedders
from concord_search.usecases.feedback import Feedback
from concord_search.usecases.find_similar import FindSimilar
from concord_search.usecases.follow import Follow
from concord_search.usecases.index_status import IndexStatus
from concord_search.usecases.integrative_search import IntegrativeSearch
from concord_search.usecases.lead import LEAD, Lead
from concord_search.usecases.parked import ParkedChanges
from concord_search.usecases.progress import Progress
from concord_search.usecases.reconcile import Reconcile
from concord_search.usecases.reindex import Reindex
from concord_search.usecases.scrub import SCRUB, Scrub
from concord_search.usecases.search import Search
from concord_search.usecases.search_context import SearchContext
from concord_search.usecases.space_follower import FollowerContext
from concord_search.usecases.suggest import SuggestProactively

START_ERRORS = (SearchError,)
"""Why search cannot start; the text says what to do."""


def system_clock() -> Micros:
    """Return the time in microseconds since 1970 UTC."""
    return time.time_ns() // 1_000


def id_of_time(time: Micros) -> str:
    """Return a new UUIDv7 of a time, so that ids of queries sort by when they were asked."""
    random = secrets.randbits(74)
    above, below = 7 << 12 | random >> 62, 2 << 62 | random % (1 << 62)
    return str(UUID(int=(time // 1_000) << 80 | above << 64 | below))


CLAIMS: Claims = {"dissonance": frozenset({"search:read"})}
"""What the services that call search may claim with keys of their own (0112)."""


class SearchApp:
    """The assembled service: its registrations, and its life from `start` to `close`."""

    def __init__(
        self,
        config: IndexConfig,
        issuer: TokenIssuer,
        *,
        qdrant: QdrantConfig | None,
        clock: Clock,
        embedders: Embedders,
        log: Logger,
    ) -> None:
        self._embedders = embedders
        self.background = background = Background(log)
        self._index = index = index_at(
            config.index_path,
            qdrant,
            embedders.models,
            background,
            log,
            cache_mb=config.cache_mb,
        )
        graph = GraphClient(config.graph_address, issuer, config.issuer_name)
        records = RecordsClient(config.graph_address, issuer, clock)
        address = config.dissonance_address
        judges = JudgesClient(address, issuer) if address else None
        leases = LeaseClient(config.graph_address, issuer) if qdrant else None
        self._clients = [each for each in (graph, records, judges, leases) if each is not None]
        self._open = False
        self.progress = progress = Progress(index.state)
        self._scrub = Scrub(graph=graph, index=index, background=background, log=log)
        followers = FollowerContext(
            graph, index, embedders, progress, background, log, self._scrub.wake
        )
        self._followers = followers
        self._reindex = Reindex(followers)
        self._lead: Lead | None = None
        if leases is not None:
            shared = cast(SharedIndex, index)
            shared.hold(0.0)
            progress.stands_by = True
            self._lead = Lead(followers, shared, leases, self._works, self._reindex.stop)
        context = SearchContext(
            embedders,
            index,
            graph,
            records,
            progress,
            clock,
            config.formula(),
            new_id=lambda: id_of_time(clock()),
        )
        search = Search(context)
        feedback = Feedback(records, config.constitutive_weight)
        integrative = IntegrativeSearch(context, search, CheckStatements(judges), feedback)
        self._matching = Workers(1, "triggers")
        self.claims = CLAIMS
        self.registrations: Sequence[Registration] = (
            Registration(
                search_pb2.DESCRIPTOR.services_by_name["SearchService"],
                search_pb2_grpc.add_SearchServiceServicer_to_server,
                SearchServicer(search, integrative, FindSimilar(context)),
                memory_operations=dict.fromkeys(
                    ("Search", "IntegrativeSearch", "FindSimilar"), "search_memory"
                ),
            ),
            Registration(
                search_pb2.DESCRIPTOR.services_by_name["IndexService"],
                search_pb2_grpc.add_IndexServiceServicer_to_server,
                IndexServicer(
                    IndexStatus(followers, judges),
                    Reconcile(followers),
                    self._reindex,
                    ParkedChanges(followers),
                ),
            ),
            Registration(
                health_pb2.DESCRIPTOR.services_by_name["MemoryHealthService"],
                health_pb2_grpc.add_MemoryHealthServiceServicer_to_server,
                MemoryHealthServicer(AssessHealth(graph)),
            ),
            Registration(
                suggestion_pb2.DESCRIPTOR.services_by_name["SuggestionService"],
                suggestion_pb2_grpc.add_SuggestionServiceServicer_to_server,
                SuggestionServicer(SuggestProactively(context, search, self._matching)),
            ),
            Registration(
                feedback_pb2.DESCRIPTOR.services_by_name["FeedbackService"],
                feedback_pb2_grpc.add_FeedbackServiceServicer_to_server,
                FeedbackServicer(feedback),
            ),
        )

    async def start(self) -> None:
        """Load the models, open the index, and start the background tasks.

        They wait for graph if it is not there yet. Raises `IndexUnusable`, whose text says what to
        do.
        """
        try:
            await asyncio.gather(self._embedders.of(self._embedders.models[0]), self._open_index())
            for model in {state.model for state in (await self._index.states()).values()}:
                await self._embedders.of(model)
        except BaseException:
            await self.close()
            raise
        self._open = True
        works = self._works() if self._lead is None else {LEAD: self._lead.run}
        for name, work in works.items():
            self.background.start(name, work)

    def _works(self) -> Mapping[str, Work]:
        """What the process does that writes the index."""
        return {
            "follow graph": Follow(self._followers).run,
            SCRUB: self._scrub.run,
            "resume reindexing": self._reindex.run,
        }

    async def _open_index(self) -> None:
        """Open the index; if its disk is full, the follower opens it once there is room."""
        try:
            await self._index.open(self.progress.on_part)
        except IndexDiskFull as full:
            self.progress.disk_full = str(full)

    async def ready(self) -> bool:
        """Return whether the index is open and graph is followed.

        With a full disk search counts as ready: its answers say that they are incomplete, and it
        follows graph again once there is room.
        """
        follows = self.progress.following or bool(self.progress.disk_full)
        return self._open and follows and self.progress.broken is None

    async def close(self) -> None:
        """Stop the background tasks, free the models, and write the index to disk."""
        await self.background.close()
        self._open = False
        self._matching.close()
        for client in self._clients:
            await client.close()
        await self._embedders.close()
        await self._index.close()

    def measure(self, metrics: Metrics) -> None:
        """Register the metrics of the index: lag, differing memories and parked changes."""
        progress = self.progress
        metrics.gauge(
            "concord_search_index_lag_changes",
            "Changes not yet applied to the index, in the space that lags most.",
            lambda: {(): max(progress.lag().values(), default=0)},
        )
        metrics.gauge(
            "concord_search_index_differing_memories",
            "Memories that differed between graph and index when last compared, in all spaces.",
            lambda: {(): sum(progress.differing.values())},
        )
        metrics.gauge(
            "concord_search_parked_changes",
            "Changes that could not be applied to the index and were set aside.",
            lambda: {(): progress.parked()},
        )
        metrics.counter(
            "concord_search_parked_retries",
            "Attempts since the start at applying changes that were set aside.",
            lambda: {(): progress.retries},
        )


def build(
    config: IndexConfig,
    issuer: TokenIssuer,
    *,
    qdrant: QdrantConfig | None = None,
    clock: Clock = system_clock,
    embedder: Embedder | None = None,
    others: Sequence[Embedder] = (),
    log: Logger | None = None,
) -> SearchApp:
    """Assemble search. `issuer` signs its tokens for graph. Nothing is opened before `start`.

    The index is in files of its own, or on a `qdrant` server. Tests replace `clock` and the
    embedders: `embedder` makes the vectors of new indexes, `others` those of indexes with other
    models.
    """
    log = json_lines("search") if log is None else log
    log = log.bind(SEARCH_GRAPH_ADDRESS=config.graph_address)  # the setting to correct
    embedders = _embedders(config, log) if embedder is None else Embedders(embedder, *others)
    return SearchApp(config, issuer, qdrant=qdrant, clock=clock, embedders=embedders, log=log)


def index_at(
    path: Path,
    qdrant: QdrantConfig | None,
    models: Sequence[EmbeddingModel],
    background: Background | None = None,
    log: Logger | None = None,
    *,
    cache_mb: int = 256,
) -> Index:
    """Return the index with its files in the directory `path`, its points there or on `qdrant`.

    New indexes of spaces get vectors of the first of `models`. `background` gets its tasks.
    `cache_mb`: megabytes for what ranking reads of the spaces in use.
    """
    log = json_lines("search") if log is None else log
    background = Background(log) if background is None else background
    cache_bytes = cache_mb << 20
    if qdrant is None:
        from concord_search.adapters.edge.index import EdgeIndex

        edge = EdgeIndex(path, *models, background=background, log=log, cache_bytes=cache_bytes)
        return PartVersions(edge)
    # Loading the client takes half a second, which a start without it need not pay.
    from concord_search.adapters.qdrant_server.index import ServerIndex
    from concord_search.adapters.qdrant_server.versions import SharedVersions

    return SharedVersions(ServerIndex(path, models, qdrant, cache_bytes=cache_bytes))


def _embedders(config: IndexConfig, log: Logger) -> Embedders:
    """Return the embedders of the settings, that of new indexes first. Nothing is loaded yet."""
    minilm = MiniLm(threads=config.embedder_threads)
    if not config.has_openai:
        return Embedders(minilm)
    # Loading the openai package takes a third of a second, which a start without it need not pay.
    from concord_models.endpoint import RetryPolicy

    from concord_search.adapters.openai_embeddings.embedder import OpenAiEmbeddings

    openai = OpenAiEmbeddings(
        config.openai_url,
        config.openai_key,
        EmbeddingModel(config.openai_model, config.openai_dimension, config.openai_revision),
        RetryPolicy(timeout=config.openai_timeout, budget=config.openai_budget),
        log,
        max_texts=config.openai_batch,
    )
    return Embedders(minilm, openai) if config.embedder == "minilm" else Embedders(openai, minilm)
