"""ProposalService."""

from __future__ import annotations

from typing import Any

import grpc
from concord.governance.v1 import proposal_pb2, proposal_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.failure import translate
from concord_chassis.call.identity import caller
from concord_chassis.call.opaque import page_cursor, page_token
from concord_chassis.call.paging import page_of
from google.protobuf.message import Message

from concord_governance.domain.proposals import Settlement, Status
from concord_governance.servicer import incoming, outgoing
from concord_governance.usecases.decisions import Decisions, Outcome
from concord_governance.usecases.erased_words import ErasingWords
from concord_governance.usecases.ledger_commands import LedgerCommands, Request
from concord_governance.usecases.proposal_reads import ProposalReads
from concord_governance.usecases.proposals import Proposals
from concord_governance.usecases.settlements import Settlements, Verdict

Context = grpc.aio.ServicerContext[Any, Any]
DEFAULT_PAGE = 50


class ProposalServicer(proposal_pb2_grpc.ProposalServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(
        self,
        commands: LedgerCommands,
        proposals: Proposals,
        decisions: Decisions,
        reads: ProposalReads,
        *,
        settlements: Settlements,
        erasing: ErasingWords,
    ) -> None:
        self._commands = commands
        self._proposals = proposals
        self._decisions = decisions
        self._settlements = settlements
        self._erasing = erasing
        self._reads = reads

    async def not_permitted(self, method: str, request: Message | None) -> None:
        """Record in the log that a key without the permission tried a step, and on what."""
        named = getattr(request, "proposal_id", "")
        tried = Request(incoming.author(), method, proposal_id=named)
        await self._commands.not_permitted(tried)

    async def CreateProposal(
        self, request: proposal_pb2.CreateProposalRequest, context: Context
    ) -> proposal_pb2.CreateProposalResponse:
        made = await self._proposals.create(
            incoming.request(request), incoming.caused_draft(request)
        )
        return proposal_pb2.CreateProposalResponse(proposal=outgoing.proposal(made))

    async def ReviseProposal(
        self, request: proposal_pb2.ReviseProposalRequest, context: Context
    ) -> proposal_pb2.ReviseProposalResponse:
        made = await self._proposals.revise(
            incoming.request(request), request.revision, incoming.draft(request)
        )
        return proposal_pb2.ReviseProposalResponse(proposal=outgoing.proposal(made))

    async def GetProposal(
        self, request: proposal_pb2.GetProposalRequest, context: Context
    ) -> proposal_pb2.GetProposalResponse:
        space = caller().space
        found = (
            await self._reads.by_id(space, request.id)
            if request.WhichOneof("by") == "id"
            else await self._reads.by_number(space, request.number)
        )
        if found is None:
            return proposal_pb2.GetProposalResponse(status=type_pb2.LOOKUP_STATUS_NOT_FOUND)
        return proposal_pb2.GetProposalResponse(
            status=type_pb2.LOOKUP_STATUS_FOUND, proposal=outgoing.proposal(found)
        )

    async def ListProposals(
        self, request: proposal_pb2.ListProposalsRequest, context: Context
    ) -> proposal_pb2.ListProposalsResponse:
        before = page_cursor(request, int) or 0
        size = request.page_size or DEFAULT_PAGE
        statuses = [Status(int(status)) for status in request.statuses]
        space = caller().space
        found = self._reads.newest_first(space, statuses, request.item_id, before, size + 1)
        rows = self._reads.summarized(space, found, wanted=request.with_summaries)
        page = await page_of(rows, lambda row: outgoing.proposal(*row), size)
        return proposal_pb2.ListProposalsResponse(
            proposals=page.messages,
            next_page_token=page_token(request, page.last[0].newest.number) if page.last else "",
        )

    async def ApproveProposal(
        self, request: proposal_pb2.ApproveProposalRequest, context: Context
    ) -> proposal_pb2.ApproveProposalResponse:
        proposal, token = await self._decisions.approve(incoming.request(request), request.consent)
        return proposal_pb2.ApproveProposalResponse(
            proposal=outgoing.proposal(proposal), token=token
        )

    async def RevokeConsent(
        self, request: proposal_pb2.RevokeConsentRequest, context: Context
    ) -> proposal_pb2.RevokeConsentResponse:
        proposal = await self._decisions.revoke(incoming.request(request), request.revocation)
        return proposal_pb2.RevokeConsentResponse(proposal=outgoing.proposal(proposal))

    async def RejectProposal(
        self, request: proposal_pb2.RejectProposalRequest, context: Context
    ) -> proposal_pb2.RejectProposalResponse:
        proposal = await self._decisions.reject(incoming.request(request), request.rejection)
        return proposal_pb2.RejectProposalResponse(proposal=outgoing.proposal(proposal))

    async def WithdrawProposal(
        self, request: proposal_pb2.WithdrawProposalRequest, context: Context
    ) -> proposal_pb2.WithdrawProposalResponse:
        proposal = await self._proposals.withdraw(incoming.request(request))
        return proposal_pb2.WithdrawProposalResponse(proposal=outgoing.proposal(proposal))

    async def EraseProposalWords(
        self, request: proposal_pb2.EraseProposalWordsRequest, context: Context
    ) -> proposal_pb2.EraseProposalWordsResponse:
        count = await self._erasing.erase(caller().space, list(request.proposal_ids))
        return proposal_pb2.EraseProposalWordsResponse(erased_count=count)

    async def BulkApprove(
        self, request: proposal_pb2.BulkApproveRequest, context: Context
    ) -> proposal_pb2.BulkApproveResponse:
        outcomes = await self._decisions.approve_many(
            incoming.request(request),
            [(item.proposal_id, item.consent) for item in request.items],
            dry_run=request.dry_run,
        )
        return proposal_pb2.BulkApproveResponse(
            outcomes=[self._outcome(outcome) for outcome in outcomes]
        )

    async def SettleProposal(
        self, request: proposal_pb2.SettleProposalRequest, context: Context
    ) -> proposal_pb2.SettleProposalResponse:
        proposal, token = await self._settlements.settle(
            incoming.request(request),
            Verdict(request.revision, Settlement(int(request.settlement)), request.reason),
        )
        return proposal_pb2.SettleProposalResponse(
            proposal=outgoing.proposal(proposal), token=token
        )

    async def UndoModification(
        self, request: proposal_pb2.UndoModificationRequest, context: Context
    ) -> proposal_pb2.UndoModificationResponse:
        made = await self._proposals.undo(incoming.request(request))
        return proposal_pb2.UndoModificationResponse(proposal=outgoing.proposal(made))

    async def GetBriefing(
        self, request: proposal_pb2.GetBriefingRequest, context: Context
    ) -> proposal_pb2.GetBriefingResponse:
        return outgoing.briefing(await self._reads.briefing(caller().space))

    def _outcome(self, outcome: Outcome) -> proposal_pb2.ApproveOutcome:
        failure = translate(outcome.error) if outcome.error else None
        return proposal_pb2.ApproveOutcome(
            proposal_id=outcome.proposal_id,
            status=int(outcome.status or 0),  # type: ignore[arg-type] # numbers are the contract's
            reason=failure.reason if failure else "",
        )
