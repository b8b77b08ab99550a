"""Writing nodes."""

from __future__ import annotations

from dataclasses import replace

from concord_graph.domain.drafts import NodeDraft, Patch, check_name, merged_node
from concord_graph.domain.errors import EtagMismatch, ItemExists, MaskInvalid, NodeHasEdges
from concord_graph.domain.items import DEFAULT_LABEL, Node
from concord_graph.ports import NodeDeleted, Written
from concord_graph.usecases.items.lineage import refuse_stated
from concord_graph.usecases.write.writer import Writer, live, ref, written

_CHANGEABLE = frozenset({"label", "name", "properties", "vector_id"})


async def upsert_node(writer: Writer, draft: NodeDraft, etag: str = "") -> Written:
    """Create a node, or update the node of that name (G1)."""
    check_name(draft.name, "node.name")
    stored = await writer.tx.live_node_named(draft.name)
    if stored is None:
        if etag:
            raise EtagMismatch(draft.name)
        return written(None, await create_node(writer, draft))
    node = replace(stored, **merged_node(stored, draft))
    if etag:
        await writer.demand_etag(stored, etag, node)
    if not await writer.is_frozen(stored.id):
        node = replace(node, of_facts=False)
    return written(stored, stored if node == stored else await writer.put(stored, node))


async def create_node(writer: Writer, draft: NodeDraft, *, of_facts: bool = False) -> Node:
    """Create a node; the caller knows that the name is free."""
    node = Node(id=writer.tx.new_id(), name=draft.name, of_facts=of_facts)
    fields = merged_node(node, draft)
    return await writer.put(None, replace(node, **fields))


async def update_node(writer: Writer, patch: Patch) -> Written:
    """Change the named fields of a node."""
    stored = live(await writer.tx.node(patch.item_id), patch.item_id)
    unknown = set(patch.values) - _CHANGEABLE
    if unknown:
        raise MaskInvalid("update_mask", f"cannot change {', '.join(sorted(unknown))}")
    values = dict(patch.values)
    values["label"] = values.get("label", stored.label) or DEFAULT_LABEL
    await writer.demand_etag(stored, patch.etag, replace(stored, **values))
    if "name" in values and values["name"] != stored.name:
        check_name(values["name"], "node.name")
        if not writer.is_granted:  # under a grant, protection itself refuses reserved items
            check_name(stored.name, "node.id")
        if await writer.tx.live_node_named(values["name"]) is not None:
            raise ItemExists(stored.id, "name")
    node = replace(stored, **values)
    if node != stored:
        node = await writer.put(stored, replace(node, of_facts=False))
    return written(stored, node)


async def delete_node(writer: Writer, node_id: str, etag: str, *, cascade: bool) -> NodeDeleted:
    """Delete a node, with `cascade` its edges too."""
    stored = live(await writer.tx.node(node_id), node_id)
    await writer.demand_etag(stored, etag, replace(stored, deleted=True))
    # the node first: an attempt to delete a constitutive edge's end goes on record
    gone = await writer.put(stored, replace(stored, deleted=True))
    edges = await writer.tx.edges_at(node_id, live=True)
    if edges and not cascade:
        raise NodeHasEdges(len(edges))
    for edge in edges:
        await refuse_stated(writer, edge)
        await writer.put(edge, replace(edge, deleted=True))
    return NodeDeleted(ref(gone), len(edges))
