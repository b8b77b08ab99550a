"""`concord undo --principal NAME --since TIME` and its like: undoing operations, after a look."""

from typing import TYPE_CHECKING

import typer
from concord.type.v1.type_pb2 import LOOKUP_STATUS_FOUND

from concord_client.cli.errors import CommandError
from concord_client.cli.render.page import show, text
from concord_client.cli.render.undo_page import show_look, show_summary
from concord_client.cli.session import Session

if TYPE_CHECKING:
    from concord.graph.v1 import undo_pb2

LOOK_TIMEOUT = 600.0
"""Seconds that a look may take: it reads all operations since the time."""
_PART_TIMEOUT = 60.0
"""Seconds of one part of the undo."""


def look(session: Session, selection: "undo_pb2.UndoSelection") -> None:
    """Print what an undo would bring back and what it would leave; change nothing."""
    from concord.graph.v1 import undo_pb2

    request = undo_pb2.PreviewUndoRequest(selection=selection)
    with session.client() as client:
        seen = client.undo.PreviewUndo(request, timeout=LOOK_TIMEOUT)
    if session.as_json:
        session.reply(seen)
        return
    show_look(seen)
    if seen.unfinished_digest:
        show(text(f"An undo was begun and cut off: --digest {seen.unfinished_digest}", "yellow"))
    if seen.undone_count:
        show(text(f"Nothing is undone yet. To undo exactly this, add --digest {seen.digest}"))


def undo(session: Session, selection: "undo_pb2.UndoSelection", digest: str, *, yes: bool) -> None:
    """Undo what was looked at, and print the summary."""
    from concord.graph.v1 import undo_pb2

    name = getattr(selection, selection.WhichOneof("by") or "principal")
    if not yes:
        typer.confirm(f"Undo what the look of {name!r} listed?", abort=True)
    request = undo_pb2.UndoOperationsRequest(selection=selection, digest=digest)
    with session.client() as client:
        done = client.undo.UndoOperations(request, timeout=_PART_TIMEOUT)
        while not done.complete:
            done = client.undo.UndoOperations(request, timeout=_PART_TIMEOUT)
        reply = client.undo.GetUndo(undo_pb2.GetUndoRequest(digest=digest))
    if reply.status != LOOKUP_STATUS_FOUND:
        raise CommandError("The undo has no summary: look again.")
    session.answer(reply, show_summary)
