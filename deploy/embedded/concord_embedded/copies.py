"""The stores of graph and governance as they stand now, or as they stood at one instant."""

from dataclasses import dataclass

from concord_governance.backup import LedgerCopy
from concord_graph.backup import GraphCopy

GRAPH, LEDGER, NEO4J = "graph.db", "ledger.db", "neo4j.jsonl.gz"
"""The names of their copies in a backup's folder."""


@dataclass(frozen=True)
class Known:
    """The stores now; None for a missing one."""

    graph: GraphCopy | None
    ledger: LedgerCopy | None


@dataclass(frozen=True)
class Copy(Known):
    """Both stores as they stood at one instant."""

    graph: GraphCopy
    ledger: LedgerCopy
