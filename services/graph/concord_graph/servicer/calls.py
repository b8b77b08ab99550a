"""Functions that several servicers share: running a write request, and what gave way by it; pages
of entries."""

from __future__ import annotations

from concord.graph.v1.episode_pb2 import ListEpisodesRequest
from concord.graph.v1.working_memory_pb2 import ListWorkingMemoryRequest
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import caller
from concord_chassis.call.opaque import page_cursor, page_token
from google.protobuf.message import Message

from concord_graph.ports import EntryFilter, Result
from concord_graph.servicer import incoming
from concord_graph.usecases.memory.entries import EntryPage, list_entries
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.write.commands import Command, Commands, Done, R

DEFAULT_PAGE = 50


async def execute(
    commands: Commands, request: Message, command: Command[R], *, session_id: str = ""
) -> Done[R]:
    """Run the command of a unary write request; `session_id`: the session that it uses."""
    method = request.DESCRIPTOR.name.removesuffix("Request")
    compared = request.SerializeToString(deterministic=True)
    return await execute_as(commands, method, request, compared, command, session_id=session_id)


async def execute_as(
    commands: Commands,
    method: str,
    header: Message,
    compared: bytes,
    command: Command[R],
    *,
    session_id: str = "",
) -> Done[R]:
    """Run a method's command. `header` has its request id; `compared`, the whole request or its
    digest, is compared with that of a repeated request."""
    who = caller()
    author = incoming.author(who, header, method)
    return await commands.run(who.space, author, compared, command, session_id=session_id)


def gave_way(done: Done[Result]) -> type_pb2.GaveWay | None:
    """Return what gave way by a write; None when nothing did."""
    given = done.gave_way
    if not given.count:
        return None
    items = [
        type_pb2.GivenWay(
            id=each.id,
            kind=int(each.kind),  # type: ignore[arg-type] # numbers are the contract's
            relation=type_pb2.LineageRelation.Value(f"LINEAGE_RELATION_{each.relation}"),
            by_id=each.by_id,
        )
        for each in given.items
    ]
    return type_pb2.GaveWay(count=given.count, items=items, truncated=given.truncated)


async def entry_page(
    reader: Reader,
    request: ListEpisodesRequest | ListWorkingMemoryRequest,
    filter_: EntryFilter,
    *,
    skip: int = 0,
) -> EntryPage:
    """Read the page of entries that a request asks for."""
    before = page_cursor(request, (int, int))
    asked = incoming.as_of(request)
    return await reader.read(
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


def entry_page_token(request: Message, page: EntryPage) -> str:
    """Return the token of the page after this one; empty when there is none."""
    if not page.has_more:
        return ""
    last = page.entries[-1]
    return page_token(request, [last.rank, last.revision.record_from])
