"""`concord recall`: a space's recall log (W8)."""

from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.options import LimitOption, PageTokenOption
from concord_client.cli.render.page import show, show_more, table, text, when
from concord_client.cli.session import Session, SessionCommands
from concord_client.cli.values import plain_id
from concord_client.credentials import Role

if TYPE_CHECKING:
    from concord.graph.v1.recall_pb2 import ListRecallsResponse

app = SessionCommands(no_args_is_help=True, help="The log of what searches returned: ids alone.")


@app.command("list")
def list_(
    session: Session,
    *,
    query_id: Annotated[str, typer.Option("--query", metavar="ID", help="Only this search.")] = "",
    memory: Annotated[str, typer.Option(metavar="ID", help="That returned this memory.")] = "",
    principal: Annotated[str, typer.Option(help="Only this principal's.")] = "",
    session_id: Annotated[str, typer.Option("--session", help="Only this session's.")] = "",
    limit: LimitOption = 50,
    page_token: PageTokenOption = "",
) -> None:
    """List which memories were returned to whom, the newest first."""
    from concord.graph.v1.recall_pb2 import ListRecallsRequest

    request = ListRecallsRequest(
        query_id=query_id,
        memory_id=plain_id(memory),
        principal=principal,
        session_id=session_id,
        page_size=limit,
        page_token=page_token,
    )
    with session.client() as client:
        reply = client.recall.ListRecalls(request)
    session.answer(reply, _show)


@app.command("on")
def on(session: Session) -> None:
    """Keep which memories searches return, for 90 days."""
    _turn(session, enabled=True)


@app.command("off")
def off(session: Session) -> None:
    """Keep no more of that. What was kept stays until its 90 days are over."""
    _turn(session, enabled=False)


@app.command("erase-query")
def erase_query(
    session: Session,
    query_id: Annotated[str, typer.Argument(metavar="ID", help="The search's query id.")],
) -> None:
    """Erase the text of an integrative search, which is kept for feedback."""
    from concord.graph.v1.recall_pb2 import EraseQueryTextRequest

    with session.client(Role.ADMIN) as client:
        reply = client.recall.EraseQueryText(EraseQueryTextRequest(query_id=query_id))
    done = "Its text is erased." if reply.erased else "Nothing of such a query is kept."
    session.answer(reply, done)


def _turn(session: Session, *, enabled: bool) -> None:
    from concord.graph.v1.recall_pb2 import SetRecallLogRequest

    with session.client(Role.ADMIN) as client:
        reply = client.recall.SetRecallLog(SetRecallLogRequest(enabled=enabled))
    state = "on" if enabled else "off"
    session.answer(reply, f"The recall log of {session.space_name!r} is {state}.")


def _show(reply: "ListRecallsResponse") -> None:
    if not reply.enabled:
        show(text("The recall log is off: concord recall on", "yellow"))
    if not reply.recalls:
        show("Nothing was logged.")
        return
    made = table("When", "Whom", "Session", "Returned")
    for each in reply.recalls:
        returned = text("\n".join(each.memory_ids)).append(f"\nquery {each.query_id}", "dim")
        made.add_row(when(each.recall_time), text(each.principal), text(each.session_id), returned)
    show(made)
    show_more(reply.next_page_token)
