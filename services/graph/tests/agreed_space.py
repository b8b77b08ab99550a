"""A space in which both principals agreed on much, and what of it nobody alone may change."""

from dataclasses import dataclass, field

from concord.graph.v1 import governed_pb2, graph_pb2, lineage_pb2
from concord.type.v1 import type_pb2
from governed_actions import action_of
from graph_world import (
    CONSTITUTIVE,
    DAY,
    START,
    SUPERSEDES,
    Calls,
    Parties,
    World,
    by_id,
    edge_of,
    stamp,
)

NODES = ("Me", "Honesty", "Silence", "Candour")
MEMORIES = ("core", "old", "heir", "kept")
TRIPLES = (("Me", "VALUES", "Honesty"), ("Me", "VALUES", "Silence"), ("Me", "VALUES", "Candour"))
REPLACED = '"newer":{"memory":"heir"},"older":{"memory":"old"},"relation":"SUPERSEDES"'


@dataclass
class Agreed:
    """The space, and the last thing that was agreed on in it.

    `fixed`: ids of edges that are constitutive or that consent rests on.
    """

    calls: Calls
    parties: Parties
    fixed: list[str] = field(default_factory=list)
    last: tuple[governed_pb2.GovernedAction, dict[str, str]] = field(
        default_factory=lambda: (governed_pb2.GovernedAction(), {})
    )
    last_grant: bytes = b""

    async def edge(self, edge: type_pb2.Edge) -> type_pb2.Edge:
        """Make an edge with consent."""
        made = (await self.parties.apply(self.calls, action_of("upsert_edge", edge=edge))).edge
        self.fixed.append(made.id)
        return made

    async def replaced(
        self, newer: type_pb2.Memory | type_pb2.Edge, older: type_pb2.Memory | type_pb2.Edge
    ) -> None:
        """Let one item supersede another with consent."""
        action = action_of("add_lineage", relation=SUPERSEDES, newer_id=newer.id, older_id=older.id)
        self.last = action, await self.parties.seen(self.calls, action)
        self.last_grant = self.parties.grant(*self.last)
        await self.parties.apply(self.calls, *self.last, self.last_grant)


async def agree(live: World, space: str) -> Agreed:
    """Furnish a space: what is constitutive, what stands for it by consent, and a trap at each.

    The traps are one principal's, older than the consents: lineage at ids that were ghosts or not
    held yet, of newer sides that begin later, and another value of the same triple.
    """
    calls, parties = live.calls(space), live.parties(space)
    agreed = Agreed(calls, parties)
    await parties.enrol(calls)
    await calls.add("A note. Supersedes: [[memory:core]]", id="note")
    await calls.add("The heir", id="heir")
    await calls.add("What I keep. See [[memory:ghost]]", id="kept")
    await calls.add("Late. Deprecates: [[memory:kept]]", id="late", valid_from=stamp(START + DAY))
    await calls.relate(SUPERSEDES, "late", "heir")
    heir_edge = await calls.put_edge("Me", "VALUES", "Candour", weight=0.8)
    await calls.put_edge("Me", "VALUES", "Candour", valid_from=START + DAY)
    await calls.put_edge("Me", "LIKES", "Tea")

    agreed.fixed.append(heir_edge.id)
    await agreed.edge(edge_of("Me", "VALUES", "Honesty", weight=0.9, edge_type=CONSTITUTIVE))
    await agreed.edge(edge_of("Me", "KEEPS", by_id("kept"), edge_type=CONSTITUTIVE))
    silence = await agreed.edge(edge_of("Me", "VALUES", "Silence", edge_type=CONSTITUTIVE))
    await agreed.replaced(heir_edge, silence)
    await parties.constitutive_memory(calls, "core")
    old = await parties.constitutive_memory(calls, "old", "I obey.")
    await agreed.replaced(await calls.get("heir"), old)
    return agreed


async def what_defines(agreed: Agreed) -> object:
    """Return everything that both agreed on, and how it is met, as readers see it."""
    calls = agreed.calls
    only = graph_pb2.EdgeFilter(edge_types=[CONSTITUTIVE])
    page = await calls.neighbors("Me", filter=only, include_superseded=True)
    near = (await calls.neighbors("Me", page_size=200)).neighbors
    listed = await calls.listed(page_size=200)
    lines = await calls.export()
    return {
        "near": [_met(neighbor.edge) for neighbor in page.neighbors],
        "in sight": sorted({n.edge.id for n in near} & set(agreed.fixed)),
        "listed": sorted(set(listed) & set(MEMORIES)),
        "nodes": [(await calls.get_node(name)).etag for name in NODES],
        "memories": [_met(await calls.get(memory_id)) for memory_id in MEMORIES],
        "edges": [_met(await calls.get_edge(edge_id)) for edge_id in agreed.fixed],
        "triples": [(await calls.get_triple(*triple)).id for triple in TRIPLES],
        "heads": [await _heads(calls, *ids) for ids in (["core"], ["old", "heir"])],
        "state": [line for line in lines if "CONSTITUTIVE" in line],
        "replaced": [line for line in lines if REPLACED in line],
    }


def _met(item: type_pb2.Edge | type_pb2.Memory) -> tuple[object, ...]:
    """Return what of an item nobody alone may change: its version, names and supersession."""
    supersession = item.supersession
    names = (item.source.name, item.target.name) if isinstance(item, type_pb2.Edge) else ()
    return (
        item.id,
        item.etag,
        names,
        supersession.is_superseded,
        supersession.superseded_from.ToJsonString()
        if supersession.HasField("superseded_from")
        else "",
        list(supersession.head_ids),
        item.relevance_score if item.edge_type == CONSTITUTIVE else None,
    )


async def _heads(calls: Calls, *ids: str) -> list[str]:
    reply = await calls.lineage_service.GetLineage(lineage_pb2.GetLineageRequest(id=ids[0]))
    return sorted(item.id for item in reply.items if item.is_head and item.id in ids)
