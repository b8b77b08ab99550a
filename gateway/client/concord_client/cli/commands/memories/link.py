"""`concord link`."""

from typing import TYPE_CHECKING, Annotated

import typer
from concord.graph.v1.graph_pb2 import UpsertEdgeRequest, UpsertEdgeResponse
from concord.type.v1.type_pb2 import Edge

from concord_client.cli.options import ValidFromOption, ValidUntilOption
from concord_client.cli.render.claim_page import show_claims
from concord_client.cli.render.gave_way import show_gave_way
from concord_client.cli.render.item_page import statement
from concord_client.cli.render.page import show, text
from concord_client.cli.session import Session
from concord_client.cli.values import (
    END_HELP,
    LINEAGE,
    edge_end,
    instant,
    lineage_request,
    properties,
)

if TYPE_CHECKING:
    from concord.graph.v1.lineage_pb2 import AddLineageResponse


def link(
    session: Session,
    source: Annotated[str, typer.Argument(help=f"{END_HELP} A new name makes a node.")],
    relation: Annotated[
        str, typer.Argument(help=f'E.g. "WORKS_AT"; between memories also {", ".join(LINEAGE)}.')
    ],
    target: Annotated[str, typer.Argument(help=f"{END_HELP} A new name makes a node.")],
    *,
    weight: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Strength.", show_default="1")
    ] = None,
    valid_from: ValidFromOption = None,
    valid_until: ValidUntilOption = None,
    prop: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="NAME=VALUE", help="VALUE is JSON, else text."),
    ] = None,
    context: Annotated[str, typer.Option(help="Why (lineage only).")] = "",
) -> None:
    """Link two things; between two memories, say which replaced which."""
    if relation.upper() in LINEAGE:
        if weight is not None or valid_from or valid_until or prop:
            raise typer.BadParameter("lineage has no weight, time or properties of its own.")
        from concord_client.freshness import settle

        request = lineage_request(source, relation.upper(), target, context)
        with session.client() as client:
            stated = client.lineage.AddLineage(request)
            settle(client, stated.token)
        _show(session, stated)
        return
    if context:
        raise typer.BadParameter(f"--context is for {', '.join(LINEAGE)}.")
    edge = Edge(
        source=edge_end(source),
        relation=relation,
        target=edge_end(target),
        weight=weight,
        properties=properties(prop),
        valid_from=instant(valid_from),
        valid_until=instant(valid_until),
    )
    with session.client() as client:
        reply = client.graph.UpsertEdge(UpsertEdgeRequest(edge=edge))
    _show(session, reply)


def _show(session: Session, reply: "UpsertEdgeResponse | AddLineageResponse") -> None:
    if session.as_json:
        session.reply(reply)
        return
    said = text("Linked " if reply.created else "Known already: ")
    show(said.append(statement(reply.edge), "bold"), text(f"edge {reply.edge.id}", "dim"))
    show_gave_way(reply.gave_way)
    show_claims(reply)
