"""`concord space`: creates, lists and deletes spaces, which are isolated from each other (W7)."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.errors import CommandError
from concord_client.cli.governance.session import PassphraseOption, Slot
from concord_client.cli.options import KEPT_NOWHERE, LimitOption, PageTokenOption, SaveOption
from concord_client.cli.render.page import show, show_more, table, text, when
from concord_client.cli.session import Session, SessionCommands, SystemSession, write_line
from concord_client.credentials import (
    ENROLMENT_VARIABLE,
    CredentialsError,
    Role,
    demand_savable,
    forget,
    save,
)

if TYPE_CHECKING:
    from concord.governance.v1.access_pb2 import CreateSpaceResponse

app = SessionCommands(no_args_is_help=True, help="Make, list and delete spaces, as the operator.")

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The space's name.")]


@app.command("create")
def create(session: SystemSession, name: NameArgument, *, keep: SaveOption = False) -> None:
    """Make a space, and the one-time secret for its genesis (`concord principal enrol`)."""
    from concord.governance.v1.access_pb2 import CreateSpaceRequest

    if keep:
        demand_savable(session.environ)
    with session.client(Role.OPERATOR) as client:
        made = client.access.CreateSpace(CreateSpaceRequest(space=name))
    if keep:
        path = _keep(session, made)
        if session.as_json:
            session.reply(type(made)(space=made.space))
        else:
            show(text(f"Made {name}; its enrolment secret is kept in {path}."))
    elif session.as_json:
        session.reply(made)
    else:
        _show_made(made)


@app.command("list")
def list_(
    session: SystemSession,
    *,
    deleted: Annotated[bool, typer.Option("--all", help="Deleted ones, too.")] = False,
    limit: LimitOption = 50,
    page_token: PageTokenOption = "",
) -> None:
    """List the spaces by name."""
    from concord.governance.v1.access_pb2 import ListSpacesRequest

    request = ListSpacesRequest(include_deleted=deleted, page_size=limit, page_token=page_token)
    with session.client(Role.OPERATOR) as client:
        reply = client.access.ListSpaces(request)
    if session.as_json:
        session.reply(reply)
        return
    rows = table("Space", "Made", "By", "")
    for each in reply.spaces:
        gone = f"deleted {when(each.delete_time)}" if each.HasField("delete_time") else ""
        rows.add_row(
            text(each.name),
            when(each.create_time),
            text(each.created_by),
            f"{gone}, erased" if each.erased else gone,
        )
    show(rows if reply.spaces else "There are no spaces.")
    show_more(reply.next_page_token)


@app.command("delete")
def delete(
    session: SystemSession,
    name: NameArgument,
    *,
    typed: Annotated[
        str,
        typer.Option(metavar="NAME", help="Its name once more, where nobody can be asked."),
    ] = "",
    agent: Annotated[Path | None, typer.Option(help="The agent's key file.")] = None,
    human: Annotated[Path | None, typer.Option(help="The human's key file.")] = None,
    sign_only: Annotated[
        Slot | None,
        typer.Option(
            "--sign-only",
            case_sensitive=False,
            help="Sign the statement for this slot alone and print it; nothing is deleted.",
        ),
    ] = None,
    join: Annotated[
        Path | None,
        typer.Option(help="With --sign-only: sign what the other slot signed.", exists=True),
    ] = None,
    statement: Annotated[
        Path | None,
        typer.Option(help="The statement that both slots signed elsewhere.", exists=True),
    ] = None,
    passphrase_fd: PassphraseOption = None,
) -> None:
    """Delete a space for ever: keys are revoked, what it remembers is erased.

    Where it has a genesis both slots sign for that. Its log and genesis stay, and its name is not
    used again.
    """
    from concord_client.cli.governance import deletion

    session = session.in_space(name)
    keys = deletion.DeletionKeys(session, agent, human, passphrase_fd)
    if sign_only is not None:
        write_line(keys.signed_by(sign_only, join).decode())
        return
    _demand_typed(name, typed)
    signed = statement.read_bytes() if statement else keys.signed_by_both()
    _delete(session, name, signed)


def _demand_typed(name: str, typed: str) -> None:
    if not typed and sys.stdin.isatty():
        typed = typer.prompt(
            f"Everything that {name} remembers is erased for good. Type its name", err=True
        )
    if typed != name:
        raise CommandError(f"Nothing was deleted: type the name {name!r}, here or with --typed.")


def _delete(session: Session, name: str, statement: bytes) -> None:
    from concord.governance.v1.access_pb2 import DeleteSpaceRequest

    request = DeleteSpaceRequest(space=name, typed_name=name, statement=statement)
    with session.client(Role.OPERATOR) as client:
        reply = client.access.DeleteSpace(request)
    if session.as_json:
        session.reply(reply)
    else:
        show(text(f"Deleted {name}; its keys are revoked."))
        if reply.space.erased:
            show(text("What it held is erased.", "dim"))
        else:
            show(text("It is being erased; `concord space list --all` says when it is.", "dim"))
    forget(session.environ, name)


def _keep(session: Session, made: "CreateSpaceResponse") -> Path:
    try:
        return save(session.environ, made.space.name, enrolment_secret=made.enrolment_secret)
    except CredentialsError:
        _show_made(made)  # saving failed, and the secrets cannot be read again
        raise


def _show_made(made: "CreateSpaceResponse") -> None:
    show(text(f"Made {made.space.name}. Its enrolment secret, for {ENROLMENT_VARIABLE}."))
    show(text(KEPT_NOWHERE, "dim"), text(made.enrolment_secret, "bold"))
