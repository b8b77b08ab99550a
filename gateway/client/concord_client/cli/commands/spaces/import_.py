"""`concord import`: memories, notes or chats, in batches, until search finds them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.amendments import show_amendments
from concord_client.cli.dry_run import show_dry_run
from concord_client.cli.errors import CommandError
from concord_client.cli.index_wait import await_index
from concord_client.cli.left_out import left_out_json, show_left_out, show_remarks
from concord_client.cli.render.claim_page import show_claims
from concord_client.cli.render.gave_way import show_gave_way
from concord_client.cli.render.page import plural, show, text
from concord_client.cli.session import Session
from concord_client.importers.form import Format, Origin

if TYPE_CHECKING:
    from concord_client.importers.outcome import LeftOut
    from concord_client.importers.upload import Refusal, Upload

MOST_PLACES = 5
"""The most places that are named for one kind of error, beside the first."""


def import_(
    session: Session,
    path: Annotated[
        Path,
        typer.Argument(
            exists=True,
            help="JSON Lines, CSV, a Markdown note or folder of them, or a chat transcript.",
        ),
    ],
    *,
    origin: Annotated[
        Origin | None,
        typer.Option("--from", case_sensitive=False, help="It is an export of this memory."),
    ] = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            metavar="FORMAT",
            case_sensitive=False,
            help="auto, jsonl, markdown, chat or csv. auto: a folder or .md is markdown, .csv and "
            ".tsv are csv, objects that name a speaker or hold messages are chat, other JSON lines "
            "and JSON lists of memories are jsonl, other text is chat; the files of the MCP memory "
            "server, of Letta and of Hindsight are known by what they hold.",
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
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only say what would come in, and what would be left out."),
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until search finds all of it.")
    ] = True,
) -> None:
    """Remember JSON Lines, CSV, Markdown notes, a chat transcript or another memory's export.

    What cannot be remembered is listed and stops nothing else. What is left out is counted and
    shown by kind with its places: notices of a messenger, files of other forms, comments and the
    like; --json lists all of it.

    Importing again adds nothing: an import that was cut off goes on where it was. Only what was
    erased comes again, unless it has an id of its own: take it out of the file, too.

    Front matter: id, title, kind, domain, tags, concepts, aliases, importance, date, valid_from,
    valid_until, external_id, supersedes, deprecates, amends, contradicts, superseded_by, and facts
    as a list of "SUBJECT|RELATION|OBJECT". Other keys, other columns of CSV and other fields of
    JSON become properties; so do values that their field cannot hold. Links between notes become
    links of their memories; a long note is split at its headings, MEMORY.md and CLAUDE.md at their
    items. "Superseded by LINK" and its kin in a note are lineage.

    A chat is JSON Lines of {"session", "speaker" or "role", "text" or "content", "time"},
    a JSON list of messages or of conversations, or lines "\\[time] Speaker: text" as messengers
    export them. CSV with columns for speaker and text is one, too. What system, developer, tool
    and function roles say is left out of it.
    """
    from concord_client.cli.render.progress import bar
    from concord_client.importers.formats import detected, read
    from concord_client.importers.upload import Upload

    if origin and form is not Format.AUTO:
        raise typer.BadParameter("--from says what it is: leave --format out.")
    known = origin or (detected(path) if form is Format.AUTO else form)
    if dry_run:
        raise typer.Exit(show_dry_run(session, read(path, known, session_id or "")))
    upload = Upload(
        update_existing=update,
        stop_on_error=stop_on_error,
        extracted=isinstance(known, Origin),
    )
    total, left = _count(path, known)
    if not total:
        show_left_out(left)
        raise CommandError(f"Found nothing to read in {path}, as {known.value}.")
    try:
        with session.client() as client:
            with bar("Remembering", total) as advance:
                for done in upload.send(client.memory, read(path, known, session_id or "")):
                    advance(done)
            if wait and upload.token:
                await_index(client, upload.token)
            if suggest and not session.as_json:
                show_amendments(client, _created(upload), upload.token)
    finally:  # after a failure, too: written items stay, and the errors found so far would be lost
        _report(session, upload, total)
    if upload.refusals:
        raise typer.Exit(1)


def _created(upload: "Upload") -> list[str]:
    from concord.graph.v1.memory_pb2 import BATCH_OUTCOME_CREATED

    results = upload.reply().results
    return [each.memory_id for each in results if each.outcome == BATCH_OUTCOME_CREATED]


def _report(session: Session, upload: "Upload", total: int) -> None:
    if session.as_json:
        lists = {
            "leftOut": left_out_json(upload.left_out),
            "notRemembered": [
                {"place": each.place, "reason": each.message, "text": each.text}
                for each in upload.refusals
            ],
        }
        session.reply(upload.reply(), {name: each for name, each in lists.items() if each})
    else:
        _summarise(upload)
        show_left_out(upload.left_out)
        show_remarks(upload.remarks)
    _complain(upload)
    if not upload.finished:
        remembered = sum(upload.counts().values())
        typer.echo(f"{remembered:,} of {total:,} remembered; run it again.", err=True)


def _count(path: Path, form: Format | Origin) -> "tuple[int, list[LeftOut]]":
    """The number of items in `path`, and what reading it leaves out."""
    from concord_client.importers.formats import is_document, read
    from concord_client.importers.outcome import LeftOut, Remark

    if form is Format.JSONL and not is_document(path):
        try:
            with path.open("rb") as file:
                return sum(1 for line in file if line.strip()), []
        except OSError:
            return 1, []  # the defect that the file cannot be read
    total, left = 0, []
    for outcome in read(path, form):
        if isinstance(outcome, LeftOut):
            left.append(outcome)
        elif not isinstance(outcome, Remark):
            total += 1
    return total, left


def _summarise(upload: "Upload") -> None:
    counts = upload.counts()
    show(
        text(f"{plural(sum(counts.values()), 'memory', 'memories')}: ")
        .append(f"{counts['created']:,} created", "green")
        .append(f", {counts['unchanged']:,} unchanged, {counts['updated']:,} updated")
        .append(f", {counts['erased']:,} erased before" if counts["erased"] else "")
        .append(f", {counts['claimed']:,} beside what stays" if counts["claimed"] else "")
        .append(f"; {plural(len(upload.refusals), 'error')}", "red" if upload.refusals else "")
        .append(f"; {len(upload.left_out):,} left out" if upload.left_out else "")
    )
    show_gave_way(upload.gave_way)
    show_claims(upload.reply())


def _complain(upload: "Upload") -> None:
    """Print the first refusal of each kind, with the number of all of that kind."""
    kinds: dict[tuple[str, str], list[Refusal]] = {}
    for refusal in sorted(upload.refusals, key=lambda each: each.index):
        kinds.setdefault(refusal.kind, []).append(refusal)
    for first, *others in kinds.values():
        more = [each.place for each in others[:MOST_PLACES]]
        dots = ", …" if len(others) > MOST_PLACES else ""
        again = f" ({len(others) + 1:,} of this kind; also {', '.join(more)}{dots})"
        typer.echo(first.line() + (again if others else ""), err=True)
