"""`concord delete`."""

from typing import TYPE_CHECKING, Annotated

import typer
from concord.graph.v1.graph_pb2 import DeleteEdgeRequest, DeleteNodeRequest
from concord.type.v1.type_pb2 import Edge, Memory, Node

from concord_client.cli.errors import CommandError, or_propose
from concord_client.cli.items import found_item
from concord_client.cli.options import EtagOption
from concord_client.cli.render.claim_page import is_claimed, show_claims
from concord_client.cli.render.gave_way import show_gave_way
from concord_client.cli.render.item_page import statement
from concord_client.cli.render.page import plural, show, text
from concord_client.cli.session import Session

if TYPE_CHECKING:
    from concord_client.client import Client


def delete(
    session: Session,
    item: Annotated[
        str, typer.Argument(metavar="ID", help="An edge's or node's id, or a node's name.")
    ],
    *,
    cascade: Annotated[bool, typer.Option("--cascade", help="A node's edges with it.")] = False,
    etag: EtagOption = "",
) -> None:
    """Delete an edge, or a node; a memory is forgotten or erased."""
    with session.client() as client:
        found = found_item(client, session, item)
        if isinstance(found, Memory):
            raise CommandError(
                f"{found.id} is a memory: `concord forget {found.id}`, or for good "
                f"`concord erase {found.id}`."
            )
        if isinstance(found, Edge):
            if cascade:
                raise typer.BadParameter("--cascade is for a node: nothing hangs on an edge.")
            _delete_edge(client, session, found, etag)
        else:
            _delete_node(client, session, found, etag, cascade=cascade)


def _delete_edge(client: "Client", session: Session, edge: Edge, etag: str) -> None:
    with or_propose(f"concord propose delete {edge.id}"):
        reply = client.graph.DeleteEdge(DeleteEdgeRequest(id=edge.id, etag=etag or edge.etag))
    if session.as_json:
        session.reply(reply)
    elif is_claimed(reply):
        show_claims(reply)
    else:
        show(text("Deleted ").append(statement(edge), "bold"), text(f"edge {edge.id}", "dim"))
        show_gave_way(reply.gave_way)


def _delete_node(
    client: "Client", session: Session, node: Node, etag: str, *, cascade: bool
) -> None:
    request = DeleteNodeRequest(id=node.id, etag=etag or node.etag, cascade=cascade)
    with or_propose(f"concord propose delete {node.id}{' --cascade' if cascade else ''}"):
        reply = client.graph.DeleteNode(request)
    if session.as_json:
        session.reply(reply)
        return
    if is_claimed(reply):
        show_claims(reply)
        return
    count = reply.deleted_edge_count
    show(
        text("Deleted ").append(node.name, "bold").append(f" and {plural(count, 'edge')}"),
        text(f"node {node.id}", "dim"),
    )
    show_gave_way(reply.gave_way)
