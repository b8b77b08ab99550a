"""`concord neighbors` and `concord path`."""

from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.asked_time import AsOfOption, KnownAtOption, asked_time
from concord_client.cli.choices import Way
from concord_client.cli.ends import END_HELP, edge_end, item_id
from concord_client.cli.errors import CommandError
from concord_client.cli.options import LimitOption
from concord_client.cli.session import JsonOption, Session, SpaceOption

if TYPE_CHECKING:
    from concord.graph.v1.graph_pb2 import (
        EdgeFilter,
        FindPathResponse,
        Path,
        QueryNeighborsResponse,
    )

RelationOption = Annotated[
    list[str] | None, typer.Option("--relation", help="Only this relation; may be repeated.")
]
DirectionOption = Annotated[Way, typer.Option(case_sensitive=False)]
AllOption = Annotated[bool, typer.Option("--all", help="Superseded edges too.")]


def neighbors(
    ctx: typer.Context,
    start: Annotated[str, typer.Argument(help=END_HELP)],
    *,
    relation: RelationOption = None,
    direction: DirectionOption = Way.BOTH,
    depth: Annotated[int, typer.Option(min=1, max=5, help="Hops.")] = 1,
    limit: LimitOption = 20,
    everything: AllOption = False,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Walk from an item: its edges, the most relevant first."""
    from concord.graph.v1.graph_pb2 import QueryNeighborsRequest

    session = Session.of(ctx, space, as_json)
    request = QueryNeighborsRequest(
        start=edge_end(start),
        direction=direction.value_of(),
        depth=depth,
        filter=_filter(relation),
        include_superseded=everything,
        as_of=asked_time(as_of, known_at),
        page_size=limit,
    )
    with session.client() as client:
        reply = client.graph.QueryNeighbors(request)
    if session.as_json:
        session.reply(reply)
    _demand_found(reply.status, [start], session, request.HasField("as_of"))
    if not session.as_json:
        show_neighbors(reply)


def path(
    ctx: typer.Context,
    start: Annotated[str, typer.Argument(metavar="A", help=END_HELP)],
    end: Annotated[str, typer.Argument(metavar="B", help=END_HELP)],
    *,
    relation: RelationOption = None,
    direction: DirectionOption = Way.BOTH,
    max_depth: Annotated[int, typer.Option(min=1, max=10, help="Longest path in hops.")] = 5,
    max_paths: Annotated[int, typer.Option(min=1, max=100)] = 10,
    everything: AllOption = False,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find how two items hang together: the shortest paths first."""
    from concord.graph.v1.graph_pb2 import FindPathRequest

    session = Session.of(ctx, space, as_json)
    request = FindPathRequest(
        start=edge_end(start),
        end=edge_end(end),
        direction=direction.value_of(),
        max_depth=max_depth,
        max_paths=max_paths,
        filter=_filter(relation),
        include_superseded=everything,
        as_of=asked_time(as_of, known_at),
    )
    with session.client() as client:
        reply = client.graph.FindPath(request)
    if session.as_json:
        session.reply(reply)
    _demand_found(reply.status, [start, end], session, request.HasField("as_of"))
    if not session.as_json:
        _show_paths(reply)


def _filter(relations: list[str] | None) -> "EdgeFilter | None":
    from concord.graph.v1.graph_pb2 import EdgeFilter

    return EdgeFilter(relations=relations) if relations else None


def _demand_found(status: int, ends: list[str], session: Session, of_a_time: bool) -> None:
    from concord.type.v1.type_pb2 import LOOKUP_STATUS_FOUND

    if status == LOOKUP_STATUS_FOUND:
        return
    what = " or ".join(
        repr(each) if item_id(each) is not None else f"node {each!r}" for each in ends
    )
    raise CommandError(
        f"There is no {what} in the space {session.space_name!r}"
        f"{' at the time asked about' if of_a_time else ''}."
        f"{'' if all(map(item_id, ends)) else ' A memory is named memory:ID.'}",
        reason="LOOKUP_STATUS_NOT_FOUND",
    )


def show_neighbors(reply: "QueryNeighborsResponse") -> None:
    """Prints the neighbors."""
    from concord_client.cli.render.item_page import end, statement
    from concord_client.cli.render.page import show, table, text

    if not reply.neighbors:
        show("No edges.")
        return
    made = table("#Hop", "#Relevance", "Neighbor", "Edge")
    for each in reply.neighbors:
        style = "dim" if each.edge.standing.is_superseded else ""
        edge = text(statement(each.edge), style)
        if each.edge.standing.is_superseded:
            edge.append("  (superseded)", "yellow")
        made.add_row(
            str(each.distance),
            f"{each.edge.relevance_score:.3f}",
            text(end(each.neighbor), "bold"),
            edge.append(f"\n{each.edge.id}", "dim"),
        )
    show(made)
    if reply.next_page_token:
        show(text(f"There are more; this is the first {len(reply.neighbors)}.", "dim"))
    if reply.truncated:
        show(text("The walk stopped at its bound before it had seen all.", "yellow"))


def _show_paths(reply: "FindPathResponse") -> None:
    from concord_client.cli.render.page import show, table, text

    if not reply.paths:
        show("No path.")
        return
    made = table("#Hops", "#Weight", "#Relevance", "Path")
    for each in reply.paths:
        made.add_row(
            str(len(each.edges)),
            f"{each.weight:.3f}",
            f"{each.path_relevance:.3f}",
            text(_route(each)),
        )
    show(made)
    if reply.truncated:
        show(text("The search stopped at its bound before it had seen all.", "yellow"))


def _route(found: "Path") -> str:
    """The edges in walking order, each as it points."""
    from concord_client.cli.render.item_page import statement

    return "\n".join(statement(edge) for edge in found.edges)
