"""Translates events of runs, with their syntheses and reviews, into messages."""

import grpc
from concord.dissonance.v1 import dialectic_pb2 as pb
from concord.dissonance.v1 import review_pb2
from concord.graph.v1 import conflict_pb2
from concord_chassis.call.failure import Failure, internal, translate
from concord_chassis.call.sizes import MAX_REPLY_BYTES
from concord_models.budget import Cost

from concord_dissonance.clients.graph.messages import enum_number
from concord_dissonance.domain.dialectic.synthesis import Described, Synthesis
from concord_dissonance.domain.dialectic.theses import Batch, SetAside, Thesis
from concord_dissonance.domain.peer_review.council import ScoreConflict
from concord_dissonance.domain.peer_review.report import ReviewRound, summary, warnings
from concord_dissonance.domain.peer_review.review import (
    POINT,
    FailedReviewer,
    PeerReview,
    Reviewer,
)
from concord_dissonance.usecases.dialectic.by_model import Degraded, ModelPart
from concord_dissonance.usecases.dialectic.review_answer import AnswerReviewed, ReviewedIn
from concord_dissonance.usecases.dialectic.runs import Event, Failed
from concord_dissonance.usecases.dialectic.synthesize import Synthesized

MOST_BYTES = MAX_REPLY_BYTES - 1_024
"""Most bytes of an event, which leaves room for the reply around it."""


def event(run_id: str, happened: Event) -> pb.DialecticEvent:
    """An event of a run."""
    message = pb.DialecticEvent(
        number=happened.number,
        run_id=run_id,
        stage=enum_number(pb, "DIALECTIC_STAGE", happened.stage),
        percent=happened.percent,
    )
    match happened.said:
        case Batch() as batch:
            message.theses.CopyFrom(_batch(batch))
        case Described() as described:
            message.contradiction.CopyFrom(_contradiction(described))
        case Synthesized(found, reviewed, model, kept):
            message.done.synthesis.CopyFrom(_synthesis(found, kept, model))
            if reviewed is not None:
                message.done.review.CopyFrom(_answer_review(reviewed))
        case ReviewedIn(number, PeerReview() as review, is_cached):
            message.review.CopyFrom(_peer_review(number, review, is_cached=is_cached))
        case ReviewedIn(number, FailedReviewer() as missing):
            message.failed_reviewer.CopyFrom(_failed_reviewer(number, missing))
        case AnswerReviewed() as reviewed:
            message.done.review.CopyFrom(_answer_review(reviewed))
        case Failed() as failed:
            message.failed.CopyFrom(_failure(failed.error))
    if message.ByteSize() > MOST_BYTES:  # a stream always ends with an event
        message.failed.CopyFrom(_failure(_too_large(message.ByteSize())))
    return message


def _too_large(size: int) -> Failure:
    return Failure(
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "ERROR_REASON_MESSAGE_TOO_LARGE",
        f"The result has {size} bytes, at most {MOST_BYTES} are sent: bring together less at once.",
    )


def _failure(error: Exception) -> pb.RunFailure:
    failure = error if isinstance(error, Failure) else translate(error) or internal()
    return pb.RunFailure(
        code=failure.code.name,
        reason=failure.reason,
        message=failure.message,
        metadata=failure.metadata,
    )


def _synthesis(
    found: Synthesis, kept: pb.KeptSynthesis | None, model: ModelPart | None
) -> pb.Synthesis:
    """A synthesis, what was kept of it, and the model's part in it."""
    concluded = found.conclusions
    ambiguities = zip(concluded.ambiguities, found.ambiguities, strict=True)
    message = pb.Synthesis(
        theses=[
            _thesis(at, each, is_kept=at in concluded.kept)
            for at, each in enumerate(concluded.theses)
        ],
        set_aside=map(_set_aside, concluded.set_aside),
        contradictions=map(_contradiction, found.described),
        unresolved=concluded.unresolved,
        ambiguities=[
            pb.Ambiguity(thesis_a=each.first, thesis_b=each.second, description=words)
            for each, words in ambiguities
        ],
        text=found.text,
        strategies=[enum_number(pb, "RESOLUTION_STRATEGY", each) for each in concluded.strategies],
        is_complete=not concluded.unresolved,
        confidence=concluded.confidence,
        reasoning=found.reasoning,
        summary=found.summary,
        method=pb.SYNTHESIS_METHOD_MODEL
        if model is not None and model.has_answered
        else pb.SYNTHESIS_METHOD_DETERMINISTIC,
        language=found.language,
        kept=kept,
        metadata=pb.SynthesisMetadata(
            sources=concluded.sources,
            memories=concluded.memories,
            pairs_judged=concluded.pairs,
        ),
    )
    if model is not None:
        message.metadata.model = model.name
        message.metadata.cost.CopyFrom(_model_cost(model.cost))
        if model.degraded is not None:
            message.degraded.CopyFrom(_degraded(model.degraded))
    return message


def _degraded(found: Degraded) -> pb.SynthesisDegraded:
    return pb.SynthesisDegraded(
        stage=enum_number(pb, "DIALECTIC_STAGE", found.stage),
        failure=enum_number(review_pb2, "REVIEWER_FAILURE", found.failure.kind),
        detail=found.failure.detail,
    )


def _batch(batch: Batch) -> pb.ThesisBatch:
    places = range(batch.first, batch.first + len(batch.theses))
    return pb.ThesisBatch(
        agent_source=batch.agent,
        theses=[_thesis(at, each) for at, each in zip(places, batch.theses, strict=True)],
        set_aside=map(_set_aside, batch.set_aside),
    )


def _thesis(at: int, thesis: Thesis, *, is_kept: bool = True) -> pb.Thesis:
    message = pb.Thesis(
        index=at,
        agent_source=thesis.agent,
        memory_id=thesis.memory.id if thesis.memory else "",
        claim=thesis.claim,
        evidence=thesis.evidence,
        confidence=thesis.confidence,
        legal_basis=thesis.legal_basis,
        context=thesis.context,
        region=thesis.region,
        authority=thesis.authority,
        is_kept=is_kept,
    )
    if thesis.valid_from is not None:
        message.valid_from.FromMicroseconds(thesis.valid_from)
    return message


def _set_aside(found: SetAside) -> pb.SetAside:
    return pb.SetAside(
        agent_source=found.agent,
        text=found.text,
        reason=enum_number(pb, "SET_ASIDE_REASON", found.reason),
    )


def _contradiction(described: Described) -> pb.Contradiction:
    found = described.contradiction
    verdict = found.clash.verdict
    message = pb.Contradiction(
        thesis_a=found.clash.first,
        thesis_b=found.clash.second,
        type=enum_number(conflict_pb2, "CONFLICT_TYPE", found.type),
        severity=enum_number(conflict_pb2, "CONFLICT_SEVERITY", found.severity),
        description=described.description,
        potential_resolutions=described.resolutions,
        confidence=verdict.confidence,
        judge=enum_number(conflict_pb2, "JUDGE", verdict.judge),
        rule=verdict.reason.rule,
        prevailing=found.prevailing,
    )
    if found.strategy is not None:
        message.strategy = enum_number(pb, "RESOLUTION_STRATEGY", found.strategy)
    return message


def _answer_review(found: AnswerReviewed) -> review_pb2.AnswerReview:
    rounds = [_round(number, each) for number, each in enumerate(found.rounds, 1)]
    last, language = found.rounds[-1], found.language
    return review_pb2.AnswerReview(
        verdict=rounds[-1],
        earlier_rounds=rounds[:-1],
        summary=summary(last, language),
        warnings=warnings(last, language, critical=found.critical, not_revised=found.not_revised),
        cost=_model_cost(found.cost),
        language=language,
    )


def _model_cost(cost: Cost) -> review_pb2.ModelCost:
    return review_pb2.ModelCost(calls=cost.calls, tokens=cost.tokens, micros=cost.micros)


def _peer_review(number: int, said: PeerReview, *, is_cached: bool) -> review_pb2.PeerReview:
    message = review_pb2.PeerReview(
        reviewer=_reviewer(said.reviewer),
        round=number,
        scores=[
            review_pb2.CriterionScore(
                criterion=each.criterion.name, score=each.score / POINT, comment=each.comment
            )
            for each in said.scores
        ],
        weighted_score=float(said.points),
        overall_score=said.told_score / POINT,
        strengths=said.strengths,
        weaknesses=said.weaknesses,
        recommendation=enum_number(review_pb2, "RECOMMENDATION", said.recommendation),
        contradicts_scores=said.contradicts_itself,
        comments=said.comments,
        is_cached=is_cached,
    )
    message.review_time.FromMicroseconds(said.time)
    return message


def _failed_reviewer(number: int, failed: FailedReviewer) -> review_pb2.FailedReviewer:
    return review_pb2.FailedReviewer(
        reviewer=_reviewer(failed.reviewer),
        round=number,
        failure=enum_number(review_pb2, "REVIEWER_FAILURE", failed.kind),
        detail=failed.detail,
    )


def _round(number: int, found: ReviewRound) -> review_pb2.ReviewRound:
    verdict = found.verdict
    return review_pb2.ReviewRound(
        answer=found.answer,
        reviews=[
            _peer_review(number, each, is_cached=each.reviewer.name in found.cached)
            for each in found.reviews
        ],
        failed=[_failed_reviewer(number, each) for each in found.failed],
        expected_count=found.expected,
        succeeded_count=len(found.reviews),
        status=enum_number(review_pb2, "APPROVAL_STATUS", verdict.approval),
        consensus_score=verdict.consensus,
        average_score=verdict.average,
        approval_rate=verdict.approval_rate,
        confidence=verdict.confidence,
        conflicts=map(_conflict, verdict.conflicts),
        recommendations=verdict.recommendations,
    )


def _conflict(found: ScoreConflict) -> review_pb2.ScoreConflict:
    first, second = found.first_score, found.second_score
    return review_pb2.ScoreConflict(
        criterion=first.criterion.name,
        reviewer_a=found.first.name,
        score_a=first.score / POINT,
        comment_a=first.comment,
        reviewer_b=found.second.name,
        score_b=second.score / POINT,
        comment_b=second.comment,
        difference=found.difference / POINT,
    )


def _reviewer(found: Reviewer) -> review_pb2.Reviewer:
    return review_pb2.Reviewer(
        name=found.name,
        model=found.model,
        vendor=found.vendor,
        role=enum_number(review_pb2, "REVIEWER_ROLE", found.role),
    )
