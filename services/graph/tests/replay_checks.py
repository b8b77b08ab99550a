"""Every read of graph at an instant, compared with what a naive replay says."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from concord.graph.v1 import graph_pb2, lineage_pb2, memory_pb2, relation_pb2, space_pb2
from concord.type.v1 import type_pb2
from google.protobuf.timestamp_pb2 import Timestamp
from graph_world import FOUND, NOT_FOUND, Calls, by_id, micros, named, stamp
from naive_replay import FOREVER, Known, Replay, Version
from paging import pages

ERASED = type_pb2.LOOKUP_STATUS_ERASED


@dataclass(frozen=True)
class Reading:
    """A caller, the instant it asks about (None = now), and what the replay knew then."""

    calls: Calls
    replay: Replay
    time: int
    valid: int | None
    record: int | None
    page_size: int = 0

    @property
    def as_of(self) -> type_pb2.AsOf | None:
        """The instant as it is asked."""
        if self.valid is None and self.record is None:
            return None
        return type_pb2.AsOf(
            valid_time=None if self.valid is None else stamp(self.valid),
            record_time=None if self.record is None else stamp(self.record),
        )

    @property
    def v(self) -> int:
        """The valid time."""
        return self.time if self.valid is None else self.valid

    @property
    def r(self) -> int:
        """The record time."""
        return FOREVER if self.record is None or self.record >= self.time else self.record

    @cached_property
    def known(self) -> Known:
        """What was known."""
        return self.replay.known(self.r)

    def listed(self, items: list[Version]) -> list[Version]:
        """Return what a list shows of live items: when a valid time is stated, what held."""
        return [i for i in items if self.valid is None or self.known.held(i, self.v)]


async def check_nodes(at: Reading, names: str) -> None:
    """GetNode by name and id, ListNodes."""
    for name in names:
        reply = await at.calls.graph.GetNode(graph_pb2.GetNodeRequest(name=name, as_of=at.as_of))
        wanted = at.known.named(name)
        assert (reply.node.id if reply.status == FOUND else None) == (wanted and wanted.id), name
    for node_id in {v.id for v in at.replay.versions if v.kind == "node"}:
        reply = await at.calls.graph.GetNode(graph_pb2.GetNodeRequest(id=node_id, as_of=at.as_of))
        _same_node(reply.node if reply.status == FOUND else None, at.known.get(node_id, "node"))
    live = sorted(at.known.live("node"), key=lambda node: node.name)
    request = graph_pb2.ListNodesRequest(as_of=at.as_of, page_size=at.page_size)
    nodes = [n for page in await pages(at.calls.graph.ListNodes, request) for n in page.nodes]
    assert [node.name for node in nodes] == [node.name for node in live]
    for node, wanted in zip(nodes, live, strict=True):
        _same_node(node, wanted)


def _same_node(node: type_pb2.Node | None, wanted: Version | None) -> None:
    assert (node is None) == (wanted is None)
    if node is None or wanted is None:
        return
    assert (node.id, node.name, node.label) == (wanted.id, wanted.name, wanted.label)
    assert micros(node.modify_time) == wanted.recorded


async def check_edges(at: Reading) -> None:
    """GetEdge by id and triple, ListEdges."""
    for edge_id in {v.id for v in at.replay.versions if v.kind == "edge"}:
        request = graph_pb2.GetEdgeRequest(id=edge_id, peek=True, as_of=at.as_of)
        await _same_answer(at, request, at.known.get(edge_id, "edge"))
    for source, relation, target in _triples(at):
        triple = graph_pb2.Triple(source=source, relation=relation, target=target)
        request = graph_pb2.GetEdgeRequest(triple=triple, peek=True, as_of=at.as_of)
        ends = [at.known.named(source.name) or at.known.get(source.id, "memory")]
        ends += [at.known.named(target.name)]
        edges = at.known.triple(ends[0].id, relation, ends[1].id) if all(ends) else []  # type: ignore[union-attr] # both are there
        await _same_answer(at, request, at.known.chosen(edges, at.v))
    listing = graph_pb2.ListEdgesRequest(as_of=at.as_of, page_size=at.page_size)
    found = [e for page in await pages(at.calls.graph.ListEdges, listing) for e in page.edges]
    wanted = sorted(at.listed(at.known.live("edge")), key=lambda e: e.id)
    assert [edge.id for edge in found] == [edge.id for edge in wanted]
    for edge, like in zip(found, wanted, strict=True):
        same_edge(at, edge, like)


def _triples(at: Reading) -> list[tuple[type_pb2.EdgeEnd, str, type_pb2.EdgeEnd]]:
    """Return every triple that was ever stated, by the names that its ends have had."""
    found = []
    called: dict[str, set[str]] = {}
    for version in at.replay.versions:
        if version.kind == "node" and version.name:  # it is gone where the node is erased
            called.setdefault(version.id, set()).add(version.name)
    for edge in at.replay.versions:
        if edge.kind == "edge" and edge.target in called:
            start = [named(name) for name in called.get(edge.source, ())] or [by_id(edge.source)]
            ends = itertools.product(start, called[edge.target])
            found += [(source, edge.relation, named(target)) for source, target in ends]
    return [triple for place, triple in enumerate(found) if triple not in found[:place]]


async def _same_answer(
    at: Reading, request: graph_pb2.GetEdgeRequest, wanted: Version | None
) -> None:
    reply = await at.calls.graph.GetEdge(request)
    assert reply.status == (FOUND if wanted else NOT_FOUND), request
    if wanted:
        same_edge(at, reply.edge, wanted)


def same_edge(at: Reading, edge: type_pb2.Edge, wanted: Version) -> None:
    """Compare an edge with a version, and its supersession."""
    assert edge.id == wanted.id
    assert (edge.source.id, edge.relation) == (wanted.source, wanted.relation)
    assert (edge.target.id, edge.weight) == (wanted.target, wanted.weight)
    for end in (edge.source, edge.target):
        node = at.known.items.get(end.id)
        assert end.name == (node.name if node and node.kind == "node" else "")
    assert set(edge.sources) == {memory.id for memory in at.known.stating({edge.id})}
    _same_times(edge, wanted)
    same_supersession(at, edge.supersession, wanted)


def _same_times(item: type_pb2.Edge | type_pb2.Memory, wanted: Version) -> None:
    assert micros(item.modify_time) == wanted.recorded
    assert micros(item.create_time) == wanted.created
    for name in ("valid_from", "valid_until"):
        stated = micros(getattr(item, name)) if item.HasField(name) else None
        assert stated == wanted.told[name], name


def same_supersession(at: Reading, supersession: type_pb2.Supersession, wanted: Version) -> None:
    """Compare what follows from lineage and time at the instant."""
    known = at.known
    begins = known.superseded_from(wanted)
    until = known.until(wanted)

    assert supersession.is_superseded == (begins <= at.v)
    assert micros(supersession.superseded_from) == (0 if begins == FOREVER else begins)
    assert micros(supersession.effective_valid_from) == wanted.begins
    assert supersession.HasField("effective_valid_until") == (until != FOREVER)
    assert micros(supersession.effective_valid_until) == (0 if until == FOREVER else until)
    assert list(supersession.head_ids) == sorted(known.heads(wanted, at.v)), (
        wanted.id,
        at.v,
        [
            (e.kind, e.id[-5:], e.begins, e.ends, e.deleted, e.edge_type, known.facts.get(e.id))
            + ((e.relation, e.source[-5:], e.target[-5:], e.governed) if e.kind == "edge" else ())
            for e in known.items.values()
            if e.kind in ("edge", "memory") and "concord" not in str(e.told)
        ],
    )
    if not wanted.deleted:
        assert supersession.predecessor_count == known.predecessors(wanted)
        assert set(supersession.amendment_ids) == known.amendments(wanted, at.v)


async def check_memories(at: Reading, ids: tuple[str, ...], keys: tuple[str, ...]) -> None:
    """GetMemory by id and external id, ListMemories."""
    memories = [m for m in at.known.items.values() if m.kind == "memory"]
    for memory_id in ids:
        wanted = next((m for m in memories if m.id == memory_id), None)
        request = memory_pb2.GetMemoryRequest(id=memory_id, peek=True, as_of=at.as_of)
        await _same_memory_answer(at, request, wanted)
    for key in keys:
        wanted = next((m for m in memories if m.external_id == key), None)
        request = memory_pb2.GetMemoryRequest(external_id=key, peek=True, as_of=at.as_of)
        await _same_memory_answer(at, request, wanted)
    live = sorted(at.known.live("memory"), key=lambda m: (m.created, m.id), reverse=True)
    held = [m for m in live if at.known.held(m, at.v)]
    timely = [m for m in live if at.known.in_time(m, at.v)]
    for superseded, wanted_ones in ((False, held), (True, timely)):
        listing = memory_pb2.ListMemoriesRequest(
            as_of=at.as_of, page_size=at.page_size, include_superseded=superseded
        )
        replies = await pages(at.calls.memory.ListMemories, listing)
        found = [m for page in replies for m in page.memories]
        assert [m.id for m in found] == [m.id for m in wanted_ones], superseded
        for memory, like in zip(found, wanted_ones, strict=True):
            _same_memory(at, memory, like)


async def _same_memory_answer(
    at: Reading, request: memory_pb2.GetMemoryRequest, wanted: Version | None
) -> None:
    reply = await at.calls.memory.GetMemory(request)
    there = ERASED if wanted and wanted.erased else FOUND
    assert reply.status == (there if wanted else NOT_FOUND), request
    if wanted:
        _same_memory(at, reply.memory, wanted)


def _same_memory(at: Reading, memory: type_pb2.Memory, wanted: Version) -> None:
    assert (memory.id, memory.content) == (wanted.id, wanted.content)
    assert memory.external_id == wanted.external_id
    assert memory.HasField("forget_time") == wanted.deleted
    _same_times(memory, wanted)
    same_supersession(at, memory.supersession, wanted)


async def check_histories(at: Reading, ids: tuple[str, ...]) -> None:
    """GetMemoryHistory."""
    for memory_id in ids:
        request = memory_pb2.GetMemoryHistoryRequest(
            id=memory_id, as_of=at.as_of, page_size=at.page_size
        )
        replies = await pages(at.calls.memory.GetMemoryHistory, request)
        found = [version for page in replies for version in page.versions]
        wanted = at.replay.history(memory_id, at.r)
        assert len(found) == len(wanted), memory_id
        for version, (like, until) in zip(found, wanted, strict=True):
            assert version.memory.content == like.content
            assert version.memory.HasField("forget_time") == like.deleted
            assert micros(version.record_from) == like.recorded
            assert micros(version.record_until) == (0 if until == FOREVER else until)


async def check_chains(at: Reading, ids: tuple[str, ...]) -> None:
    """GetLineage of memories, ghosts and edges."""
    edges = {v.id for v in at.replay.versions if v.kind == "edge"}
    for item_id in (*ids, *sorted(edges)):
        request = lineage_pb2.GetLineageRequest(id=item_id, as_of=at.as_of)
        reply = await at.calls.lineage_service.GetLineage(request)
        chain, lineage = at.known.chain(item_id)
        if item_id not in at.known.items and not at.known.memory_or_ghost(item_id):
            assert reply.status == NOT_FOUND, item_id
            continue
        assert {item.id for item in reply.items} == chain, item_id
        assert {edge.id for edge in reply.edges} == lineage, item_id
        assert len(reply.items) == len(chain)
        for edge in reply.edges:
            same_edge(at, edge, at.known.items[edge.id])
        for item in reply.items:
            _same_link(at, item)


def _same_link(at: Reading, item: lineage_pb2.LineageItem) -> None:
    wanted = at.known.items.get(item.id)
    assert item.is_undeclared == (wanted is None)
    if wanted is None:
        return
    assert item.is_deleted == wanted.deleted
    superseded = at.known.superseded_from(wanted) <= at.v
    assert item.is_head == (not wanted.deleted and not superseded)
    same_supersession(at, item.supersession, wanted)


async def check_counts(at: Reading) -> None:
    """CountByType."""
    counts = await at.calls.space_service.CountByType(space_pb2.CountByTypeRequest(as_of=at.as_of))

    assert counts.nodes == len(at.known.live("node"))
    assert counts.edges == len(at.listed(at.known.live("edge")))
    assert counts.memories == len(at.listed(at.known.live("memory")))
    assert counts.deleted == sum(item.deleted for item in at.known.items.values())


async def check_export(at: Reading) -> None:
    """ExportSpace: what is there, by its own words."""
    lines = [json.loads(line) for line in await at.calls.export(as_of=at.as_of)]
    lines = [line for line in lines if line["kind"] != "conflict"]
    there = at.known.exported(at.v, stated=at.valid is not None)
    names = {i: _name(item, at.known) for i, item in at.known.items.items()}
    wanted = []
    for item in there.values():
        if item.kind == "node":
            wanted.append(["node", item.name, item.label])
        elif item.kind == "memory":
            wanted.append(["memory", item.id, item.content])
        else:
            ends = [names.get(end, end) for end in (item.source, item.target)]
            wanted.append(["lineage" if item.is_lineage else "edge", item.relation, *ends])
    assert sorted(map(_plain, lines)) == sorted(wanted)


def _name(item: Version, known: Known) -> str:
    if item.kind != "edge":
        return str(item.name if item.kind == "node" else item.id)
    ends = [known.items[end] for end in (item.source, item.target) if end in known.items]
    return f"{item.relation} {' '.join(_name(e, known) for e in ends)} {item.valid_from or ''}"


def _plain(line: dict[str, Any]) -> list[str]:
    if line["kind"] == "node":
        return ["node", line["name"], line["label"]]
    if line["kind"] == "memory":
        return ["memory", line["id"], line["content"]]
    ends = ("newer", "older") if line["kind"] == "lineage" else ("source", "target")
    return [line["kind"], line["relation"], *(_said(line[end]) for end in ends)]


def _said(end: dict[str, Any]) -> str:
    if "edge" in end:
        triple = end["edge"]
        ends = f"{_said(triple['source'])} {_said(triple['target'])}"
        begins = Timestamp()
        if "valid_from" in triple:
            begins.FromJsonString(triple["valid_from"])
        return f"{triple['relation']} {ends} {micros(begins) or ''}"
    return str(end.get("node") or end.get("memory"))


async def check_walks(at: Reading, names: str, ids: tuple[str, ...]) -> None:
    """QueryNeighbors: one hop, and two with what is superseded and resolutions."""
    for superseded in (False, True):
        edges = at.known.walkable(at.v, superseded=superseded, resolutions=superseded)
        for start in (*names, *ids):
            found = at.known.memory_or_ghost(start)
            if start not in ids:
                node = at.known.named(start)
                found = node.id if node else None
            end = by_id(start) if start in ids else named(start)
            options = {"include_superseded": superseded, "include_resolutions": superseded}
            depth = 2 if superseded else 1
            reply = await at.calls.neighbors(
                end, depth=depth, as_of=at.as_of, page_size=200, **options
            )
            assert reply.status == (FOUND if found else NOT_FOUND), start
            if found:
                near = {n.edge.id: n.distance for n in reply.neighbors}
                assert near == at.known.around(found, edges, depth), (start, depth)
            for neighbor in reply.neighbors:
                same_edge(at, neighbor.edge, at.known.items[neighbor.edge.id])


async def check_paths(at: Reading, names: str) -> None:
    """FindPath between every two nodes."""
    edges = at.known.walkable(at.v, superseded=False, resolutions=False)
    for start, end in itertools.pairwise(names):
        ends = [at.known.named(name) for name in (start, end)]
        reply = await at.calls.paths(start, end, as_of=at.as_of, max_depth=3, max_paths=100)
        assert reply.status == (FOUND if all(ends) else NOT_FOUND)
        if ends[0] and ends[1]:
            wanted = at.known.paths(ends[0].id, ends[1].id, edges, 3)
            found = [tuple(edge.id for edge in path.edges) for path in reply.paths]
            assert len(wanted) > 100 or sorted(found) == sorted(wanted)
            assert [len(path) for path in found] == sorted(map(len, wanted))[:100]


async def check_following(at: Reading, names: str, relations: tuple[str, ...]) -> None:
    """FollowRelations: from every node along the relations."""
    edges = at.known.walkable(at.v, superseded=False, resolutions=False)
    for start in names:
        node = at.known.named(start)
        request = relation_pb2.FollowRelationsRequest(
            start=named(start), relations=relations, as_of=at.as_of, peek=True
        )
        reply = await at.calls.relation.FollowRelations(request)
        assert reply.status == (FOUND if node else NOT_FOUND), start
        reached = {node.id} if node else set()
        for number, hop in enumerate(reply.hops, 1):
            held = {e.id for e in edges if e.relation == hop.relation and e.source in reached}
            assert {edge.id for edge in hop.edges} == held, (start, hop.relation)
            reached = {edge.target for edge in edges if edge.id in held}
            assert (reply.unheld_hop == number) == (not held)
        assert {end.id for end in reply.ends} == reached
