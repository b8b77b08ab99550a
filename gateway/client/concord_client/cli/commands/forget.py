"""`concord forget`, `concord restore` and `concord delete`."""

from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.errors import CommandError, or_propose
from concord_client.cli.naming import found_item, found_memory
from concord_client.cli.options import MemoryArgument
from concord_client.cli.session import JsonOption, Session, SpaceOption

if TYPE_CHECKING:
    from concord.graph.v1.memory_pb2 import ForgetMemoryResponse, RestoreMemoryResponse
    from concord.type.v1.type_pb2 import Edge, Node

    from concord_client.client import Client

EtagOption = Annotated[
    str,
    typer.Option(help="Only if it still has this etag, as `concord get` shows it."),
]


def forget(
    ctx: typer.Context,
    memory_id: MemoryArgument,
    *,
    etag: EtagOption = "",
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Forget a memory: reads leave it out until `concord restore` brings it back."""
    from concord.graph.v1.memory_pb2 import ForgetMemoryRequest

    from concord_client.cli.render.page import show, text

    session = Session.of(ctx, space, as_json)
    with session.client() as client:
        memory = found_memory(client, session, memory_id)
        request = ForgetMemoryRequest(id=memory.id, etag=etag or memory.etag)
        with or_propose(f"concord propose forget {memory.id}"):
            reply = client.memory.ForgetMemory(request)
        _told(client, session, reply, "Forgot")
    if not session.as_json:
        show(text(f"It comes back with: concord restore {memory.id}", "dim"))


def restore(
    ctx: typer.Context,
    memory_id: MemoryArgument,
    *,
    etag: EtagOption = "",
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring a forgotten memory back."""
    from concord.graph.v1.memory_pb2 import RestoreMemoryRequest

    session = Session.of(ctx, space, as_json)
    with session.client() as client:
        memory = found_memory(client, session, memory_id)
        request = RestoreMemoryRequest(id=memory.id, etag=etag or memory.etag)
        with or_propose(f"concord propose restore {memory.id}"):
            reply = client.memory.RestoreMemory(request)
        _told(client, session, reply, "Restored")


def delete(
    ctx: typer.Context,
    item: Annotated[
        str, typer.Argument(metavar="ID", help="An edge's or node's id, or a node's name.")
    ],
    *,
    cascade: Annotated[bool, typer.Option("--cascade", help="A node's edges with it.")] = False,
    etag: EtagOption = "",
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete an edge, or a node; a memory is forgotten or erased."""
    from concord.type.v1.type_pb2 import Edge, Memory

    session = Session.of(ctx, space, as_json)
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


def _told(
    client: "Client",
    session: Session,
    reply: "ForgetMemoryResponse | RestoreMemoryResponse",
    verb: str,
) -> None:
    """Wait until search knows, and say what was done."""
    from concord_client.cli.render.page import show, text
    from concord_client.freshness import settle

    settle(client, reply.token)
    if session.as_json:
        session.reply(reply)
    else:
        show(text(f"{verb} ").append(reply.memory.id, "bold"))


def _delete_edge(client: "Client", session: Session, edge: "Edge", etag: str) -> None:
    from concord.graph.v1.graph_pb2 import DeleteEdgeRequest

    from concord_client.cli.render.item_page import statement
    from concord_client.cli.render.page import show, text

    with or_propose(f"concord propose delete {edge.id}"):
        reply = client.graph.DeleteEdge(DeleteEdgeRequest(id=edge.id, etag=etag or edge.etag))
    if session.as_json:
        session.reply(reply)
    else:
        show(text("Deleted ").append(statement(edge), "bold"), text(f"edge {edge.id}", "dim"))


def _delete_node(
    client: "Client", session: Session, node: "Node", etag: str, *, cascade: bool
) -> None:
    from concord.graph.v1.graph_pb2 import DeleteNodeRequest

    from concord_client.cli.render.page import plural, show, text

    request = DeleteNodeRequest(id=node.id, etag=etag or node.etag, cascade=cascade)
    with or_propose(f"concord propose delete {node.id}{' --cascade' if cascade else ''}"):
        reply = client.graph.DeleteNode(request)
    if session.as_json:
        session.reply(reply)
        return
    count = reply.deleted_edge_count
    show(
        text("Deleted ").append(node.name, "bold").append(f" and {plural(count, 'edge')}"),
        text(f"node {node.id}", "dim"),
    )
