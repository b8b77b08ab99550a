"""`concord erase`, `concord receipt` and `concord history`."""

import time
from typing import TYPE_CHECKING, Annotated

import typer
from concord.type.v1.type_pb2 import LOOKUP_STATUS_FOUND

from concord_client.cli.errors import CommandError, or_propose
from concord_client.cli.items import absent, found_memory
from concord_client.cli.options import (
    AsOfOption,
    KnownAtOption,
    LimitOption,
    MemoryArgument,
    PageTokenOption,
)
from concord_client.cli.render.claim_page import is_claimed, show_claims
from concord_client.cli.render.gave_way import show_gave_way
from concord_client.cli.render.page import fields, show, show_more, table, text, when
from concord_client.cli.session import Session
from concord_client.cli.values import asked_time, plain_id

if TYPE_CHECKING:
    from concord.graph.v1.memory_pb2 import EraseReceipt, GetEraseReceiptResponse, MemoryVersion

    from concord_client.client import Client

RECEIPT_TIMEOUT = 120.0
"""Seconds that `concord erase` waits for its receipt."""


def erase(
    session: Session,
    memory_id: MemoryArgument,
    *,
    reason: Annotated[str, typer.Option(help="Why; kept in the receipt.")] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    wait: Annotated[bool, typer.Option(help="Wait until every store has confirmed.")] = True,
) -> None:
    """Take out for good what a memory says: every version, in every store. Nothing undoes it."""
    from concord.graph.v1.memory_pb2 import EraseMemoryRequest

    with session.client() as client:
        memory = found_memory(client, session, memory_id)
        if not yes:
            typer.confirm(f"Erase {memory.id} for good? Nothing brings it back", abort=True)
        request = EraseMemoryRequest(id=memory.id, etag=memory.etag, reason=reason)
        with or_propose(f"concord propose erase {memory.id}"):
            erased = client.memory.EraseMemory(request)
        if is_claimed(erased):
            session.answer(erased, show_claims)
            return
        reply = _receipt(client, memory.id)
        until = time.monotonic() + RECEIPT_TIMEOUT
        while wait and not reply.receipt.HasField("complete_time") and time.monotonic() < until:
            time.sleep(0.05)
            reply = _receipt(client, memory.id)
    if session.as_json:
        session.reply(reply)
    else:
        _show_receipt(reply.receipt)
        show_gave_way(erased.gave_way)


def receipt(session: Session, memory_id: MemoryArgument) -> None:
    """Show which stores have confirmed that they hold nothing more of an erased memory."""
    with session.client() as client:
        reply = _receipt(client, plain_id(memory_id))
    missing = CommandError(
        f"No memory {memory_id!r} was erased in the space {session.space_name!r}.",
        reason="LOOKUP_STATUS_NOT_FOUND",
    )
    is_found = reply.status == LOOKUP_STATUS_FOUND
    session.answer(reply, lambda reply: _show_receipt(reply.receipt), None if is_found else missing)


def history(
    session: Session,
    memory_id: MemoryArgument,
    *,
    limit: LimitOption = 50,
    page_token: PageTokenOption = "",
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
) -> None:
    """List a memory's versions, the newest first; what was known at a time are those up to it.

    A version is of no valid time: --as-of changes nothing here.
    """
    from concord.graph.v1.memory_pb2 import GetMemoryHistoryRequest

    request = GetMemoryHistoryRequest(
        id=plain_id(memory_id),
        page_size=limit,
        page_token=page_token,
        as_of=asked_time(as_of, known_at),
    )
    with session.client() as client:
        reply = client.memory.GetMemoryHistory(request)
    if session.as_json:
        session.reply(reply)
    if not reply.versions:
        raise absent(session, memory_id, what="memory")
    if session.as_json:
        return
    made = table("#Version", "From", "Who", "What it said")
    for each in reply.versions:
        made.add_row(
            str(each.revision), when(each.record_from), text(each.principal), text(_said(each))
        )
    show(made)
    show_more(reply.next_page_token)


def _receipt(client: "Client", memory_id: str) -> "GetEraseReceiptResponse":
    from concord.graph.v1.memory_pb2 import GetEraseReceiptRequest

    return client.memory.GetEraseReceipt(GetEraseReceiptRequest(memory_id=memory_id))


def _show_receipt(receipt: "EraseReceipt") -> None:
    done = receipt.HasField("complete_time")
    show(text("Erased, and gone from every store." if done else "Erased; stores still tidy up."))
    pairs = [
        ("receipt", receipt.erase_id),
        ("memory", receipt.memory_id),
        ("erased", when(receipt.erase_time)),
        ("asked for by", receipt.principal),
        ("reason", receipt.reason),
        ("digest", receipt.digest),
        ("edges", str(receipt.edge_count or "")),
        *(
            (each.confirmer, when(each.confirm_time) if each.HasField("confirm_time") else "waits")
            for each in receipt.confirmations
        ),
    ]
    show(fields(pairs))


def _said(version: "MemoryVersion") -> str:
    memory = version.memory
    if memory.HasField("erase_time"):
        return "(erased)"
    return f"(forgotten) {memory.content}" if memory.HasField("forget_time") else memory.content
