"""Requests that write in graph, each with a salt; alone, or as the action of a proposal."""

from __future__ import annotations

import secrets
from typing import TypeAlias

from concord.graph.v1 import governed_pb2, graph_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord_client.trust import signing
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message

Action: TypeAlias = governed_pb2.GovernedAction


def salt() -> str:
    """Return an action's own request id: random, and long enough for a salt."""
    return secrets.token_urlsafe(24)


def action_of(request: Message) -> Action:
    """Return the action that does what a request asks for; an action as it is."""
    if isinstance(request, Action):
        return request
    kind = type(request).DESCRIPTOR
    (field,) = (each for each in Action.DESCRIPTOR.fields if each.message_type is kind)
    action = Action()
    getattr(action, field.name).CopyFrom(request)
    return action


def to_add(memory: type_pb2.Memory) -> memory_pb2.AddMemoryRequest:
    """Return the request to add a memory."""
    return memory_pb2.AddMemoryRequest(request_id=salt(), memory=memory)


def to_update_memory(memory: type_pb2.Memory, *paths: str) -> memory_pb2.UpdateMemoryRequest:
    """Return the request to change these fields of a memory's version."""
    return memory_pb2.UpdateMemoryRequest(
        request_id=salt(), memory=memory, update_mask=FieldMask(paths=paths)
    )


def to_forget(memory: type_pb2.Memory) -> memory_pb2.ForgetMemoryRequest:
    """Return the request to forget a memory's version."""
    return memory_pb2.ForgetMemoryRequest(request_id=salt(), id=memory.id, etag=memory.etag)


def to_restore(memory: type_pb2.Memory) -> memory_pb2.RestoreMemoryRequest:
    """Return the request to restore a memory."""
    return memory_pb2.RestoreMemoryRequest(request_id=salt(), id=memory.id, etag=memory.etag)


def to_erase(memory: type_pb2.Memory) -> memory_pb2.EraseMemoryRequest:
    """Return the request to erase a memory's version."""
    return memory_pb2.EraseMemoryRequest(request_id=salt(), id=memory.id, etag=memory.etag)


def to_upsert_edge(edge: type_pb2.Edge) -> graph_pb2.UpsertEdgeRequest:
    """Return the request to make an edge, or to merge into the one of its triple."""
    return graph_pb2.UpsertEdgeRequest(request_id=salt(), edge=edge)


def to_update_edge(edge: type_pb2.Edge, *paths: str) -> graph_pb2.UpdateEdgeRequest:
    """Return the request to change these fields of an edge's version."""
    return graph_pb2.UpdateEdgeRequest(
        request_id=salt(), edge=edge, update_mask=FieldMask(paths=paths)
    )


def to_delete_edge(edge: type_pb2.Edge) -> graph_pb2.DeleteEdgeRequest:
    """Return the request to delete an edge's version."""
    return graph_pb2.DeleteEdgeRequest(request_id=salt(), id=edge.id, etag=edge.etag)


def to_upsert_node(node: type_pb2.Node) -> graph_pb2.UpsertNodeRequest:
    """Return the request to make a node, or to merge into the one of its name."""
    return graph_pb2.UpsertNodeRequest(request_id=salt(), node=node)


def to_update_node(node: type_pb2.Node, *paths: str) -> graph_pb2.UpdateNodeRequest:
    """Return the request to change these fields of a node's version."""
    return graph_pb2.UpdateNodeRequest(
        request_id=salt(), node=node, update_mask=FieldMask(paths=paths)
    )


def to_change_keys(
    change: str,
    signer: signing.Signer,
    gone: signing.Signer | None = None,
    *,
    slot: str = signing.HUMAN,
    space: str = "one",
) -> governed_pb2.ChangeKeyRequest:
    """Return the request to add a slot's key, or to replace or retire that of `gone`."""
    proof = signing.sign_key_change(
        change=change,
        slot=slot,
        principal=signer.principal,
        space=space,
        key=signer.key,
        other=gone.public_key if gone else b"",
        label="" if change == signing.RETIRE else "laptop",
    )
    return governed_pb2.ChangeKeyRequest(request_id=salt(), proof=proof)


def to_change_key(
    signer: signing.Signer, slot: str = signing.HUMAN, space: str = "one"
) -> governed_pb2.ChangeKeyRequest:
    """Return the request to give a slot another key, proven by its own signature."""
    proof = signing.sign_new_key(slot=slot, principal=signer.principal, space=space, key=signer.key)
    return governed_pb2.ChangeKeyRequest(request_id=salt(), proof=proof)
