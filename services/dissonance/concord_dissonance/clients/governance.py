"""Governance, to which dissonance proposes, under its own name or in a caller's name."""

from collections.abc import Sequence

import grpc
from concord.governance.v1 import (
    principal_pb2,
    principal_pb2_grpc,
    proposal_pb2,
    proposal_pb2_grpc,
)
from concord.graph.v1 import governed_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import TokenIssuer

from concord_dissonance.clients.service_calls import OwnCalls, in_name_of
from concord_dissonance.domain.errors import ServiceRefused
from concord_dissonance.ports.actions import Decision, action_of
from concord_dissonance.ports.calls import PRINCIPAL, Credential

GOVERNANCE = "governance"
PAGE = 200
_SCOPES = frozenset({"proposals:write", "governance:read"})
_PENDING = (
    proposal_pb2.PROPOSAL_STATUS_PENDING,
    proposal_pb2.PROPOSAL_STATUS_PENDING_REVIEW,
)
_ENDED = "ERROR_REASON_PROPOSAL_STATE"


class GovernanceClient:
    """Governance over a channel without a token."""

    def __init__(self, channel: grpc.aio.Channel, issuer: TokenIssuer) -> None:
        self._issuer = issuer
        self._call = OwnCalls(GOVERNANCE, issuer, _SCOPES)
        self._proposals = proposal_pb2_grpc.ProposalServiceStub(channel)
        self._principals = principal_pb2_grpc.PrincipalServiceStub(channel)

    async def pending(self, space: str) -> Sequence[proposal_pb2.Proposal]:
        """Dissonance's own proposals that wait for consents or for a review."""
        request = proposal_pb2.ListProposalsRequest(statuses=_PENDING, page_size=PAGE)
        found = await self._listed(space, request)
        return [each for each in found if each.proposer == PRINCIPAL]

    async def about(self, space: str, item_id: str) -> Sequence[proposal_pb2.Proposal]:
        """Every proposal that touches an item, such as a conflict, whoever made it."""
        request = proposal_pb2.ListProposalsRequest(item_id=item_id, page_size=PAGE)
        return await self._listed(space, request)

    async def _listed(
        self, space: str, request: proposal_pb2.ListProposalsRequest
    ) -> list[proposal_pb2.Proposal]:
        found: list[proposal_pb2.Proposal] = []
        async for page in self._call.pages(space, self._proposals.ListProposals, request):
            found += page.proposals
        return found

    async def propose(
        self,
        space: str,
        request_id: str,
        decision: Decision,
        who: Credential | None = None,
        *,
        session_id: str = "",
    ) -> proposal_pb2.Proposal:
        """Proposes a decision, in dissonance's name unless a caller's credential is given.

        `session_id`: the session at whose end the conflict was found.
        """
        request = proposal_pb2.CreateProposalRequest(
            request_id=request_id, action=self._salted(space, request_id, action_of(decision))
        )
        if who is not None:
            reply = await in_name_of(who, self._proposals.CreateProposal, request)
        else:
            request.trigger = proposal_pb2.PROPOSAL_TRIGGER_DISSONANCE
            if session_id:
                request.trigger = proposal_pb2.PROPOSAL_TRIGGER_SESSION_END
                request.session_id = session_id
            reply = await self._call(space, self._proposals.CreateProposal, request)
        return reply.proposal

    async def suggest(
        self,
        space: str,
        request_id: str,
        action: governed_pb2.GovernedAction,
        *,
        session_id: str,
        note: str,
    ) -> proposal_pb2.Proposal:
        """Proposes a suggestion, which no conflict caused, in dissonance's name.

        `session_id`: the session whose end is its occasion. `note`: the evidence, for whoever
        decides. Either may be empty.
        """
        request = proposal_pb2.CreateProposalRequest(
            request_id=request_id,
            action=self._salted(space, request_id, action),
            trigger=proposal_pb2.PROPOSAL_TRIGGER_PROACTIVE,
            session_id=session_id,
            note=note,
        )
        reply = await self._call(space, self._proposals.CreateProposal, request)
        return reply.proposal

    async def human(self, space: str) -> str:
        """The principal of the HUMAN slot; empty before the genesis."""
        request = principal_pb2.GetPrincipalsRequest()
        slots = (await self._call(space, self._principals.GetPrincipals, request)).slots
        return next((each.principal for each in slots if each.slot == type_pb2.SLOT_HUMAN), "")

    async def revise(self, space: str, proposal: proposal_pb2.Proposal, decision: Decision) -> None:
        """Gives a proposal of dissonance's own its next revision, which ends a review."""
        request_id = f"revise-{proposal.id}-{proposal.revision}"
        request = proposal_pb2.ReviseProposalRequest(
            request_id=request_id,
            proposal_id=proposal.id,
            revision=proposal.revision,
            action=self._salted(space, request_id, action_of(decision)),
        )
        await self._call(space, self._proposals.ReviseProposal, request)

    async def withdraw(self, space: str, proposal_id: str) -> None:
        """Withdraws a proposal of dissonance's own; one that has ended is left as it is."""
        request = proposal_pb2.WithdrawProposalRequest(
            request_id=f"withdraw-{proposal_id}", proposal_id=proposal_id
        )
        try:
            await self._call(space, self._proposals.WithdrawProposal, request)
        except ServiceRefused as refused:
            if refused.reason != _ENDED:
                raise

    def _salted(
        self, space: str, request_id: str, action: governed_pb2.GovernedAction
    ) -> governed_pb2.GovernedAction:
        """Give the action its own request id. It salts digests that outlive an erased action, so
        nobody may guess it; it is the same if the request is sent again."""
        salt = self._issuer.secret_of(f"{space}\0{request_id}")
        getattr(action, action.WhichOneof("action") or "").request_id = salt
        return action
