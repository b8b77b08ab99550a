"""`concord erase`, `concord receipt` and `concord history`."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from concord.type.v1.type_pb2 import LOOKUP_STATUS_FOUND

from concord_client.cli import forgetting
from concord_client.cli.errors import CommandError, or_propose
from concord_client.cli.items import absent, found_memory
from concord_client.cli.options import (
    AsOfOption,
    KnownAtOption,
    LimitOption,
    MemoryArgument,
    PageTokenOption,
)
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
    memory_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A memory's id.", show_default=False)
    ] = None,
    *,
    subject: Annotated[
        str, typer.Option(metavar="NAME", help="Somebody, whole: what they said, facts of them.")
    ] = "",
    session_id: Annotated[
        str, typer.Option("--session", metavar="ID", help="All that was said in a session.")
    ] = "",
    speaker: Annotated[str, typer.Option(metavar="NAME", help="All that a speaker said.")] = "",
    principal: Annotated[
        str, typer.Option(metavar="NAME", help="All that a principal's keys wrote.")
    ] = "",
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Another name of the same one; may be repeated."),
    ] = None,
    mentions: Annotated[
        bool, typer.Option("--mentions", help="Also what merely mentions the subject.")
    ] = False,
    shared: Annotated[
        bool, typer.Option("--shared", help="Also what is about somebody else as well.")
    ] = False,
    digest: Annotated[str, typer.Option(help="What the look printed: erase exactly that.")] = "",
    reason: Annotated[str, typer.Option(help="Why; kept in the receipt.")] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    wait: Annotated[bool, typer.Option(help="Wait until every store has confirmed.")] = True,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the whole's receipt there.")
    ] = None,
) -> None:
    """Take out for good what a memory says, or all of somebody. Nothing undoes it.

    With --subject, --session, --speaker or --principal this only looks, and lists what would go
    and what would stay; with the look's --digest as well, it erases exactly that.
    """
    wanted = _wanted(
        {"subject": subject, "session_id": session_id, "speaker": speaker, "principal": principal},
        memory_id,
        also=tuple(also or ()),
        mentions=mentions,
        shared=shared,
    )
    if wanted is None:
        _erase_memory(session, str(memory_id), reason, yes=yes, wait=wait)
    elif digest:
        forgetting.erase(session, wanted, digest, reason, yes=yes, out=out)
    else:
        forgetting.look(session, wanted)


def _wanted(
    names: Mapping[str, str], memory_id: str | None, **options: Any
) -> forgetting.Wanted | None:
    """Whom to forget; None if a memory is named."""
    given = [(by, name) for by, name in names.items() if name]
    if len(given) + (memory_id is not None) != 1:
        raise typer.BadParameter(
            "name a memory's ID, or one of --subject, --session, --speaker, --principal."
        )
    if not given:
        return None
    ((by, name),) = given
    return forgetting.Wanted(by, name, **options)


def _erase_memory(session: Session, memory_id: str, reason: str, *, yes: bool, wait: bool) -> None:
    from concord.graph.v1.memory_pb2 import EraseMemoryRequest

    with session.client() as client:
        memory = found_memory(client, session, memory_id)
        if not yes:
            typer.confirm(f"Erase {memory.id} for good? Nothing brings it back", abort=True)
        request = EraseMemoryRequest(id=memory.id, etag=memory.etag, reason=reason)
        with or_propose(f"concord propose erase {memory.id}"):
            erased = client.memory.EraseMemory(request)
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


def receipt(
    session: Session,
    memory_id: Annotated[
        str, typer.Argument(metavar="ID", help="A memory's id, or that of an erasure by selection.")
    ],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the whole's receipt there.")
    ] = None,
) -> None:
    """Show which stores have confirmed that they hold nothing more of what was erased."""
    with session.client() as client:
        whole = forgetting.receipt_of(client, plain_id(memory_id))
        reply = _receipt(client, plain_id(memory_id))
    if whole.status == LOOKUP_STATUS_FOUND:
        forgetting.print_receipt(session, whole, out)
        return
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
