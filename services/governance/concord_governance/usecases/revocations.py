"""Records revocations of consents from graph's feed (V6, A1).

Graph burns a revoked consent's nonce, and the ledger takes each revocation from graph's feed alone:
so it has one entry, in graph's order, also after a crash between the two.
"""

from __future__ import annotations

import json
from dataclasses import replace

from concord_attestation.consent import Answer, of_slot
from concord_attestation.instants import format_time
from concord_attestation.verify import read_revocation

from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.domain.proposals import Json, Level, Proposal, Status
from concord_governance.ports.graph import GraphEvent
from concord_governance.ports.ledger import LedgerWrites
from concord_governance.usecases.ledger_commands import proposal_entry


async def apply_revocation(tx: LedgerWrites, event: GraphEvent) -> Entry:
    """Revoke the consent in the ledger, if it is there, and return the entry of its revocation.

    Graph verified the envelope when it burnt the nonce. If the ledger does not know the consent
    yet, no consent with this nonce will count.
    """
    answer = read_revocation(event.revocation)
    await tx.record_nonce(of_slot(answer.slot, answer.nonce))
    proposal = await tx.proposal(answer.proposal_id)
    if proposal is not None:
        await _revoke_consent(tx, proposal, answer)
    return _revocation_entry(event, answer, proposal)


def is_applied(proposal: Proposal) -> bool:
    """Return whether it is too late to revoke a consent to this proposal.

    For a BILATERAL proposal graph decides which came first, by burning the nonces. A proposal of
    level AGENT burns none, and so counts as applied once it is decided.
    """
    alone = proposal.status == Status.APPROVED and proposal.newest.level != Level.BILATERAL
    return alone or proposal.status in (Status.EXECUTED, Status.UNDONE)


async def _revoke_consent(tx: LedgerWrites, proposal: Proposal, answer: Answer) -> None:
    """Mark a consent as revoked, unless it was applied or is to an earlier revision."""
    if proposal.newest.revision != answer.revision or is_applied(proposal):
        return
    consents = tuple(
        replace(consent, revoked=True)
        if (consent.slot, consent.nonce) == (answer.slot, answer.nonce)
        else consent
        for consent in proposal.consents
    )
    if consents != proposal.consents:
        await tx.put(proposal, replace(proposal, consents=consents))


def _revocation_entry(event: GraphEvent, answer: Answer, proposal: Proposal | None) -> Entry:
    entry = Entry(Action.SMF_REVOKE, Actor[answer.slot])
    if proposal is not None:
        entry = proposal_entry(proposal, Action.SMF_REVOKE, Actor[answer.slot])
    evidence: dict[str, Json] = {
        "slot": answer.slot,
        "envelope": json.loads(event.revocation),
        "graph_seq": event.seq,
        "record_time": format_time(event.record_time),
        "request_id": event.request_id,
        "caller": event.principal,
    }
    return replace(
        entry,
        principal=answer.principal,
        proposal_id=answer.proposal_id,
        revision=answer.revision,
        reason=answer.reason,
        properties={**entry.properties, **evidence},
    )
