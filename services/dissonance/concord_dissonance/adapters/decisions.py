"""Decisions and suggestions as requests to graph, and as actions that proposals wrap."""

from concord.graph.v1 import (
    conflict_pb2,
    governed_pb2,
    graph_pb2,
    lineage_pb2,
    memory_pb2,
    relation_pb2,
)
from concord.type.v1 import type_pb2
from google.protobuf.field_mask_pb2 import FieldMask

from concord_dissonance.domain.reviews import Decision, Resolve, Review
from concord_dissonance.domain.suggestions import Amend, Declare, Merge, Promote, Suggestion, key_of

Request = (
    conflict_pb2.ReviewConflictRequest
    | conflict_pb2.ResolveConflictRequest
    | conflict_pb2.ReopenConflictRequest
)


def message_of(decision: Decision, request_id: str) -> Request:
    """The request that carries a decision out."""
    match decision:
        case Review():
            return conflict_pb2.ReviewConflictRequest(
                request_id=request_id,
                conflict_id=decision.conflict_id,
                etag=decision.etag,
                decision=conflict_pb2.ReviewDecision.Value(f"REVIEW_DECISION_{decision.verb.name}"),
                context=decision.context,
                conflict_class=class_of(decision.conflict_class),
                older_id=decision.older_id,
            )
        case Resolve():
            return conflict_pb2.ResolveConflictRequest(
                request_id=request_id,
                conflict_id=decision.conflict_id,
                etag=decision.etag,
                resolution_type=class_of(decision.resolution_type),
                superseded_id=decision.superseded_id,
                context=decision.context,
            )
        case _:
            return conflict_pb2.ReopenConflictRequest(
                request_id=request_id, conflict_id=decision.conflict_id, etag=decision.etag
            )


def action_of(decision: Decision, request_id: str) -> governed_pb2.GovernedAction:
    """The action that proposes a decision."""
    message = message_of(decision, request_id)
    match message:
        case conflict_pb2.ReviewConflictRequest():
            return governed_pb2.GovernedAction(review_conflict=message)
        case conflict_pb2.ResolveConflictRequest():
            return governed_pb2.GovernedAction(resolve_conflict=message)
        case _:
            return governed_pb2.GovernedAction(reopen_conflict=message)


def conflict_of(action: governed_pb2.GovernedAction) -> tuple[str, str]:
    """The id and etag of an action's conflict; both empty if it has none."""
    which = action.WhichOneof("action") or ""
    if not which.endswith("_conflict"):
        return "", ""
    message = getattr(action, which)
    return message.conflict_id, message.etag


def class_of(word: str) -> conflict_pb2.ConflictClass.ValueType:
    """A class by its word, e.g. "EVOLUTION"; unspecified for an empty one."""
    return conflict_pb2.ConflictClass.Value(f"CONFLICT_CLASS_{word or 'UNSPECIFIED'}")


def suggested_action(suggestion: Suggestion, request_id: str) -> governed_pb2.GovernedAction:
    """The action that proposes a suggestion."""
    if isinstance(suggestion, Amend):
        lineage = lineage_pb2.AddLineageRequest(
            request_id=request_id,
            relation=type_pb2.LINEAGE_RELATION_AMENDS,
            newer_id=suggestion.newer_id,
            newer_etag=suggestion.newer_etag,
            older_id=suggestion.older_id,
            older_etag=suggestion.older_etag,
        )
        return governed_pb2.GovernedAction(add_lineage=lineage)
    if isinstance(suggestion, Merge):
        merge = governed_pb2.MergeItemsRequest(
            request_id=request_id,
            kept_id=suggestion.kept_id,
            kept_etag=suggestion.kept_etag,
            merged_id=suggestion.merged_id,
            merged_etag=suggestion.merged_etag,
        )
        return governed_pb2.GovernedAction(merge_items=merge)
    if isinstance(suggestion, Declare):
        declare = relation_pb2.DeclareRelationRequest(
            request_id=request_id, name=suggestion.relation, functional=True
        )
        if suggestion.is_of_states:
            declare.temporal_class = relation_pb2.TEMPORAL_CLASS_STATE
        return governed_pb2.GovernedAction(declare_relation=declare)
    mask = FieldMask(paths=["edge_type"])
    kind = type_pb2.EDGE_TYPE_CONSTITUTIVE
    if suggestion.is_edge:
        edge = type_pb2.Edge(id=suggestion.item_id, etag=suggestion.etag, edge_type=kind)
        update = graph_pb2.UpdateEdgeRequest(request_id=request_id, edge=edge, update_mask=mask)
        return governed_pb2.GovernedAction(update_edge=update)
    memory = type_pb2.Memory(id=suggestion.item_id, etag=suggestion.etag, edge_type=kind)
    change = memory_pb2.UpdateMemoryRequest(request_id=request_id, memory=memory, update_mask=mask)
    return governed_pb2.GovernedAction(update_memory=change)


def suggestion_of(action: governed_pb2.GovernedAction) -> str:
    """The key of the suggestion of dissonance's own action; empty for a conflict's action."""
    match action.WhichOneof("action"):
        case "add_lineage":
            return key_of(Amend(action.add_lineage.newer_id, action.add_lineage.older_id))
        case "merge_items":
            return key_of(Merge(action.merge_items.kept_id, action.merge_items.merged_id))
        case "declare_relation":
            return key_of(Declare(action.declare_relation.name))
        case "update_memory":
            return key_of(Promote(action.update_memory.memory.id, False, "", ""))
        case "update_edge":
            return key_of(Promote(action.update_edge.edge.id, True, "", ""))
        case _:
            return ""
