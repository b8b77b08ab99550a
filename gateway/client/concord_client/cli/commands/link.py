"""`concord link` and `concord lineage`."""

import json
from datetime import UTC
from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.asked_time import AsOfOption, KnownAtOption, asked_time
from concord_client.cli.choices import instant
from concord_client.cli.ends import END_HELP, edge_end, item_id
from concord_client.cli.naming import absent
from concord_client.cli.options import ValidFromOption, ValidUntilOption
from concord_client.cli.session import JsonOption, Session, SpaceOption

if TYPE_CHECKING:
    from concord.graph.v1.memory_pb2 import AddLineageRequest, GetLineageResponse
    from concord.type.v1.type_pb2 import AsOf
    from google.protobuf.struct_pb2 import Struct
    from rich.console import RenderableType

LINEAGE = ("SUPERSEDES", "DEPRECATES", "AMENDS", "CONTRADICTS")


def link(
    ctx: typer.Context,
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
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Link two things; between two memories, say which replaced which."""
    session = Session.of(ctx, space, as_json)
    if relation.upper() in LINEAGE:
        if weight is not None or valid_from or valid_until or prop:
            raise typer.BadParameter("lineage has no weight, time or properties of its own.")
        _link_lineage(session, lineage_request(source, relation.upper(), target, context))
        return
    if context:
        raise typer.BadParameter(f"--context is for {', '.join(LINEAGE)}.")
    from concord.graph.v1.graph_pb2 import UpsertEdgeRequest
    from concord.type.v1.type_pb2 import Edge

    from concord_client.cli.render.item_page import statement

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
    if session.as_json:
        session.reply(reply)
    else:
        _tell(reply.created, statement(reply.edge), reply.edge.id)


def lineage_request(source: str, relation: str, target: str, context: str) -> "AddLineageRequest":
    """The request that states lineage between two items."""
    from concord.graph.v1.memory_pb2 import AddLineageRequest
    from concord.type.v1.type_pb2 import LineageRelation

    newer, older = item_id(source), item_id(target)
    if newer is None or older is None:
        raise typer.BadParameter(
            f"{relation} holds between two memories or two edges: write memory:ID or edge:ID."
        )
    return AddLineageRequest(
        relation=LineageRelation.Value(f"LINEAGE_RELATION_{relation}"),
        newer_id=newer,
        older_id=older,
        context=context,
    )


def _link_lineage(session: Session, request: "AddLineageRequest") -> None:
    from concord_client.cli.render.item_page import statement
    from concord_client.freshness import settle

    with session.client() as client:
        reply = client.memory.AddLineage(request)
        settle(client, reply.token)
    if session.as_json:
        session.reply(reply)
    else:
        _tell(reply.created, statement(reply.edge), reply.edge.id)


def _tell(created: bool, what: str, edge_id: str) -> None:
    from concord_client.cli.render.page import show, text

    show(text("Linked " if created else "Known already: ").append(what, "bold"))
    show(text(f"edge {edge_id}", "dim"))


def properties(given: list[str] | None) -> "Struct | None":
    """NAME=VALUE pairs as a struct; None without one."""
    from google.protobuf.struct_pb2 import Struct

    if not given:
        return None
    made = Struct()
    for pair in given:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise typer.BadParameter(f"{pair!r} is not NAME=VALUE.")
        try:
            made.update({name: json.loads(value)})
        except ValueError:
            made.update({name: value})
    return made


def lineage(
    ctx: typer.Context,
    item: Annotated[str, typer.Argument(metavar="ID", help="Any memory or edge of the chain.")],
    *,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what replaced what: the whole chain around an item, oldest first."""
    from concord.graph.v1.memory_pb2 import GetLineageRequest
    from concord.type.v1.type_pb2 import LOOKUP_STATUS_FOUND

    from concord_client.cli.render.page import show

    session = Session.of(ctx, space, as_json)
    at = asked_time(as_of, known_at)
    with session.client() as client:
        reply = client.memory.GetLineage(GetLineageRequest(id=item_id(item) or item, as_of=at))
    if session.as_json:
        session.reply(reply)
    if reply.status != LOOKUP_STATUS_FOUND:
        raise absent(session, item, at=at)
    if not session.as_json:
        show(*_timeline(reply, item_id(item) or item, at))


def _timeline(reply: "GetLineageResponse", asked: str, at: "AsOf | None") -> "list[RenderableType]":
    from concord_client.cli.render.lineage_page import timeline

    then = at.valid_time.ToDatetime(tzinfo=UTC) if at and at.HasField("valid_time") else None
    return timeline(reply, asked, then)
