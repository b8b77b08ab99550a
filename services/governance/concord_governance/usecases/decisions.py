"""Consent and its opposite: approving, revoking, rejecting, one or many (V6, V7)."""

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
    Terms,
    of_slot,
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
    KeysChanging,
    ProposalState,
    RetentionExpired,
    SlotNotRequired,
    UndoImpossible,
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
from concord_governance.domain.safeguards import REQUIRED_SLOTS
from concord_governance.ports import Feed, Granter, Graph, LedgerReads, LedgerWrites
from concord_governance.usecases.execution import Execution
from concord_governance.usecases.ledger_commands import (
    Caller,
    LedgerCommands,
    Request,
    ended_as,
    entry_on,
    existing,
)
from concord_governance.usecases.revocations import is_applied

_UNAPPLIED = (*OPEN, Status.APPROVED)
"""Where a consent can still be taken back."""


@dataclass(frozen=True, slots=True)
class Checks:
    """The guards of every decision. Tests switch one off to prove that it is the one that holds."""

    policy_is_ours: bool = True
    slot_is_required: bool = True
    nonce_is_fresh: bool = True
    every_slot_answers: bool = True
    silence_rejects: bool = True
    undo_is_of_executed: bool = True
    undo_has_time: bool = True
    keys_are_settled: bool = True
    consents_keep_their_key: bool = True
    revoked_stays_revoked: bool = True


@dataclass(frozen=True, slots=True)
class Keys:
    """The principals' keys in graph, how many key changes the ledger has executed, and the change
    of an import that is not in the log yet (0: none)."""

    genesis: GenesisRecord
    changes: int
    imported_seq: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one of several."""

    proposal_id: str
    status: Status | None
    error: Exception | None = None


class Decisions:
    """Takes signed consents, rejections and revocations, and decides by them."""

    def __init__(
        self,
        commands: LedgerCommands,
        graph: Graph,
        granter: Granter,
        execution: Execution,
        *,
        feed: Feed,
        policy_digest: str,
        checks: Checks,
    ) -> None:
        self._commands = commands
        self._graph = graph
        self._granter = granter
        self._execution = execution
        self._feed = feed
        self._policy_digest = policy_digest
        self._checks = checks

    async def approve(
        self, caller: Caller, request: Request, proposal_id: str, envelope: bytes
    ) -> tuple[Proposal, str]:
        """Give one slot's consent; with the last one required, decide and execute.

        Returns the proposal and the freshness token of its effect, "" when there was none.
        """
        keys = await self._keys(caller, request, proposal_id)

        async def work(tx: LedgerWrites, now: int) -> Proposal:
            genesis = await self._demand_settled_keys(tx, keys)
            stored = self._with_keys(await self._open(tx, proposal_id, now), genesis)
            await self._demand_undoable(tx, stored, now)
            consent = await self._verified(tx, stored, genesis, envelope, now)
            after = _with_consent(stored, consent, envelope, now)
            entries = [_consented(after, consent, envelope)]
            if self._is_complete(after, now):
                after = self._decided(after, now)
                entries.append(_decision(after))
            await tx.put(stored, after)
            await tx.keep_nonce(consent.nonce)
            await tx.append(entries)
            return after

        proposal = await self._commands.run(caller, request, work, proposal_id=proposal_id)
        if proposal.status != Status.APPROVED:
            return proposal, ""
        return await self._execution.execute(caller.space, proposal_id)

    async def revoke(
        self, caller: Caller, request: Request, proposal_id: str, envelope: bytes
    ) -> Proposal:
        """Take a consent back that has not been applied: graph burns its nonce, and the log and the
        ledger learn it from there.

        Raises GraphUnavailable when they have not within seconds: the same request asks again.
        """
        self._commands.demand_whole(
            caller.space
        )  # a nonce burnt in an older graph is burnt nowhere
        await self._commands.expire(caller.space)
        if not await self._commands.is_claimed(caller, request):
            keys = await self._keys(caller, request, proposal_id)
            async with self._commands.on_record(caller, request.method, proposal_id):
                stored = await self._stored(caller.space, proposal_id)
                answer = self._answered(stored, keys.genesis, envelope, REVOCATION_TYPE)
                _given(stored, answer)
                _demand_unapplied(stored)
            await self._commands.claim(caller, request)
        once = f"revoke {sha256(envelope).hexdigest()}"
        epoch, seq = await self._graph.revoke(caller.space, envelope, once)
        if not await self._feed.reached(caller.space, epoch, seq):
            raise GraphUnavailable("the log has not heard of it yet")
        return await self._stored(caller.space, proposal_id)

    async def _stored(self, space: str, proposal_id: str) -> Proposal:
        return await self._commands.ledger.read(space, lambda tx: existing(tx, proposal_id))

    async def reject(
        self, caller: Caller, request: Request, proposal_id: str, envelope: bytes
    ) -> Proposal:
        """End a proposal by one required slot; items stay as they are."""
        keys = await self._keys(caller, request, proposal_id)

        async def work(tx: LedgerWrites, now: int) -> Proposal:
            genesis = await self._demand_settled_keys(tx, keys)
            stored = await self._open(tx, proposal_id, now)
            answer = self._answered(stored, genesis, envelope, REJECTION_TYPE)
            self._demand_required(stored, answer.slot)
            if not answer.reason.strip():
                raise ConsentInvalid(answer.slot, "reason")
            if self._checks.nonce_is_fresh and await tx.nonce_is_known(answer.nonce):
                raise ConsentInvalid(answer.slot, "nonce")
            after = ended_as(stored, Status.REJECTED, now, answer.principal, answer.reason)
            await tx.put(stored, after)
            await tx.keep_nonce(answer.nonce)
            await tx.append([_rejection(after, answer, envelope)])
            return after

        return await self._commands.run(caller, request, work, proposal_id=proposal_id)

    async def approve_many(
        self,
        caller: Caller,
        request: Request,
        items: Sequence[tuple[str, bytes]],
        *,
        dry_run: bool,
    ) -> Sequence[Outcome]:
        """Approve proposals of the agent's level, each by itself; never what is constitutive."""
        if not dry_run:
            await self._commands.claim(caller, request)
        outcomes = []
        for place, (proposal_id, envelope) in enumerate(items):
            one = replace(request, request_id=f"{request.request_id}/{place}")
            try:
                status = await self._one_of_many(
                    caller, one, proposal_id, envelope, dry_run=dry_run
                )
            except (GovernanceError, ConsentError) as error:
                outcomes.append(Outcome(proposal_id, None, error))
            else:
                outcomes.append(Outcome(proposal_id, status))
        return outcomes

    async def _one_of_many(
        self, caller: Caller, request: Request, proposal_id: str, envelope: bytes, *, dry_run: bool
    ) -> Status:
        await self._commands.expire(caller.space)
        trying = self._commands.on_record(caller, request.method, proposal_id)
        async with nullcontext() if dry_run else trying:
            stored = await self._commands.ledger.read(
                caller.space, lambda tx: existing(tx, proposal_id)
            )
            if stored.newest.level != Level.AGENT:
                raise BulkForbidden("what is constitutive is approved one by one")
        if dry_run:
            return await self._would_become(caller.space, proposal_id, envelope)
        return (await self.approve(caller, request, proposal_id, envelope))[0].status

    async def _would_become(self, space: str, proposal_id: str, envelope: bytes) -> Status:
        """Check all that an approval checks, a consent too when there is one, and write nothing."""
        keys = await self._keys_of(space)

        async def look(tx: LedgerReads) -> Proposal:
            genesis, now = await self._demand_settled_keys(tx, keys), self._commands.clock()
            stored = await self._open(tx, proposal_id, now)
            await self._demand_undoable(tx, stored, now)
            if envelope:
                await self._verified(tx, stored, genesis, envelope, now)
            return stored

        newest = (await self._commands.ledger.read(space, look)).newest
        try:
            found = await self._graph.preview(space, newest.action, newest.etags)
        except GraphRefused:  # as it would when it is asked to do it
            return Status.FAILED
        alone = not any(item.needs_consent for item in found.affected)
        return Status.EXECUTED if alone else Status.FAILED

    async def _keys(self, caller: Caller, request: Request, proposal_id: str) -> Keys:
        async with self._commands.on_record(caller, request.method, proposal_id):
            return await self._keys_of(caller.space)

    async def _keys_of(self, space: str) -> Keys:
        """Return graph's keys with the ledger's count of their changes, which is read first: a
        transaction that finds the same count knows that they are the ledger's own."""
        changes = await self._commands.ledger.read(space, lambda tx: tx.key_changes())
        return Keys(await self._genesis(space), changes, await self._awaited(space))

    async def _awaited(self, space: str) -> int:
        """Return the change with which the space was imported, unless it is in the log: an import
        is the first that is followed."""
        if (await self._commands.ledger.read(space, lambda tx: tx.feed_cursor())).seq:
            return 0
        found = await self._graph.principal_keys(space)
        return found.imported_seq if found else 0

    async def _demand_settled_keys(self, tx: LedgerReads, keys: Keys) -> GenesisRecord:
        """Refuse to judge a paper by keys that the log does not tell of at this place.

        Graph has a new key before the change's EXECUTE is in the log: in between, a paper by the
        new key would stand before the entry that makes it one, and one by the old key after it.
        """
        decided = await tx.undecided_effects()
        pending = any(each.newest.kind == Kind.CHANGE_KEY for each in decided)
        changed = pending or await tx.key_changes() != keys.changes
        if self._checks.keys_are_settled and (await tx.feed_cursor()).seq < keys.imported_seq:
            raise KeysChanging("what came with the space's import is not in the log yet")
        if self._checks.keys_are_settled and changed:
            raise KeysChanging("a key is being changed")
        return keys.genesis

    def _with_keys(self, stored: Proposal, genesis: GenesisRecord) -> Proposal:
        """Return a proposal without the consents whose key its slot no longer has.

        Each was checked when it came; what may have changed since is the key alone.
        """
        if not self._checks.consents_keep_their_key:
            return stored
        judged = [
            replace(given, revoked=_is_void(stored, given, genesis)) for given in stored.consents
        ]
        return replace(stored, consents=tuple(judged))

    async def _genesis(self, space: str) -> GenesisRecord:
        found = await self._graph.principal_keys(space)
        if found is None:
            raise GenesisMissing("the space has no genesis")
        return found.genesis

    async def _open(self, tx: LedgerReads, proposal_id: str, now: int) -> Proposal:
        """Return a proposal that waits for answers, whatever a sweep has done (V4)."""
        stored = await existing(tx, proposal_id)
        if self._checks.silence_rejects and stored.is_expired(now):
            raise ProposalState(Status.EXPIRED.name)
        if stored.status != Status.PENDING:
            raise ProposalState(stored.status.name)
        return stored

    async def _demand_undoable(self, tx: LedgerReads, stored: Proposal, now: int) -> None:
        """Refuse an undo whose time is over, or that another one came before (V8)."""
        if not stored.newest.undo_of:
            return
        original = await existing(tx, stored.newest.undo_of)
        if self._checks.undo_is_of_executed and original.status != Status.EXECUTED:
            raise UndoImpossible(f"the proposal is {original.status.name}, not EXECUTED")
        if self._checks.undo_has_time and now >= (original.undo_until or 0):
            raise RetentionExpired("the time to undo it is over")

    async def _verified(
        self,
        tx: LedgerReads,
        stored: Proposal,
        genesis: GenesisRecord,
        envelope: bytes,
        now: int,
    ) -> Consent:
        consent = verify_consent(envelope, genesis=genesis, terms=terms_of(stored), now_us=now)
        self._demand_required(stored, consent.slot)
        if self._checks.policy_is_ours and stored.newest.policy_digest != self._policy_digest:
            raise ConsentInvalid(consent.slot, "policy_digest")
        if self._checks.nonce_is_fresh and await tx.nonce_is_known(consent.nonce):
            raise ConsentInvalid(consent.slot, "nonce")
        burnt = await tx.nonce_is_known(of_slot(consent.slot, consent.nonce))
        if self._checks.revoked_stays_revoked and burnt:
            raise ConsentInvalid(consent.slot, "nonce")
        return consent

    def _answered(
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

    def _demand_required(self, stored: Proposal, slot: str) -> None:
        if self._checks.slot_is_required and slot not in REQUIRED_SLOTS[stored.newest.level]:
            raise SlotNotRequired(f"{slot} has no say in this proposal")

    def _is_complete(self, proposal: Proposal, now: int) -> bool:
        missing = proposal.missing_slots(REQUIRED_SLOTS, now)
        return not missing or not self._checks.every_slot_answers

    def _decided(self, proposal: Proposal, now: int) -> Proposal:
        decision = Decision(id=str(uuid.uuid4()), time=now, grant=b"")
        if proposal.newest.level == Level.BILATERAL:
            envelopes = _valid_envelopes(proposal, now)
            until = min(given.expire_time for given in proposal.consents if given.slot in envelopes)
            grant = self._granter.grant(decision.id, proposal.newest, envelopes, until)
            decision = replace(decision, grant=grant)
        return replace(proposal, status=Status.APPROVED, decision=decision)


def terms_of(proposal: Proposal) -> Terms:
    """Return what a consent to the newest revision must name."""
    newest = proposal.newest
    return Terms(
        space=newest.space,
        proposal_id=newest.proposal_id,
        revision=newest.revision,
        proposal_digest=newest.digest,
        action_digest=newest.action_digest,
        etags=newest.etags,
        policy_digest=newest.policy_digest,
    )


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


def _is_void(proposal: Proposal, given: GivenConsent, genesis: GenesisRecord) -> bool:
    if given.revoked:
        return True
    terms, then = terms_of(proposal), given.receive_time
    try:
        verify_consent(given.envelope, genesis=genesis, terms=terms, now_us=then)
    except ConsentInvalid as error:
        return error.check == "signature"  # whatever else does not hold, graph refuses by its name
    return False


def _valid_envelopes(proposal: Proposal, now: int) -> dict[str, bytes]:
    return {
        given.slot: given.envelope
        for given in proposal.consents
        if not given.revoked and now < given.expire_time
    }


def _demand_unapplied(proposal: Proposal) -> None:
    """Refuse to take a consent back that may have had its effect, or can have none."""
    if is_applied(proposal) or proposal.status not in _UNAPPLIED:
        raise ProposalState(proposal.status.name)


def _given(proposal: Proposal, answer: Answer) -> GivenConsent:
    for given in proposal.consents:
        if (given.slot, given.nonce, given.revoked) == (answer.slot, answer.nonce, False):
            return given
    raise ConsentInvalid(answer.slot, "nonce")


def _consented(proposal: Proposal, consent: Consent, envelope: bytes) -> Entry:
    return entry_on(
        proposal,
        Action.SMF_APPROVE,
        Actor[consent.slot],
        consent.principal,
        slot=consent.slot,
        consent=json.loads(envelope),
    )


def _decision(proposal: Proposal) -> Entry:
    assert proposal.decision is not None  # noqa: S101 - just made
    envelopes: Mapping[str, bytes] = _valid_envelopes(proposal, proposal.decision.time)
    entry = entry_on(
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
    # graph has the new key with its write, and its feed may bring an envelope signed by it before
    # the EXECUTE entry comes
    key_action = dict(proposal.newest.action)
    return replace(entry, properties={**entry.properties, "key_action": key_action})


def _rejection(proposal: Proposal, answer: Answer, envelope: bytes) -> Entry:
    entry = entry_on(
        proposal,
        Action.SMF_REJECT,
        Actor[answer.slot],
        answer.principal,
        slot=answer.slot,
        envelope=json.loads(envelope),
    )
    return replace(entry, reason=answer.reason)
