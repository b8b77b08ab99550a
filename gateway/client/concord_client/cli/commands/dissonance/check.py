"""`concord check`."""

from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.choices import CheckScope
from concord_client.cli.options import LONG_CHECK
from concord_client.cli.session import JsonOption, Session, SpaceOption, write_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from concord.dissonance.v1.dissonance_pb2 import (
        CheckDissonanceRequest,
        DetectContradictionsResponse,
    )

NOTHING_NEW = "Nothing was found. What was found before: concord conflicts"


def check(
    ctx: typer.Context,
    node: Annotated[
        str,
        typer.Argument(
            metavar="[NODE]", help="Only around this node: its id or name.", show_default="space"
        ),
    ] = "",
    *,
    radius: Annotated[int, typer.Option(min=1, max=3, help="How many edges away.")] = 1,
    scope: Annotated[
        CheckScope,
        typer.Option(
            case_sensitive=False,
            help="Around a node: what was changed or read within 30 days, or all. Of the space: "
            "what changed since the last check, or all.",
        ),
    ] = CheckScope.RECENT,
    session_id: Annotated[
        str, typer.Option("--session", help="What belongs to it counts as recent.")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Judge, and record nothing.")] = False,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Look for statements that disagree. Nothing is resolved by it."""
    from concord.dissonance.v1 import dissonance_pb2

    session = Session.of(ctx, space, as_json)
    if node:
        _around(
            session,
            dissonance_pb2.CheckDissonanceRequest(
                context_node=node,
                radius=radius,
                scope=scope.value_of(),
                session_id=session_id,
                dry_run=dry_run,
            ),
        )
    else:
        _whole(session, full=scope is CheckScope.FULL, dry_run=dry_run)


def _around(session: Session, request: "CheckDissonanceRequest") -> None:
    with session.client() as client:
        reply = client.dissonance.CheckDissonance(request, timeout=LONG_CHECK)
    if session.as_json:
        session.reply(reply)
        return
    from concord_client.cli.render.conflict_page import checked, listed
    from concord_client.cli.render.page import show

    show(*checked(reply.status, reply.coverage), listed(reply.conflicts, none=NOTHING_NEW))


def _whole(session: Session, *, full: bool, dry_run: bool) -> None:
    from concord.dissonance.v1.dissonance_pb2 import DetectContradictionsRequest

    request = DetectContradictionsRequest(full=full, dry_run=dry_run)
    with session.client() as client:
        events = client.dissonance.DetectContradictions(request, timeout=LONG_CHECK)
        if session.as_json:
            from google.protobuf.json_format import MessageToJson

            for event in events:
                write_line(MessageToJson(event, indent=None, ensure_ascii=False))
            return
        _shown(events)


def _shown(events: "Iterator[DetectContradictionsResponse]") -> None:
    from concord_client.cli.render.conflict_page import checked, listed
    from concord_client.cli.render.page import show
    from concord_client.cli.render.progress import bar

    found = []
    with bar("Checking", 100) as advance:
        for event in events:
            if event.HasField("progress"):
                advance(round(event.progress.percent))
            elif event.HasField("conflict"):
                found.append(event.conflict)
            else:
                end = event.summary
    show(*checked(end.status, end.coverage), listed(found, none=NOTHING_NEW))
