"""`concord session`: lists and ends the spans of work that callers name."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.choices import SessionState
from concord_client.cli.options import LONG_CHECK, LimitOption, PageTokenOption
from concord_client.cli.render.page import show, show_more, table, text, when
from concord_client.cli.session import Session, SessionCommands

if TYPE_CHECKING:
    from concord.graph.v1 import session_pb2

app = SessionCommands(no_args_is_help=True, help="End and list sessions.")


@app.command()
def end(
    session: Session,
    session_id: Annotated[str, typer.Argument(metavar="SESSION", help="Its id.")],
) -> None:
    """End a session and check what it wrote; when it is used again, it begins anew."""
    from concord.dissonance.v1.dissonance_pb2 import EndSessionRequest

    request = EndSessionRequest(session_id=session_id)
    with session.client() as client:
        reply = client.dissonance.EndSession(request, timeout=LONG_CHECK)
    if session.as_json:
        session.reply(reply)
        return
    from concord_client.cli.render.conflict_page import checked, listed, recurring

    _show([reply.session])
    show(*checked(reply.status, reply.coverage), *recurring(reply.recurring))
    looked_at = bool(reply.coverage.statements)
    none = (
        "Nothing that it wrote disagrees with anything." if looked_at else "Nothing was compared."
    )
    show(listed(reply.conflicts, none=none))


@app.command(name="list")
def list_(
    session: Session,
    *,
    state: Annotated[SessionState | None, typer.Option(help="Only those.")] = None,
    limit: LimitOption = 50,
    page_token: PageTokenOption = "",
) -> None:
    """List sessions, the last used first."""
    from concord.graph.v1.session_pb2 import ListSessionsRequest

    request = ListSessionsRequest(page_size=limit, page_token=page_token)
    if state:
        request.state = state.value_of()
    with session.client() as client:
        reply = client.session.ListSessions(request)
    if session.as_json:
        session.reply(reply)
        return
    _show(reply.sessions)
    show_more(reply.next_page_token)


def _show(sessions: "Iterable[session_pb2.Session]") -> None:
    made = table("Session", "Began", "Last used", "Ended")
    for each in sessions:
        ended = when(each.end_time) if each.HasField("end_time") else ""
        made.add_row(text(each.id), when(each.start_time), when(each.last_use_time), ended)
    show(made)
