"""Finds the item that a command names: by id, with or without its prefix, or by a node's name."""

from typing import TYPE_CHECKING

from concord.graph.v1.graph_pb2 import GetEdgeRequest, GetNodeRequest
from concord.type.v1.type_pb2 import (
    LOOKUP_STATUS_ERASED,
    LOOKUP_STATUS_FOUND,
    AsOf,
    Edge,
    Memory,
    Node,
)

from concord_client.cli.errors import CommandError
from concord_client.cli.values import item_id, plain_id

if TYPE_CHECKING:
    from concord_client.cli.session import Session
    from concord_client.client import Client


def absent(
    session: "Session",
    given: str,
    *,
    what: str = "item",
    more: str = "",
    at: AsOf | None = None,
) -> CommandError:
    """The error that an item does not exist, or did not at the time asked about."""
    when = "" if at is None else " at the time asked about"
    return CommandError(
        f"There is no {what} {given!r} in the space {session.space_name!r}{when}.{more}",
        reason="LOOKUP_STATUS_NOT_FOUND",
    )


def found_memory(client: "Client", session: "Session", given: str) -> Memory:
    """The present memory, live or forgotten. Raises `CommandError`."""
    memory = _memory(client, plain_id(given))
    if memory is None:
        raise absent(session, given, what="memory")
    return memory


def found_item(client: "Client", session: "Session", given: str) -> Memory | Node | Edge:
    """The memory, node or edge with an id, or the node with a name. Raises `CommandError`."""
    memory = _memory(client, plain_id(given))
    if memory is not None:
        return memory
    found = _node_or_edge(client, given)
    if found is None:
        raise absent(session, given)
    return found


def _memory(client: "Client", memory_id: str) -> Memory | None:
    from concord.graph.v1.memory_pb2 import GetMemoryRequest

    reply = client.memory.GetMemory(GetMemoryRequest(id=memory_id, peek=True))
    if reply.status == LOOKUP_STATUS_ERASED:
        raise CommandError(
            f"{memory_id} was erased already: `concord receipt {memory_id}` says when.",
            reason="ERROR_REASON_ITEM_ERASED",
        )
    return reply.memory if reply.status == LOOKUP_STATUS_FOUND else None


def _node_or_edge(client: "Client", given: str) -> Node | Edge | None:
    for named in (GetNodeRequest(id=plain_id(given)), GetNodeRequest(name=given)):
        node = client.graph.GetNode(named)
        if node.status == LOOKUP_STATUS_FOUND:
            return node.node
    edge = client.graph.GetEdge(GetEdgeRequest(id=plain_id(given), peek=True))
    return edge.edge if edge.status == LOOKUP_STATUS_FOUND else None


def absent_end(
    session: "Session", ends: list[str], status: int, *, of_a_time: bool
) -> CommandError | None:
    """The error of a walk whose reply says that its start or end does not exist."""
    if status == LOOKUP_STATUS_FOUND:
        return None
    what = " or ".join(
        repr(each) if item_id(each) is not None else f"node {each!r}" for each in ends
    )
    return CommandError(
        f"There is no {what} in the space {session.space_name!r}"
        f"{' at the time asked about' if of_a_time else ''}."
        f"{'' if all(map(item_id, ends)) else ' A memory is named memory:ID.'}",
        reason="LOOKUP_STATUS_NOT_FOUND",
    )
