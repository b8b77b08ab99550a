"""What graph needs from outside itself, and what it may and may not rely on."""

from concord_graph.ports.outside import (
    Clock,
    ConceptExtractor,
    LinkParser,
)
from concord_graph.ports.reads import Reads
from concord_graph.ports.store import EXPORTERS, GraphStore
from concord_graph.ports.values import (
    Author,
    Change,
    ChangeType,
    Counts,
    EdgeFilter,
    EntryFilter,
    Expected,
    Hop,
    Imported,
    MemoryFilter,
    OperationFilter,
    ReadCounts,
    Receipt,
    Ref,
    SpaceHead,
    State,
    Step,
    View,
    Walk,
)
from concord_graph.ports.writes import Writes

__all__ = [
    "EXPORTERS",
    "Author",
    "Change",
    "ChangeType",
    "Clock",
    "ConceptExtractor",
    "Counts",
    "EdgeFilter",
    "EntryFilter",
    "Expected",
    "GraphStore",
    "Hop",
    "Imported",
    "LinkParser",
    "MemoryFilter",
    "OperationFilter",
    "ReadCounts",
    "Reads",
    "Receipt",
    "Ref",
    "SpaceHead",
    "State",
    "Step",
    "View",
    "Walk",
    "Writes",
]
