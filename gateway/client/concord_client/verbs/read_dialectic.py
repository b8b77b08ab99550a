"""From the events of a run to plain data."""

import grpc
from concord.dissonance.v1 import dialectic_pb2, review_pb2
from concord.graph.v1 import conflict_pb2

from concord_client.refusal import KIND_OF_REASON, Refused
from concord_client.verbs import dialectic_things as things
from concord_client.verbs.read_reply import name_of, time_of


def event(told: dialectic_pb2.DialecticEvent) -> things.Event:
    """An event that ends nothing."""
    return things.Event(
        told.number,
        told.run_id,
        name_of(dialectic_pb2.DialecticStage, told.stage),
        told.percent,
        tuple(_thesis(each) for each in told.theses.theses),
        _contradiction(told.contradiction) if told.HasField("contradiction") else None,
        _peer_review(told.review) if told.HasField("review") else None,
        _failed(told.failed_reviewer) if told.HasField("failed_reviewer") else None,
    )


def failure(told: dialectic_pb2.RunFailure) -> Refused:
    """Why a run failed, as a failed call says it."""
    kind = KIND_OF_REASON.get(told.reason, Refused)
    code = grpc.StatusCode.__members__.get(told.code, grpc.StatusCode.UNKNOWN)
    return kind(code, told.reason, told.message, metadata=told.metadata)


def synthesis(told: dialectic_pb2.DialecticEvent) -> things.Synthesis:
    """The synthesis that a run ends with."""
    found, done = told.done.synthesis, told.done
    return things.Synthesis(
        run_id=told.run_id,
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


def review(told: dialectic_pb2.DialecticEvent) -> things.AnswerReview:
    """The review that a run ends with."""
    return _review(told.done.review)


def _thesis(told: dialectic_pb2.Thesis) -> things.Thesis:
    return things.Thesis(
        index=told.index,
        agent_source=told.agent_source,
        memory_id=told.memory_id,
        claim=told.claim,
        evidence=tuple(told.evidence),
        confidence=told.confidence,
        legal_basis=tuple(told.legal_basis),
        context=told.context,
        region=told.region,
        valid_from=time_of(told, "valid_from"),
        authority=told.authority if told.HasField("authority") else None,
        is_kept=told.is_kept,
    )


def _contradiction(told: dialectic_pb2.Contradiction) -> things.Contradiction:
    return things.Contradiction(
        thesis_a=told.thesis_a,
        thesis_b=told.thesis_b,
        type=name_of(conflict_pb2.ConflictType, told.type),
        severity=name_of(conflict_pb2.ConflictSeverity, told.severity),
        description=told.description,
        strategy=name_of(dialectic_pb2.ResolutionStrategy, told.strategy),
        potential_resolutions=tuple(told.potential_resolutions),
        confidence=told.confidence,
        prevailing=told.prevailing if told.HasField("prevailing") else None,
    )


def _set_aside(told: dialectic_pb2.SetAside) -> things.SetAside:
    reason = name_of(dialectic_pb2.SetAsideReason, told.reason)
    return things.SetAside(told.agent_source, told.text, reason)


def _review(told: review_pb2.AnswerReview) -> things.AnswerReview:
    return things.AnswerReview(
        _round(told.verdict),
        tuple(_round(each) for each in told.earlier_rounds),
        told.summary,
        tuple(told.warnings),
    )


def _round(told: review_pb2.ReviewRound) -> things.ReviewRound:
    return things.ReviewRound(
        answer=told.answer,
        status=name_of(review_pb2.ApprovalStatus, told.status),
        consensus_score=told.consensus_score,
        average_score=told.average_score,
        approval_rate=told.approval_rate,
        confidence=told.confidence,
        expected_count=told.expected_count,
        reviews=tuple(_peer_review(each) for each in told.reviews),
        failed=tuple(_failed(each) for each in told.failed),
        conflicts=tuple(
            things.ScoreConflict(
                each.criterion, each.reviewer_a, each.score_a, each.reviewer_b, each.score_b
            )
            for each in told.conflicts
        ),
        recommendations=tuple(told.recommendations),
    )


def _peer_review(told: review_pb2.PeerReview) -> things.PeerReview:
    return things.PeerReview(
        reviewer=told.reviewer.name,
        model=told.reviewer.model,
        round=told.round,
        scores=tuple(
            things.CriterionScore(each.criterion, each.score, each.comment) for each in told.scores
        ),
        weighted_score=told.weighted_score,
        strengths=tuple(told.strengths),
        weaknesses=tuple(told.weaknesses),
        recommendation=name_of(review_pb2.Recommendation, told.recommendation),
        comments=told.comments,
    )


def _failed(told: review_pb2.FailedReviewer) -> things.FailedReviewer:
    failure_name = name_of(review_pb2.ReviewerFailure, told.failure)
    return things.FailedReviewer(told.reviewer.name, told.round, failure_name, told.detail)
