"""Translates reviews into messages."""

from enum import Enum
from typing import Any

from concord.dissonance.v1 import review_pb2 as pb
from concord_models.budget import Cost

from concord_dissonance.domain.peer_review.council import ScoreConflict
from concord_dissonance.domain.peer_review.report import ReviewRound, summary, warnings
from concord_dissonance.domain.peer_review.review import (
    POINT,
    FailedReviewer,
    FailureKind,
    PeerReview,
    Reviewer,
)
from concord_dissonance.usecases.dialectic.review_answer import AnswerReviewed


def answer_review(found: AnswerReviewed) -> pb.AnswerReview:
    """A reviewed answer."""
    rounds = [_round(number, each) for number, each in enumerate(found.rounds, 1)]
    last, language = found.rounds[-1], found.language
    return pb.AnswerReview(
        verdict=rounds[-1],
        earlier_rounds=rounds[:-1],
        summary=summary(last, language),
        warnings=warnings(last, language, critical=found.critical, not_revised=found.not_revised),
        cost=model_cost(found.cost),
        language=language,
    )


def model_cost(cost: Cost) -> pb.ModelCost:
    """The cost of models."""
    return pb.ModelCost(calls=cost.calls, tokens=cost.tokens, micros=cost.micros)


def failure(kind: FailureKind) -> Any:  # the stubs' enums are no values
    """The contract's number of the kind of a model's failure."""
    return _number("REVIEWER_FAILURE", kind)


def peer_review(number: int, said: PeerReview, *, is_cached: bool) -> pb.PeerReview:
    """A reviewer's review in a round."""
    message = pb.PeerReview(
        reviewer=_reviewer(said.reviewer),
        round=number,
        scores=[
            pb.CriterionScore(
                criterion=each.criterion.name, score=each.score / POINT, comment=each.comment
            )
            for each in said.scores
        ],
        weighted_score=float(said.points),
        overall_score=said.told_score / POINT,
        strengths=said.strengths,
        weaknesses=said.weaknesses,
        recommendation=_number("RECOMMENDATION", said.recommendation),
        contradicts_scores=said.contradicts_itself,
        comments=said.comments,
        is_cached=is_cached,
    )
    message.review_time.FromMicroseconds(said.time)
    return message


def failed_reviewer(number: int, failed: FailedReviewer) -> pb.FailedReviewer:
    """A reviewer that gave no review in a round."""
    return pb.FailedReviewer(
        reviewer=_reviewer(failed.reviewer),
        round=number,
        failure=failure(failed.kind),
        detail=failed.detail,
    )


def _round(number: int, found: ReviewRound) -> pb.ReviewRound:
    verdict = found.verdict
    return pb.ReviewRound(
        answer=found.answer,
        reviews=[
            peer_review(number, each, is_cached=each.reviewer.name in found.cached)
            for each in found.reviews
        ],
        failed=[failed_reviewer(number, each) for each in found.failed],
        expected_count=found.expected,
        succeeded_count=len(found.reviews),
        status=_number("APPROVAL_STATUS", verdict.approval),
        consensus_score=verdict.consensus,
        average_score=verdict.average,
        approval_rate=verdict.approval_rate,
        confidence=verdict.confidence,
        conflicts=map(_conflict, verdict.conflicts),
        recommendations=verdict.recommendations,
    )


def _conflict(found: ScoreConflict) -> pb.ScoreConflict:
    first, second = found.first_score, found.second_score
    return pb.ScoreConflict(
        criterion=first.criterion.name,
        reviewer_a=found.first.name,
        score_a=first.score / POINT,
        comment_a=first.comment,
        reviewer_b=found.second.name,
        score_b=second.score / POINT,
        comment_b=second.comment,
        difference=found.difference / POINT,
    )


def _reviewer(found: Reviewer) -> pb.Reviewer:
    return pb.Reviewer(
        name=found.name,
        model=found.model,
        vendor=found.vendor,
        role=_number("REVIEWER_ROLE", found.role),
    )


def _number(prefix: str, word: Enum) -> Any:  # the contract's enums share no type
    return getattr(pb, f"{prefix}_{word.name}")
