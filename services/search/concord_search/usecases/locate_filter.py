"""Asks graph what is at the nodes that a filter names (spec S2)."""

from concord_search.domain.errors import FilterUnsupported
from concord_search.domain.filters import MemoryFilter
from concord_search.domain.instants import AsOf
from concord_search.ports.graph import Graph

MOST_NODES = 5
"""The most nodes that one filter names: each is walked."""


async def located(graph: Graph, space: str, wanted: MemoryFilter, as_of: AsOf) -> MemoryFilter:
    """The filter with the items at its nodes as of an instant.

    Raises `NodeUnknown`, `FilterUnsupported`, `GraphUnavailable`.
    """
    if len(wanted.nodes) > MOST_NODES:
        raise FilterUnsupported("filter.node", f"names more than {MOST_NODES} nodes in all")
    if not wanted.nodes:
        return wanted
    return wanted.located(
        {node: await graph.items_at(space, node, as_of) for node in sorted(wanted.nodes)}
    )
