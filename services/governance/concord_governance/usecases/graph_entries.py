"""The log's entries of graph's events (A1)."""

from __future__ import annotations

from concord_attestation.instants import format_time

from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.domain.proposals import Json
from concord_governance.ports.graph import GraphEvent
from concord_governance.usecases.imports import REFUSED

DELETED = 3
ERASED = 8
SELECTION_ERASED = 13
_ENROL = "EnrolPrincipals"


def entry_of(event: GraphEvent) -> Entry:
    """Return the log's entry for an allowed or refused write to a constitutive item, or for an
    erasure by selection."""
    blocked = event.change_type == REFUSED
    removed = event.change_type in (DELETED, ERASED)
    deletes = removed or event.method.startswith(("Delete", "Forget", "Erase"))
    if blocked:
        action = Action.DELETE_ATTEMPT if deletes else Action.WRITE_ATTEMPT
    elif event.change_type == SELECTION_ERASED:
        action = Action.SELECTION_ERASED
    elif event.method == _ENROL:
        action = Action.GENESIS
    else:
        action = Action.DELETE_SUCCESS if deletes else Action.WRITE_SUCCESS
    evidence: dict[str, Json] = {
        "graph_seq": event.seq,
        "record_time": format_time(event.record_time),
        "revision": event.revision,
        "method": event.method,
        "request_id": event.request_id,
        "digest": event.digest,
        "before_digest": event.before_digest,
    }
    if event.constitutive:
        evidence["ends"] = dict(event.ends)
    return Entry(
        action=action,
        actor=_actor(event.actor, blocked=blocked),
        principal=event.principal,
        item_id=event.item_id,
        item_kind=event.item_kind,
        blocked=blocked,
        reason=event.reason,
        properties=evidence,
    )


def _actor(kind: str, *, blocked: bool) -> Actor:
    """Return an event's actor.

    An event from before the feed named actors gets AGENT if it was refused, else SYSTEM.
    """
    if kind in Actor.__members__:
        return Actor[kind]
    return Actor.AGENT if blocked else Actor.SYSTEM
