"""`concord import`: memories, notes or chats, in batches, until search finds them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.amendments import show_amendments
from concord_client.cli.index_wait import await_index
from concord_client.cli.session import JsonOption, Session, SpaceOption
from concord_client.importers.form import Format

if TYPE_CHECKING:
    from collections.abc import Iterable

    from concord_client.client import Client
    from concord_client.importers.outcome import Defect, Draft
    from concord_client.importers.upload import Upload

MOST_COMPLAINTS = 50


def import_(
    ctx: typer.Context,
    path: Annotated[
        Path,
        typer.Argument(
            exists=True,
            help="A JSON Lines file, a folder of Markdown with front matter, or a chat transcript.",
        ),
    ],
    *,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            case_sensitive=False,
            help="What it is. auto: a folder is markdown, objects that name a speaker or hold "
            "messages are chat, other JSON lines are jsonl, other text is chat.",
        ),
    ] = Format.AUTO,
    session_id: Annotated[
        str | None,
        typer.Option(
            "--session",
            help="Session of a chat that names none.",
            show_default="the file's name",
        ),
    ] = None,
    stop_on_error: Annotated[
        bool,
        typer.Option(
            "--stop-on-error",
            help="Stop at the first item that cannot be remembered; what came before it stays.",
        ),
    ] = False,
    update: Annotated[
        bool, typer.Option("--update", help="Change memories that are there with other content.")
    ] = False,
    suggest: Annotated[
        bool,
        typer.Option(
            "--suggest-amendments", help="Compare what is new with former memories like it."
        ),
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until search finds all of it.")
    ] = True,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remember a file of JSON Lines, a folder of Markdown notes or a chat transcript.

    What cannot be remembered is listed and stops nothing else.

    Importing again adds nothing: an import that was cut off goes on where it was. Only what was

    erased comes again, unless it has an id of its own: take it out of the file, too.

    Front matter: id, title, kind, domain, tags, concepts, importance, valid_from, valid_until,

    external_id, supersedes, deprecates, amends, contradicts, and facts as a list of

    "SUBJECT|RELATION|OBJECT". Other keys, and other fields of JSON Lines, become properties.

    A chat is JSON Lines of {"session", "speaker" or "role", "text" or "content", "time"},

    a JSON list of messages or of conversations, or lines "\\[time] Speaker: text".

    What system, developer, tool and function roles say is left out of it.
    """
    from concord_client.importers.formats import detected, read
    from concord_client.importers.upload import Upload

    session = Session.of(ctx, space, as_json)
    upload = Upload(update_existing=update, stop_on_error=stop_on_error)
    form = detected(path) if form is Format.AUTO else form
    total = _count(path, form)
    try:
        with session.client() as client:
            _send(client, upload, read(path, form, session_id or ""), total)
            if wait and upload.token:
                await_index(client, upload.token)
            if suggest and not session.as_json:
                show_amendments(client, _created(upload), upload.token)
    finally:  # whatever ended it: what was written stays, and its errors are not found out again
        _report(session, upload, total)
    if upload.refusals:
        raise typer.Exit(1)


def _send(
    client: "Client", upload: "Upload", outcomes: "Iterable[Draft | Defect]", total: int
) -> None:
    from concord_client.cli.render.progress import bar

    with bar("Remembering", total) as advance:
        for done in upload.send(client.memory, outcomes):
            advance(done)


def _created(upload: "Upload") -> list[str]:
    from concord.graph.v1.memory_pb2 import BATCH_OUTCOME_CREATED

    results = upload.reply().results
    return [each.memory_id for each in results if each.outcome == BATCH_OUTCOME_CREATED]


def _report(session: Session, upload: "Upload", total: int) -> None:
    if session.as_json:
        session.reply(upload.reply())
    else:
        _summarise(upload)
    _complain(upload)
    if not upload.finished:
        remembered = sum(upload.counts().values())
        typer.echo(f"{remembered:,} of {total:,} remembered; run it again.", err=True)


def _count(path: Path, form: Format) -> int:
    """How many outcomes reading `path` will yield."""
    from concord_client.importers.chat import read_chat
    from concord_client.importers.folder import markdown_files

    if form is Format.CHAT:
        return sum(1 for _ in read_chat(path))
    if form is Format.MARKDOWN:
        return sum(1 for _ in markdown_files(path))
    try:
        with path.open("rb") as file:
            return sum(1 for line in file if line.strip())
    except OSError:
        return 1  # the one defect that says why


def _summarise(upload: "Upload") -> None:
    from concord_client.cli.render.page import plural, show, text

    counts = upload.counts()
    show(
        text(f"{plural(sum(counts.values()), 'memory', 'memories')}: ")
        .append(f"{counts['created']:,} created", "green")
        .append(f", {counts['unchanged']:,} unchanged, {counts['updated']:,} updated")
        .append(f", {counts['erased']:,} erased before" if counts["erased"] else "")
        .append(f"; {plural(len(upload.refusals), 'error')}", "red" if upload.refusals else "")
    )


def _complain(upload: "Upload") -> None:
    for refusal in sorted(upload.refusals, key=lambda each: each.index)[:MOST_COMPLAINTS]:
        typer.echo(refusal.line(), err=True)
    if (more := len(upload.refusals) - MOST_COMPLAINTS) > 0:
        typer.echo(f"... and {more:,} more", err=True)
