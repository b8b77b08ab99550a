"""`concord principal`: key files, the genesis, and the principals."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from concord.type.v1 import type_pb2

from concord_client.cli.errors import CommandError
from concord_client.cli.governance.session import (
    PassphraseOption,
    Slot,
    governance_session,
    merged,
    passphrase,
)
from concord_client.cli.render.page import fields, show, text, word
from concord_client.cli.session import Session, SessionCommands, SystemSession, write_line
from concord_client.credentials import ENROLMENT_VARIABLE, FILE_NAME, Role, data_directory, read

if TYPE_CHECKING:
    from concord.governance.v1.principal_pb2 import GetPrincipalsResponse

    from concord_client.trust.keyfiles import KeyFile

app = SessionCommands(
    no_args_is_help=True, help="Make keys, enrol them, and show whose consent counts."
)

SlotOption = Annotated[Slot, typer.Option("--slot", case_sensitive=False, help="Whose key it is.")]
CLOSED = " (closed: it was replaced; `principal rotate --key FILE` puts the newer key back)"
"""What is said of a slot whose key is retired, as the receipts of a restore know."""
OutOption = Annotated[
    Path | None,
    typer.Option("--out", help="The new key file.", show_default="~/.config/concord/SLOT.key"),
]


@app.command("create")
def create(
    session: SystemSession,
    slot: SlotOption,
    name: Annotated[
        str, typer.Option(help="The principal: ASCII letters, digits and ._@:+/-, up to 128.")
    ],
    *,
    out: OutOption = None,
    protect: Annotated[
        bool, typer.Option("--protect", help="Ask for a passphrase for an agent's key, too.")
    ] = False,
    passphrase_fd: PassphraseOption = None,
) -> None:
    """Make a key pair. A human's is locked with a passphrase; no server ever sees either."""
    made = _make(session, slot, name, out, passphrase_fd, protect=protect)
    if session.as_json:
        write_line(json.dumps(_card(made) | {"path": str(made.path)}))
        return
    show(text("Made ").append(str(made.path), "bold"))
    card = _card(made)
    show(text(f"{made.slot} {made.principal}={card['publicKey']}"))


@app.command("enrol")
def enrol(
    session: Session,
    *,
    agent: Annotated[
        Path | None, typer.Option(help="The agent's key file.", show_default="agent.key")
    ] = None,
    human: Annotated[
        Path | None, typer.Option(help="The human's key file.", show_default="human.key")
    ] = None,
    sign_only: Annotated[
        Slot | None,
        typer.Option(
            "--sign-only",
            case_sensitive=False,
            help="Sign for this slot alone and print the record, for --join elsewhere.",
        ),
    ] = None,
    peer: Annotated[
        str,
        typer.Option(
            metavar="NAME=KEY",
            help="With --sign-only: the other slot's principal and public key, as `principal "
            "create` printed it.",
        ),
    ] = "",
    join: Annotated[
        Path | None,
        typer.Option(help="Sign a record that --sign-only printed, too, and enrol.", exists=True),
    ] = None,
    passphrase_fd: PassphraseOption = None,
) -> None:
    """Give a space its genesis: both keys, signed by both, once and for all."""
    from concord_client.cli.governance import genesis

    with governance_session(session, Role.ADMIN) as governance:
        keys = genesis.Keys(governance, agent, human, passphrase_fd)
        if sign_only is not None:
            write_line(genesis.half(keys, sign_only, peer).decode())
            return
        record = genesis.joined(keys, join.read_bytes()) if join else genesis.whole(keys)
        principals = genesis.enrol(governance, record, _secret(session))
    _show(session, principals)


@app.command("show")
def show_(
    session: Session,
    *,
    trust: Annotated[
        str,
        typer.Option(
            metavar="DIGEST",
            help="Keep this genesis as the right one, as its owners gave it to you; needed where "
            "another one is known for a space of the same name.",
        ),
    ] = "",
) -> None:
    """Show whose consent counts, and hold it against what was seen before."""
    with governance_session(session) as governance:
        principals = governance.principals(trust)
    _show(session, principals)


@app.command("rotate")
def rotate(
    session: Session,
    slot: SlotOption,
    *,
    out: OutOption = None,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key",
            help="A key file that is there, instead of a new one: after the restore of a backup "
            "from before a change of key, the one that counted since.",
        ),
    ] = None,
    protect: Annotated[
        bool, typer.Option("--protect", help="Ask for a passphrase for an agent's key, too.")
    ] = False,
    passphrase_fd: PassphraseOption = None,
) -> None:
    """Propose a new key for a slot. Until both approve with their keys, the old one counts."""
    from concord.graph.v1 import governed_pb2

    from concord_client.cli.governance.action_file import salt
    from concord_client.cli.governance.actions import put_forward
    from concord_client.trust import keyfiles, signing

    with governance_session(session) as governance:
        holder = next(
            (each for each in governance.principals().slots if each.slot == slot.value_of()), None
        )
        if holder is None:
            raise CommandError("This space has no principals yet: `concord principal enrol`.")
        made = (
            keyfiles.read(key)
            if key
            else _make(session, slot, holder.principal, out, passphrase_fd, protect=protect)
        )
        fresh = keyfiles.open_key(
            made, lambda: passphrase(passphrase_fd, f"Passphrase of {made.path}: ")
        )
        proof = signing.sign_new_key(
            slot=slot.contract,
            principal=holder.principal,
            space=session.space_name,
            key=fresh.key,
        )
        change = governed_pb2.ChangeKeyRequest(request_id=salt(), proof=proof)
        put_forward(governance, governed_pb2.GovernedAction(change_key=change))
        typer.echo(f"The new key is in {made.path}.", err=True)


def _make(
    session: Session,
    slot: Slot,
    name: str,
    out: Path | None,
    passphrase_fd: int | None,
    *,
    protect: bool,
) -> "KeyFile":
    from concord_client.trust import keyfiles

    environ = merged(session)
    path = out or keyfiles.fresh_path(slot.contract, environ)
    keyfiles.demand_outside(path, environ)
    keyfiles.demand_name(name)  # before the user types a passphrase
    words = ""
    if slot == Slot.HUMAN or protect:
        words = passphrase(passphrase_fd, f"New passphrase for {path}: ", twice=True)
    return keyfiles.make(path, slot.contract, name, words, environ)


def _card(key: "KeyFile") -> dict[str, str]:
    from concord_client.trust.keyfiles import encoded

    return {"slot": key.slot, "principal": key.principal, "publicKey": encoded(key.public_key)}


def _secret(session: Session) -> str:
    """The space's enrolment secret, from the environment or from `credentials.json`."""
    if given := os.environ.get(ENROLMENT_VARIABLE):
        return given
    path = data_directory(session.environ) / FILE_NAME
    found = read(path).enrolment_secrets.get(session.space_name)
    if found is None:
        raise CommandError(
            f"{path} holds no enrolment secret for {session.space_name!r}: set "
            f"{ENROLMENT_VARIABLE} to what `concord space create` showed."
        )
    return found


def _show(session: Session, principals: "GetPrincipalsResponse") -> None:
    from concord_client.trust.keyfiles import encoded

    if session.as_json:
        session.reply(principals)
        return
    pairs = [
        (
            word(type_pb2.Slot, each.slot),
            f"{each.principal}={encoded(each.public_key)}"
            + (CLOSED * bool(each.successor_digests)),
        )
        for each in principals.slots
    ]
    pairs += [
        ("governance", encoded(principals.governance_key)),
        ("audit log", f"{principals.log_origin} {encoded(principals.log_key)}"),
        ("genesis", principals.genesis_digest or "none yet: `concord principal enrol`"),
    ]
    show(fields(pairs))
    sys.stdout.flush()
