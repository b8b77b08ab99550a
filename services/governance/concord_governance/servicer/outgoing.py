"""Translates values into replies."""

from __future__ import annotations

import json
from dataclasses import asdict

from concord.governance.v1 import audit_pb2, proposal_pb2
from concord.graph.v1 import governed_pb2
from concord.type.v1 import type_pb2
from concord_attestation.consent import SlotKeys
from concord_attestation.instants import parse_time
from google.protobuf.json_format import ParseDict
from google.protobuf.timestamp_pb2 import Timestamp

from concord_governance.domain.actions import conflict_of
from concord_governance.domain.dissonance import Conflict
from concord_governance.domain.entries import Action, Actor
from concord_governance.domain.proposals import GivenConsent, Proposal
from concord_governance.ports.ledger import Leaf
from concord_governance.usecases.proposal_reads import Briefing, Waiting

LINE_CHARACTERS = 120
"""Characters of each side of a conflict in a line of the briefing."""


def stamp(time: int | None) -> Timestamp | None:
    """Return microseconds since 1970 as a Timestamp; None for none."""
    if time is None:
        return None
    found = Timestamp()
    found.FromMicroseconds(time)
    return found


def slot(name: str) -> type_pb2.Slot.ValueType:
    """Return the contract's value of "AGENT" or "HUMAN"."""
    return type_pb2.Slot.Value(f"SLOT_{name}")


def proposal(found: Proposal, summary: str = "") -> proposal_pb2.Proposal:
    """Return a proposal in its present state, in a list with its summary."""
    newest = found.newest
    reply = proposal_pb2.Proposal(
        id=found.id,
        number=newest.number,
        revision=newest.revision,
        status=int(found.status),  # type: ignore[arg-type] # numbers are the contract's
        kind=int(newest.kind),  # type: ignore[arg-type]
        approval_level=int(newest.level),  # type: ignore[arg-type]
        trigger=int(newest.trigger),  # type: ignore[arg-type]
        proposer=newest.proposer,
        framing_check=int(newest.framing_check),  # type: ignore[arg-type]
        affected=[governed_pb2.AffectedItem(**asdict(item)) for item in newest.affected],
        canonical=newest.canonical,
        digest=newest.digest,
        action_digest=newest.action_digest,
        policy_digest=newest.policy_digest,
        consents=[_consent(given) for given in found.consents],
        create_time=stamp(found.create_time),
        expire_time=stamp(newest.expire_time),
        resolve_time=stamp(found.resolve_time),
        undo_until=stamp(found.undo_until),
        resolved_by=found.resolved_by,
        resolution=found.resolution,
        undo_of=newest.undo_of,
        undone_by=found.undone_by,
        orphaned_ids=found.orphaned,
        cascaded_count=newest.cascaded_count,
        irreversible=newest.irreversible,
        session_id=newest.session_id,
        summary=summary,
    )
    if found.failure is not None:
        reply.failure_reason = found.failure.reason
        reply.failed_check = found.failure.check
        if found.failure.slot:
            reply.failed_slot = slot(found.failure.slot)
    if newest.canonical:  # else its words were erased
        reply.note = newest.note
        reply.action.CopyFrom(ParseDict(dict(newest.action), governed_pb2.GovernedAction()))
        reply.framing.CopyFrom(proposal_pb2.Framing(**asdict(newest.framing)))
    return reply


def slot_key(name: str, holder: SlotKeys) -> governed_pb2.SlotKey:
    """Return who fills a slot, with all of its keys."""
    return governed_pb2.SlotKey(
        slot=slot(name),
        principal=holder.principal,
        public_key=holder.keys[0].public_key,
        successor_digests=holder.successors,
        keys=[
            governed_pb2.PrincipalKey(
                public_key=key.public_key, label=key.label, successor_digests=key.successors
            )
            for key in holder.keys
        ],
    )


def _consent(given: GivenConsent) -> proposal_pb2.Consent:
    return proposal_pb2.Consent(
        slot=slot(given.slot),
        principal=given.principal,
        receive_time=stamp(given.receive_time),
        expire_time=stamp(given.expire_time),
        revoked=given.revoked,
    )


def briefing(found: Briefing) -> proposal_pb2.GetBriefingResponse:
    """Return the waiting proposals and reviews and the open conflicts, a line each."""
    return proposal_pb2.GetBriefingResponse(
        proposals=_lines(found.proposals),
        pending_count=found.proposals.count,
        graph_rolled_back=found.rolled_back,
        reviews=_lines(found.reviews),
        review_count=found.reviews.count,
        conflicts=[_conflict_line(each) for each in found.conflicts.newest],
        potential_count=found.conflicts.potential,
        confirmed_count=found.conflicts.confirmed,
        too_many_spaces=found.too_many_spaces,
    )


def _lines(found: Waiting) -> list[proposal_pb2.BriefingLine]:
    return [
        proposal_pb2.BriefingLine(
            number=waiting.newest.number,
            proposal_id=waiting.id,
            kind=int(waiting.newest.kind),  # type: ignore[arg-type]
            approval_level=int(waiting.newest.level),  # type: ignore[arg-type]
            missing_slots=map(slot, missing),
            summary=summary,
            expire_time=stamp(waiting.newest.expire_time),
            conflict_id=conflict_of(waiting.newest.action),
        )
        for waiting, missing, summary in found.lines
    ]


def _conflict_line(found: Conflict) -> proposal_pb2.ConflictLine:
    first, second = (" ".join(each.split())[:LINE_CHARACTERS] for each in found.statements)
    return proposal_pb2.ConflictLine(
        conflict_id=found.id,
        conflict_class=found.conflict_class,  # type: ignore[arg-type]
        state=found.state,  # type: ignore[arg-type]
        first_statement=first,
        second_statement=second,
    )


def entry(leaf: Leaf) -> audit_pb2.AuditEntry:
    """Return an entry, read from its leaf."""
    document = json.loads(leaf.data)
    recorded = document["properties"].get("record_time")
    return audit_pb2.AuditEntry(
        index=leaf.index,
        time=stamp(leaf.time),
        action=int(Action[document["action"]]),  # type: ignore[arg-type]
        actor=int(Actor[document["actor"]]),  # type: ignore[arg-type]
        principal=document["principal"],
        item_id=document["item"]["id"],
        proposal_id=document["proposal"]["id"],
        blocked=document["blocked"],
        reason=document["reason"],
        leaf=leaf.data,
        record_time=stamp(parse_time(recorded)) if recorded else None,
    )
