"""Why search refuses or fails.

SearchError
├── FilterUnsupported       a filter that this index cannot apply; never ignored
├── NodeUnknown             a filter names a node that the space does not have
├── PageTokenInvalid        damaged, or made by another query
├── FreshnessTokenInvalid   damaged, another space's, or of a store that was since restored
├── IndexStale              the index did not become as fresh as demanded in time
├── SituationEmpty          a situation without any word: no memory can match it
├── FeedbackRefused         the query is unknown, or the principal voted otherwise before
├── GraphUnavailable        graph does not answer: whether there are results is unknown
├── GraphRefused            graph refuses; trying again does not help
├── ModelReplaced           the index has just changed its model; ask again
├── ModelUnknown            a model that this server cannot embed with
├── ReindexUnderWay         a version of the index is being built already
├── VersionServes           the version of the index that serves cannot be dropped
├── FormerMissing           no former version of the index to roll back to
├── IndexMissing            nothing was written in the space: it has no index to build anew
├── JudgesUnavailable       dissonance does not answer: results are not compared with values
├── EmbeddingUnavailable    the embedder does not answer; trying again may help
├── EmbeddingRefused        the embedder cannot take this text; trying again does not help
├── SettingsInvalid         weights or thresholds with which no ranking is possible
├── IndexUnavailable        the index's server does not answer, or lost its data; it may recover
├── IndexDiskFull           the disk has no room for a write; the index goes on once it has
└── IndexUnusable           the index or the model cannot be used; the text says what to do
    ├── IndexCorrupt        the index on disk cannot be read
    ├── IndexLocked         another process holds the index
    └── ModelMismatch       vectors or weights of another model than the one expected
"""

from collections.abc import Sequence


class SearchError(Exception):
    """The root of the errors that search raises on purpose."""


class FilterUnsupported(SearchError):
    """The index cannot apply a part of the filter."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field = field
        self.why = why


class NodeUnknown(SearchError):
    """The space has no node of this name or id; `near` are similar names, the nearest first."""

    def __init__(self, node: str, near: Sequence[str] = ()) -> None:
        super().__init__(f"no node {node}")
        self.node = node
        self.near = tuple(near)


class PageTokenInvalid(SearchError):
    """The page token was not made by this query, or is damaged."""


class FreshnessTokenInvalid(SearchError):
    """The freshness token cannot be honoured."""


class IndexStale(SearchError):
    """The index was not as fresh as demanded before the deadline."""

    def __init__(self, applied_seq: int, demanded_seq: int) -> None:
        super().__init__(f"the index has applied {applied_seq} of {demanded_seq}")
        self.applied_seq = applied_seq
        self.demanded_seq = demanded_seq


class SituationEmpty(SearchError):
    """A situation has no words."""


class FeedbackRefused(SearchError):
    """The query is unknown, or the principal voted otherwise before."""

    def __init__(self, query_id: str, *, is_unknown: bool) -> None:
        super().__init__(f"feedback on {query_id} is refused")
        self.query_id = query_id
        self.is_unknown = is_unknown


class GraphUnavailable(SearchError):
    """Graph does not answer."""


class GraphRefused(SearchError):
    """Graph refuses; trying again does not help."""


class ModelReplaced(SearchError):
    """The vectors are of another model than those of the index."""


class ModelUnknown(SearchError):
    """This server has no embedder of the model."""

    field = "model_id"


class ReindexUnderWay(SearchError):
    """A version of the space's index is being built already."""

    reason = "ERROR_REASON_REINDEX_UNDER_WAY"

    def __init__(self) -> None:
        super().__init__("Another version of the index is being built: wait for it, or drop it.")


class VersionServes(SearchError):
    """The version to drop is the one that serves."""

    field = "role"


class FormerMissing(SearchError):
    """The space has no former version of its index."""

    reason = "ERROR_REASON_FORMER_INDEX_MISSING"

    def __init__(self) -> None:
        super().__init__("No former version of the index is kept.")


class IndexMissing(SearchError):
    """Nothing was ever written in the space."""

    reason = "ERROR_REASON_INDEX_MISSING"

    def __init__(self) -> None:
        super().__init__(
            "Nothing was written in this space yet, so it has no index to build anew: "
            "write something first."
        )


class JudgesUnavailable(SearchError):
    """Dissonance does not answer."""


class EmbeddingUnavailable(SearchError):
    """The embedder does not answer at the moment."""


class EmbeddingRefused(SearchError):
    """The embedder answers that it cannot take this text."""


class SettingsInvalid(SearchError):
    """With these weights or thresholds no ranking is possible."""


class IndexUnusable(SearchError):
    """The index or the model cannot be used; the text says what to do."""


class IndexUnavailable(SearchError):
    """The index's server does not answer in time or lost its data, or this process cannot hold one
    more part; the text says which."""


class IndexDiskFull(SearchError):
    """The index's disk has no room for a write; the text says how much it has."""


class IndexCorrupt(IndexUnusable):
    """The index on disk cannot be read."""


class IndexLocked(IndexUnusable):
    """Another process holds the index."""


class ModelMismatch(IndexUnusable):
    """Weights or vectors are of another model than the one expected."""


def reason_of(error: BaseException) -> str:
    """What an error says; of a group of them, however deep, what each of its errors says."""
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(dict.fromkeys(map(reason_of, error.exceptions)))
    return str(error)
