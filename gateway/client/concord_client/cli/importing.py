"""`concord import`: a JSON Lines file or a Markdown folder, in batches, until search finds it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.failing import CommandError
from concord_client.cli.session import JsonOption, Session, SpaceOption

if TYPE_CHECKING:
    from collections.abc import Iterator

    from concord_client.client import Client
    from concord_client.importers.outcome import Defect, Draft
    from concord_client.uploading import Upload

MOST_COMPLAINTS = 50


def import_(
    ctx: typer.Context,
    path: Annotated[
        Path,
        typer.Argument(
            exists=True, help="A JSON Lines file, or a folder of Markdown with front matter."
        ),
    ],
    *,
    update: Annotated[
        bool, typer.Option("--update", help="Change memories that are there with other content.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until search finds all of it.")
    ] = True,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remember a file of JSON Lines or a folder of Markdown notes.

    What cannot be remembered is listed and stops nothing else. Importing again adds nothing.
    """
    from concord_client.uploading import Upload

    session = Session.of(ctx, space, as_json)
    upload = Upload(update_existing=update)
    with session.client() as client:
        _send(client, upload, path)
        if wait and upload.token:
            _await_index(client, upload.token)
    if session.as_json:
        session.reply(upload.reply())
    else:
        _summarise(upload)
    _complain(upload)


def outcomes(path: Path) -> "Iterator[Draft | Defect]":
    """What reading `path` yields, in order."""
    from concord_client.importers.jsonl import read_jsonl
    from concord_client.importers.markdown import read_markdown

    return read_markdown(path) if path.is_dir() else read_jsonl(path)


def _send(client: "Client", upload: "Upload", path: Path) -> None:
    from concord_client.cli.progress import bar

    with bar("Remembering", _count(path)) as advance:
        for done in upload.send(client.memory, outcomes(path)):
            advance(done)


def _count(path: Path) -> int:
    """How many outcomes reading `path` will yield."""
    from concord_client.importers.folder import markdown_files

    if path.is_dir():
        return sum(1 for _ in markdown_files(path))
    try:
        with path.open("rb") as file:
            return sum(1 for line in file if line.strip())
    except OSError:
        return 1  # the one defect that says why


def _await_index(client: "Client", token: str) -> None:
    from concord_client.cli.progress import bar
    from concord_client.freshness import IndexStuckError, follow

    with bar("Indexing") as advance:
        try:
            for done, total in follow(client, token):
                advance(done, total)
        except IndexStuckError as error:
            raise CommandError(str(error), reason="ERROR_REASON_INDEX_STALE") from error


def _summarise(upload: "Upload") -> None:
    from concord_client.cli.page import plural, show, text

    counts = upload.counts()
    show(
        text(f"{plural(sum(counts.values()), 'memory', 'memories')}: ")
        .append(f"{counts['created']:,} created", "green")
        .append(f", {counts['unchanged']:,} unchanged, {counts['updated']:,} updated")
        .append(f"; {plural(len(upload.refusals), 'error')}", "red" if upload.refusals else "")
    )


def _complain(upload: "Upload") -> None:
    if not upload.refusals:
        return
    for refusal in sorted(upload.refusals, key=lambda each: each.index)[:MOST_COMPLAINTS]:
        typer.echo(refusal.told(), err=True)
    if (more := len(upload.refusals) - MOST_COMPLAINTS) > 0:
        typer.echo(f"... and {more:,} more", err=True)
    raise typer.Exit(1)
