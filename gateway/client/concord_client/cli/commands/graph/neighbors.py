"""`concord neighbors` and `concord path`."""

from typing import Annotated

import typer
from concord.graph.v1.graph_pb2 import EdgeFilter, FindPathRequest, QueryNeighborsRequest

from concord_client.cli.choices import Direction
from concord_client.cli.items import absent_end
from concord_client.cli.options import AsOfOption, KnownAtOption, LimitOption
from concord_client.cli.render.walk_page import show_neighbors, show_paths
from concord_client.cli.session import Session
from concord_client.cli.values import END_HELP, asked_time, edge_end

RelationOption = Annotated[
    list[str] | None, typer.Option("--relation", help="Only this relation; may be repeated.")
]
DirectionOption = Annotated[
    Direction, typer.Option(case_sensitive=False, help="Which way to follow edges.")
]
AllOption = Annotated[bool, typer.Option("--all", help="Superseded edges too.")]


def neighbors(
    session: Session,
    start: Annotated[str, typer.Argument(help=END_HELP)],
    *,
    relation: RelationOption = None,
    direction: DirectionOption = Direction.BOTH,
    depth: Annotated[int, typer.Option(min=1, max=5, help="Hops.")] = 1,
    limit: LimitOption = 20,
    everything: AllOption = False,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
) -> None:
    """Walk from an item: its edges, the most relevant first."""
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
    missing = absent_end(session, [start], reply.status, of_a_time=request.HasField("as_of"))
    session.answer(reply, show_neighbors, missing)


def path(
    session: Session,
    start: Annotated[str, typer.Argument(metavar="A", help=END_HELP)],
    end: Annotated[str, typer.Argument(metavar="B", help=END_HELP)],
    *,
    relation: RelationOption = None,
    direction: DirectionOption = Direction.BOTH,
    max_depth: Annotated[int, typer.Option(min=1, max=10, help="Longest path in hops.")] = 5,
    max_paths: Annotated[int, typer.Option(min=1, max=100, help="Most paths shown.")] = 10,
    everything: AllOption = False,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
) -> None:
    """Find how two items hang together: the shortest paths first."""
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
    missing = absent_end(session, [start, end], reply.status, of_a_time=request.HasField("as_of"))
    session.answer(reply, show_paths, missing)


def _filter(relations: list[str] | None) -> EdgeFilter | None:
    return EdgeFilter(relations=relations) if relations else None
