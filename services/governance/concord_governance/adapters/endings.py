"""How a ledger's stores keep a proposal's end: two texts, as the first ledgers did.

The contract has the end typed, so that no caller takes a text apart. Typed columns here would need
a conversion of both stores for what these functions read. Entries of the log keep their property
`check` ("AGENT proposal_digest") as well: leaves stay as they were written.
"""

from concord_governance.domain.proposals import Failure, Proposal, Status

_SLOTS = frozenset({"AGENT", "HUMAN"})


def ended_by(proposal: Proposal) -> str:
    """Return the principals that ended a proposal, by comma: no principal's name has one."""
    return ",".join(proposal.resolved_by)


def why(proposal: Proposal) -> str:
    """Return the reason of a rejection, or a failure's reason, slot and check by blanks."""
    failure = proposal.failure
    if failure is None:
        return proposal.resolution
    return " ".join(filter(None, (failure.reason, failure.slot, failure.check)))


def principals(ended_by: str) -> tuple[str, ...]:
    """Return the principals that ended a proposal; none where it expired."""
    return tuple(ended_by.split(",")) if ended_by else ()


def resolution(status: Status, why: str) -> str:
    """Return the reason of a rejection; empty for a failure."""
    return "" if status == Status.FAILED else why


def failure(status: Status, why: str) -> Failure | None:
    """Return a failure; None for a proposal that ended otherwise, or is open."""
    if status != Status.FAILED:
        return None
    reason, _, rest = why.partition(" ")
    slot, _, check = rest.partition(" ")
    return Failure(reason, check, slot) if slot in _SLOTS else Failure(reason, rest)
