"""Executes decisions, each exactly once (V6, design 5).

The ledger has APPROVED before graph is asked, and EXECUTED or FAILED after graph's answer. Graph
applies a decision once, so asking again after a crash completes it and changes nothing more.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from concord_attestation.instants import format_time
from concord_chassis.observe.log import Logger
from concord_chassis.server.background import Background

from concord_governance.domain.actions import conflict_of
from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.domain.errors import (
    GovernanceError,
    GraphFaulty,
    GraphRefused,
    GraphRolledBack,
    GraphUnavailable,
)
from concord_governance.domain.proposals import (
    DAY,
    OPEN,
    Decision,
    Failure,
    Json,
    Kind,
    Proposal,
    Status,
)
from concord_governance.domain.safeguards import Settings
from concord_governance.ports.graph import AppliedChange, Graph
from concord_governance.ports.ledger import EntryFilter, LedgerReads, LedgerWrites
from concord_governance.usecases.ledger_commands import (
    LedgerCommands,
    ended_as,
    existing,
    proposal_entry,
)

MOST_FAULTS = 10
"""So many internal errors of graph for one decision, since this process started, make it FAILED."""
_FAULTY = "ERROR_REASON_INTERNAL"
_PAGE = 500
_ROUND_SECONDS = 1.0
_NEWEST = (1 << 63) - 1
COMPLETE = "complete decisions"
"""The name of the task that does it."""


class Execution:
    """Has graph apply decisions, and records the outcome in ledger and log."""

    def __init__(
        self,
        commands: LedgerCommands,
        graph: Graph,
        settings: Settings,
        policy_digest: str,
        *,
        background: Background,
        log: Logger,
    ) -> None:
        self._commands = commands
        self._graph = graph
        self._settings = settings
        self._policy_digest = policy_digest
        self._background = background
        self._log = log
        self._rests: dict[str, float] = {}
        self._running: dict[str, asyncio.Lock] = {}
        self._faults: dict[str, int] = {}

    async def execute(self, space: str, proposal_id: str) -> tuple[Proposal, str]:
        """Have graph apply a decided proposal, unless it was applied before.

        Graph verifies the grant and burns its nonces in the transaction of the change
        (`concord_graph.usecases.governed.apply`). Returns the proposal and the freshness token of
        the effect. The token is "" if graph refused (FAILED), did not answer, or its own entries
        are not in the log yet; the last two stay APPROVED, and `complete` goes on with them.
        """
        self._commands.feed.demand_not_rolled_back(space)
        lock = self._running.setdefault(proposal_id, asyncio.Lock())
        async with lock:
            proposal = await self._commands.stored(space, proposal_id)
            decision = proposal.decision
            if proposal.status != Status.APPROVED or decision is None:
                return proposal, ""
            try:
                known = await self._commands.ledger.read(space, lambda tx: tx.feed_cursor())
                done = await self._graph.apply(proposal.newest, decision, expected_state=known)
            except GraphRolledBack:
                self._commands.feed.mark_rolled_back(space)
                raise
            except GraphFaulty:
                return await self._count_fault(space, proposal, decision), ""
            except GraphUnavailable:
                return proposal, ""
            except GraphRefused as refusal:
                return await self._record_failed(space, proposal_id, _failure(refusal)), ""
            finally:
                self._running.pop(proposal_id, None)
            if not await self._is_logged(space, done):
                return proposal, ""
            return await self._record_executed(space, proposal_id, done), done.token

    async def _count_fault(self, space: str, proposal: Proposal, decision: Decision) -> Proposal:
        """Count graph's internal errors for a decision; after `MOST_FAULTS` it is FAILED.

        A decision whose effect is in the log stays APPROVED: it has been applied.
        """
        faults = self._faults[decision.id] = self._faults.get(decision.id, 0) + 1
        self._log.warning("graph failed at a decision", decision=decision.id, faults=faults)
        if faults < MOST_FAULTS:
            return proposal
        del self._faults[decision.id]  # one that stays is counted anew
        if await self._commands.ledger.read(space, lambda tx: _has_logged_write(tx, decision)):
            return proposal
        return await self._record_failed(space, proposal.id, Failure(_FAULTY))

    async def complete(self, space: str) -> None:
        """Execute a space's decisions whose outcome is not known."""
        try:
            await self._commands.expire(space)
            undecided = await self._commands.ledger.read(space, lambda tx: tx.undecided_effects())
        except GovernanceError as error:  # the next round asks anew
            self._log.warning("decisions not looked at", error=type(error).__name__)
            return
        for proposal in undecided:
            try:
                await self.execute(space, proposal.id)
            except GraphRolledBack:  # it is logged: the decision waits for the newer copy
                continue
            except GovernanceError as error:  # the other decisions go on
                self._log.warning("not completed", error=type(error).__name__)

    async def run(self) -> None:
        """Complete unfinished decisions, at once and then every second, until cancelled."""
        while True:
            for space in await self._waiting():
                complete = partial(self.complete, space)
                if rest := await self._background.tried(COMPLETE, space, complete):
                    self._rests[space] = asyncio.get_running_loop().time() + rest
            await asyncio.sleep(_ROUND_SECONDS)

    async def _waiting(self) -> Sequence[str]:
        """Return the spaces with work, but for those where it died a moment ago."""
        now = asyncio.get_running_loop().time()
        self._rests = {space: until for space, until in self._rests.items() if until > now}
        try:
            waiting = await self._commands.ledger.waiting(self._commands.clock())
        except GovernanceError as error:  # the next round asks anew
            self._log.warning("decisions not looked at", error=type(error).__name__)
            return ()
        return [space for space in waiting if space not in self._rests]

    async def _is_logged(self, space: str, done: AppliedChange) -> bool:
        """Return whether the log has every governed write, so that EXECUTED follows them.

        Otherwise a reader would find writes under a decision that has ended.
        """
        governed = any(effect.governed for effect in done.effects)
        return not governed or await self._commands.feed.wait_for(space, done.epoch, done.seq)

    def _undo_until(self, proposal: Proposal, done: AppliedChange, now: int) -> int:
        """Return until when (µs) the change can be undone: the retention of the signed policy.

        Not at all (`now`) if the signed bytes say so, if the settings have changed since the
        decision, or if more items were cascaded than an undo can name. For a change of key it does
        not matter: a safeguard refuses its undo at any time.
        """
        named = sum(effect.cascaded for effect in done.effects)
        if proposal.newest.irreversible and proposal.newest.kind != Kind.CHANGE_KEY:
            return now
        if proposal.newest.policy_digest != self._policy_digest or named < done.cascaded_count:
            return now
        return now + self._settings.undo_retention_days * DAY

    async def _record_executed(self, space: str, proposal_id: str, done: AppliedChange) -> Proposal:
        async def work(tx: LedgerWrites) -> Proposal:
            stored = await existing(tx, proposal_id)
            if stored.status != Status.APPROVED or stored.decision is None:
                return stored
            now = await tx.now()
            after = replace(
                ended_as(stored, Status.EXECUTED, now, _deciding_principals(stored)),
                decision=replace(stored.decision, effects=done.effects),
                undo_until=self._undo_until(stored, done, now),
                orphaned=done.orphaned if stored.newest.kind == Kind.UNDO else (),
            )
            await tx.put(stored, after)
            await tx.append([_execute_entry(after, done)])
            if stored.newest.kind == Kind.CHANGE_KEY:
                await tx.count_key_change()
            if stored.newest.kind == Kind.UNDO:
                await self._mark_undone(tx, after)
            await _end_others(tx, after, now)
            return await existing(tx, proposal_id)

        return await self._commands.ledger.write(space, work)

    async def _mark_undone(self, tx: LedgerWrites, undo: Proposal) -> None:
        original = await existing(tx, undo.newest.undo_of)
        await tx.put(original, replace(original, status=Status.UNDONE, undone_by=undo.id))
        await tx.append(
            [
                proposal_entry(
                    original,
                    Action.SMF_UNDO,
                    Actor.SYSTEM,
                    undone_by=undo.id,
                    decision_id=undo.decision.id if undo.decision else "",
                    orphaned=list(undo.orphaned),
                )
            ]
        )

    async def _record_failed(self, space: str, proposal_id: str, failure: Failure) -> Proposal:
        async def work(tx: LedgerWrites) -> Proposal:
            stored = await existing(tx, proposal_id)
            if stored.status != Status.APPROVED or stored.decision is None:
                return stored
            now = await tx.now()
            after = ended_as(
                stored, Status.FAILED, now, _deciding_principals(stored), failure=failure
            )
            await tx.put(stored, after)
            entry = proposal_entry(
                after,
                Action.SMF_FAIL,
                Actor.SYSTEM,
                decision_id=stored.decision.id,
                check=f"{failure.slot} {failure.check}".strip(),
            )
            await tx.append([replace(entry, blocked=True, reason=failure.reason)])
            return await existing(tx, proposal_id)

        return await self._commands.ledger.write(space, work)


async def _end_others(tx: LedgerWrites, executed: Proposal, now: int) -> None:
    """End the open proposals about the conflict that a proposal has decided.

    They name a version of it that is gone, so none of them could take effect.
    """
    decided = conflict_of(executed.newest.action)
    others = await tx.proposals(sorted(OPEN), decided, _NEWEST, _PAGE) if decided else ()
    for other in others:
        if conflict_of(other.newest.action) == decided:
            await tx.put(other, ended_as(other, Status.WITHDRAWN, now))
            await tx.append([proposal_entry(other, Action.SMF_WITHDRAW, Actor.SYSTEM)])


async def _has_logged_write(tx: LedgerReads, decision: Decision) -> bool:
    """Return whether the log has a successful write under a decision."""
    writes = EntryFilter(actions=(Action.WRITE_SUCCESS, Action.DELETE_SUCCESS))
    before = await tx.log_size()
    while leaves := await tx.entries(writes, before, _PAGE):
        for leaf in leaves:
            if leaf.time < decision.time:  # both times are of the ledger's clock
                return False
            if json.loads(leaf.data)["properties"].get("request_id") == decision.id:
                return True
        before = leaves[-1].index
    return False


def _failure(refusal: GraphRefused) -> Failure:
    """Return the failure that graph's refusal means, with the check and slot that graph named."""
    check, slot = (refusal.metadata.get(name, "") for name in ("check", "slot"))
    return Failure(refusal.reason, check, slot)


def _deciding_principals(proposal: Proposal) -> tuple[str, ...]:
    """Return who settled it, else the principals of the unrevoked consents, sorted."""
    consenting = (given.principal for given in proposal.consents if not given.revoked)
    return proposal.resolved_by or tuple(sorted(consenting))


def _execute_entry(proposal: Proposal, done: AppliedChange) -> Entry:
    assert proposal.decision is not None and proposal.undo_until is not None  # noqa: S101,PT018 - executed
    effects: list[Json] = [
        {
            "id": effect.item_id,
            "kind": effect.item_kind,
            "before": effect.before,
            "after": effect.after,
            "governed": list(effect.governed),
        }
        for effect in done.effects
        if not effect.cascaded
    ]
    entry = proposal_entry(
        proposal,
        Action.SMF_EXECUTE,
        Actor.SYSTEM,
        decision_id=proposal.decision.id,
        effects=effects,
        cascaded={"count": done.cascaded_count, "digest": done.cascaded_digest},
        undo_until=format_time(proposal.undo_until),
    )
    if proposal.newest.kind != Kind.CHANGE_KEY:
        return entry
    # verifiers of envelopes by the new key can see that the consents name this action
    key_action = dict(proposal.newest.action)
    return replace(entry, properties={**entry.properties, "key_action": key_action})
