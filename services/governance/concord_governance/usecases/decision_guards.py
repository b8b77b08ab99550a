"""The guards of every decision: each refuses one way around the two consents (V4, V6, V8).

`tests/adversary/test_governance_guards.py` switches each of them off in turn and shows the harm
that follows. There the check for missing consents (`has_every_consent`) is "every required slot".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from concord_attestation.consent import ConsentInvalid, GenesisRecord, Terms, of_slot
from concord_attestation.verify import verify_consent

from concord_governance.domain.entries import Action
from concord_governance.domain.errors import (
    GenesisExists,
    GenesisMissing,
    KeysChanging,
    NotProposer,
    ProposalState,
    RetentionExpired,
    RevisionStale,
    SlotNotRequired,
    UndoImpossible,
)
from concord_governance.domain.proposals import OPEN, GivenConsent, Kind, Level, Proposal, Status
from concord_governance.domain.safeguards import REQUIRED_SLOTS
from concord_governance.ports.ledger import EntryFilter, LedgerReads
from concord_governance.usecases.ledger_commands import existing


@dataclass(frozen=True, slots=True)
class LoggedKeys:
    """The principals' keys in graph, and the ledger's state when they were read.

    `changes`: the number of key changes in the ledger; `imported_seq`: the change of an import that
    is not in the log yet (0: none).
    """

    genesis: GenesisRecord
    changes: int
    imported_seq: int = 0


async def demand_settled_keys(tx: LedgerReads, keys: LoggedKeys) -> None:
    """Refuse to judge an envelope while graph's keys differ from those of the log.

    Graph has a new key before the change's EXECUTE entry is in the log. In between, an envelope by
    the new key would come before the entry that introduces it, and one by the old key after that.

    Raises:
        KeysChanging: the caller may send the same request again, once the log has the keys.
    """
    if (await tx.feed_cursor()).seq < keys.imported_seq:
        raise KeysChanging("what came with the space's import is not in the log yet")
    decided = await tx.undecided_effects()
    pending = any(each.newest.kind == Kind.CHANGE_KEY for each in decided)
    if pending or await tx.key_changes() != keys.changes:
        raise KeysChanging("a key is being changed")


async def pending_proposal(tx: LedgerReads, proposal_id: str, now: int) -> Proposal:
    """Return a proposal that waits for answers; an expiry counts even if not recorded (V4).

    Raises:
        ProposalState: it waits for none.
    """
    stored = await existing(tx, proposal_id)
    demand_in_time(stored, now)
    if stored.status != Status.PENDING:
        raise ProposalState(stored.status.name)
    return stored


async def demand_no_genesis(tx: LedgerReads, *, in_graph: bool) -> None:
    """Refuse to settle by an access key where principals can sign (V5, V6).

    `in_graph`: whether graph had the genesis before this transaction, which the log learns later.

    Raises:
        GenesisExists: the space has its genesis, made here or imported.
    """
    began = EntryFilter(actions=(Action.GENESIS, Action.IMPORT))
    if in_graph or await tx.entries(began, await tx.log_size(), 1):
        raise GenesisExists(
            "the space has its genesis, so signed consents decide this proposal: "
            "`concord approve N --as agent|human`"
        )


def demand_descriptive(proposal: Proposal) -> None:
    """Refuse to settle by an access key what both principals must agree to (V5).

    Raises:
        GenesisMissing: the proposal needs both consents, which the space cannot give yet.
    """
    if proposal.newest.level != Level.AGENT:
        raise GenesisMissing(
            "this proposal is about something constitutive, and the space has no genesis yet: "
            "`concord principal enrol` makes it, then both principals consent"
        )


def demand_revision(proposal: Proposal, revision: int) -> None:
    """Refuse to settle another revision than the one that was read.

    Raises:
        RevisionStale: the proposal has a newer one.
    """
    if proposal.newest.revision != revision:
        raise RevisionStale("another revision is the newest")


def demand_in_time(proposal: Proposal, now: int) -> None:
    """Refuse an answer after the proposal's expiry, even if that is not recorded yet (V4).

    Raises:
        ProposalState: the proposal has expired.
    """
    if proposal.is_expired(now):
        raise ProposalState(Status.EXPIRED.name)


def demand_required_slot(proposal: Proposal, slot: str) -> None:
    """Refuse the answer of a slot that the proposal does not need.

    Raises:
        SlotNotRequired: the proposal's level does not ask this slot.
    """
    if slot not in REQUIRED_SLOTS[proposal.newest.level]:
        raise SlotNotRequired(f"this proposal asks no consent of {slot}")


def demand_current_policy(proposal: Proposal, slot: str, policy_digest: str) -> None:
    """Refuse a consent to a revision that was made under other rules than the current ones.

    Raises:
        ConsentInvalid: its check is `policy_digest`.
    """
    if proposal.newest.policy_digest != policy_digest:
        raise ConsentInvalid(slot, "policy_digest")


async def demand_fresh_nonce(tx: LedgerReads, slot: str, nonce: str) -> None:
    """Refuse an envelope whose nonce the ledger knows: it was used before.

    Raises:
        ConsentInvalid: its check is `nonce`.
    """
    if await tx.nonce_is_recorded(nonce):
        raise ConsentInvalid(slot, "nonce")


async def demand_unrevoked(tx: LedgerReads, slot: str, nonce: str) -> None:
    """Refuse a consent that its slot has revoked: graph has burnt its nonce.

    Raises:
        ConsentInvalid: its check is `nonce`.
    """
    if await tx.nonce_is_recorded(of_slot(slot, nonce)):
        raise ConsentInvalid(slot, "nonce")


def demand_open_and_own(proposal: Proposal, principal: str) -> None:
    """Refuse to revise or withdraw a proposal that has ended, or another principal's.

    Raises:
        ProposalState, NotProposer.
    """
    if proposal.status not in OPEN:
        raise ProposalState(proposal.status.name)
    if proposal.newest.proposer != principal:
        raise NotProposer("only its proposer may do this")


def demand_executed(original: Proposal) -> None:
    """Refuse to undo a proposal that is not executed, or already undone (V8).

    Raises:
        UndoImpossible: the message has the proposal's status.
    """
    if original.status != Status.EXECUTED:
        raise UndoImpossible(f"the proposal is {original.status.name}, not EXECUTED")


def demand_undo_window(original: Proposal, now: int) -> None:
    """Refuse an undo after the retention of the change (V8).

    Raises:
        RetentionExpired: the change can no longer be undone.
    """
    if now >= (original.undo_until or 0):
        raise RetentionExpired("the time to undo it is over")


async def demand_undoable(tx: LedgerReads, proposal: Proposal, now: int) -> None:
    """Refuse an undo after the retention, or after another undo of the same change (V8)."""
    if not proposal.newest.undo_of:
        return
    original = await existing(tx, proposal.newest.undo_of)
    demand_executed(original)
    demand_undo_window(original, now)


def keys_for(proposal: Proposal, genesis: GenesisRecord) -> GenesisRecord:
    """Return the keys whose consents to a proposal count: a retired key's only to its own end.

    After the restore of a backup from before a change of key, the replaced key is current again and
    its slot closed. It consents to nothing but the change to its successor, and graph refuses to
    preview or apply any other change of a key there.
    """
    return genesis.changing_key() if proposal.newest.kind == Kind.CHANGE_KEY else genesis


def by_current_keys(proposal: Proposal, genesis: GenesisRecord) -> Proposal:
    """Return a proposal with those consents revoked that a slot's former key signed.

    Each consent was verified when it came; since then only the key can have changed.
    """
    judged = [
        replace(given, revoked=given.revoked or _is_of_old_key(proposal, given, genesis))
        for given in proposal.consents
    ]
    return replace(proposal, consents=tuple(judged))


def has_every_consent(proposal: Proposal, now: int) -> bool:
    """Return whether every required slot has given a consent that is valid now."""
    return not proposal.missing_slots(REQUIRED_SLOTS, now)


def terms_of(proposal: Proposal) -> Terms:
    """Return the terms that a consent to the newest revision must name."""
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


def _is_of_old_key(proposal: Proposal, given: GivenConsent, genesis: GenesisRecord) -> bool:
    terms, then = terms_of(proposal), given.receive_time
    try:
        verify_consent(given.envelope, genesis=genesis, terms=terms, now_us=then)
    except ConsentInvalid as error:
        return error.check == "signature"  # any other failed check is left to graph, which names it
    return False
