"""`concord integrative`."""

from typing import Annotated

import typer
from concord.search.v1.search_pb2 import IntegrativeSearchRequest
from concord.type.v1.type_pb2 import Consistency

from concord_client.cli.options import AsOfOption, InSessionOption, KnownAtOption
from concord_client.cli.render.integrative_page import show_integrative
from concord_client.cli.session import Session
from concord_client.cli.values import asked_time


def integrative(
    session: Session,
    query: Annotated[str, typer.Argument(help="What you want to know.")],
    *,
    node: Annotated[
        str, typer.Option(help="The node, by name or id, whose constitutive statements count.")
    ],
    everything: Annotated[bool, typer.Option("--all", help="What is superseded, too.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=50, help="Most results.")] = 10,
    fresh: Annotated[
        str | None, typer.Option(metavar="TOKEN", help="See at least the write with this token.")
    ] = None,
    models: Annotated[
        bool, typer.Option("--models", help="Let models judge what clashes, if there are some.")
    ] = False,
    session_id: InSessionOption = "",
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
) -> None:
    """Find what answers, ranked by text, by the node's values and by recency."""
    request = IntegrativeSearchRequest(
        query=query,
        context_node=node,
        include_superseded=everything,
        limit=limit,
        consistency=Consistency(at_least_as_fresh=fresh) if fresh else None,
        use_models=models,
        session_id=session_id,
        as_of=asked_time(as_of, known_at),
    )
    with session.client() as client:
        reply = client.search.IntegrativeSearch(request)
    session.answer(reply, lambda reply: show_integrative(reply, node))
