"""Why search refuses or fails; errors that a caller receives state their reason."""

from collections.abc import Sequence


class SearchError(Exception):
    """The root of the errors that search raises on purpose.

    What else than `code` and `reason` a caller receives is said at
    `concord_chassis.call.failure.translate`, which reads these attributes.
    """


class _FieldRefused(SearchError):
    """A field of the request is refused; the text says why."""

    code = "INVALID_ARGUMENT"
    reason = "ERROR_REASON_FIELD_INVALID"
    field: str

    @property
    def message(self) -> str:
        return f"{self.field}: {self}."

    @property
    def violations(self) -> tuple[tuple[str, str], ...]:
        return ((self.field, str(self)),)


class _Unreachable(SearchError):
    """A dependency does not answer, or not now."""

    code = "UNAVAILABLE"
    reason = "ERROR_REASON_UNAVAILABLE"
    message = "A service that search depends on does not answer."


class FilterUnsupported(_FieldRefused):
    """The index cannot apply a part of the filter."""

    reason = "ERROR_REASON_FILTER_UNSUPPORTED"

    def __init__(self, field: str, why: str) -> None:
        super().__init__(why)
        self.field = field


class NodeUnknown(SearchError):
    """The space has no node of this name or id; `near` are similar names, the nearest first."""

    code = "NOT_FOUND"
    reason = "ERROR_REASON_ITEM_NOT_FOUND"

    def __init__(self, node: str, near: Sequence[str] = ()) -> None:
        super().__init__(f"no node {node}")
        similar = f" Similar names: {', '.join(near)}." if near else ""
        self.message = f"No node has this name or id.{similar}"
        self.metadata = {"item_id": node}


class PageTokenInvalid(_FieldRefused):
    """The page token was not made by this query, or is damaged."""

    reason = "ERROR_REASON_PAGE_TOKEN_INVALID"
    field = "page_token"


class FreshnessTokenInvalid(_FieldRefused):
    """The freshness token cannot be honoured."""

    reason = "ERROR_REASON_CONSISTENCY_TOKEN_INVALID"
    field = "consistency.at_least_as_fresh"


class IndexStale(SearchError):
    """The index was not as fresh as demanded before the deadline."""

    code = "UNAVAILABLE"
    reason = "ERROR_REASON_INDEX_STALE"
    message = "The index is not yet as fresh as demanded."
    resend = False

    def __init__(self, applied_seq: int, demanded_seq: int) -> None:
        super().__init__(f"the index has applied {applied_seq} of {demanded_seq}")
        self.metadata = {"applied_seq": str(applied_seq), "demanded_seq": str(demanded_seq)}


class SituationEmpty(_FieldRefused):
    """A situation has no words."""

    field = "snippet"

    def __init__(self) -> None:
        super().__init__("states no word, nor do file_path and error_message")


class FeedbackRefused(SearchError):
    """The principal voted otherwise before."""

    code = "ALREADY_EXISTS"
    reason = "ERROR_REASON_ITEM_EXISTS"
    message = "You gave other feedback on this query before."

    def __init__(self, query_id: str) -> None:
        super().__init__(f"feedback on {query_id} is refused")
        self.metadata = {"item_id": query_id}


class QueryUnknown(FeedbackRefused):
    """No such query of the principal waits for feedback."""

    code = "NOT_FOUND"
    reason = "ERROR_REASON_ITEM_NOT_FOUND"
    message = "No such query waits for feedback."


class GraphUnavailable(_Unreachable):
    """Graph does not answer."""


class GraphRefused(SearchError):
    """Graph refuses; trying again does not help."""


class ModelReplaced(_Unreachable):
    """The vectors are of another model than those of the index."""

    message = "The embedding model of the index was replaced meanwhile."


class ModelUnknown(_FieldRefused):
    """This server has no embedder of the model."""

    field = "model_id"


class ReindexUnderWay(SearchError):
    """A version of the space's index is being built already."""

    code = "FAILED_PRECONDITION"
    reason = "ERROR_REASON_REINDEX_UNDER_WAY"

    def __init__(self) -> None:
        super().__init__("Another version of the index is being built: wait for it, or drop it.")


class VersionServes(_FieldRefused):
    """The version to drop is the one that serves."""

    field = "role"


class FormerMissing(SearchError):
    """The space has no former version of its index."""

    code = "FAILED_PRECONDITION"
    reason = "ERROR_REASON_FORMER_INDEX_MISSING"

    def __init__(self) -> None:
        super().__init__("No former version of the index is kept.")


class IndexMissing(SearchError):
    """Nothing was ever written in the space."""

    code = "FAILED_PRECONDITION"
    reason = "ERROR_REASON_INDEX_MISSING"

    def __init__(self) -> None:
        super().__init__(
            "Nothing was written in this space yet, so it has no index to build anew: "
            "write something first."
        )


class EmbeddingUnavailable(_Unreachable):
    """The embedder does not answer at the moment."""


class EmbeddingRefused(SearchError):
    """The embedder answers that it cannot take this text."""

    code = "INVALID_ARGUMENT"
    reason = "ERROR_REASON_FIELD_INVALID"
    message = "query: the embedder cannot take it."
    violations = (("query", "the embedder cannot take it"),)


class SettingsInvalid(SearchError):
    """With these weights or thresholds no ranking is possible."""


class IndexUnusable(SearchError):
    """The index or the model cannot be used; the text says what to do."""


class IndexUnavailable(_Unreachable):
    """The index's server does not answer in time or lost its data, or this process cannot hold one
    more part; the text says which."""


class NotTheWriter(IndexUnavailable):
    """Another process writes the index that this one reads."""

    message = "Another replica of search writes the index: ask again."

    def __init__(self) -> None:
        super().__init__("another replica of search has the lease of the index")


class IndexDiskFull(_Unreachable):
    """The index's disk has no room for a write; the text says how much it has."""

    message = "The disk of the index has no room. Make some: it goes on by itself."


class IndexCorrupt(IndexUnusable):
    """The index on disk cannot be read."""

    code = "DATA_LOSS"
    reason = "ERROR_REASON_STORE_CORRUPT"
    message = "The index is damaged. It can be deleted: it is rebuilt from graph."


class IndexLocked(IndexUnusable):
    """Another process holds the index."""


class ModelMismatch(IndexUnusable):
    """Weights or vectors are of another model than the one expected."""


def reason_of(error: BaseException) -> str:
    """What an error says; of a group of them, however deep, what each of its errors says."""
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(dict.fromkeys(map(reason_of, error.exceptions)))
    return str(error)
