"""`concord approve` and `reject` without a signature, in a space without genesis (V5)."""

from typing import TYPE_CHECKING

from concord_client.cli.errors import CommandError

if TYPE_CHECKING:
    from concord.governance.v1.proposal_pb2 import Settlement

    from concord_client.cli.governance.session import GovernanceSession


def settle(
    governance: "GovernanceSession",
    number: str,
    settlement: "Settlement.ValueType",
    *,
    digest: str,
    reason: str = "",
) -> None:
    """Decide a descriptive proposal with the access key; print how it ended.

    Raises `CommandError` once the space has its genesis, or if the proposal's digest is not the
    given one.
    """
    from concord.governance.v1.proposal_pb2 import SettleProposalRequest

    proposal, found = governance.reviewed(number)
    if governance.principals().slots:
        raise CommandError(
            "This space has its genesis, so a signed consent decides: say whose key signs, with "
            "--as agent or --as human.",
            reason="ERROR_REASON_GENESIS_EXISTS",
        )
    if digest and digest != found.digest:
        raise CommandError(
            f"Proposal {proposal.number} is not what {digest} stands for: its digest is now "
            f"{found.digest}. Nothing was decided. Look at it: concord review {proposal.number}"
        )
    governance.report(
        governance.client.proposals.SettleProposal(
            SettleProposalRequest(
                proposal_id=proposal.id,
                revision=found.document["revision"],
                settlement=settlement,
                reason=reason,
            )
        )
    )
