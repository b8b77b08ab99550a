"""Assembles graph: the only module that knows every part."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from concord.graph.v1 import (
    claim_pb2,
    claim_pb2_grpc,
    conflict_pb2,
    conflict_pb2_grpc,
    dialogue_pb2,
    dialogue_pb2_grpc,
    episode_pb2,
    episode_pb2_grpc,
    erasure_pb2,
    erasure_pb2_grpc,
    feed_pb2,
    feed_pb2_grpc,
    governed_pb2,
    governed_pb2_grpc,
    graph_pb2,
    graph_pb2_grpc,
    lineage_pb2,
    lineage_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
    recall_pb2,
    recall_pb2_grpc,
    record_pb2,
    record_pb2_grpc,
    relation_pb2,
    relation_pb2_grpc,
    session_pb2,
    session_pb2_grpc,
    space_pb2,
    space_pb2_grpc,
    undo_pb2,
    undo_pb2_grpc,
    working_memory_pb2,
    working_memory_pb2_grpc,
)
from concord_attestation.digest import action_digest
from concord_chassis.call import deadline
from concord_chassis.call.identity import Claims
from concord_chassis.observe.log import Logger, json_lines
from concord_chassis.server.background import Background
from concord_chassis.server.server import Registration
from concord_concepts import extract
from concord_stores.neo4j_config import Neo4jConfig

from concord_graph.adapters.markdown.links import parse_links
from concord_graph.adapters.sqlite.store import open_store
from concord_graph.config import SqliteConfig, read_backups
from concord_graph.domain.errors import Overloaded, StoreCorrupt, StoreUnavailable, StoreUnusable
from concord_graph.ports import EXPORTERS, PARTITIONS, Clock, GraphStore
from concord_graph.servicer.actions import Actions
from concord_graph.servicer.claim import ClaimServicer
from concord_graph.servicer.conflict import ConflictServicer
from concord_graph.servicer.dialogue import DialogueServicer
from concord_graph.servicer.episode import EpisodeServicer
from concord_graph.servicer.erasure import ErasureServicer
from concord_graph.servicer.feed import FeedServicer
from concord_graph.servicer.governed import GovernedServicer
from concord_graph.servicer.graph import GraphServicer
from concord_graph.servicer.lineage import LineageServicer
from concord_graph.servicer.memory import MemoryServicer
from concord_graph.servicer.recall import RecallServicer
from concord_graph.servicer.record import RecordServicer
from concord_graph.servicer.relation import RelationServicer
from concord_graph.servicer.session import SessionServicer
from concord_graph.servicer.space import SpaceServicer
from concord_graph.servicer.undo import UndoServicer
from concord_graph.servicer.working_memory import WorkingMemoryServicer
from concord_graph.usecases.governed.apply import GovernedChanges
from concord_graph.usecases.governed.preview import Previews
from concord_graph.usecases.governed.space_erasure import ErasingSpaces
from concord_graph.usecases.memory.entries import DEFAULT_CAPACITY, WorkingMemory
from concord_graph.usecases.memory.erase import Erasing
from concord_graph.usecases.memory.memories import Memories
from concord_graph.usecases.memory.scrub import Scrubbing
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.read.touches import Touches
from concord_graph.usecases.recalls import RECALLS, Recalls
from concord_graph.usecases.records import Records
from concord_graph.usecases.selection.erasing import SelectionErasing
from concord_graph.usecases.selection.undoing import Undoing
from concord_graph.usecases.transfer.exports import Exports
from concord_graph.usecases.write.commands import Commands
from concord_graph.usecases.write.settled_anew import settle_store

START_ERRORS = (StoreUnusable,)
"""Why graph cannot start; the text says what to do."""
CONFIRMERS = ("search",)
"""The services that store data derived from memories, by default."""


def system_clock() -> int:
    """Return the time in microseconds since 1970 UTC."""
    return time.time_ns() // 1_000


CLAIMS: Claims = {
    "search": frozenset({"confirm:write", "feed:all", "graph:read", "memory:read", "record:all"}),
    "dissonance": frozenset(
        {"conflict:write", "feed:all", "graph:read", "graph:write", "memory:read", "record:all"}
    ),
    "governance": frozenset(
        {
            *("confirm:write", "feed:all", "granted:write"),
            *("governed:read", "governed:write", "graph:read"),
        }
    ),
}
"""What the services that call graph may claim with keys of their own (0112)."""


def unrecorded() -> None:
    """No backups are recorded here."""


class GraphApp:
    """Graph, assembled: services to register, and a life from start to close."""

    def __init__(
        self,
        store: GraphStore,
        clock: Clock,
        enrolment: Mapping[str, str],
        *,
        working_capacity: int = DEFAULT_CAPACITY,
        confirmers: Sequence[str] = CONFIRMERS,
        backups: Callable[[], Sequence[int] | None] = unrecorded,
        log: Logger | None = None,
    ) -> None:
        self.background = Background(json_lines("graph") if log is None else log)
        self._store = store
        self._closed = False
        self._touches = Touches(store, clock)
        store.pending(lambda: self._touches.pending)
        commands = Commands(store, clock, self._touches.use)
        reader = Reader(store, self._touches, clock)
        self._scrubbing = Scrubbing(store)
        erased = self._scrubbing.wake
        actions = Actions(
            Memories(parse_links, extract), WorkingMemory(working_capacity), Erasing(confirmers)
        )
        governed = GovernedChanges(enrolment)
        previews = Previews(store, clock)
        recalls = self._recalls = Recalls(store, clock)
        records = Records(store)
        self.claims = CLAIMS
        self.registrations: Sequence[Registration] = (
            _registration(graph_pb2, graph_pb2_grpc, GraphServicer(commands, reader, actions)),
            _registration(
                memory_pb2,
                memory_pb2_grpc,
                MemoryServicer(commands, reader, actions, erased),
                memory_operations={
                    "AddMemory": "create_memory",
                    "BatchAddMemories": "create_memory",
                    "UpdateMemory": "update_memory",
                    "ForgetMemory": "delete_memory",
                    "EraseMemory": "delete_memory",
                },
            ),
            _registration(
                lineage_pb2, lineage_pb2_grpc, LineageServicer(commands, reader, actions)
            ),
            _registration(
                dialogue_pb2,
                dialogue_pb2_grpc,
                DialogueServicer(commands, reader, actions.memories),
            ),
            _registration(episode_pb2, episode_pb2_grpc, EpisodeServicer(commands, reader)),
            _registration(
                working_memory_pb2,
                working_memory_pb2_grpc,
                WorkingMemoryServicer(commands, reader, actions.working),
            ),
            _registration(
                space_pb2,
                space_pb2_grpc,
                SpaceServicer(
                    commands,
                    reader,
                    Exports(store, clock),
                    actions.erasing,
                    governed,
                    erased=erased,
                ),
            ),
            _registration(
                governed_pb2,
                governed_pb2_grpc,
                GovernedServicer(
                    commands,
                    reader,
                    actions,
                    governed,
                    previews=previews,
                    action_digest=action_digest,
                    erased=erased,
                ),
            ),
            _registration(
                relation_pb2, relation_pb2_grpc, RelationServicer(commands, reader, actions)
            ),
            _registration(
                conflict_pb2,
                conflict_pb2_grpc,
                ConflictServicer(commands, reader, actions, records),
            ),
            _registration(
                claim_pb2,
                claim_pb2_grpc,
                ClaimServicer(commands, reader, actions, records, erased),
            ),
            _registration(session_pb2, session_pb2_grpc, SessionServicer(commands, reader)),
            _registration(record_pb2, record_pb2_grpc, RecordServicer(records)),
            _registration(recall_pb2, recall_pb2_grpc, RecallServicer(recalls, erased)),
            _registration(
                erasure_pb2,
                erasure_pb2_grpc,
                ErasureServicer(
                    SelectionErasing(
                        store,
                        clock,
                        actions.erasing,
                        erased=self._scrubbing.wake_thoroughly,
                        flush=recalls.flush,
                        backups=backups,
                        time_left=deadline.remaining,
                    )
                ),
            ),
            _registration(
                undo_pb2,
                undo_pb2_grpc,
                UndoServicer(Undoing(store, clock, actions.memories, time_left=deadline.remaining)),
            ),
            _registration(
                feed_pb2,
                feed_pb2_grpc,
                FeedServicer(
                    store,
                    reader,
                    ErasingSpaces(store, confirmers, erased),
                    clock,
                ),
            ),
        )

    async def start(self) -> None:
        """Start the background tasks, which store reads and recalls and scrub erased content."""
        write = partial(self._recalls.run, partial(self.background.tried, RECALLS))
        self.background.start("store reads", self._touches.run)
        self.background.start(RECALLS, write)
        self.background.start("scrub erased words", self._scrubbing.run)

    async def ready(self) -> bool:
        """Return whether the store answers. A damaged, full or busy store does not."""
        try:
            return await self._store.ready()
        except (Overloaded, StoreCorrupt, StoreUnavailable):
            return False

    async def close(self) -> None:
        """Store the pending reads, then close the store, even if it could not store them.

        A second call does nothing.
        """
        if self._closed:
            return
        self._closed = True
        try:
            await self._touches.close()
            await self._recalls.close()
        finally:
            await self.background.close()
            await self._store.close()


def _registration(
    contract: Any,
    generated: ModuleType,
    servicer: object,
    memory_operations: Mapping[str, str] = MappingProxyType({}),
) -> Registration:
    """Return the registration of a contract's one service."""
    (service,) = contract.DESCRIPTOR.services_by_name.values()
    add = getattr(generated, f"add_{service.name}Servicer_to_server")
    return Registration(service, add, servicer, memory_operations=memory_operations)


async def build_on(
    settings: SqliteConfig | Neo4jConfig,
    *,
    enrolment: Mapping[str, str] | None = None,
    clock: Clock = system_clock,
    working_capacity: int = DEFAULT_CAPACITY,
    exporters: int = EXPORTERS,
    partitions: int = PARTITIONS,
    confirmers: Sequence[str] = CONFIRMERS,
    backups_file: Path | None = None,
    log: Logger | None = None,
) -> GraphApp:
    """Assemble graph over the store that the settings choose.

    `enrolment` maps a space to the hex SHA-256 of its one-time enrolment secret; `working_capacity`
    is the number of entries that a space's working memory holds, `exporters` the number of exports
    that run at once, `partitions` that of a new store's partitions; an erasure waits for the
    services in `confirmers`, and lists the backups of `backups_file`. Tests replace `clock`.

    Raises:
        StoreUnusable: the store cannot be used; the text says what to do.
    """
    return GraphApp(
        await opened(settings, clock, exporters, partitions, log=log),
        clock,
        enrolment or {},
        working_capacity=working_capacity,
        confirmers=confirmers,
        backups=unrecorded if backups_file is None else partial(read_backups, backups_file),
        log=log,
    )


async def opened(
    settings: SqliteConfig | Neo4jConfig,
    clock: Clock,
    exporters: int = EXPORTERS,
    partitions: int = PARTITIONS,
    *,
    restoring: bool = False,
    log: Logger | None = None,
) -> GraphStore:
    """Open the store that the settings choose. `restoring`: the caller is putting a copy there.

    One that an earlier version wrote is brought up to date first; the log says how far that is.

    Raises:
        StoreUnusable: the store cannot be used; the text says what to do.
    """
    store: GraphStore
    log = log or json_lines("graph")
    numbered = partial(_log_numbered, log)
    if isinstance(settings, Neo4jConfig):
        from concord_graph.adapters.neo4j.store import open_store as open_neo4j  # slow

        store = await open_neo4j(
            settings,
            clock,
            exporters=exporters,
            restoring=restoring,
            partitions=partitions,
            numbered=numbered,
        )
    else:
        store = await asyncio.to_thread(
            open_store,
            settings.store_path,
            clock,
            readers=settings.readers,
            exporters=exporters,
            partitions=partitions,
            numbered=numbered,
        )
    try:
        await settle_store(store, partial(_tell, log))
    except BaseException:
        await store.close()
        raise
    return store


def _tell(log: Logger, space: str, done: int, changes: int) -> None:
    log.info("standings_worked_out", space=space, done=done, changes=changes)


def _log_numbered(log: Logger, spaces: int, seconds: float) -> None:
    log.info("spaces_numbered", spaces=spaces, seconds=round(seconds, 3))
