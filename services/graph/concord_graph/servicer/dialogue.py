"""DialogueService."""

from __future__ import annotations

from functools import partial

from concord.graph.v1 import dialogue_pb2, dialogue_pb2_grpc
from concord_chassis.call.identity import caller
from concord_chassis.call.opaque import page_cursor

from concord_graph.domain.drafts import MemoryDraft
from concord_graph.domain.items import MemoryKind, Source, TurnRole
from concord_graph.servicer import calls, incoming, outgoing
from concord_graph.usecases.memory.memories import Memories
from concord_graph.usecases.read.items import list_turns
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.write.commands import Commands


class DialogueServicer(dialogue_pb2_grpc.DialogueServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(self, commands: Commands, reader: Reader, memories: Memories) -> None:
        self._commands = commands
        self._reader = reader
        self._memories = memories

    async def AppendDialogue(
        self, request: dialogue_pb2.AppendDialogueRequest, context: calls.Context
    ) -> dialogue_pb2.AppendDialogueResponse:
        drafts = [_turn_draft(turn, request.session_id) for turn in request.turns]
        done = await calls.execute(
            self._commands,
            request,
            partial(self._memories.append, drafts=drafts),
        )
        return calls.reply(
            dialogue_pb2.AppendDialogueResponse,
            done,
            turns=outgoing.done_memories(done),
            created_count=sum(turn.is_new for turn in done.result.turns),
        )

    async def ListDialogue(
        self, request: dialogue_pb2.ListDialogueRequest, context: calls.Context
    ) -> dialogue_pb2.ListDialogueResponse:
        cursor = page_cursor(request, (int, int, str))
        after = (cursor[0], cursor[1], cursor[2]) if cursor else None
        asked = incoming.as_of(request)
        limit = calls.page_limit(request)
        found, valid = await self._reader.read(
            caller().space,
            lambda tx, now: list_turns(
                tx, request.session_id, asked.at(now), now=now, after=after, limit=limit
            ),
        )
        page, token = calls.one_page(request, found, lambda turn: turn[0])
        return dialogue_pb2.ListDialogueResponse(
            turns=[outgoing.memory(shown, valid) for _, shown in page], next_page_token=token
        )


def _turn_draft(turn: dialogue_pb2.DialogueTurn, session_id: str) -> MemoryDraft:
    return MemoryDraft(
        content=turn.content,
        memory_kind=MemoryKind.TURN,
        sources=(Source(speaker=incoming.text(turn.speaker)),),
        external_id=incoming.text(turn.external_id),
        session_id=session_id,
        valid_from=incoming.instant(turn, "time"),
        role=TurnRole(turn.role),
    )
