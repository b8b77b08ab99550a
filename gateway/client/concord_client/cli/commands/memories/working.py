"""`concord hold` and `concord working`."""

from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.choices import Importance
from concord_client.cli.options import AsOfOption, KnownAtOption
from concord_client.cli.render.page import lines, show, table, text, when, word
from concord_client.cli.render.page import text as shown
from concord_client.cli.session import Session
from concord_client.cli.values import asked_time

if TYPE_CHECKING:
    from concord.graph.v1.working_memory_pb2 import ListWorkingMemoryResponse


def hold(
    session: Session,
    text: Annotated[str, typer.Argument(help="What to hold in mind.")],
    *,
    importance: Annotated[
        Importance, typer.Option(case_sensitive=False, help="What is high is never evicted.")
    ] = Importance.MEDIUM,
    session_id: Annotated[str, typer.Option("--session", help="Session id.")] = "",
) -> None:
    """Hold a text in working memory; what matters least makes room for it."""
    from concord.graph.v1.working_memory_pb2 import PutWorkingMemoryRequest

    request = PutWorkingMemoryRequest(
        content=text, importance=importance.value_of(), session_id=session_id
    )
    with session.client() as client:
        reply = client.working_memory.PutWorkingMemory(request)
    if session.as_json:
        session.reply(reply)
        return
    held = shown("Holding ").append(reply.entry.id, "bold")
    show(lines(held, *(shown(f"Evicted: {each.content}", "dim") for each in reply.evicted)))


def working(
    session: Session,
    *,
    stale: Annotated[bool, typer.Option("--stale", help="What was evicted.")] = False,
    remove: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Remove this entry first; may be repeated."),
    ] = None,
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove all first; with --stale what was evicted too.")
    ] = False,
    session_id: Annotated[str, typer.Option("--session", help="Only of this session.")] = "",
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
) -> None:
    """Show what working memory holds, the most important first."""
    from concord.graph.v1.working_memory_pb2 import (
        ClearWorkingMemoryRequest,
        ListWorkingMemoryRequest,
        RemoveWorkingMemoryRequest,
    )

    request = ListWorkingMemoryRequest(
        stale=stale, session_id=session_id, page_size=200, as_of=asked_time(as_of, known_at)
    )
    with session.client() as client:
        for entry_id in remove or ():
            client.working_memory.RemoveWorkingMemory(RemoveWorkingMemoryRequest(id=entry_id))
        if clear:
            cleared = client.working_memory.ClearWorkingMemory(
                ClearWorkingMemoryRequest(session_id=session_id, include_stale=stale)
            )
            if cleared.left_count and not session.as_json:
                show(f"Left, of who stands above you: {cleared.left_count}.")
        reply = client.working_memory.ListWorkingMemory(request)
    session.answer(reply, lambda reply: _show(reply, stale=stale))


def _show(reply: "ListWorkingMemoryResponse", *, stale: bool) -> None:
    from concord.type.v1.type_pb2 import Importance

    if not reply.entries:
        show("Nothing is stale." if stale else "Nothing is held.")
        return
    made = table("Importance", "Evicted" if stale else "Put", "Text")
    for each in reply.entries:
        made.add_row(
            word(Importance, each.importance),
            when(each.evict_time if stale else each.put_time),
            text(each.content).append(f"\n{each.id}", "dim"),
        )
    count = f"{len(reply.entries)} of {reply.total_count}"
    show(made, text(count if stale else f"{count}; room for {reply.capacity}", "dim"))
