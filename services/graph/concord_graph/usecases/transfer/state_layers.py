"""Episodes, working memory and declared relations as lines of the state export (G15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from concord_graph.domain.items import DeclaredRelation, Entry, Importance, Instant, ItemKind
from concord_graph.ports import EntryFilter, Reads

Record = dict[str, Any]
_ALL = 2**31 - 1


async def layer_records(tx: Reads, at: Instant, names: Mapping[str, Record]) -> list[Record]:
    """Return episodes, held texts and declared relations.

    `names` says how a memory is named without a generated id.
    """
    episodes, _ = await tx.entries(EntryFilter(ItemKind.EPISODE), at, limit=_ALL)
    held, _ = await tx.entries(EntryFilter(ItemKind.WORKING_MEMORY), at, limit=_ALL)
    declared = await tx.list_relations(at, "", _ALL)
    return [
        *(_episode(entry, names) for entry in episodes),
        *map(_held, held),
        *map(_relation, declared),
    ]


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
