"""Remembers the bytes that a principal was shown, since it may sign no others (V3, V6)."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.errors import CommandError
from concord_client.cli.governance.session import GovernanceSession, Slot
from concord_client.cli.render.page import show

if TYPE_CHECKING:
    from concord.governance.v1.proposal_pb2 import Proposal

    from concord_client.trust.keyfiles import KeyFile
    from concord_client.trust.review import Reviewed

DigestOption = Annotated[
    str,
    typer.Option(
        metavar="DIGEST",
        help="Sign only if the proposal's digest is this one, as `concord review` printed it.",
        show_default="that of the bytes last reviewed here",
    ),
]


def agreeable(governance: GovernanceSession, number: str) -> "tuple[Proposal, Reviewed]":
    """As `GovernanceSession.reviewed`; an undo is also compared with the log's entry of its
    original. Raises `CommandError`, `ReviewError`, `WitnessError`."""
    proposal, found = governance.reviewed(number)
    demand_undoing(governance, found)
    return proposal, found


def demand_undoing(governance: GovernanceSession, found: "Reviewed") -> None:
    """Demand that an undo reverts exactly the effects that the log has of its original."""
    from concord_client.trust import review

    if found.document["undo_of"] or "revert_items" in found.document["action"]:
        from concord_client.cli.governance.log_entry import execution_of

        review.demand_undoing(found, execution_of(governance, found.document["undo_of"]))


def keep_reviewed(governance: GovernanceSession, slot: Slot, found: "Reviewed") -> None:
    """Remember that a slot's principal was shown these bytes; before the genesis do nothing."""
    for holder in governance.principals().slots:
        if holder.slot == slot.value_of():
            governance.witness.keep_reviewed(
                holder.principal, found.document["proposal_id"], found.digest
            )


def opened_bytes(governance: GovernanceSession) -> frozenset[tuple[str, str]]:
    """The id of each proposal that either principal was shown here, with its bytes' digest.

    Raises `CommandError` before the genesis.
    """
    principals = [each.principal for each in governance.holders().values()]
    shown = governance.witness.seen.reviewed
    return frozenset(item for name in principals for item in shown.get(name, {}).items())


def demand_required_slot(slot: Slot, found: "Reviewed") -> None:
    """Raise `CommandError` if the proposal does not require this slot's consent."""
    document = found.document
    if slot == Slot.HUMAN and document["approval_level"] == "AGENT":
        raise CommandError(
            f"Proposal {document['number']} is the agent's alone to decide: {slot.contract} has no "
            "say in it, so nothing was signed.",
            reason="ERROR_REASON_SLOT_NOT_REQUIRED",
        )


def demand_reviewed(
    governance: GovernanceSession,
    file: "KeyFile",
    proposal: "Proposal",
    found: "Reviewed",
    digest: str,
) -> None:
    """Demand that the key's owner has seen the bytes to be signed.

    Their digest must be the given one, else the one stored at the last review. Without a given
    digest, other bytes are shown in full and, on a terminal, may be confirmed. Raises
    `CommandError`.
    """
    number, principal = proposal.number, file.principal
    command = f"concord review {number} --as {file.slot.lower()}"
    if digest:
        if digest != found.digest:
            raise CommandError(
                f"Proposal {number} is not what {digest} stands for: its digest is now "
                f"{found.digest}. Nothing was signed. Look at it: {command}"
            )
        return
    before = governance.witness.reviewed(principal, proposal.id)
    if before == found.digest:
        return
    what = "was changed since it was reviewed" if before else "was not reviewed"
    _show_all(governance, proposal, found)
    if not sys.stdin.isatty():
        raise CommandError(
            f"Proposal {number} {what} here by {principal}, so nothing was signed. Look at it "
            f"first: {command}"
        )
    asked = f"Proposal {number} {what} here by {principal}. Sign what stands above?"
    if not typer.confirm(asked, err=True):
        raise CommandError(f"Nothing was signed about proposal {number}.")
    governance.witness.keep_reviewed(principal, proposal.id, found.digest)


def _show_all(governance: GovernanceSession, proposal: "Proposal", found: "Reviewed") -> None:
    """Prints the proposal's signed content; on standard error with --json."""
    from concord_client.cli.render.proposal_page import noted, reviewed

    page = reviewed(found, proposal, governance.words(found))
    show(*page, *noted(found.document), on_error=governance.session.as_json)
