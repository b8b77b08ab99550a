"""The present content of the items that a proposal touches, as the server gives it.

The stored bytes name an item only by its id and etag, but a reader needs its content to decide.
The content of another version than the named one is marked.
"""

from collections.abc import Mapping
from typing import Any

from concord.graph.v1 import conflict_pb2, graph_pb2, memory_pb2
from concord.type.v1 import type_pb2

from concord_client.cli.render.item_page import statement
from concord_client.cli.render.proposal_page import conflict_line
from concord_client.client import Client
from concord_client.refusal import Refused
from concord_client.trust.review import Reviewed

MOST_ASKED = 50
"""Items of one proposal whose content is fetched, each by its own call."""


def of_items(client: Client, found: Reviewed) -> dict[str, str]:
    """The content of each item by id, without new items."""
    there = [item for item in found.document["affected"] if item["etag"]]
    words = {item["id"]: _of_item(client, item) for item in there[:MOST_ASKED]}
    return words | {item["id"]: "(not asked)" for item in there[MOST_ASKED:]}


def _of_item(client: Client, item: Mapping[str, Any]) -> str:
    try:
        etag, words = _etag_and_words(client, item["kind"], item["id"])
    except Refused as refused:
        return f"(no answer: {refused.reason})"
    return words if etag == item["etag"] else f"(another version by now) {words}"


def _etag_and_words(client: Client, kind: int, item_id: str) -> tuple[str, str]:
    """The present etag and content of an item."""
    if kind == type_pb2.ITEM_KIND_MEMORY:
        memory = client.memory.GetMemory(memory_pb2.GetMemoryRequest(id=item_id, peek=True)).memory
        return memory.etag, memory.content
    if kind == type_pb2.ITEM_KIND_EDGE:
        edge = client.graph.GetEdge(graph_pb2.GetEdgeRequest(id=item_id, peek=True)).edge
        return edge.etag, statement(edge) if edge.etag else ""
    if kind == type_pb2.ITEM_KIND_CONFLICT:
        request = conflict_pb2.GetConflictRequest(id=item_id)
        conflict = client.conflict.GetConflict(request).conflict
        return conflict.etag, conflict_line(conflict) if conflict.etag else ""
    node = client.graph.GetNode(graph_pb2.GetNodeRequest(id=item_id)).node
    return node.etag, node.name
