"""`concord proposals`, `review`, `approve`, `reject`, `withdraw`, `revoke`, `undo`, `briefing`."""

import json
import secrets
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.errors import CommandError
from concord_client.cli.governance import reviewed as shown
from concord_client.cli.governance.session import KeyOption, PassphraseOption, Slot, desk
from concord_client.cli.options import LimitOption, PageTokenOption
from concord_client.cli.session import JsonOption, Session, SpaceOption, write_line

if TYPE_CHECKING:
    from concord.governance.v1.proposal_pb2 import Proposal, ProposalStatus

    from concord_client.trust.review import Reviewed

NumberArgument = Annotated[
    str, typer.Argument(metavar="N", help="The proposal's number, or its id.")
]
AsOption = Annotated[
    Slot, typer.Option("--as", case_sensitive=False, help="Whose key signs.", show_default=False)
]


class Standing(StrEnum):
    """Where a proposal stands."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    EXECUTED = "executed"
    FAILED = "failed"
    UNDONE = "undone"

    def value_of(self) -> "ProposalStatus.ValueType":
        """The contract's value."""
        from concord.governance.v1.proposal_pb2 import ProposalStatus

        return ProposalStatus.Value(f"PROPOSAL_STATUS_{self.name}")


def proposals(
    ctx: typer.Context,
    *,
    status: Annotated[
        list[Standing] | None,
        typer.Option(case_sensitive=False, help="Only these; may be repeated."),
    ] = None,
    item: Annotated[str, typer.Option(help="Only those that touch this item.")] = "",
    limit: LimitOption = 50,
    page_token: PageTokenOption = "",
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """List proposals, newest first."""
    from concord.governance.v1.proposal_pb2 import ListProposalsRequest

    session = Session.of(ctx, space, as_json)
    request = ListProposalsRequest(
        statuses=[each.value_of() for each in status or ()],
        item_id=item,
        page_size=limit,
        page_token=page_token,
    )
    with session.client() as client:
        reply = client.proposals.ListProposals(request)
    if session.as_json:
        session.reply(reply)
        return
    from concord_client.cli.render.page import show, text
    from concord_client.cli.render.proposal_page import listed

    show(listed(list(reply.proposals)))
    if reply.next_page_token:
        show(text(f"More: --page-token {reply.next_page_token}", "dim"))


def review(
    ctx: typer.Context,
    number: NumberArgument,
    *,
    slot: Annotated[
        Slot, typer.Option("--as", case_sensitive=False, help="Who reads it, and may then sign it.")
    ] = Slot.HUMAN,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a proposal from its stored bytes, checked here: what a consent to it consents to.

    The digest of what was shown is kept: `approve` and `reject` sign that, and nothing else.
    """
    session = Session.of(ctx, space, as_json)
    with desk(session) as at:
        proposal, found = at.agreeable(number)
        if session.as_json:
            told = {"digest": found.digest, "canonical": found.canonical.decode()}
            terms = {**told, "consent": _terms(found)}
            write_line(json.dumps(terms, indent=2, ensure_ascii=False))
        else:
            _show_review(found, proposal, at.words(found))
        shown.keep(at, slot, found)


def approve(
    ctx: typer.Context,
    number: Annotated[
        str, typer.Argument(metavar="[N]", help="The proposal's number, or its id.")
    ] = "",
    *,
    slot: Annotated[
        Slot | None, typer.Option("--as", case_sensitive=False, help="Whose key signs.")
    ] = None,
    all_agent: Annotated[
        bool,
        typer.Option(
            "--all-agent", help="Every waiting proposal that the agent decides alone, in its name."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --all-agent: say what would become of each.")
    ] = False,
    digest: shown.DigestOption = "",
    key: KeyOption = None,
    passphrase_fd: PassphraseOption = None,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Sign a consent to what was reviewed. The bytes are shown, then signed here."""
    session = Session.of(ctx, space, as_json)
    if all_agent:
        if number or digest or slot == Slot.HUMAN:
            raise typer.BadParameter("--all-agent names no proposal, and is the agent's alone.")
        from concord_client.cli.governance import bulk_approval as bulk

        with desk(session) as at:
            bulk.approve_all(at, key, passphrase_fd, dry_run=dry_run)
        return
    if not number or slot is None or dry_run:
        raise typer.BadParameter("write `concord approve N --as agent|human`, or --all-agent.")
    from concord.governance.v1.proposal_pb2 import ApproveProposalRequest

    from concord_client.cli.render.proposal_page import tell
    from concord_client.trust import signing

    with desk(session) as at:
        proposal, found = at.agreeable(number)
        shown.demand_say(slot, found)
        file = at.key_file(slot, key)
        shown.demand(at, file, proposal, found, digest)
        nonce = secrets.token_bytes(32)
        payload = found.payload(slot.contract, file.principal, nonce)
        _show_payload(session, found, payload)
        signer = at.signer(file, passphrase_fd)
        envelope = signing.sign_envelope(signing.CONSENT_TYPE, payload, [signer.key])
        proposal_id = found.document["proposal_id"]
        at.witness.keep_consent(proposal_id, slot.contract, envelope)
        reply = at.client.proposals.ApproveProposal(
            ApproveProposalRequest(proposal_id=proposal_id, consent=envelope)
        )
        tell(session, reply, reply.proposal)


def reject(
    ctx: typer.Context,
    number: NumberArgument,
    *,
    slot: AsOption,
    reason: Annotated[str, typer.Option(help="Why; required, up to 1,000 characters.")],
    digest: shown.DigestOption = "",
    key: KeyOption = None,
    passphrase_fd: PassphraseOption = None,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """End a proposal: one required slot's signed rejection is enough."""
    from concord.governance.v1.proposal_pb2 import RejectProposalRequest

    from concord_client.cli.render.proposal_page import tell
    from concord_client.trust import signing

    session = Session.of(ctx, space, as_json)
    with desk(session) as at:
        proposal, found = at.reviewed(number)
        shown.demand_say(slot, found)
        file = at.key_file(slot, key)
        shown.demand(at, file, proposal, found, digest)
        signer = at.signer(file, passphrase_fd)
        paper = signing.sign_rejection(
            slot=slot.contract,
            signer=signer,
            space=found.document["space"],
            proposal_id=proposal.id,
            revision=proposal.revision,
            reason=reason,
        )
        reply = at.client.proposals.RejectProposal(
            RejectProposalRequest(proposal_id=proposal.id, rejection=paper)
        )
        tell(session, reply, reply.proposal)


def withdraw(
    ctx: typer.Context,
    number: NumberArgument,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take a proposal back, as its proposer."""
    from concord.governance.v1.proposal_pb2 import WithdrawProposalRequest

    from concord_client.cli.render.proposal_page import tell

    session = Session.of(ctx, space, as_json)
    with desk(session) as at:
        proposal = at.proposal(number)
        reply = at.client.proposals.WithdrawProposal(
            WithdrawProposalRequest(proposal_id=proposal.id)
        )
        tell(session, reply, reply.proposal)


def revoke(
    ctx: typer.Context,
    number: NumberArgument,
    *,
    slot: AsOption,
    key: KeyOption = None,
    passphrase_fd: PassphraseOption = None,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take your own consent back, as long as it has not been applied."""
    from concord.governance.v1.proposal_pb2 import RevokeConsentRequest

    from concord_client.cli.render.proposal_page import tell
    from concord_client.trust import signing

    session = Session.of(ctx, space, as_json)
    with desk(session) as at:
        proposal, found = at.reviewed(number)
        consent = at.witness.consent(proposal.id, slot.contract)
        if consent is None:
            raise CommandError(
                f"No consent of {slot.contract} to proposal {proposal.number} was given from here: "
                "take it back where it was given."
            )
        paper = signing.sign_revocation(
            slot=slot.contract,
            signer=at.signer(at.key_file(slot, key), passphrase_fd),
            space=found.document["space"],
            proposal_id=proposal.id,
            revision=proposal.revision,
            consent=consent,
        )
        reply = at.client.proposals.RevokeConsent(
            RevokeConsentRequest(proposal_id=proposal.id, revocation=paper)
        )
        tell(session, reply, reply.proposal)


def undo(
    ctx: typer.Context,
    number: NumberArgument,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Propose to undo what an executed proposal did; whoever had to agree must agree again."""
    from concord.governance.v1.proposal_pb2 import UndoModificationRequest

    from concord_client.cli.render.proposal_page import tell

    session = Session.of(ctx, space, as_json)
    with desk(session) as at:
        reply = at.client.proposals.UndoModification(
            UndoModificationRequest(proposal_id=at.proposal(number).id)
        )
        tell(session, reply, reply.proposal)


def briefing(ctx: typer.Context, space: SpaceOption = None, as_json: JsonOption = False) -> None:
    """Say what waits for an answer."""
    from concord.governance.v1.proposal_pb2 import GetBriefingRequest

    session = Session.of(ctx, space, as_json)
    with session.client() as client:
        reply = client.proposals.GetBriefing(GetBriefingRequest())
    if session.as_json:
        session.reply(reply)
        return
    from concord_client.cli.render.page import show
    from concord_client.cli.render.proposal_page import briefed

    show(*briefed(reply))


def _terms(found: "Reviewed") -> dict[str, object]:
    """What a consent names, as JSON."""
    said = json.loads(found.payload("", "", b""))
    return {name: said[name] for name in said if name not in ("slot", "principal", "nonce")}


def _show_review(found: "Reviewed", proposal: "Proposal", words: dict[str, str]) -> None:
    from concord_client.cli.render.page import show, text
    from concord_client.cli.render.proposal_page import noted, reviewed

    show(*reviewed(found, proposal, words))
    show("", text("A consent signs:", "bold"))
    show(text(json.dumps(_terms(found), indent=2, ensure_ascii=False, sort_keys=True)))
    show(text("with slot, principal and a nonce; `concord approve` shows the very bytes.", "dim"))
    show(*noted(found.document))


def _show_payload(session: Session, found: "Reviewed", payload: bytes) -> None:
    """Shows what is about to be signed: on standard error when standard output is for a machine."""
    lines = [
        f"Proposal {found.document['number']}: {found.document['framing']['neutral_summary']}",
        "These bytes are signed:",
        payload.decode(),
    ]
    from concord_client.cli.render.page import show, text

    show(*(text(line) for line in lines), on_error=session.as_json)
