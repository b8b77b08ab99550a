"""`concord approve --all-agent`: consent to the opened proposals that the agent decides alone (V7).

A proposal is opened once `concord review` has shown its present bytes here to either principal. The
witness keeps that already, since `approve` and `reject` sign nothing else; a server need not be
believed about it.
"""

from collections.abc import Iterator
from pathlib import Path

from concord.governance.v1 import proposal_pb2

from concord_client.cli.governance.reviewed import demand_undoing, opened_bytes
from concord_client.cli.governance.session import GovernanceSession, Slot
from concord_client.cli.render.failure_words import in_words
from concord_client.cli.render.page import plural, show, table, text, word
from concord_client.trust import signing
from concord_client.trust.review import review

MOST = 100


def approve_all(
    governance: GovernanceSession, key: Path | None, passphrase_fd: int | None, *, dry_run: bool
) -> None:
    """Signs and sends up to `MOST` consents; with `dry_run` prints only their expected outcomes."""
    found, unopened = _opened(governance)
    request = proposal_pb2.BulkApproveRequest(dry_run=dry_run)
    signer = None
    if found and not dry_run:
        signer = governance.signer(governance.key_file(Slot.AGENT, key), passphrase_fd)
    for each in found:
        read = review(each, governance.session.space_name)
        demand_undoing(governance, read)
        item = request.items.add(proposal_id=each.id)
        if signer is not None:
            item.consent = signing.sign_consent(slot=signing.AGENT, signer=signer, **read.terms())
            governance.witness.keep_consent(each.id, signing.AGENT, item.consent)
    reply = (
        governance.client.proposals.BulkApprove(request)
        if found
        else proposal_pb2.BulkApproveResponse()
    )
    if governance.session.as_json:
        governance.session.reply(reply, {"unopenedCount": unopened})
    else:
        _show(found, reply, unopened, dry_run=dry_run)


def _opened(governance: GovernanceSession) -> tuple[list[proposal_pb2.Proposal], int]:
    """The first `MOST` proposals that were opened, and the number of all that were not.

    Raises `CommandError` if any wait and the space has no genesis.
    """
    waiting = list(_waiting(governance))
    opened = opened_bytes(governance) if waiting else frozenset()
    found = [each for each in waiting if (each.id, each.digest) in opened]
    return found[:MOST], len(waiting) - len(found)


def _waiting(governance: GovernanceSession) -> Iterator[proposal_pb2.Proposal]:
    request = proposal_pb2.ListProposalsRequest(
        statuses=[proposal_pb2.PROPOSAL_STATUS_PENDING], page_size=200, with_summaries=True
    )
    while True:
        page = governance.client.proposals.ListProposals(request)
        for each in page.proposals:
            if each.approval_level == proposal_pb2.APPROVAL_LEVEL_AGENT:
                yield each
        if not page.next_page_token:
            return
        request.page_token = page.next_page_token


def _show(
    found: list[proposal_pb2.Proposal],
    reply: proposal_pb2.BulkApproveResponse,
    unopened: int,
    *,
    dry_run: bool,
) -> None:
    if not found and not unopened:
        show("Nothing waits that the agent may decide alone.")
        return
    made = table("#No", "Would be" if dry_run else "Is", "Refused", "Summary")
    for each, outcome in zip(found, reply.outcomes, strict=True):
        made.add_row(
            str(each.number),
            word(proposal_pb2.ProposalStatus, outcome.status),
            text(in_words(outcome.reason)),
            text(each.summary or each.framing.neutral_summary),
        )
    if found:
        show(made)
    if unopened:
        left = f"{plural(unopened, 'proposal')} left out that nobody opened here."
        show(text(f"{left} Open one: concord review N"))
