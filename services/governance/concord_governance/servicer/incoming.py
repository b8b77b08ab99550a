"""Translates requests into values. The contract's rules have checked their shapes before."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from concord.governance.v1 import audit_pb2, proposal_pb2
from concord_chassis.call.failure import Failure
from concord_chassis.call.identity import caller
from google.protobuf.message import Message
from grpc import StatusCode

from concord_governance.domain.entries import Action, Actor
from concord_governance.domain.proposals import Trigger
from concord_governance.ports.ledger import EntryFilter
from concord_governance.servicer.action_json import written
from concord_governance.usecases.ledger_commands import Caller, Request
from concord_governance.usecases.proposals import ProposalDraft


def author() -> Caller:
    """Return the caller, from the credential alone."""
    who = caller()
    return Caller(
        who.space,
        who.principal,
        Actor[who.kind],
        who.scopes,
        issuer=who.issuer,
        origin=who.origin,
        key_id=who.key_id,
    )


def request(message: Message) -> Request:
    """Return a write, with the method, request id and content digest by which it runs only once."""
    content = message.SerializeToString(deterministic=True)
    return Request(
        author(),
        method=message.DESCRIPTOR.name.removesuffix("Request"),
        request_id=message.request_id,  # type: ignore[attr-defined] # every write has one
        digest=sha256(content).hexdigest(),
        proposal_id=getattr(message, "proposal_id", ""),
    )


def draft(
    message: proposal_pb2.CreateProposalRequest | proposal_pb2.ReviseProposalRequest,
) -> ProposalDraft:
    """Return the draft of a proposal."""
    try:
        action, digest = written(message.action)
    except ValueError:
        raise Failure(
            StatusCode.INVALID_ARGUMENT,
            "ERROR_REASON_FIELD_INVALID",
            "The action has no JSON form.",
        ) from None
    return ProposalDraft(
        action=action,
        action_digest=digest,
        note=message.note.strip(),
        language=message.language or "en",
    )


def caused_draft(message: proposal_pb2.CreateProposalRequest) -> ProposalDraft:
    """Return the draft of a proposal, with its trigger and session."""
    trigger = Trigger(int(message.trigger)) if message.trigger else Trigger.MANUAL
    return replace(draft(message), trigger=trigger, session_id=message.session_id)


def entry_filter(message: audit_pb2.ListAuditEntriesRequest) -> EntryFilter:
    """Return the filter of the requested entries."""
    return EntryFilter(
        item_id=message.item_id,
        actions=tuple(Action(int(action)) for action in message.actions),
        actor=Actor(int(message.actor)) if message.actor else None,
        since=message.since.ToMicroseconds() if message.HasField("since") else None,
        until=message.until.ToMicroseconds() if message.HasField("until") else None,
    )
