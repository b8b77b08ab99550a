"""A space's live items as canonical JSON Lines: equal states give equal bytes (G15, state form).

No generated ids, no defaulted times, no revisions, record times or access data. A memory without a
stated id is named by its external id, else by the digest of its words; if two have one name,
`among` distinguishes them by their other fields and their neighbours. The edges and lineage of a
forgotten memory are left out until it is restored. As of an earlier instant, the export has what
was known then; with a stated valid time, only what held at that time.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import rfc8785

from concord_graph.domain.claims import Claim, claim_of
from concord_graph.domain.conflicts import Conflict, conflict_of
from concord_graph.domain.digests import content_digest
from concord_graph.domain.facts import Fact
from concord_graph.domain.fields import Field, own_fields
from concord_graph.domain.items import (
    DeclaredRelation,
    Edge,
    Entry,
    Importance,
    Instant,
    ItemKind,
    Memory,
    Node,
    Origin,
    Properties,
    Source,
)
from concord_graph.ports import EntryFilter, Reads
from concord_graph.usecases.transfer.likeness import Link, told_apart
from concord_graph.usecases.write.conflicts import CONFLICT_ID

Record = dict[str, Any]


async def export_state(tx: Reads, at: Instant) -> list[str]:
    """Return the lines of the state export, each part sorted.

    The parts: memories, nodes, edges, lineage; then episodes, held entries of working memory,
    declared relations, conflicts and claims together.
    """
    nodes = [n for n in await tx.live_items(ItemKind.NODE, at) if isinstance(n, Node)]
    memories = [m for m in await tx.live_items(ItemKind.MEMORY, at) if isinstance(m, Memory)]
    live = [e for e in await tx.live_items(ItemKind.EDGE, at) if isinstance(e, Edge)]
    there = {item.id for kind in (nodes, memories, live) for item in kind}
    edges = await _with_their_ends(tx, live, there, at)
    names = {m.id: _memory_name(m) for m in memories} | {n.id: {"node": n.name} for n in nodes}
    among = _told_apart(memories, edges, names)
    names |= {m.id: names[m.id] | among[m.id] for m in memories if m.id in among}
    plain = {e.id: _triple(e, names) | among.get(e.id, {}) for e in edges if not e.is_lineage}
    names |= {edge_id: {"edge": triple} for edge_id, triple in plain.items()}
    return [
        *_sorted(_memory(m) | among.get(m.id, {}) for m in memories),
        *_sorted(_node(n) for n in nodes),
        *_sorted(_edge(e, plain[e.id]) for e in edges if not e.is_lineage),
        *_sorted(_lineage(e, names) for e in edges if e.is_lineage),
        *_sorted(map(_without_empty, await _layer_records(tx, at, names))),
    ]


async def _with_their_ends(
    tx: Reads, edges: list[Edge], there: set[str], at: Instant
) -> list[Edge]:
    """Return the edges whose ends are exported or ghosts; an edge's end may be an edge."""
    ends = {end.id for edge in edges for end in (edge.source, edge.target)}
    gone = set(await tx.kinds(ends - there, at.record))
    while True:
        rest = {edge.id for edge in edges if gone & {edge.source.id, edge.target.id}}
        if not rest:
            return edges
        edges = [edge for edge in edges if edge.id not in rest]
        gone = rest


def _told_apart(
    memories: list[Memory], edges: list[Edge], names: Mapping[str, Record]
) -> dict[str, Record]:
    """Return an addition to the name of each memory and edge that shares its name with another."""
    plain = {e.id: _triple(e, names) for e in edges if not e.is_lineage}
    called = {m.id: _text(names[m.id]) for m in memories}
    called |= {edge_id: _text(triple) for edge_id, triple in plain.items()}
    counts = Counter(called.values())
    alike = {item_id for item_id, name in called.items() if counts[name] > 1}
    if not alike:
        return {}
    said = {m.id: called[m.id] + _text(_memory(m)) for m in memories}
    said |= {e.id: _text(_edge(e, plain[e.id])) for e in edges if not e.is_lineage}
    said |= {item_id: _text(name) for item_id, name in names.items() if item_id not in said}
    links: list[Link] = []
    for edge in edges:
        if edge.is_lineage:
            properties = _text(_stated(edge))
            links.append((edge.source.id, f"{edge.relation} {properties}", edge.target.id))
        else:
            links += [(edge.id, "source", edge.source.id), (edge.id, "target", edge.target.id)]
    return {item_id: {"among": text} for item_id, text in told_apart(said, alike, links).items()}


def _text(record: Record) -> str:
    return rfc8785.dumps(record).decode()


def _sorted(records: Iterable[Record]) -> list[str]:
    return sorted(_text(record) for record in records)


def _memory_name(memory: Memory) -> Record:
    if memory.erase_time:
        return {"erased": memory.id}
    if memory.id_stated:
        return {"memory": memory.id}
    if memory.external_id:
        return {"external_id": memory.external_id}
    return {"says": content_digest(memory)}


def _memory(memory: Memory) -> Record:
    if memory.erase_time:  # as of an instant before its erasure
        return {"kind": "memory", "erased": memory.id}
    differing = {
        "kind": "memory",
        "id": memory.id if memory.id_stated else "",
        "concepts": list(memory.concepts) if memory.concepts_stated else [],
        "turn_order": memory.turn_order or "",
    }
    return _without_empty(_record(memory) | differing)


def _record(value: Memory | Source | Fact) -> Record:
    """Return the fields of a memory, a source or a fact, without empty ones."""
    return _without_empty(
        {
            name: getattr(value, name) if write is None else write(getattr(value, name))
            for name, write in _WRITTEN[type(value)]
        }
    )


def _node(node: Node) -> Record:
    return _without_empty(
        {
            "kind": "node",
            "name": node.name,
            "label": node.label,
            "properties": dict(node.properties),
            "vector_id": node.vector_id,
        }
    )


def _triple(edge: Edge, names: Mapping[str, Record]) -> Record:
    return _without_empty(
        {
            "source": names.get(edge.source.id, {"memory": edge.source.id}),
            "relation": edge.relation,
            "target": names.get(edge.target.id, {"memory": edge.target.id}),
            "valid_from": _time(edge.valid_from),
        }
    )


def _edge(edge: Edge, triple: Record) -> Record:
    return triple | _without_empty(
        {
            "kind": "edge",
            "weight": edge.weight,
            "properties": dict(edge.properties),
            "edge_type": edge.edge_type.name,
            "importance": _named(edge.importance),
            "valid_until": _time(edge.valid_until),
            "made_by": _MADE_BY.get(edge.origin, ""),
            "claimed": edge.claimed or "",
        }
    )


_MADE_BY = {Origin.FACT: "facts", Origin.EXTRACTED: "extracted facts"}


def _lineage(edge: Edge, names: dict[str, Record]) -> Record:
    return _without_empty(
        {
            "kind": "lineage",
            "relation": edge.relation,
            "newer": names.get(edge.source.id, {"memory": edge.source.id}),
            "older": names.get(edge.target.id, {"memory": edge.target.id}),
            "properties": _stated(edge),
            "claimed": edge.claimed or "",
        }
    )


def _stated(lineage: Edge) -> Record:
    """Return the properties of lineage, without a resolution's conflict id and time."""
    made = {CONFLICT_ID, "resolved_at"} if CONFLICT_ID in lineage.properties else set()
    return {name: value for name, value in lineage.properties.items() if name not in made}


async def _layer_records(tx: Reads, at: Instant, names: Mapping[str, Record]) -> list[Record]:
    """Return episodes, held texts, declared relations and conflicts.

    `names`: by id, the exported name of a memory or an edge, without a generated id.
    """
    episodes, _ = await tx.entries(EntryFilter(ItemKind.EPISODE), at)
    held, _ = await tx.entries(EntryFilter(ItemKind.WORKING_MEMORY), at)
    declared = await tx.list_relations(at, "", 2**31 - 1)
    return [
        *(_episode(entry, names) for entry in episodes),
        *map(_held, held),
        *map(_declared, declared),
        *(_conflict(known, names) for known in await _known_conflicts(tx, at, names)),
        *(_claim(claim, names) for claim in await _known_claims(tx, at, names)),
    ]


async def _known_conflicts(tx: Reads, at: Instant, names: Mapping[str, Record]) -> list[Conflict]:
    """Return the conflicts whose sides are exported or ghosts; others wait for a forgotten side."""
    filter_ = EntryFilter(ItemKind.CONFLICT, shelf=None)
    entries, _ = await tx.entries(filter_, replace(at, stated=False))
    conflicts = [conflict_of(entry) for entry in entries]
    absent = {side.id for each in conflicts for side in each.sides} - names.keys()
    gone = (await tx.kinds(sorted(absent), at.record)).keys()
    return [each for each in conflicts if not gone & set(each.pair)]


def _conflict(conflict: Conflict, names: Mapping[str, Record]) -> Record:
    named = {side.id: names.get(side.id, {"memory": side.id}) for side in conflict.sides}
    sides = [{**named[side.id], "spans": [list(s) for s in side.spans]} for side in conflict.sides]
    resolution = conflict.resolution
    return {
        "kind": "conflict",
        "sides": sorted(sides, key=rfc8785.dumps),
        "conflict_class": conflict.conflict_class.name,
        "state": conflict.state.name,
        "older": named.get(conflict.older_id, ""),
        "type": conflict.type.name,
        "severity": conflict.severity.name,
        "confidence": conflict.confidence,
        "judge": conflict.judge.name,
        "rule": conflict.rule,
        "context": conflict.context,
        "resolution": {
            "resolution_type": resolution.resolution_type.name,
            "superseded": named.get(resolution.superseded_id, ""),
            "context": resolution.context,
        }
        if resolution
        else "",
    }


async def _known_claims(tx: Reads, at: Instant, names: Mapping[str, Record]) -> list[Claim]:
    """Return the claims on what is exported."""
    found, _ = await tx.entries(EntryFilter(ItemKind.CLAIM, shelf=None), replace(at, stated=False))
    return [claim for claim in map(claim_of, found) if claim.item.id in names]


def _claim(claim: Claim, names: Mapping[str, Record]) -> Record:
    return {
        "kind": "claim",
        "item": names[claim.item.id],
        "by": names.get(claim.by.id, {"memory": claim.by.id}) if claim.by.id else "",
        "action": claim.action.name,
        "method": claim.method,
        "claimant": claim.claimant,
        "owner": claim.owner,
        "state": claim.state.name,
    }


def _episode(entry: Entry, names: Mapping[str, Record]) -> Record:
    about = [names.get(memory_id, {"memory": memory_id}) for memory_id in entry.body["memory_ids"]]
    return {
        "kind": "episode",
        "query": entry.body["query"],
        "reward": entry.body["reward"],
        "reflection": entry.body["reflection"],
        "session_id": entry.session_id,
        "about": about,
    }


def _declared(relation: DeclaredRelation) -> Record:
    record: Record = {"kind": "relation", "name": relation.name, "functional": relation.functional}
    if relation.temporal_class:
        record["temporal_class"] = relation.temporal_class.name
    if relation.transitive:
        record["transitive"] = True
    if relation.exclusive_sets:
        record["exclusive_sets"] = relation.exclusive_sets
    return record


def _held(entry: Entry) -> Record:
    return {
        "kind": "working_memory",
        "content": entry.body["content"],
        "importance": Importance(entry.rank).name,
        "session_id": entry.session_id,
    }


def _time(instant: int | None) -> str:
    if instant is None:
        return ""
    seconds, micros = divmod(instant, 1_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{micros:06}Z"


def _without_empty(record: Record) -> Record:
    return {key: value for key, value in record.items() if value not in ("", [], {}, None)}


def _named(member: enum.IntEnum) -> str:
    return member.name if member else ""


_OF_TYPE: Mapping[Any, Callable[[Any], Any]] = {
    tuple[str, ...]: list,
    tuple[Source, ...]: lambda sources: list(map(_record, sources)),
    tuple[Fact, ...]: lambda facts: sorted(map(_record, facts), key=rfc8785.dumps),
    Properties: dict,
    bool: lambda is_so: is_so or None,
}


def _write(field: Field) -> Callable[[Any], Any] | None:
    """Return the function that writes a field; None: it is written as it is."""
    if field.is_time:
        return _time
    if isinstance(field.type, type) and issubclass(field.type, enum.IntEnum):
        return _named
    return _OF_TYPE.get(field.type)


_WRITTEN: Mapping[type, list[tuple[str, Callable[[Any], Any] | None]]] = {
    kind: [
        (each.name, _write(each))
        for each in own_fields(kind)
        if each.name not in {"id_stated", "concepts_stated", "erase_time"}
    ]
    for kind in (Memory, Source, Fact)
}
"""The exported fields of each type by name, each with the function that writes it."""
