"""Answers to a proposal: `concord approve`, `reject`, `withdraw`, `revoke` and `undo`."""

import secrets
from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.errors import CommandError
from concord_client.cli.governance.reviewed import (
    DigestOption,
    agreeable,
    demand_required_slot,
    demand_reviewed,
)
from concord_client.cli.governance.session import (
    KeyOption,
    NumberArgument,
    PassphraseOption,
    Slot,
    governance_session,
)
from concord_client.cli.governance.settlement import settle
from concord_client.cli.render.page import show, text
from concord_client.cli.session import Session
from concord_client.cli.values import import_named, instant

if TYPE_CHECKING:
    from concord_client.trust.review import Reviewed

AsOption = Annotated[
    Slot, typer.Option("--as", case_sensitive=False, help="Whose key signs.", show_default=False)
]
AsOrSettleOption = Annotated[
    Slot | None,
    typer.Option(
        "--as",
        case_sensitive=False,
        help="Whose key signs. Leave it out before the genesis: there the access key decides what "
        "is descriptive.",
    ),
]


def approve(
    session: Session,
    number: Annotated[
        str, typer.Argument(metavar="[N]", help="The proposal's number, or its id.")
    ] = "",
    *,
    slot: AsOrSettleOption = None,
    all_agent: Annotated[
        bool,
        typer.Option(
            "--all-agent",
            help="Every waiting proposal that the agent decides alone and `concord review` has "
            "shown here, in its name.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --all-agent: say what would become of each.")
    ] = False,
    digest: DigestOption = "",
    key: KeyOption = None,
    passphrase_fd: PassphraseOption = None,
) -> None:
    """Sign a consent to what was reviewed. The bytes are shown, then signed here."""
    if all_agent:
        if number or digest or slot == Slot.HUMAN:
            raise typer.BadParameter("--all-agent names no proposal, and is the agent's alone.")
        from concord_client.cli.governance.bulk_approval import approve_all

        with governance_session(session) as governance:
            approve_all(governance, key, passphrase_fd, dry_run=dry_run)
        return
    if not number or dry_run:
        raise typer.BadParameter("write `concord approve N --as agent|human`, or --all-agent.")
    from concord.governance.v1.proposal_pb2 import SETTLEMENT_APPROVE, ApproveProposalRequest

    from concord_client.trust import signing

    with governance_session(session) as governance:
        if slot is None:
            settle(governance, number, SETTLEMENT_APPROVE, digest=digest)
            return
        proposal, found = agreeable(governance, number)
        demand_required_slot(slot, found)
        file = governance.key_file(slot, key)
        demand_reviewed(governance, file, proposal, found, digest)
        nonce = secrets.token_bytes(32)
        payload = found.payload(slot.contract, file.principal, nonce)
        _show_payload(session, found, payload)
        signer = governance.signer(file, passphrase_fd)
        envelope = signing.sign_envelope(signing.CONSENT_TYPE, payload, [signer.key])
        proposal_id = found.document["proposal_id"]
        governance.witness.keep_consent(proposal_id, slot.contract, envelope)
        reply = governance.client.proposals.ApproveProposal(
            ApproveProposalRequest(proposal_id=proposal_id, consent=envelope)
        )
        governance.report(reply)


def reject(
    session: Session,
    number: NumberArgument,
    *,
    slot: AsOrSettleOption = None,
    reason: Annotated[str, typer.Option(help="Why; required, up to 1,000 characters.")],
    digest: DigestOption = "",
    key: KeyOption = None,
    passphrase_fd: PassphraseOption = None,
) -> None:
    """End a proposal: one required slot's signed rejection is enough."""
    from concord.governance.v1.proposal_pb2 import SETTLEMENT_REJECT, RejectProposalRequest

    from concord_client.trust import signing

    with governance_session(session) as governance:
        if slot is None:
            settle(governance, number, SETTLEMENT_REJECT, digest=digest, reason=reason)
            return
        proposal, found = governance.reviewed(number)
        demand_required_slot(slot, found)
        file = governance.key_file(slot, key)
        demand_reviewed(governance, file, proposal, found, digest)
        signer = governance.signer(file, passphrase_fd)
        rejection = signing.sign_rejection(
            slot=slot.contract,
            signer=signer,
            space=found.document["space"],
            proposal_id=proposal.id,
            revision=proposal.revision,
            reason=reason,
        )
        reply = governance.client.proposals.RejectProposal(
            RejectProposalRequest(proposal_id=proposal.id, rejection=rejection)
        )
        governance.report(reply)


def withdraw(session: Session, number: NumberArgument) -> None:
    """Take a proposal back, as its proposer."""
    from concord.governance.v1.proposal_pb2 import WithdrawProposalRequest

    with governance_session(session) as governance:
        proposal = governance.proposal(number)
        reply = governance.client.proposals.WithdrawProposal(
            WithdrawProposalRequest(proposal_id=proposal.id)
        )
        governance.report(reply)


def revoke(
    session: Session,
    number: NumberArgument,
    *,
    slot: AsOption,
    key: KeyOption = None,
    passphrase_fd: PassphraseOption = None,
) -> None:
    """Take your own consent back, as long as it has not been applied."""
    from concord.governance.v1.proposal_pb2 import RevokeConsentRequest

    from concord_client.trust import signing

    with governance_session(session) as governance:
        proposal, found = governance.reviewed(number)
        consent = governance.witness.consent(proposal.id, slot.contract)
        if consent is None:
            raise CommandError(
                f"No consent of {slot.contract} to proposal {proposal.number} was given from here: "
                "take it back where it was given."
            )
        revocation = signing.sign_revocation(
            slot=slot.contract,
            signer=governance.signer(governance.key_file(slot, key), passphrase_fd),
            space=found.document["space"],
            proposal_id=proposal.id,
            revision=proposal.revision,
            consent=consent,
        )
        reply = governance.client.proposals.RevokeConsent(
            RevokeConsentRequest(proposal_id=proposal.id, revocation=revocation)
        )
        governance.report(reply)


def undo(
    session: Session,
    number: Annotated[
        str, typer.Argument(metavar="[N]", help="The proposal's number, or its id.")
    ] = "",
    *,
    principal: Annotated[
        str, typer.Option(metavar="NAME", help="All that a principal did since a time.")
    ] = "",
    session_id: Annotated[
        str, typer.Option("--session", metavar="ID", help="All that came of a session.")
    ] = "",
    import_id: Annotated[
        str,
        typer.Option(
            "--import", metavar="ID", help="All that an import did, by one of its requests."
        ),
    ] = "",
    since: Annotated[str | None, typer.Option(help="Not before this time (ISO 8601).")] = None,
    before: Annotated[str | None, typer.Option(help="Only before this time.")] = None,
    digest: Annotated[str, typer.Option(help="What the look printed: undo exactly that.")] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Propose to undo what a proposal did, or undo what a principal, session or import did.

    Whoever had to agree to the proposal must agree again. With --principal, --session or --import
    and --since this only looks, and lists what would be as it was before and what would be left;
    with the look's --digest as well, it undoes exactly that.
    """
    names = {"principal": principal, "session_id": session_id, "import_id": import_named(import_id)}
    given = {by: name for by, name in names.items() if name}
    if len(given) + bool(number) != 1 or bool(given) != (since is not None):
        raise typer.BadParameter(
            "name a proposal, or one of --principal, --session, --import, with --since."
        )
    if given:
        from concord.graph.v1.undo_pb2 import UndoSelection

        from concord_client.cli import undoing

        selection = UndoSelection(**given, since=instant(since), before=instant(before))
        if digest:
            undoing.undo(session, selection, digest, yes=yes)
        else:
            undoing.look(session, selection)
        return
    from concord.governance.v1.proposal_pb2 import UndoModificationRequest

    with governance_session(session) as governance:
        reply = governance.client.proposals.UndoModification(
            UndoModificationRequest(proposal_id=governance.proposal(number).id)
        )
        governance.report(reply)


def _show_payload(session: Session, found: "Reviewed", payload: bytes) -> None:
    """Shows the bytes to be signed: on standard error if standard output is JSON."""
    lines = [
        f"Proposal {found.document['number']}: {found.document['framing']['neutral_summary']}",
        "These bytes are signed:",
        payload.decode(),
    ]
    show(*(text(line) for line in lines), on_error=session.as_json)
