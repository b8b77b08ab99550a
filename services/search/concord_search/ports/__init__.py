"""The outside that search needs, and the promises it relies on: a module each."""

from concord_search.ports.clock import (
    Clock,
)
from concord_search.ports.embedder import (
    Embedder,
    EmbeddingModel,
    Vector,
    Vectors,
)
from concord_search.ports.graph import (
    Assessed,
    Change,
    Changes,
    Graph,
    Hydrated,
    OpenConflict,
    SpaceHead,
    StateDigests,
    Statement,
)
from concord_search.ports.index import (
    NOTHING_WEIGHED,
    Batch,
    Found,
    Index,
    IndexState,
    Near,
    OnPart,
    Place,
    Question,
    Version,
    VersionedIndex,
    Weighed,
)
from concord_search.ports.judges import (
    Compared,
    Judges,
    Verdict,
    Verdicts,
)
from concord_search.ports.records import (
    CoRead,
    RankedQuery,
    Recall,
    Records,
)

__all__ = [
    "NOTHING_WEIGHED",
    "Assessed",
    "Batch",
    "Change",
    "Changes",
    "Clock",
    "CoRead",
    "Compared",
    "Embedder",
    "EmbeddingModel",
    "Found",
    "Graph",
    "Hydrated",
    "Index",
    "IndexState",
    "Judges",
    "Near",
    "OnPart",
    "OpenConflict",
    "Place",
    "Question",
    "RankedQuery",
    "Recall",
    "Records",
    "SpaceHead",
    "StateDigests",
    "Statement",
    "Vector",
    "Vectors",
    "Verdict",
    "Verdicts",
    "Version",
    "VersionedIndex",
    "Weighed",
]
