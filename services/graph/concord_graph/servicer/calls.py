"""Functions that several servicers share: running a write request, and what gave way by it; pages
of entries."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import grpc
from concord.graph.v1.episode_pb2 import ListEpisodesRequest
from concord.graph.v1.working_memory_pb2 import ListWorkingMemoryRequest
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import caller
from concord_chassis.call.opaque import page_cursor, page_token
from google.protobuf.message import Message

from concord_graph.domain.items import Entry
from concord_graph.domain.spelling import NameKind
from concord_graph.ports import ClaimMade, EntryFilter, Result
from concord_graph.servicer import incoming, outgoing
from concord_graph.usecases.read.near_names import near_names
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.write.commands import Command, Commands, Done, R

DEFAULT_PAGE = 50
CLAIMABLE = frozenset(
    {
        *("UpsertNode", "UpdateNode", "DeleteNode", "UpsertEdge", "UpdateEdge", "DeleteEdge"),
        *("UpdateMemory", "ForgetMemory", "RestoreMemory", "EraseMemory", "DeclareRelation"),
        *("ReviewConflict", "ResolveConflict", "ReopenConflict"),
    }
)
"""The methods that become a claim as a whole when they would change what is a higher one's."""
FOUND, NOT_FOUND = type_pb2.LOOKUP_STATUS_FOUND, type_pb2.LOOKUP_STATUS_NOT_FOUND

Context = grpc.aio.ServicerContext[Any, Any]
T = TypeVar("T")
Reply = TypeVar("Reply", bound=Message)


async def execute(
    commands: Commands, request: Message, command: Command[R], *, session_id: str = ""
) -> Done[R]:
    """Run the command of a unary write request; `session_id`: the session that it uses."""
    method = request.DESCRIPTOR.name.removesuffix("Request")
    compared = request.SerializeToString(deterministic=True)
    whole = partial(_whole, request) if method in CLAIMABLE else None
    return await execute_as(
        commands, method, request, compared, command, session_id=session_id, whole=whole
    )


def _whole(request: Message) -> str:
    """Return a request, base64, as a claim keeps it: without its id, and of an item that it updates
    no field but those that it changes."""
    asked: Any = type(request)()
    asked.CopyFrom(request)
    asked.ClearField("request_id")
    if "update_mask" in asked.DESCRIPTOR.fields_by_name:
        kept = {"id", "etag", *(path.split(".")[0] for path in asked.update_mask.paths)}
        for name in ("memory", "edge", "node"):
            if name in asked.DESCRIPTOR.fields_by_name:
                item = getattr(asked, name)
                for field, _ in item.ListFields():
                    if field.name not in kept:
                        item.ClearField(field.name)
    return base64.b64encode(asked.SerializeToString(deterministic=True)).decode()


async def execute_as(
    commands: Commands,
    method: str,
    header: Message,
    compared: bytes,
    command: Command[R],
    *,
    session_id: str = "",
    whole: Callable[[], str] | None = None,
) -> Done[R]:
    """Run a method's command. `header` has its request id; `compared`, the whole request or its
    digest, is compared with that of a repeated request. `whole`: as `Commands.run` takes it."""
    who = caller()
    author = incoming.author(who, header, method)
    return await commands.run(
        who.space, author, compared, command, session_id=session_id, whole=whole
    )


def reply(form: type[Reply], done: Done[Result], **fields: Any) -> Reply:
    """Return the reply to a write: its fields, the freshness token, and what gave way by it.

    A message without such a field is of a write by which nothing gives way.
    """
    message = form(token=outgoing.done_token(caller().space, done), **fields)
    if "gave_way" in form.DESCRIPTOR.fields_by_name and (given := _gave_way(done)):
        message.gave_way.CopyFrom(given)  # type: ignore[attr-defined] # it has the field
    if done.claims:
        _fill_claims(message, done.claims)
    return message


def _fill_claims(message: Any, claims: Sequence[ClaimMade]) -> None:
    """Say in a reply that part of its write only claims, if it has the fields to say so."""
    if "outcome" not in message.DESCRIPTOR.fields_by_name:
        return
    message.outcome = type_pb2.WRITE_OUTCOME_CLAIMED
    for each in claims:
        message.claims.add(
            id=each.id,
            number=each.number,
            action=int(each.action),
            item_id=each.item_id,
            by_id=each.by_id,
            claimant=caller().principal,
            owner=each.owner,
        )


def _gave_way(done: Done[Result]) -> type_pb2.GaveWay | None:
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
            declared_by=each.declared_by,
        )
        for each in given.items
    ]
    return type_pb2.GaveWay(count=given.count, items=items, truncated=given.truncated)


async def near(reader: Reader, kind: NameKind, name: str) -> Sequence[str]:
    """Return names that are spelt like one that was not found."""
    return await reader.read(caller().space, lambda tx, _: near_names(tx, kind, name))


def page_limit(request: Any) -> int:
    """Return how many items to read for a page: one more than it holds shows that more follow."""
    return int(request.page_size or DEFAULT_PAGE) + 1


def one_page(request: Any, found: Sequence[T], key: Callable[[T], object]) -> tuple[list[T], str]:
    """Return the page among the items read for it, and the next page's token; empty on the last.

    `key`: the cursor that the token holds, of the last item of the page.
    """
    page = list(found[: page_limit(request) - 1])
    return page, page_token(request, key(page[-1])) if len(found) > len(page) else ""


async def entry_page(
    reader: Reader,
    request: ListEpisodesRequest | ListWorkingMemoryRequest,
    filter_: EntryFilter,
    *,
    skip: int = 0,
) -> tuple[Sequence[Entry], int, str]:
    """Return the page of entries that a request asks for, the number of all that match, and the
    next page's token."""
    before = page_cursor(request, (int, int))
    asked = incoming.as_of(request)
    found, total = await reader.read(
        caller().space,
        lambda tx, now: tx.entries(
            filter_,
            asked.at(now),
            before=(before[0], before[1]) if before else None,
            skip=skip,
            limit=page_limit(request),
        ),
    )
    page, token = one_page(request, found, rank_of)
    return page, total, token


def rank_of(entry: Entry) -> list[int]:
    """Return an entry's place in its list, which a page's token holds."""
    return [entry.rank, entry.revision.record_from]
