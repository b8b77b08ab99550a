"""Maps write requests to commands, the same ones for direct and for governed requests."""

from __future__ import annotations

from functools import partial

from concord.graph.v1 import (
    conflict_pb2,
    governed_pb2,
    graph_pb2,
    lineage_pb2,
    memory_pb2,
    relation_pb2,
)

from concord_graph.domain.conflicts import ConflictClass
from concord_graph.ports import (
    ConflictsDismissed,
    ConflictsRecorded,
    ItemsReverted,
    MemoryErased,
    NodeDeleted,
    Result,
    Written,
)
from concord_graph.servicer import conflict_messages, incoming
from concord_graph.usecases.governed.apply import GovernedChanges
from concord_graph.usecases.governed.merge import merge_items
from concord_graph.usecases.governed.revert import Reversion, revert_items
from concord_graph.usecases.items import conflicts, edges, lineage, nodes, relations
from concord_graph.usecases.memory.entries import WorkingMemory
from concord_graph.usecases.memory.erase import Erasing
from concord_graph.usecases.memory.memories import Memories
from concord_graph.usecases.write.cascade import Scope
from concord_graph.usecases.write.commands import Command


class Actions:
    """Turns write requests into commands, which then run in the store's transaction."""

    def __init__(self, memories: Memories, working: WorkingMemory, erasing: Erasing) -> None:
        self.memories = memories
        self.working = working
        self.erasing = erasing

    def upsert_node(self, request: graph_pb2.UpsertNodeRequest) -> Command[Written]:
        draft = incoming.node_draft(request.node)
        return partial(nodes.upsert_node, draft=draft, etag=request.etag)

    def update_node(self, request: graph_pb2.UpdateNodeRequest) -> Command[Written]:
        patch = incoming.node_patch(request.node, request.update_mask)
        return partial(nodes.update_node, patch=patch)

    def delete_node(self, request: graph_pb2.DeleteNodeRequest) -> Command[NodeDeleted]:
        return partial(
            nodes.delete_node, node_id=request.id, etag=request.etag, cascade=request.cascade
        )

    def upsert_edge(self, request: graph_pb2.UpsertEdgeRequest) -> Command[Written]:
        draft = incoming.edge_draft(request.edge)
        return partial(edges.upsert_edge, draft=draft, etag=request.etag)

    def update_edge(self, request: graph_pb2.UpdateEdgeRequest) -> Command[Written]:
        patch = incoming.edge_patch(request.edge, request.update_mask)
        return partial(edges.update_edge, patch=patch, links=self.memories.links)

    def delete_edge(self, request: graph_pb2.DeleteEdgeRequest) -> Command[Written]:
        links = self.memories.links
        return partial(edges.delete_edge, edge_id=request.id, etag=request.etag, links=links)

    def add_memory(self, request: memory_pb2.AddMemoryRequest) -> Command[Written]:
        draft = incoming.memory_draft(request.memory)
        return partial(self.memories.add, draft=draft, extracted=request.extracted)

    def update_memory(self, request: memory_pb2.UpdateMemoryRequest) -> Command[Written]:
        patch = incoming.memory_patch(request.memory, request.update_mask)
        return partial(self.memories.update, patch=patch)

    def forget_memory(self, request: memory_pb2.ForgetMemoryRequest) -> Command[Written]:
        return partial(self.memories.forget, memory_id=request.id, etag=request.etag)

    def restore_memory(self, request: memory_pb2.RestoreMemoryRequest) -> Command[Written]:
        return partial(self.memories.restore, memory_id=request.id, etag=request.etag)

    def erase_memory(self, request: memory_pb2.EraseMemoryRequest) -> Command[MemoryErased]:
        return partial(
            self.erasing.erase, memory_id=request.id, etag=request.etag, reason=request.reason
        )

    def add_lineage(self, request: lineage_pb2.AddLineageRequest) -> Command[Written]:
        draft = incoming.lineage_draft(request)
        return partial(lineage.add_lineage, draft=draft)

    def declare_relation(self, request: relation_pb2.DeclareRelationRequest) -> Command[Written]:
        return partial(
            relations.declare_relation,
            name=incoming.text(request.name),
            declaration=incoming.declaration(request),
            etag=request.etag,
        )

    def record_conflicts(
        self, request: conflict_pb2.RecordConflictsRequest
    ) -> Command[ConflictsRecorded]:
        return partial(conflicts.record_conflicts, findings=conflict_messages.findings(request))

    def review_conflict(self, request: conflict_pb2.ReviewConflictRequest) -> Command[Written]:
        return partial(
            conflicts.review_conflict,
            conflict_id=request.conflict_id,
            etag=request.etag,
            review=conflict_messages.review(request),
        )

    def resolve_conflict(self, request: conflict_pb2.ResolveConflictRequest) -> Command[Written]:
        return partial(
            conflicts.resolve_conflict,
            conflict_id=request.conflict_id,
            etag=request.etag,
            resolution_type=ConflictClass(request.resolution_type),
            superseded_id=request.superseded_id,
            context=request.context,
        )

    def reopen_conflict(self, request: conflict_pb2.ReopenConflictRequest) -> Command[Written]:
        return partial(
            conflicts.reopen_conflict,
            conflict_id=request.conflict_id,
            etag=request.etag,
            links=self.memories.links,
        )

    def dismiss(self, request: conflict_pb2.DismissConflictsRequest) -> Command[ConflictsDismissed]:
        return partial(
            conflicts.dismiss_conflicts,
            run_id=request.run_id,
            rule=request.rule,
            group_id=request.group_id,
            context=request.context,
        )

    def end_former_findings(
        self, request: conflict_pb2.EndFormerFindingsRequest
    ) -> Command[ConflictsDismissed]:
        return partial(
            conflicts.end_former_findings,
            judges_version=request.judges_version,
            not_found=frozenset(request.conflict_ids),
        )

    def revert_items(self, request: governed_pb2.RevertItemsRequest) -> Command[ItemsReverted]:
        wanted = [
            Reversion(item.id, item.revision, item.expected_revision) for item in request.items
        ]
        return partial(revert_items, reversions=wanted)

    def merge_items(self, request: governed_pb2.MergeItemsRequest) -> Command[Written]:
        return partial(
            merge_items,
            memories=self.memories,
            kept=(request.kept_id, request.kept_etag),
            merged=(request.merged_id, request.merged_etag),
        )

    def governed(
        self, action: governed_pb2.GovernedAction, changes: GovernedChanges
    ) -> Command[Result]:
        """Return the command that a governed action wraps."""
        wanted = action.WhichOneof("action") or ""
        if wanted == "change_key":
            return partial(changes.change_key, proof=action.change_key.proof)
        command: Command[Result] = getattr(self, wanted)(getattr(action, wanted))
        return command


def scope_of(action: governed_pb2.GovernedAction) -> Scope:
    """Return the scope of a governed action: the items that it names, not the cascaded ones."""
    wanted = action.WhichOneof("action")
    if wanted == "revert_items":
        items = action.revert_items.items
        return Scope(frozenset(item.id for item in items if not item.cascaded))
    return Scope(erases=wanted == "erase_memory")
