"""The rule of succession by itself equals the naive one, for any items there may be at once."""

from __future__ import annotations

import random

import pytest
from concord_graph.domain import succession
from concord_graph.domain.items import Edge, EdgeType, End, ItemKind, Memory, Origin
from concord_graph.domain.succession import Replacement, Standing, Value
from naive_replay import FOREVER, REPLACING, Known, Version

KINDS = {"edge": ItemKind.EDGE, "memory": ItemKind.MEMORY, "node": ItemKind.NODE}


def drawn(draw: random.Random) -> Known:
    """Return items at random: few names and times, so that values tie, return and replace."""
    items: dict[str, Version] = {}

    def put(kind: str, item_id: str, **told: object) -> None:
        told = {"maker": draw.choice("ab"), "valid_until": None, **told}
        deleted = draw.random() < 0.1
        items[item_id] = Version(kind, item_id, 0, deleted, draw.randrange(5), told)

    def begins() -> int | None:
        return draw.choice([None, 1, 2, 3, 4])

    def edge_type() -> str:
        return draw.choice(["DESCRIPTIVE"] * 5 + ["CONSTITUTIVE"])

    put("relation", "r", name="IN", functional=draw.random() < 0.9)
    memories = [f"m{n}" for n in range(draw.randrange(4))]
    for memory_id in memories:
        put("memory", memory_id, valid_from=begins(), edge_type=edge_type())
    values = [f"e{n}" for n in range(draw.randrange(2, 8))]
    for edge_id in values:
        since = begins()
        ends = draw.choice([None, None, None if since is None else since + 1])
        told = {"source": "a", "relation": "IN", "target": draw.choice("xyz")}
        told["edge_type"], extracted = edge_type(), draw.random() < 0.2
        put("edge", edge_id, **told, valid_from=since, valid_until=ends, extracted=extracted)
    for n, memory_id in enumerate(draw.sample(memories, len(memories) // 2)):
        told = {"source": "a", "relation": "KEEPS", "target": memory_id}
        put("edge", f"k{n}", **told, valid_from=None, edge_type=edge_type())
    for n in range(draw.randrange(6)):
        ends_ = draw.choice([values, [*memories, "ghost"]])
        told = {"source": draw.choice(ends_), "target": draw.choice(ends_)}
        relation = draw.choice([*REPLACING, "AMENDS"])
        governed = draw.random() < 0.3
        put("edge", f"l{n}", **told, relation=relation, valid_from=None, governed=governed)
    live = [e for e in values if not items[e].deleted]
    facts = {m: tuple(draw.sample(live, min(len(live), draw.randrange(3)))) for m in memories}
    return Known(items, facts)


def edge_of(version: Version) -> Edge:
    """Return the edge that a version says."""
    source, target = (End(end, ItemKind.EDGE) for end in (version.source, version.target))
    return Edge(
        version.id,
        source,
        version.relation,
        target,
        edge_type=EdgeType[version.edge_type],
        valid_from=version.valid_from,
        valid_until=version.valid_until,
        origin=Origin.EXTRACTED if version.extracted else Origin.EXPLICIT,
        governed=version.governed,
        create_time=version.created,
        deleted=version.deleted,
    )


def item_of(version: Version) -> Edge | Memory:
    """Return the edge or memory that a version says."""
    if version.kind == "edge":
        return edge_of(version)
    return Memory(
        id=version.id,
        content="",
        edge_type=EdgeType[version.edge_type],
        valid_from=version.valid_from,
        valid_until=version.valid_until,
        create_time=version.created,
        deleted=version.deleted,
    )


class Ruled:
    """What the rule says of all items, from what stands around each, as a write finds it."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.edges = [edge_of(e) for e in known.live("edge")]

    def replacements(self, version: Version) -> list[Replacement]:
        """Return those of an item that count."""
        older, found = item_of(version), []
        for lineage in self.edges:
            newer = self.known.get(lineage.source.id, version.kind)
            if lineage.relation in REPLACING and lineage.target.id == version.id and newer:
                makers = (self.known.items[lineage.id].maker, version.maker)
                found.append(Replacement(lineage, item_of(newer), makers))
        fixed = self.known.is_fixed(version)
        return [each for each in found if succession.counts(each, older, fixed=fixed)]

    def never_held(self, edge: Edge) -> bool:
        """Return whether an earlier value replaced one."""
        replaced = self.replacements(self.known.items[edge.id])
        return succession.never_held(edge, [each.newer for each in replaced])

    def row(self, edge: Edge) -> list[Value]:
        """Return the values of an edge's row, if it is in one."""
        version = self.known.items[edge.id]
        if version.deleted or self.never_held(edge) or not self.known.is_functional(edge.relation):
            return []
        of = [e for e in self.edges if (e.source, e.relation) == (edge.source, edge.relation)]
        held = [self.value(e) for e in of if not self.never_held(e)]
        return sorted(held, key=lambda value: value.begins)

    def value(self, edge: Edge) -> Value:
        """Return an edge as a value."""
        fixed = self.known.is_fixed(self.known.items[edge.id])
        return Value(edge.id, edge.target.id, edge.effective_from, fixed, edge.is_extracted)

    def of_edge(self, edge: Edge) -> tuple[Standing, set[str]]:
        """Return an edge's standing, and the values that gave way to it."""
        value, row = self.value(edge), self.row(edge)
        later = [each for each in row if each.begins > value.begins]
        earlier = [each for each in reversed(row) if each.begins < value.begins]
        following = [] if value.is_fixed else succession.next_values(value, later)
        standing = Standing(
            replacers=succession.replacers(self.replacements(self.known.items[edge.id])),
            followed_from=following[0].begins if following else FOREVER,
        )
        former = succession.former_values(value, earlier)
        return standing, {each.id for each in former if not each.is_fixed}

    def of_memory(self, version: Version) -> Standing:
        """Return a memory's standing."""
        stated = [edge_of(value) for value in self.known.values_of(version)]
        ended = succession.ended_from([(edge, self.of_edge(edge)[0]) for edge in stated])
        return Standing(
            replacers=succession.replacers(self.replacements(version)),
            followed_from=FOREVER if self.known.is_fixed(version) else ended,
        )


@pytest.mark.parametrize(
    "seed", [*range(40), *(pytest.param(n, marks=pytest.mark.soak) for n in range(40, 60))]
)
def test_what_stands_around_an_item_says_what_supersedes_it(seed: int) -> None:
    """T2 G4 M1 M3 The rule by itself equals the naive one, for deleted items too."""
    draw = random.Random(seed)
    for _ in range(25):
        known = drawn(draw)
        ruled = Ruled(known)
        for version in known.items.values():
            if version.kind == "memory":
                standing = ruled.of_memory(version)
            elif version.kind == "edge" and not version.is_lineage:
                edge = edge_of(version)
                standing, former = ruled.of_edge(edge)
                assert ruled.never_held(edge) == known.never_held(version), version
                assert len(former) == known.former_values(version), version
            else:
                continue

            assert standing.superseded_from == known.superseded_from(version), version
            replacers = {newer.id for newer in standing.replacers}
            assert replacers == {n.id for n in known.replacers(version)}, version
