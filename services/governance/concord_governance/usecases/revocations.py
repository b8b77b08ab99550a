"""A consent that was taken back: graph burnt its nonce, and tells of it (V6, A1).

However graph was asked, by governance or at its own door, its outbox is what the ledger learns it
from: one revocation is one entry, in graph's own order, and no crash comes between the two.
"""

from __future__ import annotations

import json
from dataclasses import replace

from concord_attestation.consent import Answer, of_slot
from concord_attestation.instants import format_time
from concord_attestation.verify import read_revocation

from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.domain.proposals import Json, Level, Proposal, Status
from concord_governance.ports import LedgerWrites, Noted
from concord_governance.usecases.ledger_commands import entry_on


async def take_back(tx: LedgerWrites, noted: Noted) -> Entry:
    """Take the consent back in the ledger, if it is there, and return the entry that tells of it.

    Graph verified the paper when it burnt the nonce. What it names may be no consent that the
    ledger knows: then none with this nonce will count.
    """
    answer = read_revocation(noted.revocation)
    await tx.keep_nonce(of_slot(answer.slot, answer.nonce))
    proposal = await tx.proposal(answer.proposal_id)
    if proposal is not None:
        await _without(tx, proposal, answer)
    return _entry(noted, answer, proposal)


def is_applied(proposal: Proposal) -> bool:
    """Return whether it is too late to take a consent to it back.

    Graph settles which came first for what needs a grant: it burns the nonces of one. What the
    agent decides alone burns none, so it is applied, for this, once it is decided.
    """
    alone = proposal.status == Status.APPROVED and proposal.newest.level != Level.BILATERAL
    return alone or proposal.status in (Status.EXECUTED, Status.UNDONE)


async def _without(tx: LedgerWrites, proposal: Proposal, answer: Answer) -> None:
    """Mark the consent as revoked, unless it had its effect or is one to an earlier revision."""
    if proposal.newest.revision != answer.revision or is_applied(proposal):
        return
    consents = tuple(
        replace(given, revoked=True)
        if (given.slot, given.nonce) == (answer.slot, answer.nonce)
        else given
        for given in proposal.consents
    )
    if consents != proposal.consents:
        await tx.put(proposal, replace(proposal, consents=consents))


def _entry(noted: Noted, answer: Answer, proposal: Proposal | None) -> Entry:
    told = Entry(Action.SMF_REVOKE, Actor[answer.slot])
    if proposal is not None:
        told = entry_on(proposal, Action.SMF_REVOKE, Actor[answer.slot])
    evidence: dict[str, Json] = {
        "slot": answer.slot,
        "envelope": json.loads(noted.revocation),
        "graph_seq": noted.seq,
        "record_time": format_time(noted.record_time),
        "request_id": noted.request_id,
        "caller": noted.principal,
    }
    return replace(
        told,
        principal=answer.principal,
        proposal_id=answer.proposal_id,
        revision=answer.revision,
        reason=answer.reason,
        properties={**told.properties, **evidence},
    )
