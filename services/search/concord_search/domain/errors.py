"""Why search refuses or fails.

SearchError
├── FilterUnsupported       a filter that this index cannot apply; never ignored
├── PageTokenInvalid        damaged, or made by another query
├── FreshnessTokenInvalid   damaged, another space's, or of a store that was since restored
├── IndexStale              the index did not become as fresh as demanded in time
├── GraphUnavailable        graph does not answer: results can be neither shown nor denied
├── GraphRefused            graph refuses, and would again
├── EmbeddingUnavailable    the embedder does not answer; trying again may help
├── EmbeddingRefused        the embedder cannot take this text; trying again does not help
├── SettingsInvalid         weights or thresholds that cannot rank anything
├── IndexDiskFull           the disk has no room for a write; it goes on when there is some again
└── IndexUnusable           the index or the model cannot be used; the text says what to do
    ├── IndexCorrupt        the index on disk cannot be read
    ├── IndexLocked         another process holds the index
    └── ModelMismatch       vectors or weights of another model than the one expected
"""


class SearchError(Exception):
    """The root of what search raises on purpose."""


class FilterUnsupported(SearchError):
    """A filter asks for what the index cannot apply."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field = field
        self.why = why


class PageTokenInvalid(SearchError):
    """The page token was not made by this query, or is damaged."""


class FreshnessTokenInvalid(SearchError):
    """The freshness token cannot be honoured."""


class IndexStale(SearchError):
    """The index did not follow as far as demanded before the deadline."""

    def __init__(self, applied_seq: int, demanded_seq: int) -> None:
        super().__init__(f"the index has applied {applied_seq} of {demanded_seq}")
        self.applied_seq = applied_seq
        self.demanded_seq = demanded_seq


class GraphUnavailable(SearchError):
    """Graph does not answer."""


class GraphRefused(SearchError):
    """Graph refuses, and would again."""


class EmbeddingUnavailable(SearchError):
    """The embedder does not answer, now."""


class EmbeddingRefused(SearchError):
    """The embedder does not take this text, as far as it says."""


class SettingsInvalid(SearchError):
    """Weights or thresholds cannot rank anything."""


class IndexUnusable(SearchError):
    """The index or the model cannot be used; the text says what to do."""


class IndexDiskFull(SearchError):
    """The disk of the index has no room; the text says how much it has."""


class IndexCorrupt(IndexUnusable):
    """The index on disk cannot be read."""


class IndexLocked(IndexUnusable):
    """Another process holds the index."""


class ModelMismatch(IndexUnusable):
    """Weights or vectors are of another model than the one expected."""
