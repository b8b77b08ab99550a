"""The layers of MemoryService: dialogue, episodes and working memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import grpc
from concord.graph.v1 import layers_pb2, memory_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.identity import caller
from concord_chassis.opaque import page_cursor, page_token
from google.protobuf.message import Message

from concord_graph.domain.drafts import EpisodeDraft, MemoryDraft, WorkingDraft
from concord_graph.domain.items import Entry, Importance, ItemKind, MemoryKind, Source
from concord_graph.domain.spelling import NameKind
from concord_graph.ports import EntryFilter
from concord_graph.servicer import incoming, outgoing
from concord_graph.servicer.actions import Actions
from concord_graph.servicer.calls import execute
from concord_graph.usecases.memory.dialogue import list_turns
from concord_graph.usecases.memory.entries import EntryPage, list_entries
from concord_graph.usecases.memory.episodes import add_episode
from concord_graph.usecases.memory.working_memory import MOST_AT_ONCE, STALE
from concord_graph.usecases.queries import Queries
from concord_graph.usecases.write.commands import Commands

DEFAULT_PAGE = 50

Context = grpc.aio.ServicerContext[Any, Any]


class LayersServicer(memory_pb2_grpc.MemoryServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(self, commands: Commands, queries: Queries, actions: Actions) -> None:
        self._commands = commands
        self._queries = queries
        self._actions = actions

    async def AppendDialogue(
        self, request: layers_pb2.AppendDialogueRequest, context: Context
    ) -> layers_pb2.AppendDialogueResponse:
        """Keep turns at the end of a session's dialogue."""
        drafts = [_turn_draft(turn, request.session_id) for turn in request.turns]
        done = await execute(
            self._commands,
            request,
            lambda writer: self._actions.memories.append(writer, drafts),
            shown=len(drafts),
        )
        return layers_pb2.AppendDialogueResponse(
            turns=outgoing.done_memories(done),
            created_count=sum(ref.outcome == "created" for ref in done.refs),
            token=outgoing.done_token(caller().space, done),
        )

    async def ListDialogue(
        self, request: layers_pb2.ListDialogueRequest, context: Context
    ) -> layers_pb2.ListDialogueResponse:
        """List a session's turns in their order."""
        size = request.page_size or DEFAULT_PAGE
        cursor = page_cursor(request, (int, int, str))
        after = (cursor[0], cursor[1], cursor[2]) if cursor else None
        asked = incoming.as_of(request)
        page = await self._queries.read(
            caller().space,
            lambda tx, now: list_turns(
                tx, request.session_id, asked.at(now), now=now, after=after, limit=size
            ),
        )
        return layers_pb2.ListDialogueResponse(
            turns=[outgoing.memory(one, page.valid) for one in page.turns],
            next_page_token=page_token(request, page.last) if page.last else "",
        )

    async def AddEpisode(
        self, request: layers_pb2.AddEpisodeRequest, context: Context
    ) -> layers_pb2.AddEpisodeResponse:
        """Keep an episode."""
        draft = EpisodeDraft(
            query=request.query,
            reward=request.reward,
            reflection=request.reflection,
            session_id=request.session_id,
            memory_ids=tuple(request.memory_ids),
        )
        done = await execute(self._commands, request, lambda writer: add_episode(writer, draft))
        return layers_pb2.AddEpisodeResponse(
            episode=_episode(done.entries[0]), token=outgoing.done_token(caller().space, done)
        )

    async def ListEpisodes(
        self, request: layers_pb2.ListEpisodesRequest, context: Context
    ) -> layers_pb2.ListEpisodesResponse:
        """List episodes, newest first."""
        filter_ = EntryFilter(
            ItemKind.EPISODE,
            session_id=request.session_id,
            since=incoming.instant(request, "since"),
        )
        skip = 0 if request.page_token else request.skip
        page = await self._entries(request, filter_, skip=skip)
        found = type_pb2.LOOKUP_STATUS_FOUND if page.total else type_pb2.LOOKUP_STATUS_NOT_FOUND
        near: Sequence[str] = ()
        if not page.total and request.session_id:
            near = await self._queries.near_names(
                caller().space, NameKind.SESSION, request.session_id
            )
        return layers_pb2.ListEpisodesResponse(
            status=found,
            near_names=near,
            episodes=[_episode(entry) for entry in page.entries],
            total_count=page.total,
            next_page_token=_next(request, page),
        )

    async def PutWorkingMemory(
        self, request: layers_pb2.PutWorkingMemoryRequest, context: Context
    ) -> layers_pb2.PutWorkingMemoryResponse:
        """Hold a text in mind."""
        draft = WorkingDraft(request.content, Importance(request.importance), request.session_id)
        done = await execute(
            self._commands,
            request,
            lambda writer: self._actions.working.put(writer, draft),
            shown=MOST_AT_ONCE,
        )
        entry, *evicted = map(_working, done.entries)
        return layers_pb2.PutWorkingMemoryResponse(
            entry=entry, evicted=evicted, token=outgoing.done_token(caller().space, done)
        )

    async def ListWorkingMemory(
        self, request: layers_pb2.ListWorkingMemoryRequest, context: Context
    ) -> layers_pb2.ListWorkingMemoryResponse:
        """List what is held in mind, or what was evicted."""
        filter_ = EntryFilter(
            ItemKind.WORKING_MEMORY,
            shelf=STALE if request.stale else "",
            session_id=request.session_id,
        )
        page = await self._entries(request, filter_)
        return layers_pb2.ListWorkingMemoryResponse(
            entries=map(_working, page.entries),
            next_page_token=_next(request, page),
            total_count=page.total,
            capacity=self._actions.working.capacity,
        )

    async def RemoveWorkingMemory(
        self, request: layers_pb2.RemoveWorkingMemoryRequest, context: Context
    ) -> layers_pb2.RemoveWorkingMemoryResponse:
        """Remove an entry."""
        done = await execute(
            self._commands,
            request,
            lambda writer: self._actions.working.remove(writer, request.id),
            shown=0,
        )
        return layers_pb2.RemoveWorkingMemoryResponse(
            token=outgoing.done_token(caller().space, done)
        )

    async def ClearWorkingMemory(
        self, request: layers_pb2.ClearWorkingMemoryRequest, context: Context
    ) -> layers_pb2.ClearWorkingMemoryResponse:
        """Empty working memory."""
        done = await execute(
            self._commands,
            request,
            lambda writer: self._actions.working.clear(
                writer, request.session_id, include_stale=request.include_stale
            ),
            shown=0,
        )
        return layers_pb2.ClearWorkingMemoryResponse(
            removed_count=len(done.refs), token=outgoing.done_token(caller().space, done)
        )

    async def _entries(
        self,
        request: layers_pb2.ListEpisodesRequest | layers_pb2.ListWorkingMemoryRequest,
        filter_: EntryFilter,
        *,
        skip: int = 0,
    ) -> EntryPage:
        before = page_cursor(request, (int, int))
        asked = incoming.as_of(request)
        return await self._queries.read(
            caller().space,
            lambda tx, now: list_entries(
                tx,
                filter_,
                asked.at(now),
                before=before,
                skip=skip,
                limit=request.page_size or DEFAULT_PAGE,
            ),
        )


def _turn_draft(turn: layers_pb2.DialogueTurn, session_id: str) -> MemoryDraft:
    return MemoryDraft(
        content=turn.content,
        memory_kind=MemoryKind.TURN,
        sources=(Source(speaker=incoming.text(turn.speaker)),),
        external_id=incoming.text(turn.external_id),
        session_id=session_id,
        valid_from=incoming.instant(turn, "time"),
    )


def _next(request: Message, page: EntryPage) -> str:
    if not page.has_more:
        return ""
    last = page.entries[-1]
    return page_token(request, [last.rank, last.revision.record_from])


def _episode(entry: Entry) -> layers_pb2.Episode:
    return layers_pb2.Episode(
        id=entry.id,
        session_id=entry.session_id,
        create_time=outgoing.stamp(entry.create_time),
        **entry.body,
    )


def _working(entry: Entry) -> layers_pb2.WorkingEntry:
    put_time = entry.body.get("put_time")
    last = entry.revision.record_from
    return layers_pb2.WorkingEntry(
        id=entry.id,
        content=entry.body["content"],
        importance=entry.rank,  # type: ignore[arg-type] # numbers are the contract's
        session_id=entry.session_id,
        create_time=outgoing.stamp(entry.create_time),
        put_time=outgoing.stamp(last if put_time is None else put_time),
        evict_time=None if put_time is None else outgoing.stamp(last),
    )
