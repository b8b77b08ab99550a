"""Decisions about conflicts, and suggestions: graph's own requests, and actions that wrap them."""

from concord.graph.v1 import conflict_pb2, governed_pb2
from concord.type.v1 import type_pb2

Decision = (
    conflict_pb2.ReviewConflictRequest
    | conflict_pb2.ResolveConflictRequest
    | conflict_pb2.ReopenConflictRequest
)
"""A decision about a version of a conflict (D5, D6)."""
Decided = (
    conflict_pb2.ReviewConflictResponse
    | conflict_pb2.ResolveConflictResponse
    | conflict_pb2.ReopenConflictResponse
)
"""Graph's reply to a decision."""


def action_of(decision: Decision) -> governed_pb2.GovernedAction:
    """Return the action that proposes a decision."""
    match decision:
        case conflict_pb2.ReviewConflictRequest():
            return governed_pb2.GovernedAction(review_conflict=decision)
        case conflict_pb2.ResolveConflictRequest():
            return governed_pb2.GovernedAction(resolve_conflict=decision)
        case _:
            return governed_pb2.GovernedAction(reopen_conflict=decision)


def conflict_of(action: governed_pb2.GovernedAction) -> tuple[str, str]:
    """Return the id and etag of an action's conflict; both empty if it has none."""
    which = action.WhichOneof("action") or ""
    if not which.endswith("_conflict"):
        return "", ""
    message = getattr(action, which)
    return message.conflict_id, message.etag


def pair_of(action: governed_pb2.GovernedAction) -> frozenset[str]:
    """Return the ids of the two memories that a suggestion is about; empty for other actions."""
    match action.WhichOneof("action"):
        case "add_lineage":
            return frozenset({action.add_lineage.newer_id, action.add_lineage.older_id})
        case "merge_items":
            return frozenset({action.merge_items.kept_id, action.merge_items.merged_id})
        case _:
            return frozenset()


def item_of(action: governed_pb2.GovernedAction) -> str:
    """Return the id of the newer memory or promoted item of a suggestion; empty for others."""
    match action.WhichOneof("action"):
        case "add_lineage":
            return action.add_lineage.newer_id
        case "merge_items":
            return action.merge_items.merged_id
        case "update_memory":
            return action.update_memory.memory.id
        case "update_edge":
            return action.update_edge.edge.id
        case _:
            return ""


def concerns(conflict: conflict_pb2.Conflict, pair: frozenset[str]) -> bool:
    """Return whether a conflict's sides are two memories, or edges that these two state."""
    first, second = (_memories(side) for side in (conflict.first, conflict.second))
    return any(one in first and pair - {one} & second for one in pair)


def _memories(side: conflict_pb2.ConflictSide) -> frozenset[str]:
    """Return the memories that a side is, or that state it: an edge's first source names them."""
    if side.kind == type_pb2.ITEM_KIND_EDGE:
        return frozenset(each for source in side.sources[:1] for each in source.memory_ids)
    return frozenset({side.id})


def key_of(action: governed_pb2.GovernedAction) -> str:
    """Return the key of dissonance's own suggestion, of any versions of its items.

    Only one proposal of a key may wait. An action about a conflict has none.
    """
    match action.WhichOneof("action"):
        case "add_lineage":
            return f"AMENDS\0{action.add_lineage.newer_id}\0{action.add_lineage.older_id}"
        case "merge_items":
            return f"MERGE\0{action.merge_items.kept_id}\0{action.merge_items.merged_id}"
        case "declare_relation":
            return f"DECLARE\0{action.declare_relation.name}"
        case "update_memory":
            return f"PROMOTE\0{item_of(action)}"
        case "update_edge":
            return f"PROMOTE\0{item_of(action)}"
        case _:
            return ""


def occasion_of(action: governed_pb2.GovernedAction) -> str:
    """Return the key of a suggestion of these versions; for others it may be made again."""
    match action.WhichOneof("action"):
        case "add_lineage":
            lineage = action.add_lineage
            return f"{key_of(action)}\0{lineage.newer_etag}\0{lineage.older_etag}"
        case "merge_items":
            merge = action.merge_items
            return f"{key_of(action)}\0{merge.kept_etag}\0{merge.merged_etag}"
        case _:
            return key_of(action)
