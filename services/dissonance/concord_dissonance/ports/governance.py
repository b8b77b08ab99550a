"""The port of governance, to which dissonance proposes."""

from collections.abc import Sequence
from typing import Protocol

from concord.governance.v1.proposal_pb2 import Proposal
from concord.graph.v1.governed_pb2 import GovernedAction

from concord_dissonance.ports.actions import Decision
from concord_dissonance.ports.calls import Credential


class Governance(Protocol):
    """Governance, asked under dissonance's own name, or in a caller's name."""

    async def pending(self, space: str) -> Sequence[Proposal]:
        """Dissonance's own proposals that wait for consents or for a review."""
        ...

    async def about(self, space: str, item_id: str) -> Sequence[Proposal]:
        """Every proposal that touches an item, such as a conflict, whoever made it."""
        ...

    async def suggest(
        self, space: str, request_id: str, action: GovernedAction, *, session_id: str, note: str
    ) -> Proposal:
        """Proposes a suggestion, which no conflict caused, in dissonance's name.

        `session_id`: the session whose end is its occasion. `note`: the evidence, for whoever
        decides. Either may be empty.
        """
        ...

    async def human(self, space: str) -> str:
        """The principal of the HUMAN slot; empty before the genesis."""
        ...

    async def propose(
        self, space: str, request_id: str, decision: Decision, who: Credential | None = None
    ) -> Proposal:
        """Proposes a decision, in dissonance's name unless a caller's credential is given."""
        ...

    async def revise(self, space: str, proposal: Proposal, decision: Decision) -> None:
        """Gives a proposal of dissonance's own its next revision, which ends a review."""
        ...

    async def withdraw(self, space: str, proposal_id: str) -> None:
        """Withdraws a proposal of dissonance's own; one that has ended is left as it is."""
        ...
