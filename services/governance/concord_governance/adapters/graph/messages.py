"""Translates graph's messages into governance's values."""

from __future__ import annotations

from dataclasses import replace

from concord.graph.v1 import conflict_pb2, feed_pb2, governed_pb2
from concord.type.v1 import type_pb2
from concord_chassis.channel.feed import through_of

from concord_governance.domain.dissonance import Conflict
from concord_governance.domain.proposals import Effect
from concord_governance.ports.graph import FeedMessage, GraphEvent

_WHOLE = (feed_pb2.CHANGE_TYPE_SELECTION_ERASED,)
"""The type of a change that ends an erasure by selection, which is confirmed by its own id."""


def effects(done: governed_pb2.ApplyGovernedChangeResponse) -> tuple[Effect, ...]:
    """Return the effect on each item."""
    return tuple(
        Effect(
            each.id,
            int(each.kind),
            each.before_revision,
            each.after_revision,
            tuple(each.governed_revisions),
            each.cascaded,
        )
        for each in done.effects
    )


def conflict(found: conflict_pb2.Conflict) -> Conflict:
    """Return a conflict with its sides' ids and statements."""
    return Conflict(
        found.id,
        int(found.conflict_class),
        int(found.state),
        (found.first.statement, found.second.statement),
        (found.first.id, found.second.id),
    )


def feed_message(message: feed_pb2.WatchChangesResponse) -> FeedMessage:
    """Return the parts of a message of the feed that the audit log needs."""
    found = space_changes(message.changes, message.epoch)
    return replace(found, partition=message.partition, through=through_of(message))


def space_changes(found: feed_pb2.SpaceChanges, epoch: str) -> FeedMessage:
    """Return the parts of some changes of a space that the audit log needs."""
    changes = found.changes
    return FeedMessage(
        space=found.space,
        epoch=epoch,
        seq=changes[-1].seq if changes else 0,
        events=tuple(_event(change) for change in changes if change.HasField("attestation")),
        importing=bool(changes) and changes[-1].imported,
        first=changes[0].seq if changes else 0,
        change_digest=found.change_digest,
        previous_change_digest=found.previous_change_digest,
        erased=tuple(
            (each.item_id, each.type in _WHOLE or each.item_kind == type_pb2.ITEM_KIND_MEMORY)
            for each in changes
            if each.type in (feed_pb2.CHANGE_TYPE_ERASED, *_WHOLE)
        ),
    )


def _event(change: feed_pb2.Change) -> GraphEvent:
    attestation = change.attestation
    return GraphEvent(
        seq=change.seq,
        record_time=change.record_time.ToMicroseconds(),
        item_id=change.item_id,
        item_kind=int(change.item_kind),
        change_type=int(change.type),
        revision=change.revision,
        actor=type_pb2.PrincipalKind.Name(attestation.actor).removeprefix("PRINCIPAL_KIND_"),
        principal=attestation.principal,
        method=attestation.method,
        request_id=attestation.request_id,
        digest=change.digest,
        before_digest=attestation.before_digest,
        reason=attestation.reason,
        constitutive=attestation.constitutive,
        ends=dict(attestation.ends),
        imported=change.imported,
        restore_grant=change.restore_grant,
        revocation=change.revocation,
    )
