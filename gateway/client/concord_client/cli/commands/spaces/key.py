"""`concord key`: creates, lists and revokes API keys (W7)."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer
from concord.type.v1.type_pb2 import (
    ORIGIN_UNSPECIFIED,
    PRINCIPAL_KIND_HUMAN,
    PRINCIPAL_KIND_UNSPECIFIED,
)
from google.protobuf.timestamp_pb2 import Timestamp

from concord_client.cli.choices import KeyScope, Origin, PrincipalKind
from concord_client.cli.errors import CommandError
from concord_client.cli.options import KEPT_NOWHERE, LimitOption, PageTokenOption, SaveOption
from concord_client.cli.render.page import show, show_more, table, text, when, word
from concord_client.cli.session import Session, SessionCommands
from concord_client.cli.values import instant, period
from concord_client.credentials import (
    DEFAULT_SPACE,
    KEY_VARIABLE,
    SYSTEM_SPACE,
    CredentialsError,
    Role,
    demand_savable,
    save,
)

if TYPE_CHECKING:
    from concord.governance.v1.access_pb2 import CreateKeyResponse, Key

app = SessionCommands(no_args_is_help=True, help="Make, list and revoke the API keys of a space.")


@app.command("create")
def create(
    session: Session,
    *,
    principal: Annotated[str, typer.Option(help="Whom the key stands for.")] = "",
    kind: Annotated[
        PrincipalKind | None,
        typer.Option(case_sensitive=False, help="What kind of principal that is."),
    ] = None,
    scopes: Annotated[
        str,
        typer.Option(
            help="What it may do, comma-separated: read, write, append (add; a change is a claim), "
            "own (append, and change one's own), govern, admin (keys, enrolment and "
            "index of its space), operator (spaces; in the space concord:system alone)."
        ),
    ] = "",
    origin: Annotated[
        Origin | None,
        typer.Option(
            case_sensitive=False,
            help="Where what is written with it comes from.",
            show_default="as the kind says; of a system: tool",
        ),
    ] = None,
    expires: Annotated[
        str,
        typer.Option(
            metavar="WHEN",
            help="An ISO 8601 time, or how long from now: 12h, 90d.",
            show_default="never; with --rotate, when the old key would",
        ),
    ] = "",
    rotate: Annotated[
        str,
        typer.Option(
            metavar="ID", help="Take the place of this key: as whom and what for, it says."
        ),
    ] = "",
    overlap: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="With --rotate: how long the old key stays valid, up to 90d.",
            show_default="0s",
        ),
    ] = "",
    keep: SaveOption = False,
) -> None:
    """Make a key for a space. It opens within a second, and is shown once."""
    from concord.governance.v1.access_pb2 import CreateKeyRequest

    if bool(rotate) == bool(principal or kind or scopes or origin):
        raise typer.BadParameter("write --principal, --kind and --scopes, or --rotate ID.")
    if overlap and not rotate:
        raise typer.BadParameter("--overlap is about the key that --rotate names.")
    request = CreateKeyRequest(
        space=_space(session),
        principal=principal,
        kind=kind.value_of() if kind else PRINCIPAL_KIND_UNSPECIFIED,
        scopes=[_scope(word).value_of() for word in scopes.split(",") if word.strip()],
        origin=origin.value_of() if origin else ORIGIN_UNSPECIFIED,
        expire_time=_expiry(expires),
        replaces=rotate,
    )
    if overlap:
        request.overlap.FromTimedelta(period(overlap))
    if keep:
        demand_savable(session.environ)
    with session.client(Role.KEY_MAKER) as client:
        made = client.access.CreateKey(request)
    if not made.secret:
        raise CommandError(
            f"The reply with the key was lost: `concord key revoke {made.key.id}`, make another."
        )
    if keep:
        _keep(session, made)
    elif session.as_json:
        session.reply(made)
    else:
        _show_made(made)


@app.command("list")
def list_(
    session: Session,
    *,
    ended: Annotated[
        bool, typer.Option("--all", help="Those that expired or were revoked, too.")
    ] = False,
    limit: LimitOption = 50,
    page_token: PageTokenOption = "",
) -> None:
    """List the keys of a space, newest first; none of them can be read back. --json says more: the
    kind and origin of each."""
    from concord.governance.v1.access_pb2 import KeyStatus, ListKeysRequest

    request = ListKeysRequest(
        space=_space(session), include_ended=ended, page_size=limit, page_token=page_token
    )
    with session.client(Role.KEY_MAKER) as client:
        reply = client.access.ListKeys(request)
    if session.as_json:
        session.reply(reply)
        return
    rows = table("Key", "Principal", "May", "Made", "By", "Expires", "Last use", "")
    for each in reply.keys:
        rows.add_row(
            each.id,
            text(each.principal),
            text(_may(each)),
            when(each.create_time),
            text(each.created_by or "keys file"),
            when(each.expire_time) if each.HasField("expire_time") else "never",
            when(each.last_use_time) if each.HasField("last_use_time") else "never",
            word(KeyStatus, each.status) if ended else "",
        )
    show(rows if reply.keys else "There are no keys.")
    show_more(reply.next_page_token)


@app.command("revoke")
def revoke(
    session: Session,
    key_id: Annotated[str, typer.Argument(metavar="ID", help="As `concord key list` shows it.")],
) -> None:
    """Revoke a key for ever. Within 5 seconds it opens nothing more."""
    from concord.governance.v1.access_pb2 import RevokeKeyRequest

    with session.client(Role.KEY_MAKER) as client:
        reply = client.access.RevokeKey(RevokeKeyRequest(key_id=key_id))
    revoked = reply.key
    session.answer(reply, f"Revoked {revoked.id} of {revoked.principal} in {revoked.space}.")


def _space(session: Session) -> str:
    """The named space, else "default"; empty, for the key's own, if the environment has a key."""
    return session.space or ("" if session.environ.get(KEY_VARIABLE) else DEFAULT_SPACE)


def _scope(word: str) -> KeyScope:
    try:
        return KeyScope(word.strip().lower())
    except ValueError:
        known = ", ".join(KeyScope)
        raise typer.BadParameter(f"{word.strip()!r} is no scope; there are: {known}.") from None


def _expiry(given: str) -> Timestamp | None:
    if not given or given[-1] not in "smhd":
        return instant(given or None)
    return instant((datetime.now(UTC) + period(given)).isoformat())


def _may(key: "Key") -> str:
    """A key's scopes and single permissions, in words; older keys have only the latter."""
    from concord.governance.v1 import access_pb2

    scopes = [word(access_pb2.KeyScope, scope) for scope in key.scopes]
    return ", ".join([*scopes, *key.permissions])


def _until(key: "Key") -> str:
    return f", valid until {when(key.expire_time)}" if key.HasField("expire_time") else ""


def _keep(session: Session, made: "CreateKeyResponse") -> None:
    try:
        path = save(session.environ, made.key.space, **{_place(made.key): made.secret})
    except CredentialsError:
        _show_made(made)  # saving failed, and the secret cannot be read again
        raise
    if session.as_json:
        session.reply(type(made)(key=made.key))
    else:
        show(
            text(
                f"Made key {made.key.id} of {made.key.principal} in {made.key.space} "
                f"({_may(made.key)}){_until(made.key)}, kept in {path}."
            )
        )


def _place(key: "Key") -> str:
    """Where `credentials.json` keeps a key: a person's is the owner's, if it does not only
    administer; keys of the operator and of others are the agent's and the programs'."""
    from concord.governance.v1.access_pb2 import KEY_SCOPE_ADMIN, KEY_SCOPE_WRITE

    if key.space == SYSTEM_SPACE:
        return "key"
    writes = KEY_SCOPE_WRITE in key.scopes
    is_person = key.kind == PRINCIPAL_KIND_HUMAN
    if KEY_SCOPE_ADMIN in key.scopes and not (is_person and writes):
        return "admin_key"
    return "owner_key" if is_person else "key"


def _show_made(made: "CreateKeyResponse") -> None:
    key = made.key
    made_of = f"Made key {key.id} of {key.principal} in {key.space} ({_may(key)})"
    show(text(f"{made_of}{_until(key)}."))
    show(text(KEPT_NOWHERE, "dim"), text(made.secret, "bold"))
