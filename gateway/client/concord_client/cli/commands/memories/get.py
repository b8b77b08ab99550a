"""`concord get`."""

from typing import TYPE_CHECKING, Annotated

import typer
from concord.type.v1.type_pb2 import LOOKUP_STATUS_ERASED, LOOKUP_STATUS_FOUND, AsOf

from concord_client.cli.items import absent
from concord_client.cli.options import AsOfOption, KnownAtOption
from concord_client.cli.render import item_page
from concord_client.cli.render.page import show
from concord_client.cli.session import Session
from concord_client.cli.values import asked_time, plain_id

if TYPE_CHECKING:
    from concord_client.client import Client


def get(
    session: Session,
    item: Annotated[
        str, typer.Argument(metavar="ID", help="A memory's, node's or edge's id, or a node's name.")
    ],
    *,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
) -> None:
    """Show one item: a memory, else a node or an edge."""
    at = asked_time(as_of, known_at)
    with session.client() as client:
        near = _look_up(client, session, item, at)
    if near is not None:
        alike = f" Spelt alike: {', '.join(near)}." if near else ""
        raise absent(session, item, more=alike, at=at)


def _look_up(client: "Client", session: Session, item: str, at: AsOf | None) -> list[str] | None:
    """Show the memory, node or edge that `item` names and return None; else return near names."""
    from concord.graph.v1 import graph_pb2, memory_pb2

    own_id = plain_id(item)
    memory = client.memory.GetMemory(memory_pb2.GetMemoryRequest(id=own_id, as_of=at))
    if memory.status in {LOOKUP_STATUS_FOUND, LOOKUP_STATUS_ERASED}:
        session.answer(memory, lambda memory: show(*item_page.of_memory(memory.memory)))
        return None
    near = list(memory.near_names)
    for named in (
        graph_pb2.GetNodeRequest(id=own_id, as_of=at),
        graph_pb2.GetNodeRequest(name=item, as_of=at),
    ):
        node = client.graph.GetNode(named)
        near += node.near_names
        if node.status == LOOKUP_STATUS_FOUND:
            session.answer(node, lambda node: show(*item_page.of_node(node.node)))
            return None
    edge = client.graph.GetEdge(graph_pb2.GetEdgeRequest(id=own_id, as_of=at))
    if edge.status == LOOKUP_STATUS_FOUND:
        session.answer(edge, lambda edge: show(*item_page.of_edge(edge.edge)))
        return None
    if session.as_json:
        session.reply(memory)
    # a near name can be the item's own, at a time when it does not exist
    return [name for name in dict.fromkeys(near) if name != own_id]
