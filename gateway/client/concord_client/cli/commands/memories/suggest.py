"""`concord suggest`."""

from typing import Annotated

import typer

from concord_client.cli.session import Session
from concord_client.cli.situation import (
    ErrorOption,
    FileOption,
    SessionOption,
    TextOption,
    situation,
)


def suggest(
    session: Session,
    *,
    path: FileOption = "",
    error: ErrorOption = "",
    said: TextOption = "",
    session_id: SessionOption = "",
    again: Annotated[
        bool, typer.Option("--again", help="What the session was suggested before, too.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=10, help="Most suggestions.")] = 3,
) -> None:
    """Show the few memories that matter where you are, without a search. Nothing counts as read."""
    request = situation(path, error, said, session_id)
    if request is None:
        raise typer.BadParameter("Say where you are: --file, --error or --text.")
    request.repeat, request.limit = again, limit
    with session.client() as client:
        reply = client.suggestions.SuggestProactively(request)
    if session.as_json:
        session.reply(reply)
        return
    from concord_client.cli.render.suggestion_page import show_suggestions

    show_suggestions(reply)
