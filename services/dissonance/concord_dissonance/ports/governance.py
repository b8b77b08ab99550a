"""Governance as dissonance proposes to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from concord_dissonance.domain.reviews import Decision
from concord_dissonance.domain.suggestions import Suggestion
from concord_dissonance.ports.calls import Credential


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal because of a conflict, or of a suggestion."""

    id: str
    number: int
    conflict_id: str
    conflict_etag: str
    is_in_review: bool
    """Whether it waits for the agent's review of the conflict."""
    revision: int
    suggestion: str = ""
    """The key of what dissonance suggests by it; empty for a conflict's, and for others' own."""


class Governance(Protocol):
    """Governance, asked by dissonance for itself, or in a caller's name."""

    async def pending(self, space: str) -> Sequence[Proposal]:
        """Dissonance's own proposals that wait, also for a review."""
        ...

    async def about(self, space: str, item_id: str) -> Sequence[Proposal]:
        """Every proposal that touches an item, such as a conflict, whoever made it."""
        ...

    async def suggest(self, space: str, request_id: str, suggestion: Suggestion) -> Proposal:
        """Proposes, in dissonance's name, what no conflict caused."""
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
