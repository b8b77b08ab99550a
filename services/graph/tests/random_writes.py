"""What random walks of writes have in common: how a write is drawn, and what it is made of."""

from __future__ import annotations

from collections.abc import Iterable

from concord.graph.v1 import graph_pb2
from concord.type.v1 import type_pb2
from graph_world import Calls, fact, stamp
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

Op = tuple[str, dict[str, object]]
Triple = tuple[str, str, str]

UNSHRUNK = settings(
    deadline=None,
    database=None,
    phases=[Phase.generate],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
"""A failure is shown as it was found: shrinking takes long."""


def op(name: str, /, **arguments: st.SearchStrategy[object]) -> st.SearchStrategy[Op]:
    """Return a strategy for one write with its arguments."""
    return st.tuples(st.just(name), st.fixed_dictionaries(dict(arguments)))


def facts_of(triples: Iterable[Triple], *, extracted: bool = False) -> list[type_pb2.Fact]:
    """Return the facts that triples say."""
    return [fact(*triple, extracted=extracted) for triple in triples]


def date(item: type_pb2.Edge | type_pb2.Memory, begins: int | None, ends: int | None) -> None:
    """State from and until when an item holds (µs); None: that nothing is stated."""
    item.ClearField("valid_from")
    item.ClearField("valid_until")
    if begins is not None:
        item.valid_from.CopyFrom(stamp(begins))
    if ends is not None:
        item.valid_until.CopyFrom(stamp(ends))


async def live_edges(calls: Calls) -> list[type_pb2.Edge]:
    """Return the live edges but for Concord's own, in the order of their making."""
    reply = await calls.graph.ListEdges(graph_pb2.ListEdgesRequest(page_size=200))
    return [edge for edge in reply.edges if not edge.relation.startswith("concord:")]
