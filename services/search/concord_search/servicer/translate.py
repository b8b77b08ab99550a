"""The one table from search's errors to the failures that a caller receives."""

import grpc
from concord_chassis.failure import Failure, FieldViolation

from concord_search.domain import errors


def translate(error: Exception) -> Failure | None:  # noqa: PLR0912 - one table, whole
    """The failure of a search error; None for an exception that is not ours."""
    match error:
        case errors.FilterUnsupported():
            return _invalid("ERROR_REASON_FILTER_UNSUPPORTED", error.field, error.why)
        case errors.NodeUnknown():
            near = f" Similar names: {', '.join(error.near)}." if error.near else ""
            return Failure(
                grpc.StatusCode.NOT_FOUND,
                "ERROR_REASON_ITEM_NOT_FOUND",
                f"No node has this name or id.{near}",
                metadata={"item_id": error.node},
            )
        case errors.PageTokenInvalid():
            return _invalid("ERROR_REASON_PAGE_TOKEN_INVALID", "page_token", str(error))
        case errors.FreshnessTokenInvalid():
            field = "consistency.at_least_as_fresh"
            return _invalid("ERROR_REASON_CONSISTENCY_TOKEN_INVALID", field, str(error))
        case errors.SituationEmpty():
            why = "states no word, nor do file_path and error_message"
            return _invalid("ERROR_REASON_FIELD_INVALID", "snippet", why)
        case errors.FeedbackRefused(is_unknown=True):
            return Failure(
                grpc.StatusCode.NOT_FOUND,
                "ERROR_REASON_ITEM_NOT_FOUND",
                "No such query waits for feedback.",
                metadata={"item_id": error.query_id},
            )
        case errors.FeedbackRefused():
            return Failure(
                grpc.StatusCode.ALREADY_EXISTS,
                "ERROR_REASON_ITEM_EXISTS",
                "You gave other feedback on this query before.",
                metadata={"item_id": error.query_id},
            )
        case errors.IndexStale():
            return Failure(
                grpc.StatusCode.UNAVAILABLE,
                "ERROR_REASON_INDEX_STALE",
                "The index is not yet as fresh as demanded.",
                metadata={
                    "applied_seq": str(error.applied_seq),
                    "demanded_seq": str(error.demanded_seq),
                },
                resend=False,
            )
        case errors.ModelReplaced():
            return Failure(
                grpc.StatusCode.UNAVAILABLE,
                "ERROR_REASON_UNAVAILABLE",
                "The embedding model of the index was replaced meanwhile.",
            )
        case errors.ModelUnknown() | errors.VersionServes():
            return _invalid("ERROR_REASON_FIELD_INVALID", error.field, str(error))
        case errors.ReindexUnderWay() | errors.FormerMissing() | errors.IndexMissing():
            return Failure(grpc.StatusCode.FAILED_PRECONDITION, error.reason, str(error))
        case errors.GraphUnavailable() | errors.EmbeddingUnavailable() | errors.IndexUnavailable():
            return Failure(
                grpc.StatusCode.UNAVAILABLE,
                "ERROR_REASON_UNAVAILABLE",
                "A service that search depends on does not answer.",
            )
        case errors.IndexDiskFull():
            return Failure(
                grpc.StatusCode.UNAVAILABLE,
                "ERROR_REASON_UNAVAILABLE",
                "The disk of the index has no room. Make some: it goes on by itself.",
            )
        case errors.EmbeddingRefused():
            return _invalid("ERROR_REASON_FIELD_INVALID", "query", "the embedder cannot take it")
        case errors.IndexCorrupt():
            return Failure(
                grpc.StatusCode.DATA_LOSS,
                "ERROR_REASON_STORE_CORRUPT",
                "The index is damaged. It can be deleted: it is rebuilt from graph.",
            )
    return None


def _invalid(reason: str, field: str, why: str) -> Failure:
    return Failure(
        grpc.StatusCode.INVALID_ARGUMENT,
        reason,
        f"{field}: {why}.",
        violations=[FieldViolation(field, why)],
    )
