"""Translates results into replies."""

from collections.abc import Mapping
from typing import Any

from concord.dissonance.v1 import dissonance_pb2 as pb
from concord.graph.v1 import conflict_pb2
from concord.type.v1 import type_pb2
from concord_reading.tokens import Span

from concord_dissonance.clients.graph.messages import add_verdict, enum_number, span
from concord_dissonance.domain.sides import Kind
from concord_dissonance.domain.statements import Coverage, Statement
from concord_dissonance.domain.verdicts import (
    Abstention,
    ConflictClass,
    Judge,
    Older,
    Verdict,
)
from concord_dissonance.ports.actions import Decided
from concord_dissonance.ports.calls import PRINCIPAL
from concord_dissonance.usecases.check import CheckAnswer
from concord_dissonance.usecases.detect import Summary
from concord_dissonance.usecases.end_session import Ended
from concord_dissonance.usecases.record import Found, Tally, tally
from concord_dissonance.usecases.reviews import Proposed

SHOWN_CHARACTERS = 500


def verdict(said: Verdict | Abstention) -> pb.Verdict:
    """A verdict on a pair."""
    if isinstance(said, Abstention):
        return pb.Verdict(abstention=said.reason.name)
    message = pb.Verdict(
        confidence=said.confidence,
        first_spans=map(span, said.first),
        second_spans=map(span, said.second),
        rule=said.reason.rule,
    )
    add_verdict(message, said)
    if said.conflict is not ConflictClass.NONE:
        message.conflict_class = enum_number(conflict_pb2, "CONFLICT_CLASS", said.conflict)
        message.unsure = not said.is_finding
    if said.older is not Older.NEITHER:
        message.older = 1 if said.older is Older.FIRST else 2
    return message


def check(answer: CheckAnswer) -> pb.CheckDissonanceResponse:
    """The result of a check around a node."""
    status = status_of(answer.coverage)
    if answer.is_insufficient:
        status = pb.CHECK_STATUS_INSUFFICIENT_DATA
    return pb.CheckDissonanceResponse(
        status=status,
        conflicts=map(conflict, answer.found),
        earlier_conflict_ids=answer.earlier_ids,
        coverage=coverage(answer.coverage),
        token=answer.token,
        node_status=(
            type_pb2.LOOKUP_STATUS_FOUND
            if answer.is_node_known
            else type_pb2.LOOKUP_STATUS_NOT_FOUND
        ),
        rules=rules(tally(answer.found)),
    )


def event(said: pb.CheckProgress | Found | Summary) -> pb.DetectContradictionsResponse:
    """One message of a check of the space."""
    match said:
        case pb.CheckProgress():
            return pb.DetectContradictionsResponse(progress=said)
        case Found():
            return pb.DetectContradictionsResponse(conflict=conflict(said))
    summary = pb.CheckSummary(
        status=status_of(said.coverage),
        coverage=coverage(said.coverage),
        findings=said.findings,
        token=said.token,
        rules=rules(said.rules),
    )
    return pb.DetectContradictionsResponse(summary=summary)


def rules(found: Tally) -> list[pb.RuleFindings]:
    """The findings by rule, the rule with the most first."""
    made = [
        pb.RuleFindings(
            rule=rule,
            found_count=found[rule, True] + found[rule, False],
            recorded_count=found[rule, True],
        )
        for rule in {rule for rule, _ in found}
    ]
    return sorted(made, key=lambda each: (-each.found_count, each.rule))


def status_of(covered: Coverage) -> pb.CheckStatus.ValueType:
    """The status of a check."""
    return pb.CHECK_STATUS_DEGRADED if covered.is_degraded else pb.CHECK_STATUS_COMPLETE


def coverage(covered: Coverage) -> pb.Coverage:
    """The coverage of a check."""
    return pb.Coverage(
        statements=covered.statements,
        candidates=covered.candidates,
        judged=covered.judged,
        abstained=covered.abstained,
        skipped=covered.skipped,
        judged_by=covered.judged_by,
        recorded=covered.recorded,
        model_calls=covered.model_calls,
        model_tokens=covered.model_tokens,
        model_micros=covered.model_micros,
        unrecorded=covered.unrecorded,
    )


def conflict(found: Found) -> conflict_pb2.Conflict:
    """A finding as a conflict; without an id if it was not recorded."""
    said, recorded = found.finding.verdict, found.recorded
    message = conflict_pb2.Conflict(
        first=_side(found.finding.first, said.first if said else ()),
        second=_side(found.finding.second, said.second if said else ()),
        conflict_class=conflict_pb2.CONFLICT_CLASS_UNDECIDED,
        state=conflict_pb2.CONFLICT_STATE_POTENTIAL,
        confidence=found.finding.confidence,
        judge=conflict_pb2.JUDGE_OVERLAP,
        rule=found.finding.rule,
        author=PRINCIPAL,
        is_text_finding=found.finding.is_of_text,
    )
    if recorded is not None and found.is_recorded:
        message.id = recorded.conflict_id
        message.state = recorded.state
        message.number = recorded.number
        message.run_id = recorded.run_id
        message.group_id = found.finding.group_id
        message.is_text_finding &= recorded.state == conflict_pb2.CONFLICT_STATE_POTENTIAL
    if said is None:
        return message
    message.conflict_class = enum_number(conflict_pb2, "CONFLICT_CLASS", said.conflict)
    add_verdict(message, said)
    if said.older is not Older.NEITHER:
        older = found.finding.first if said.older is Older.FIRST else found.finding.second
        message.older_id = older.id
    return message


def _side(said: Statement, spans: tuple[Span, ...]) -> conflict_pb2.ConflictSide:
    side = said.side
    is_edge = side.kind is Kind.EDGE
    words = side.text[:SHOWN_CHARACTERS]
    if side.fact is not None:
        words = f"{side.fact.subject} {side.fact.relation} {side.fact.object}"
    return conflict_pb2.ConflictSide(
        id=side.id,
        kind=type_pb2.ITEM_KIND_EDGE if is_edge else type_pb2.ITEM_KIND_MEMORY,
        etag=said.etag,
        statement=words,
        edge_type=(
            type_pb2.EDGE_TYPE_CONSTITUTIVE
            if side.is_constitutive
            else type_pb2.EDGE_TYPE_DESCRIPTIVE
        ),
        spans=map(span, spans),
    )


def ended(found: Ended) -> pb.EndSessionResponse:
    """The findings and recurring facts of an ended session."""
    return pb.EndSessionResponse(
        session=found.session,
        status=status_of(found.check.coverage),
        conflicts=map(conflict, found.check.found),
        coverage=coverage(found.check.coverage),
        recurring=found.recurring,
        token=found.token,
    )


def judges(states: Mapping[Judge, pb.JudgeStatus], unread: int | None) -> pb.ListJudgesResponse:
    """The judges, and whether they answer: those that need no model always do."""
    reply = pb.ListJudgesResponse(unread_texts=unread)
    for judge in (Judge.STRUCTURAL, Judge.LEXICAL, *states):
        said = reply.judges.add(
            judge=enum_number(conflict_pb2, "JUDGE", judge), state=pb.JUDGE_STATE_READY
        )
        if judge in states:
            said.MergeFrom(states[judge])
    return reply


def outcome(found: Decided | Proposed) -> dict[str, Any]:
    """The fields of a reply to a decision; those of graph's replies have the same names."""
    if isinstance(found, Proposed):
        proposal = found.proposal
        return {
            "conflict": found.conflict,
            "proposal_id": proposal.id,
            "proposal_number": proposal.number,
        }
    return {field.name: value for field, value in found.ListFields()}
