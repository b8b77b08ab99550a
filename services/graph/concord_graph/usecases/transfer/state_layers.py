"""Episodes, working memory, declared relations and conflicts in the state export (G15)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import rfc8785

from concord_graph.domain.conflicts import Conflict, conflict_of
from concord_graph.domain.items import DeclaredRelation, Entry, Importance, Instant, ItemKind
from concord_graph.ports import EntryFilter, Reads

Record = dict[str, Any]
_ALL = 2**31 - 1


async def layer_records(tx: Reads, at: Instant, names: Mapping[str, Record]) -> list[Record]:
    """Return episodes, held texts, declared relations and conflicts.

    `names`: by id, the exported name of a memory or an edge, without a generated id.
    """
    episodes, _ = await tx.entries(EntryFilter(ItemKind.EPISODE), at, limit=_ALL)
    held, _ = await tx.entries(EntryFilter(ItemKind.WORKING_MEMORY), at, limit=_ALL)
    declared = await tx.list_relations(at, "", _ALL)
    return [
        *(_episode(entry, names) for entry in episodes),
        *map(_held, held),
        *map(_relation, declared),
        *(_conflict(known, names) for known in await _conflicts(tx, at, names)),
    ]


async def _conflicts(tx: Reads, at: Instant, names: Mapping[str, Record]) -> list[Conflict]:
    """Return the conflicts whose sides are exported or ghosts; others wait for a forgotten side."""
    filter_ = EntryFilter(ItemKind.CONFLICT, shelf=None)
    entries, _ = await tx.entries(filter_, replace(at, stated=False), limit=_ALL)
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


def _relation(relation: DeclaredRelation) -> Record:
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
