"""`concord follow`."""

from typing import Annotated

import typer
from concord.graph.v1.relation_pb2 import FollowRelationsRequest

from concord_client.cli.items import absent_end
from concord_client.cli.options import AsOfOption, KnownAtOption
from concord_client.cli.render.walk_page import show_following
from concord_client.cli.session import Session
from concord_client.cli.values import END_HELP, asked_time, edge_end


def follow(
    session: Session,
    start: Annotated[str, typer.Argument(help=END_HELP)],
    relations: Annotated[
        list[str], typer.Argument(metavar="RELATION...", help="1 to 6 relations, in order.")
    ],
    *,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
) -> None:
    """Follow relations from an item, hop by hop, to what holds."""
    request = FollowRelationsRequest(
        start=edge_end(start), relations=relations, as_of=asked_time(as_of, known_at)
    )
    with session.client() as client:
        reply = client.relation.FollowRelations(request)
    missing = absent_end(session, [start], reply.status, of_a_time=request.HasField("as_of"))
    session.answer(reply, show_following, missing)
