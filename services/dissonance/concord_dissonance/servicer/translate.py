"""The one table from dissonance's errors to the failures that a caller receives."""

import grpc
from concord_chassis.failure import Failure, FieldViolation

from concord_dissonance.domain import errors

RETRY_SECONDS = 1.0
PASSED_ON = {
    "ERROR_REASON_REQUEST_ID_REUSED": (
        grpc.StatusCode.ALREADY_EXISTS,
        "This request id was used.",
    ),
    "ERROR_REASON_CONSISTENCY_TOKEN_INVALID": (
        grpc.StatusCode.INVALID_ARGUMENT,
        "The freshness token is not one of this space.",
    ),
}
"""Refusals of dissonance's own requests that the caller's request caused."""


def translate(error: Exception) -> Failure | None:
    """The failure for one of dissonance's errors; None for any other exception."""
    match error:
        case errors.ServiceUnavailable():
            return Failure(
                grpc.StatusCode.UNAVAILABLE,
                "ERROR_REASON_UNAVAILABLE",
                "A service that dissonance depends on does not answer.",
            )
        case errors.ServiceRefused() if error.reason in PASSED_ON:
            code, message = PASSED_ON[error.reason]
            return Failure(code, error.reason, message)
        case errors.ItemUnknown():
            return Failure(
                grpc.StatusCode.NOT_FOUND,
                "ERROR_REASON_ITEM_NOT_FOUND",
                "There is no such item.",
                metadata={"item_id": error.item_id},
            )
        case errors.PairStale():
            return Failure(
                grpc.StatusCode.FAILED_PRECONDITION,
                "ERROR_REASON_ITEM_STATE",
                "The two items changed meanwhile, or one of them has superseded the other.",
            )
    return _of_run(error)


def _of_run(error: Exception) -> Failure | None:
    match error:
        case errors.RunUnknown():
            return Failure(
                grpc.StatusCode.NOT_FOUND,
                "ERROR_REASON_ITEM_NOT_FOUND",
                "There is no such run, or it is no longer kept.",
                metadata={"item_id": error.run_id},
            )
        case errors.RequestIdReused():
            return Failure(
                grpc.StatusCode.ALREADY_EXISTS,
                "ERROR_REASON_REQUEST_ID_REUSED",
                "This request id began another run.",
                metadata={"request_id": error.request_id},
            )
        case errors.TooManyRuns():
            return Failure(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                "ERROR_REASON_OVERLOADED",
                "As many runs of the space as may be are under way.",
                metadata={"limit": "runs", "max": str(error.most)},
                retry_after=RETRY_SECONDS,
            )
        case errors.RunCancelled():
            return Failure(
                grpc.StatusCode.CANCELLED,
                "ERROR_REASON_RUN_CANCELLED",
                "The run was cancelled: nobody followed it, or dissonance stopped.",
            )
    return _of_review(error)


def _of_review(error: Exception) -> Failure | None:
    match error:
        case errors.CriteriaInvalid():
            return invalid_field("criteria", str(error))
        case errors.QuorumTooSmall():
            return invalid_field("quorum", "must be 2 or more: a verdict needs two reviews")
        case errors.ReviewerUnknown():
            return invalid_field("reviewers", "names a reviewer that is not set up")
        case errors.ReviewersMissing():
            return Failure(
                grpc.StatusCode.FAILED_PRECONDITION,
                "ERROR_REASON_REVIEWERS_MISSING",
                "Too few models are set up, or may be sent what this space holds.",
                metadata={"configured": str(error.configured), "needed": str(error.needed)},
            )
        case errors.QuorumMissed():
            return Failure(
                grpc.StatusCode.FAILED_PRECONDITION,
                "ERROR_REASON_QUORUM_MISSED",
                "Fewer reviewers than the quorum gave a review: there is no verdict.",
                metadata={
                    "expected": str(error.expected),
                    "succeeded": str(error.succeeded),
                    "failed": str(error.expected - error.succeeded),
                    "quorum": str(error.quorum),
                },
            )
        case errors.SynthesizerMissing():
            return Failure(
                grpc.StatusCode.FAILED_PRECONDITION,
                "ERROR_REASON_MODEL_MISSING",
                "No model that synthesizes is set up, or may be sent what this space holds.",
            )
        case errors.ModelBudgetSpent():
            return Failure(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                "ERROR_REASON_BUDGET_SPENT",
                "Asking the models would cost more than a request or the day may.",
            )
    return None


def invalid_field(field: str, demand: str) -> Failure:
    """A field of a request that breaks a rule; `demand` goes on from the field's name."""
    return Failure(
        grpc.StatusCode.INVALID_ARGUMENT,
        "ERROR_REASON_FIELD_INVALID",
        f"{field} {demand}.",
        violations=[FieldViolation(field, demand)],
    )
