"""Turns the events of a run into plain data."""

import grpc
from concord.dissonance.v1 import dialectic_pb2, review_pb2
from concord.graph.v1 import conflict_pb2

from concord_client.refusal import KIND_OF_REASON, Refused
from concord_client.verbs import dialectic_things as things
from concord_client.verbs.read_reply import name_of, time_of


def event(message: dialectic_pb2.DialecticEvent) -> things.Event:
    """An event before the end of a run."""
    return things.Event(
        message.number,
        message.run_id,
        name_of(dialectic_pb2.DialecticStage, message.stage),
        message.percent,
        tuple(_thesis(each) for each in message.theses.theses),
        _contradiction(message.contradiction) if message.HasField("contradiction") else None,
        _peer_review(message.review) if message.HasField("review") else None,
        _failed(message.failed_reviewer) if message.HasField("failed_reviewer") else None,
    )


def failure(message: dialectic_pb2.RunFailure) -> Refused:
    """The error of a failed run, as a refused call raises it."""
    kind = KIND_OF_REASON.get(message.reason, Refused)
    code = grpc.StatusCode.__members__.get(message.code, grpc.StatusCode.UNKNOWN)
    return kind(code, message.reason, message.message, metadata=message.metadata)


def synthesis(message: dialectic_pb2.DialecticEvent) -> things.Synthesis:
    """The synthesis that a run ends with."""
    found, done = message.done.synthesis, message.done
    return things.Synthesis(
        run_id=message.run_id,
        text=found.text,
        summary=found.summary,
        theses=tuple(_thesis(each) for each in found.theses),
        contradictions=tuple(_contradiction(each) for each in found.contradictions),
        ambiguities=tuple(
            things.Ambiguity(each.thesis_a, each.thesis_b, each.description)
            for each in found.ambiguities
        ),
        set_aside=tuple(_set_aside(each) for each in found.set_aside),
        is_complete=found.is_complete,
        confidence=found.confidence,
        reasoning=found.reasoning,
        language=found.language,
        is_by_model=found.method == dialectic_pb2.SYNTHESIS_METHOD_MODEL,
        degraded=found.degraded.detail,
        memory_id=found.kept.memory_id,
        amended_ids=tuple(found.kept.amended_ids),
        conflict_ids=tuple(found.kept.conflict_ids),
        review=_review(done.review) if done.HasField("review") else None,
    )


def review(message: dialectic_pb2.DialecticEvent) -> things.AnswerReview:
    """The review that a run ends with."""
    return _review(message.done.review)


def _thesis(message: dialectic_pb2.Thesis) -> things.Thesis:
    return things.Thesis(
        index=message.index,
        agent_source=message.agent_source,
        memory_id=message.memory_id,
        claim=message.claim,
        evidence=tuple(message.evidence),
        confidence=message.confidence,
        legal_basis=tuple(message.legal_basis),
        context=message.context,
        region=message.region,
        valid_from=time_of(message, "valid_from"),
        authority=message.authority if message.HasField("authority") else None,
        is_kept=message.is_kept,
    )


def _contradiction(message: dialectic_pb2.Contradiction) -> things.Contradiction:
    return things.Contradiction(
        thesis_a=message.thesis_a,
        thesis_b=message.thesis_b,
        type=name_of(conflict_pb2.ConflictType, message.type),
        severity=name_of(conflict_pb2.ConflictSeverity, message.severity),
        description=message.description,
        strategy=name_of(dialectic_pb2.ResolutionStrategy, message.strategy),
        potential_resolutions=tuple(message.potential_resolutions),
        confidence=message.confidence,
        prevailing=message.prevailing if message.HasField("prevailing") else None,
    )


def _set_aside(message: dialectic_pb2.SetAside) -> things.SetAside:
    reason = name_of(dialectic_pb2.SetAsideReason, message.reason)
    return things.SetAside(message.agent_source, message.text, reason)


def _review(message: review_pb2.AnswerReview) -> things.AnswerReview:
    return things.AnswerReview(
        _round(message.verdict),
        tuple(_round(each) for each in message.earlier_rounds),
        message.summary,
        tuple(message.warnings),
    )


def _round(message: review_pb2.ReviewRound) -> things.ReviewRound:
    return things.ReviewRound(
        answer=message.answer,
        status=name_of(review_pb2.ApprovalStatus, message.status),
        consensus_score=message.consensus_score,
        average_score=message.average_score,
        approval_rate=message.approval_rate,
        confidence=message.confidence,
        expected_count=message.expected_count,
        reviews=tuple(_peer_review(each) for each in message.reviews),
        failed=tuple(_failed(each) for each in message.failed),
        conflicts=tuple(
            things.ScoreConflict(
                each.criterion, each.reviewer_a, each.score_a, each.reviewer_b, each.score_b
            )
            for each in message.conflicts
        ),
        recommendations=tuple(message.recommendations),
    )


def _peer_review(message: review_pb2.PeerReview) -> things.PeerReview:
    return things.PeerReview(
        reviewer=message.reviewer.name,
        model=message.reviewer.model,
        round=message.round,
        scores=tuple(
            things.CriterionScore(each.criterion, each.score, each.comment)
            for each in message.scores
        ),
        weighted_score=message.weighted_score,
        strengths=tuple(message.strengths),
        weaknesses=tuple(message.weaknesses),
        recommendation=name_of(review_pb2.Recommendation, message.recommendation),
        comments=message.comments,
    )


def _failed(message: review_pb2.FailedReviewer) -> things.FailedReviewer:
    failure_name = name_of(review_pb2.ReviewerFailure, message.failure)
    return things.FailedReviewer(message.reviewer.name, message.round, failure_name, message.detail)
