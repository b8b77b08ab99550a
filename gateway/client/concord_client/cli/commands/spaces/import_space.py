"""`concord import-space`: imports a whole space with its history from a full export."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from concord_client import credentials
from concord_client.cli.errors import CommandError
from concord_client.cli.index_wait import await_index
from concord_client.cli.session import Session

if TYPE_CHECKING:
    from concord_client.client import Client
    from concord_client.transfer import Export


def import_space(
    session: Session,
    path: Annotated[
        Path,
        typer.Argument(exists=True, dir_okay=False, help="What `export --form full` wrote."),
    ],
    *,
    grant: Annotated[
        Path | None,
        typer.Option(
            "--grant",
            exists=True,
            dir_okay=False,
            help="What both principals have signed, for an export with their agreement in it.",
        ),
    ] = None,
    secret: Annotated[
        Path | None,
        typer.Option(
            "--enrolment-secret",
            exists=True,
            dir_okay=False,
            help="File with the space's enrolment secret, which such an export needs too.",
            show_default="what `concord up` wrote",
        ),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until search finds all of it.")
    ] = True,
) -> None:
    """Bring a whole space, with all its history, into one that was never used.

    All of it comes, or nothing. What both principals have agreed to comes only under the space's
    own name, and when both have signed for it.
    """
    from concord_client.cli.render.progress import bar
    from concord_client.transfer import import_space as send

    export = _looked_at(path)
    signed = _signed(export, grant)
    with session.client() as client:
        if signed:
            _demand_governance(client, signed)
        with bar("Importing", path.stat().st_size) as advance:
            reply = send(
                client.space,
                path,
                restore_grant=signed,
                enrolment_secret=_secret(session, secret) if signed else "",
                on_sent=advance,
            )
        if wait:
            await_index(client, reply.token)
    session.answer(reply, f"Imported {reply.line_count:,} lines of the space {export.space!r}.")


def _demand_governance(client: "Client", grant: bytes) -> None:
    """Refuse a restore grant that names another governance's key than that of this system."""
    from concord.governance.v1.principal_pb2 import GetPrincipalsRequest

    from concord_client.transfer import governance_named
    from concord_client.trust.keyfiles import encoded

    here = client.principals.GetPrincipals(GetPrincipalsRequest()).governance_key
    if governance_named(grant) != here:
        raise CommandError(
            "What was signed names another governance than the one here, which could then change "
            f"nothing that both agreed to: both principals sign for the key {encoded(here)}."
        )


def _looked_at(path: Path) -> "Export":
    from concord_client.transfer import NotAnExport, read_export

    try:
        return read_export(path)
    except NotAnExport as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        raise CommandError(f"Cannot read {path}: {error.strerror}.") from error


def _signed(export: "Export", grant: Path | None) -> bytes:
    if not export.genesis_digest:
        return b""
    if grant is None:
        raise CommandError(
            f"Both principals of the space {export.space!r} must sign for this: give what they "
            f"have signed with --grant. The export's digest is {export.digest}, its genesis's "
            f"{export.genesis_digest}; they also sign for governance's key where it goes."
        )
    return grant.read_bytes()


def _secret(session: Session, given: Path | None) -> str:
    if given is not None:
        return given.read_text("utf-8").strip()
    directory = credentials.data_directory(session.environ)
    found = credentials.read(directory / credentials.FILE_NAME).enrolment_secrets
    if session.space_name not in found:
        raise CommandError(
            f"{directory} holds no enrolment secret of the space {session.space_name!r}: "
            "give it with --enrolment-secret."
        )
    return found[session.space_name]
