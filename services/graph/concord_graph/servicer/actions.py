"""Which work a write request asks for: the same whether it comes directly or under a grant."""

from __future__ import annotations

from concord.graph.v1 import governed_pb2, graph_pb2, lineage_pb2, memory_pb2, relation_pb2

from concord_graph.servicer import incoming
from concord_graph.usecases.governed.apply import GovernedChanges
from concord_graph.usecases.governed.revert import Reversion, revert_items
from concord_graph.usecases.items import edges, lineage, nodes, relations
from concord_graph.usecases.memory.erase import Erasing
from concord_graph.usecases.memory.memories import Memories
from concord_graph.usecases.memory.working_memory import WorkingMemory
from concord_graph.usecases.write.cascade import Scope
from concord_graph.usecases.write.commands import Work


class Actions:
    """Turns write requests into work for a writer."""

    def __init__(self, memories: Memories, working: WorkingMemory, erasing: Erasing) -> None:
        self.memories = memories
        self.working = working
        self.erasing = erasing

    def upsert_node(self, request: graph_pb2.UpsertNodeRequest) -> Work:
        """Create a node or merge into it."""
        draft = incoming.node_draft(request.node)
        return lambda writer: nodes.upsert_node(writer, draft, request.etag)

    def update_node(self, request: graph_pb2.UpdateNodeRequest) -> Work:
        """Change the named fields of a node."""
        patch = incoming.node_patch(request.node, request.update_mask)
        return lambda writer: nodes.update_node(writer, patch)

    def delete_node(self, request: graph_pb2.DeleteNodeRequest) -> Work:
        """Delete a node."""
        return lambda writer: nodes.delete_node(
            writer, request.id, request.etag, cascade=request.cascade
        )

    def upsert_edge(self, request: graph_pb2.UpsertEdgeRequest) -> Work:
        """Create an edge or merge into it."""
        draft = incoming.edge_draft(request.edge)
        return lambda writer: edges.upsert_edge(writer, draft, request.etag)

    def update_edge(self, request: graph_pb2.UpdateEdgeRequest) -> Work:
        """Change the named fields of an edge."""
        patch = incoming.edge_patch(request.edge, request.update_mask)
        return lambda writer: edges.update_edge(writer, patch, self.memories.links)

    def delete_edge(self, request: graph_pb2.DeleteEdgeRequest) -> Work:
        """Delete an edge."""
        links = self.memories.links
        return lambda writer: edges.delete_edge(writer, request.id, request.etag, links)

    def add_memory(self, request: memory_pb2.AddMemoryRequest) -> Work:
        """Remember a text."""
        draft = incoming.memory_draft(request.memory)
        return lambda writer: self.memories.add(writer, draft)

    def update_memory(self, request: memory_pb2.UpdateMemoryRequest) -> Work:
        """Change the named fields of a memory."""
        patch = incoming.memory_patch(request.memory, request.update_mask)
        return lambda writer: self.memories.update(writer, patch)

    def forget_memory(self, request: memory_pb2.ForgetMemoryRequest) -> Work:
        """Forget a memory."""
        return lambda writer: self.memories.forget(writer, request.id, request.etag)

    def restore_memory(self, request: memory_pb2.RestoreMemoryRequest) -> Work:
        """Restore a memory."""
        return lambda writer: self.memories.restore(writer, request.id, request.etag)

    def erase_memory(self, request: memory_pb2.EraseMemoryRequest) -> Work:
        """Erase a memory."""
        return lambda writer: self.erasing.erase(writer, request.id, request.etag, request.reason)

    def confirm_erase(self, request: memory_pb2.ConfirmEraseRequest) -> Work:
        """Confirm that a store holds nothing more of an erased memory."""
        return lambda writer: self.erasing.confirm(writer, request.memory_id)

    def add_lineage(self, request: lineage_pb2.AddLineageRequest) -> Work:
        """State lineage."""
        draft = incoming.lineage_draft(request)
        return lambda writer: lineage.add_lineage(writer, draft)

    def declare_relation(self, request: relation_pb2.DeclareRelationRequest) -> Work:
        """Declare a relation."""
        name = incoming.text(request.name)
        return lambda writer: relations.declare_relation(
            writer, name, functional=request.functional, etag=request.etag
        )

    def revert_items(self, request: governed_pb2.RevertItemsRequest) -> Work:
        """Bring earlier revisions back."""
        wanted = [
            Reversion(item.id, item.revision, item.expected_revision) for item in request.items
        ]
        return lambda writer: revert_items(writer, wanted)

    def governed(self, action: governed_pb2.GovernedAction, changes: GovernedChanges) -> Work:
        """Return the work that a governed action wraps."""
        wanted = action.WhichOneof("action") or ""
        if wanted == "change_key":
            return lambda writer: changes.change_key(writer, action.change_key.proof)
        work: Work = getattr(self, wanted)(getattr(action, wanted))
        return work


def scope_of(action: governed_pb2.GovernedAction) -> Scope:
    """Return what a governed action names itself, beside what it takes along."""
    wanted = action.WhichOneof("action")
    if wanted == "revert_items":
        items = action.revert_items.items
        return Scope(frozenset(item.id for item in items if not item.cascaded))
    return Scope(erases=wanted == "erase_memory")
