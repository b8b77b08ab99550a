"""Settles descriptive proposals in a space without genesis, where nobody can sign (V5)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace

from concord_attestation.instants import format_time

from concord_governance.domain.entries import Action, Entry
from concord_governance.domain.errors import FieldInvalid
from concord_governance.domain.proposals import Decision, Proposal, Settlement, Status
from concord_governance.ports.graph import Graph
from concord_governance.ports.ledger import LedgerWrites
from concord_governance.usecases import decision_guards as guards
from concord_governance.usecases.execution import Execution
from concord_governance.usecases.ledger_commands import (
    Caller,
    LedgerCommands,
    Request,
    ended_as,
    proposal_entry,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a proposal's newest `revision`, the one that was read, is settled, and why."""

    revision: int
    settlement: Settlement
    reason: str


class Settlements:
    """Decides what is descriptive on the authority of an access key, until the genesis."""

    def __init__(self, commands: LedgerCommands, graph: Graph, execution: Execution) -> None:
        self._commands = commands
        self._graph = graph
        self._execution = execution

    async def settle(self, request: Request, verdict: Verdict) -> tuple[Proposal, str]:
        """Approve and execute a proposal of the level AGENT, or reject it.

        Returns the proposal and the freshness token of its effect, "" if there was none.
        """
        in_graph = await self._graph.principal_keys(request.space) is not None

        async def work(tx: LedgerWrites, now: int) -> Proposal:
            stored = await guards.pending_proposal(tx, request.proposal_id, now)
            await guards.demand_no_genesis(tx, in_graph=in_graph)
            guards.demand_descriptive(stored)
            guards.demand_revision(stored, verdict.revision)
            if verdict.settlement == Settlement.APPROVE:
                await guards.demand_undoable(tx, stored, now)
            elif not verdict.reason.strip():
                raise FieldInvalid("reason", "is required: a rejection says why")
            after = _settled(stored, verdict, request.caller, now)
            await tx.put(stored, after)
            await tx.append([_entry(after, verdict, request.caller)])
            return after

        proposal = await self._commands.run(request, work)
        if proposal.status != Status.APPROVED:
            return proposal, ""
        return await self._execution.execute(request.space, request.proposal_id)


def _settled(stored: Proposal, verdict: Verdict, caller: Caller, now: int) -> Proposal:
    by = (caller.principal,)
    if verdict.settlement == Settlement.REJECT:
        return ended_as(stored, Status.REJECTED, now, by, resolution=verdict.reason)
    decision = Decision(id=str(uuid.uuid4()), time=now, grant=b"")
    return replace(stored, status=Status.APPROVED, decision=decision, resolved_by=by)


def _entry(proposal: Proposal, verdict: Verdict, caller: Caller) -> Entry:
    decision, decided = proposal.decision, {}
    if decision is not None:
        decided = {"decision_id": decision.id, "decide_time": format_time(decision.time)}
    entry = proposal_entry(
        proposal,
        Action.SMF_SETTLE,
        caller.actor,
        caller.principal,
        settlement=verdict.settlement.name,
        **decided,
    )
    return replace(entry, reason=verdict.reason)
