"""Translates findings into conflicts, and conflicts into replies."""

from __future__ import annotations

from dataclasses import replace

from concord.graph.v1 import conflict_pb2

from concord_graph.domain.conflicts import (
    Conflict,
    ConflictClass,
    ConflictSeverity,
    ConflictType,
    Decision,
    Judge,
    Resolution,
    Review,
    Side,
)
from concord_graph.domain.digests import etag
from concord_graph.domain.errors import FieldInvalid
from concord_graph.domain.items import EdgeType, ItemKind, is_erased
from concord_graph.ports import Recorded
from concord_graph.servicer import outgoing
from concord_graph.usecases.read.conflicts import ShownConflict, ShownSide
from concord_graph.usecases.read.shown import statement

MOST_CHARACTERS = 500


def findings(request: conflict_pb2.RecordConflictsRequest) -> list[Conflict]:
    """Return the judges' findings of a request."""
    return [
        replace(
            _finding(each, f"findings[{place}]"),
            run_id=request.run_id,
            session_id=request.session_id,
        )
        for place, each in enumerate(request.findings)
    ]


def _finding(message: conflict_pb2.Finding, field: str) -> Conflict:
    """Return a judge's finding; its sides are GHOST, as their kinds are not known yet."""
    sides = [
        Side(message.first_id, ItemKind.GHOST, message.first_etag, _spans(message.first_spans)),
        Side(message.second_id, ItemKind.GHOST, message.second_etag, _spans(message.second_spans)),
    ]
    if any(start >= end for side in sides for start, end in side.spans):
        raise FieldInvalid(f"{field}.first_spans", "a span ends behind its start")
    first, second = sorted(sides, key=lambda side: side.id)
    return Conflict(
        first=first,
        second=second,
        conflict_class=ConflictClass(message.conflict_class),
        judge=Judge(message.judge),
        author="",
        older_id=message.older_id,
        type=ConflictType(message.type),
        severity=ConflictSeverity(message.severity),
        confidence=message.confidence,
        rule=message.rule,
        group_id=message.group_id,
        judges_version=message.judges_version,
    )


def review(request: conflict_pb2.ReviewConflictRequest) -> Review:
    """Return the decision of a review."""
    return Review(
        decision=Decision(request.decision),
        context=request.context,
        conflict_class=ConflictClass(request.conflict_class) if request.conflict_class else None,
        older_id=request.older_id,
    )


def recorded(finding_: Recorded) -> conflict_pb2.RecordedFinding:
    """Return a finding's outcome."""
    return conflict_pb2.RecordedFinding(
        outcome=int(finding_.outcome),  # type: ignore[arg-type] # numbers are the contract's
        conflict_id=finding_.conflict_id,
        state=int(finding_.state or 0),  # type: ignore[arg-type] # numbers are the contract's
        run_id=finding_.run_id,
        number=finding_.number,
    )


def conflict(shown: ShownConflict) -> conflict_pb2.Conflict:
    """Return a conflict with both sides."""
    known, entry = shown.conflict, shown.entry
    return conflict_pb2.Conflict(
        id=entry.id,
        first=_side(shown.first, shown.valid),
        second=_side(shown.second, shown.valid),
        conflict_class=int(known.conflict_class),  # type: ignore[arg-type] # the contract's
        state=int(known.state),  # type: ignore[arg-type] # numbers are the contract's
        older_id=known.older_id,
        type=int(known.type),  # type: ignore[arg-type] # numbers are the contract's
        severity=int(known.severity),  # type: ignore[arg-type] # numbers are the contract's
        confidence=known.confidence,
        judge=int(known.judge),  # type: ignore[arg-type] # numbers are the contract's
        rule=known.rule,
        author=known.author,
        reviewed_by=known.reviewed_by,
        context=known.context,
        resolution=_resolution(known.resolution) if known.resolution else None,
        contradicts_id=known.contradicts_id,
        create_time=outgoing.stamp(entry.create_time),
        modify_time=outgoing.stamp(entry.revision.record_from),
        etag=etag(entry),
        run_id=known.run_id,
        is_text_finding=known.is_text_finding,
        group_id=known.group_id,
        session_id=known.session_id,
        judges_version=known.judges_version,
        number=entry.rank,
    )


def _side(shown: ShownSide, valid: int) -> conflict_pb2.ConflictSide:
    side, view = shown.side, shown.view
    message = conflict_pb2.ConflictSide(
        id=side.id,
        kind=int(side.kind),  # type: ignore[arg-type] # numbers are the contract's
        etag=side.etag,
        spans=[conflict_pb2.Span(start=start, end=end) for start, end in side.spans]
        if shown.is_as_judged
        else (),
        sources=map(outgoing.source, shown.sources),
    )
    if view is None:
        return message
    item = view.item
    message.is_deleted = item.deleted
    message.edge_type = int(getattr(item, "edge_type", EdgeType.DESCRIPTIVE))  # type: ignore[assignment]
    outgoing.fill_supersession(message.supersession, view.supersession, valid)
    if not is_erased(item):
        message.statement = statement(view, MOST_CHARACTERS)[:MOST_CHARACTERS]
    return message


def _resolution(resolution: Resolution) -> conflict_pb2.Resolution:
    return conflict_pb2.Resolution(
        resolution_type=int(resolution.resolution_type),  # type: ignore[arg-type] # the contract's
        superseded_id=resolution.superseded_id,
        superseding_id=resolution.superseding_id,
        context=resolution.context,
        resolve_time=outgoing.stamp(resolution.time),
        resolved_by=resolution.by,
        record_id=resolution.record_id,
    )


def _spans(spans: object) -> tuple[tuple[int, int], ...]:
    return tuple((span.start, span.end) for span in spans)  # type: ignore[attr-defined]
