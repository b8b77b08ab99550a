"""The session of a governance command: the client, the witness, and the user's keys."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from concord.type.v1.type_pb2 import LOOKUP_STATUS_FOUND

from concord_client.cli.choices import Choice
from concord_client.cli.errors import CommandError
from concord_client.cli.render.page import show
from concord_client.cli.session import Session
from concord_client.credentials import DATA_VARIABLE, PASSPHRASE_VARIABLE, Role

if TYPE_CHECKING:
    from concord.governance.v1 import proposal_pb2
    from concord.governance.v1.principal_pb2 import GetPrincipalsResponse
    from concord.governance.v1.proposal_pb2 import Proposal
    from concord.graph.v1.governed_pb2 import SlotKey
    from concord.type.v1.type_pb2 import Slot as ContractSlot

    from concord_client.client import Client
    from concord_client.trust.keyfiles import KeyFile
    from concord_client.trust.review import Reviewed
    from concord_client.trust.signing import Signer
    from concord_client.trust.witness import Witness

    ProposalReply = (
        proposal_pb2.CreateProposalResponse
        | proposal_pb2.ApproveProposalResponse
        | proposal_pb2.RejectProposalResponse
        | proposal_pb2.WithdrawProposalResponse
        | proposal_pb2.RevokeConsentResponse
        | proposal_pb2.SettleProposalResponse
        | proposal_pb2.UndoModificationResponse
    )


class Slot(Choice, module="concord.type.v1.type_pb2"):
    """The slot of one of the two principals."""

    AGENT = "agent"
    HUMAN = "human"

    @property
    def contract(self) -> str:
        """Its name in signed statements."""
        return self.name


NumberArgument = Annotated[
    str, typer.Argument(metavar="N", help="The proposal's number, or its id.")
]
KeyOption = Annotated[
    Path | None,
    typer.Option("--key", help="Key file.", show_default="the slot's, in ~/.config/concord"),
]
PassphraseOption = Annotated[
    int | None,
    typer.Option(
        "--passphrase-fd",
        metavar="N",
        help=f"Read the passphrase's line from this file descriptor; else {PASSPHRASE_VARIABLE}, "
        "else you are asked.",
    ),
]


@dataclass(frozen=True)
class GovernanceSession:
    """The client and the witness of one command, with access to the user's keys."""

    session: Session
    client: "Client"
    witness: "Witness"

    def principals(self, trusted: str = "") -> "GetPrincipalsResponse":
        """The principals, compared with the pins; new pins are printed.

        `trusted`: a genesis digest that the user named or signed. Raises `WitnessError`.
        """
        from concord.governance.v1.principal_pb2 import GetPrincipalsRequest

        reply = self.client.principals.GetPrincipals(GetPrincipalsRequest())
        for line in self.witness.meet(reply, trusted).news:
            typer.echo(line, err=True)
        return reply

    def proposal(self, number: str) -> "Proposal":
        """The proposal with a number or id. Raises `CommandError`; `ReviewError` for another."""
        from concord.governance.v1.proposal_pb2 import GetProposalRequest

        from concord_client.trust.review import ReviewError

        named = (
            GetProposalRequest(number=int(number))
            if number.isdecimal() and int(number) > 0
            else GetProposalRequest(id=number)
        )
        found = self.client.proposals.GetProposal(named)
        if found.status != LOOKUP_STATUS_FOUND:
            raise CommandError(
                f"There is no proposal {number} in the space {self.session.space_name!r}.",
                reason="LOOKUP_STATUS_NOT_FOUND",
            )
        by = named.WhichOneof("by")
        if getattr(found.proposal, str(by)) != getattr(named, str(by)):
            raise ReviewError(str(by))
        return found.proposal

    def reviewed(self, number: str) -> "tuple[Proposal, Reviewed]":
        """A proposal and its stored bytes' content, after comparing both and checking the space.

        Raises `CommandError`, `ReviewError`.
        """
        from concord_client.trust.review import review

        proposal = self.proposal(number)
        return proposal, review(proposal, self.session.space_name)

    def words(self, found: "Reviewed") -> dict[str, str]:
        """The present content of each touched item by id, as the server gives it."""
        from concord_client.cli.governance.item_words import of_items

        return of_items(self.client, found)

    def report(self, reply: "ProposalReply") -> None:
        """Prints a reply, or the status of the proposal in it."""
        from concord_client.cli.render.proposal_page import stands

        if self.session.as_json:
            self.session.reply(reply)
        else:
            show(*stands(reply.proposal))

    def holders(self) -> "Mapping[ContractSlot.ValueType, SlotKey]":
        """The principals by slot. Raises `CommandError` before the genesis."""
        holders = {each.slot: each for each in self.principals().slots}
        if not holders:
            raise CommandError(
                "This space has no principals yet: `concord principal enrol` comes first. Without "
                "--as your access key decides what is descriptive.",
                reason="ERROR_REASON_GENESIS_MISSING",
            )
        return holders

    def key_file(self, slot: Slot, given: Path | None, but: bytes = b"") -> "KeyFile":
        """The file with a key that signs for a slot now, `but` not this. Raises `CommandError`."""
        from concord_client.trust import keyfiles

        holder = self.holders()[slot.value_of()]
        files = [keyfiles.read(given)] if given else list(keyfiles.known(merged(self.session)))
        keys = [key for key in signing_keys(holder) if key != but]
        for file in files:
            if file.slot == slot.contract and file.public_key in keys:
                keyfiles.demand_outside(file.path, merged(self.session))
                return file
        where = given or keyfiles.key_directory(merged(self.session))
        raise CommandError(
            f"{where} does not hold a key that speaks for {slot.contract} "
            f"({holder.principal}, {', '.join(map(keyfiles.encoded, keys))}): name its file "
            "with --key."
        )

    def signer(self, file: "KeyFile", passphrase_fd: int | None) -> "Signer":
        """The signer; asks for the passphrase if the key has one. Raises `KeyFileError`."""
        from concord_client.trust import keyfiles

        return keyfiles.open_key(
            file, lambda: passphrase(passphrase_fd, f"Passphrase of {file.path}: ")
        )


def signing_keys(holder: "SlotKey") -> list[bytes]:
    """The raw public keys of a slot that count; those of a closed slot consent to their end."""
    closed = bool(holder.successor_digests)
    return [key.public_key for key in holder.keys if closed or not key.successor_digests]


@contextmanager
def governance_session(session: Session, role: Role | None = None) -> Iterator[GovernanceSession]:
    """The governance session of a command, closed at its end."""
    from concord_client.trust.witness import Witness, state_file

    with session.client(role) as client:
        witness = Witness(state_file(os.environ), session.system_name, session.space_name)
        yield GovernanceSession(session, client, witness)


def merged(session: Session) -> Mapping[str, str]:
    """The process's environment, with `--data` as the data directory."""
    chosen = {name: session.environ[name] for name in (DATA_VARIABLE,) if name in session.environ}
    return {**os.environ, **chosen}


def passphrase(descriptor: int | None, prompt: str, *, twice: bool = False) -> str:
    """A passphrase from the descriptor, the environment, or the terminal (without echo).

    Raises `CommandError`.
    """
    if descriptor is not None:
        return _from_descriptor(descriptor)
    if given := os.environ.get(PASSPHRASE_VARIABLE):
        return given
    if not sys.stdin.isatty():
        raise CommandError(
            f"A passphrase is needed: run this on a terminal, or give {PASSPHRASE_VARIABLE} or "
            "--passphrase-fd."
        )
    from getpass import getpass

    said = getpass(prompt)
    if twice and getpass("Again: ") != said:
        raise CommandError("The two passphrases differ: nothing was made.")
    return said


def _from_descriptor(descriptor: int) -> str:
    try:
        with open(descriptor, encoding="utf-8", closefd=False) as file:
            return file.readline().removesuffix("\n")
    except (OSError, ValueError) as error:
        raise CommandError(f"Cannot read a passphrase from descriptor {descriptor}.") from error
