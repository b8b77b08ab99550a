"""`concord conflicts`, the list, and `concord conflict`, one of them."""

from typing import Annotated

import typer
from concord.graph.v1.conflict_pb2 import GetConflictRequest
from concord.type.v1.type_pb2 import LOOKUP_STATUS_FOUND

from concord_client.cli.choices import ConflictClass, ConflictState
from concord_client.cli.items import absent
from concord_client.cli.options import (
    AsOfOption,
    ConflictArgument,
    KnownAtOption,
    LimitOption,
    PageTokenOption,
)
from concord_client.cli.render.page import show, show_more
from concord_client.cli.session import Session
from concord_client.cli.values import asked_time, plain_id


def conflicts(
    session: Session,
    *,
    state: Annotated[
        list[ConflictState] | None,
        typer.Option(
            case_sensitive=False,
            help="Only these; may be repeated.",
            show_default="potential and confirmed",
        ),
    ] = None,
    conflict_class: Annotated[
        list[ConflictClass] | None,
        typer.Option("--class", case_sensitive=False, help="Only these; may be repeated."),
    ] = None,
    item: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Only of this item; may be repeated.")
    ] = None,
    run_id: Annotated[
        str, typer.Option("--run", metavar="RUN", help="Only those that this check recorded.")
    ] = "",
    limit: LimitOption = 50,
    page_token: PageTokenOption = "",
) -> None:
    """List conflicts, newest first."""
    from concord.dissonance.v1.dissonance_pb2 import ListConflictsRequest

    states = state or (ConflictState.POTENTIAL, ConflictState.CONFIRMED)
    request = ListConflictsRequest(
        states=[each.value_of() for each in states],
        classes=[each.value_of() for each in conflict_class or ()],
        item_ids=[plain_id(each) for each in item or ()],
        page_size=limit,
        page_token=page_token,
        run_id=run_id,
    )
    with session.client() as client:
        reply = client.dissonance.ListConflicts(request)
    if session.as_json:
        session.reply(reply)
        return
    from concord_client.cli.render.conflict_page import listed

    show(listed(reply.conflicts, reply.proposals))
    show_more(reply.next_page_token)


def conflict(
    session: Session,
    conflict_id: ConflictArgument,
    *,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
) -> None:
    """Show a conflict: both sides with times and sources, who judged it and why."""
    at = asked_time(as_of, known_at)
    with session.client() as client:
        reply = client.conflict.GetConflict(GetConflictRequest(id=conflict_id, as_of=at))
    from concord_client.cli.render.conflict_page import whole

    is_found = reply.status == LOOKUP_STATUS_FOUND
    missing = None if is_found else absent(session, conflict_id, what="conflict", at=at)
    session.answer(reply, lambda reply: show(*whole(reply.conflict)), missing)
