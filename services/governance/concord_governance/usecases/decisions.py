"""Takes consents, rejections and revocations, and decides proposals by them (V6, V7)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from hashlib import sha256

from concord_attestation.consent import (
    REJECTION_TYPE,
    REVOCATION_TYPE,
    Answer,
    Consent,
    ConsentError,
    ConsentInvalid,
    GenesisRecord,
)
from concord_attestation.instants import format_time
from concord_attestation.verify import verify_answer, verify_consent

from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.domain.errors import (
    BulkForbidden,
    GenesisMissing,
    GovernanceError,
    GraphRefused,
    GraphUnavailable,
    ProposalState,
)
from concord_governance.domain.proposals import (
    OPEN,
    Decision,
    GivenConsent,
    Kind,
    Level,
    Proposal,
    Status,
)
from concord_governance.domain.signing import GrantKey
from concord_governance.ports.graph import Graph
from concord_governance.ports.ledger import LedgerReads, LedgerWrites
from concord_governance.usecases import decision_guards as guards
from concord_governance.usecases.decision_guards import LoggedKeys
from concord_governance.usecases.execution import Execution
from concord_governance.usecases.ledger_commands import (
    LedgerCommands,
    Request,
    ended_as,
    proposal_entry,
)
from concord_governance.usecases.revocations import is_applied

_UNAPPLIED = (*OPEN, Status.APPROVED)
"""The states of a proposal in which a consent can be revoked."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one of several approvals: the proposal's status, or the error."""

    proposal_id: str
    status: Status | None
    error: Exception | None = None


class Decisions:
    """Verifies signed consents, rejections and revocations, and decides proposals by them."""

    def __init__(
        self,
        commands: LedgerCommands,
        graph: Graph,
        granter: GrantKey,
        execution: Execution,
        policy_digest: str,
    ) -> None:
        self._commands = commands
        self._graph = graph
        self._granter = granter
        self._execution = execution
        self._policy_digest = policy_digest

    async def approve(self, request: Request, envelope: bytes) -> tuple[Proposal, str]:
        """Record one slot's consent; with the last required one, decide and execute the proposal.

        Here the ledger records the nonce, so that no envelope comes twice. Graph burns the nonces
        when it applies the change, if that needs a grant. Returns the proposal and the freshness
        token of its effect, "" if there was none.
        """
        keys = await self._keys(request)

        async def work(tx: LedgerWrites, now: int) -> Proposal:
            await guards.demand_settled_keys(tx, keys)
            stored = await guards.pending_proposal(tx, request.proposal_id, now)
            stored = guards.by_current_keys(stored, keys.genesis)
            await guards.demand_undoable(tx, stored, now)
            consent = await self._verified_consent(tx, stored, keys.genesis, envelope, now)
            after = _with_consent(stored, consent, envelope, now)
            entries = [_consent_entry(after, consent, envelope)]
            if guards.has_every_consent(after, now):
                after = self._with_decision(after, now)
                entries.append(_decision_entry(after))
            await tx.put(stored, after)
            await tx.record_nonce(consent.nonce)
            await tx.append(entries)
            return after

        proposal = await self._commands.run(request, work)
        if proposal.status != Status.APPROVED:
            return proposal, ""
        return await self._execution.execute(request.space, request.proposal_id)

    async def revoke(self, request: Request, envelope: bytes) -> Proposal:
        """Revoke a consent that has not been applied.

        Graph burns its nonce, and the ledger and the log learn it from graph's feed. Raises
        GraphUnavailable if that takes more than seconds; the same request may be sent again.
        """
        # a nonce burnt in an older copy of graph is lost with that copy
        self._commands.feed.demand_not_rolled_back(request.space)
        await self._commands.expire(request.space)
        if not await self._commands.is_claimed(request):
            keys = await self._keys(request)
            async with self._commands.recording_refusals(request):
                stored = await self._commands.stored(request.space, request.proposal_id)
                answer = self._verified_answer(stored, keys.genesis, envelope, REVOCATION_TYPE)
                _demand_given(stored, answer)
                _demand_unapplied(stored)
            await self._commands.claim(request)
        once = f"revoke {sha256(envelope).hexdigest()}"
        epoch, seq = await self._graph.revoke(request.space, envelope, once)
        if not await self._commands.feed.wait_for(request.space, epoch, seq):
            raise GraphUnavailable("the log has not heard of it yet")
        return await self._commands.stored(request.space, request.proposal_id)

    async def reject(self, request: Request, envelope: bytes) -> Proposal:
        """End a proposal by one required slot's rejection; no item changes."""
        keys = await self._keys(request)

        async def work(tx: LedgerWrites, now: int) -> Proposal:
            await guards.demand_settled_keys(tx, keys)
            stored = await guards.pending_proposal(tx, request.proposal_id, now)
            answer = self._verified_answer(stored, keys.genesis, envelope, REJECTION_TYPE)
            guards.demand_required_slot(stored, answer.slot)
            if not answer.reason.strip():
                raise ConsentInvalid(answer.slot, "reason")
            await guards.demand_fresh_nonce(tx, answer.slot, answer.nonce)
            after = ended_as(
                stored, Status.REJECTED, now, (answer.principal,), resolution=answer.reason
            )
            await tx.put(stored, after)
            await tx.record_nonce(answer.nonce)
            await tx.append([_rejection_entry(after, answer, envelope)])
            return after

        return await self._commands.run(request, work)

    async def approve_many(
        self, request: Request, items: Sequence[tuple[str, bytes]], *, dry_run: bool
    ) -> Sequence[Outcome]:
        """Approve proposals of level AGENT, each by itself; a BILATERAL one is refused."""
        if not dry_run:
            await self._commands.claim(request)
        outcomes = []
        for index, (proposal_id, envelope) in enumerate(items):
            one = replace(
                request, request_id=f"{request.request_id}/{index}", proposal_id=proposal_id
            )
            try:
                status = await self._one_of_many(one, envelope, dry_run=dry_run)
            except (GovernanceError, ConsentError) as error:
                outcomes.append(Outcome(proposal_id, None, error))
            else:
                outcomes.append(Outcome(proposal_id, status))
        return outcomes

    async def _one_of_many(self, request: Request, envelope: bytes, *, dry_run: bool) -> Status:
        await self._commands.expire(request.space)
        recording = self._commands.recording_refusals(request)
        async with nullcontext() if dry_run else recording:
            stored = await self._commands.stored(request.space, request.proposal_id)
            if stored.newest.level != Level.AGENT:
                raise BulkForbidden("what is constitutive is approved one by one")
        if dry_run:
            return await self._status_after_approval(request.space, request.proposal_id, envelope)
        return (await self.approve(request, envelope))[0].status

    async def _status_after_approval(self, space: str, proposal_id: str, envelope: bytes) -> Status:
        """Return the status after an approval, with all its checks; write nothing.

        An empty `envelope` skips the checks of the consent.
        """
        keys = await self._keys_of(space)

        async def look(tx: LedgerReads) -> Proposal:
            await guards.demand_settled_keys(tx, keys)
            now = self._commands.clock()
            stored = await guards.pending_proposal(tx, proposal_id, now)
            await guards.demand_undoable(tx, stored, now)
            if envelope:
                await self._verified_consent(tx, stored, keys.genesis, envelope, now)
            return stored

        newest = (await self._commands.ledger.read(space, look)).newest
        try:
            found = await self._graph.preview(space, newest.action, newest.etags)
        except GraphRefused:  # as it would refuse the change
            return Status.FAILED
        alone = not any(item.needs_consent for item in found.affected)
        return Status.EXECUTED if alone else Status.FAILED

    async def _keys(self, request: Request) -> LoggedKeys:
        async with self._commands.recording_refusals(request):
            return await self._keys_of(request.space)

    async def _keys_of(self, space: str) -> LoggedKeys:
        """Return graph's keys with the ledger's count of key changes, which is read first.

        If a later transaction finds the same count, these keys are the ledger's, too. An import is
        a space's first change, so any cursor of the feed means that the log has it.
        """

        async def look(tx: LedgerReads) -> tuple[int, bool]:
            return await tx.key_changes(), bool((await tx.feed_cursor()).seq)

        changes, has_import = await self._commands.ledger.read(space, look)
        found = await self._graph.principal_keys(space)
        if found is None:
            raise GenesisMissing(
                "the space has no genesis, so no consent counts: `concord principal enrol` makes "
                "it; until then SettleProposal decides what is descriptive"
            )
        return LoggedKeys(found.genesis, changes, 0 if has_import else found.imported_seq)

    async def _verified_consent(
        self,
        tx: LedgerReads,
        stored: Proposal,
        genesis: GenesisRecord,
        envelope: bytes,
        now: int,
    ) -> Consent:
        terms = guards.terms_of(stored)
        genesis = guards.keys_for(stored, genesis)
        consent = verify_consent(envelope, genesis=genesis, terms=terms, now_us=now)
        guards.demand_required_slot(stored, consent.slot)
        guards.demand_current_policy(stored, consent.slot, self._policy_digest)
        await guards.demand_fresh_nonce(tx, consent.slot, consent.nonce)
        await guards.demand_unrevoked(tx, consent.slot, consent.nonce)
        return consent

    def _verified_answer(
        self, stored: Proposal, genesis: GenesisRecord, envelope: bytes, payload_type: str
    ) -> Answer:
        return verify_answer(
            envelope,
            payload_type,
            genesis=genesis,
            space=stored.newest.space,
            proposal_id=stored.id,
            revision=stored.newest.revision,
        )

    def _with_decision(self, proposal: Proposal, now: int) -> Proposal:
        decision = Decision(id=str(uuid.uuid4()), time=now, grant=b"")
        if proposal.newest.level == Level.BILATERAL:
            envelopes = _valid_envelopes(proposal, now)
            until = min(given.expire_time for given in proposal.consents if given.slot in envelopes)
            grant = self._granter.grant(decision.id, proposal.newest, envelopes, until)
            decision = replace(decision, grant=grant)
        return replace(proposal, status=Status.APPROVED, decision=decision)


def _with_consent(proposal: Proposal, consent: Consent, envelope: bytes, now: int) -> Proposal:
    given = GivenConsent(
        slot=consent.slot,
        principal=consent.principal,
        nonce=consent.nonce,
        receive_time=now,
        expire_time=consent.expire_time,
        envelope=envelope,
    )
    others = tuple(other for other in proposal.consents if other.slot != consent.slot)
    return replace(proposal, consents=(*others, given))


def _valid_envelopes(proposal: Proposal, now: int) -> dict[str, bytes]:
    return {
        given.slot: given.envelope
        for given in proposal.consents
        if not given.revoked and now < given.expire_time
    }


def _demand_unapplied(proposal: Proposal) -> None:
    """Refuse to revoke a consent whose proposal may have been applied, or has ended."""
    if is_applied(proposal) or proposal.status not in _UNAPPLIED:
        raise ProposalState(proposal.status.name)


def _demand_given(proposal: Proposal, answer: Answer) -> None:
    """Refuse to revoke a consent that was not given, or is revoked already."""
    revocable = {(given.slot, given.nonce) for given in proposal.consents if not given.revoked}
    if (answer.slot, answer.nonce) not in revocable:
        raise ConsentInvalid(answer.slot, "nonce")


def _consent_entry(proposal: Proposal, consent: Consent, envelope: bytes) -> Entry:
    return proposal_entry(
        proposal,
        Action.SMF_APPROVE,
        Actor[consent.slot],
        consent.principal,
        slot=consent.slot,
        consent=json.loads(envelope),
    )


def _decision_entry(proposal: Proposal) -> Entry:
    assert proposal.decision is not None  # noqa: S101 - just made
    envelopes: Mapping[str, bytes] = _valid_envelopes(proposal, proposal.decision.time)
    entry = proposal_entry(
        proposal,
        Action.SMF_DECIDE,
        Actor.SYSTEM,
        decision_id=proposal.decision.id,
        decide_time=format_time(proposal.decision.time),
        level=proposal.newest.level.name,
        slots=sorted(envelopes),
        grant_digest=sha256(proposal.decision.grant).hexdigest(),
    )
    if proposal.newest.kind != Kind.CHANGE_KEY:
        return entry
    # the log needs the key here: graph has it at once, and its feed may bring an envelope signed by
    # it before the EXECUTE entry is written
    key_action = dict(proposal.newest.action)
    return replace(entry, properties={**entry.properties, "key_action": key_action})


def _rejection_entry(proposal: Proposal, answer: Answer, envelope: bytes) -> Entry:
    entry = proposal_entry(
        proposal,
        Action.SMF_REJECT,
        Actor[answer.slot],
        answer.principal,
        slot=answer.slot,
        envelope=json.loads(envelope),
    )
    return replace(entry, reason=answer.reason)
