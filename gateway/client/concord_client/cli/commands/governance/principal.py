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
    from concord.graph.v1.governed_pb2 import SlotKey

    from concord_client.cli.governance.session import GovernanceSession
    from concord_client.trust.keyfiles import KeyFile

app = SessionCommands(
    no_args_is_help=True, help="Make keys, enrol them, and show whose consent counts."
)

SlotOption = Annotated[Slot, typer.Option("--slot", case_sensitive=False, help="Whose key it is.")]
CLOSED = " (closed: it was replaced; `principal rotate --key FILE` puts the newer key back)"
"""What is said of a slot whose keys are retired, as the receipts of a restore know."""
RETIRED = " (retired before the restore: `principal retire` takes it off the list)"
LABEL = "command line"
LabelOption = Annotated[
    str, typer.Option(help="Whose device the key is on; it stands in the space for ever.")
]
ProtectOption = Annotated[
    bool, typer.Option("--protect", help="Ask for a passphrase for an agent's key, too.")
]
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
    protect: ProtectOption = False,
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
    old: Annotated[
        str, typer.Option(help="The key that goes, where the slot has several: its label or KEY.")
    ] = "",
    label: LabelOption = LABEL,
    out: OutOption = None,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key",
            help="A key file that is there, instead of a new one: after the restore of a backup "
            "from before a change of key, the one that counted since.",
        ),
    ] = None,
    protect: ProtectOption = False,
    passphrase_fd: PassphraseOption = None,
) -> None:
    """Propose a new key in the place of another. Until both approve, the old one counts."""
    from concord_client.trust import signing

    with governance_session(session) as governance:
        holder = _holder(governance, slot)
        made = _given_or_made(
            session, slot, holder.principal, key, out=out, fd=passphrase_fd, protect=protect
        )
        replaced = _named(holder, old)
        _propose(
            governance,
            slot,
            made,
            passphrase_fd,
            change=signing.REPLACE,
            other=replaced,
            label=label,
        )
        typer.echo(f"The new key is in {made.path}.", err=True)


@app.command("add")
def add(
    session: Session,
    slot: SlotOption,
    *,
    label: LabelOption = LABEL,
    out: OutOption = None,
    key: Annotated[
        Path | None, typer.Option("--key", help="A key file that is there, instead of a new one.")
    ] = None,
    protect: ProtectOption = False,
    passphrase_fd: PassphraseOption = None,
) -> None:
    """Propose a further key of a principal, such as another device's. Both approve it."""
    from concord_client.trust import signing

    with governance_session(session) as governance:
        principal = _holder(governance, slot).principal
        made = _given_or_made(
            session, slot, principal, key, out=out, fd=passphrase_fd, protect=protect
        )
        _propose(governance, slot, made, passphrase_fd, change=signing.ADD, other=b"", label=label)
        typer.echo(f"The further key is in {made.path}.", err=True)


@app.command("retire")
def retire(
    session: Session,
    slot: SlotOption,
    old: Annotated[
        str, typer.Argument(metavar="KEY", help="The label or the public key that goes.")
    ],
    *,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key",
            help="The file of another key of the slot, which stays.",
            show_default="~/.config/concord/*.key",
        ),
    ] = None,
    passphrase_fd: PassphraseOption = None,
) -> None:
    """Propose that a key of a principal signs no more. The slot's last one stays."""
    from concord_client.trust import signing

    with governance_session(session) as governance:
        gone = _named(_holder(governance, slot), old)
        file = governance.key_file(slot, key, but=gone)
        _propose(governance, slot, file, passphrase_fd, change=signing.RETIRE, other=gone, label="")


def _holder(governance: "GovernanceSession", slot: Slot) -> "SlotKey":
    return governance.holders()[slot.value_of()]


def _named(holder: "SlotKey", name: str) -> bytes:
    """The slot's key of this label or text; without a name its only one."""
    from concord_client.trust.keyfiles import encoded

    keys = [
        each.public_key
        for each in holder.keys
        if not name or name in (each.label, encoded(each.public_key))
    ]
    if len(keys) == 1:
        return keys[0]
    named = ", ".join(f"{encoded(each.public_key)} {each.label}".strip() for each in holder.keys)
    raise CommandError(f"Name one key of {holder.principal} by its label or itself: {named}.")


def _propose(
    governance: "GovernanceSession",
    slot: Slot,
    file: "KeyFile",
    passphrase_fd: int | None,
    *,
    change: str,
    other: bytes,
    label: str,
) -> None:
    """Sign the statement with the file's key, and propose the change that it asks for."""
    from concord.graph.v1 import governed_pb2

    from concord_client.cli.governance.action_file import salt
    from concord_client.cli.governance.actions import put_forward
    from concord_client.trust import signing

    signer = governance.signer(file, passphrase_fd)
    proof = signing.sign_key_change(
        change=change,
        slot=slot.contract,
        principal=_holder(governance, slot).principal,
        space=governance.session.space_name,
        key=signer.key,
        other=other,
        label=label,
    )
    request = governed_pb2.ChangeKeyRequest(request_id=salt(), proof=proof)
    put_forward(governance, governed_pb2.GovernedAction(change_key=request))


def _given_or_made(
    session: Session,
    slot: Slot,
    name: str,
    given: Path | None,
    *,
    out: Path | None,
    fd: int | None,
    protect: bool,
) -> "KeyFile":
    from concord_client.trust import keyfiles

    if given:
        return keyfiles.read(given)
    return _make(session, slot, name, out, fd, protect=protect)


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
    from concord_attestation.visible import visible

    from concord_client.trust.keyfiles import encoded

    if session.as_json:
        session.reply(principals)
        return
    pairs = [
        (
            word(type_pb2.Slot, slot.slot),
            f"{slot.principal}={encoded(each.public_key)}"
            + (f" {visible(each.label)!r}" if each.label else "")
            + (CLOSED if slot.successor_digests else RETIRED * bool(each.successor_digests)),
        )
        for slot in principals.slots
        for each in slot.keys
    ]
    pairs += [
        ("governance", encoded(principals.governance_key)),
        ("audit log", f"{principals.log_origin} {encoded(principals.log_key)}"),
        ("genesis", principals.genesis_digest or "none yet: `concord principal enrol`"),
    ]
    show(fields(pairs))
    sys.stdout.flush()
