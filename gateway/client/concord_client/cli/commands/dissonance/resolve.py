"""`concord resolve`."""

from typing import TYPE_CHECKING, Annotated

import typer
from concord.graph.v1 import conflict_pb2
from concord.graph.v1.conflict_pb2 import ConflictPair
from concord.type.v1.type_pb2 import LOOKUP_STATUS_FOUND

from concord_client.cli.choices import ConflictClass
from concord_client.cli.items import absent
from concord_client.cli.render.gave_way import show_gave_way
from concord_client.cli.render.page import show
from concord_client.cli.session import Session
from concord_client.cli.values import plain_id

if TYPE_CHECKING:
    from concord_client.client import Client


def resolve(
    session: Session,
    target: Annotated[
        list[str],
        typer.Argument(metavar="ID [ID]", help="A conflict, or two memories or two edges."),
    ],
    *,
    resolution: Annotated[
        ConflictClass | None,
        typer.Option(
            "--as",
            case_sensitive=False,
            help="Evolution: the older side gives way. Else only the one that is named does.",
            show_default="as it was found",
        ),
    ] = None,
    superseded: Annotated[str, typer.Option(metavar="ID", help="The side that gives way.")] = "",
    because: Annotated[str, typer.Option(metavar="TEXT", help="Why.")] = "",
) -> None:
    """Resolve a conflict. What defines the agent gives way only when both have signed."""
    from concord.dissonance.v1.dissonance_pb2 import ResolveDissonanceRequest

    if len(target) > 2:
        raise typer.BadParameter("name one conflict, or two items.")
    request = ResolveDissonanceRequest(superseded_id=plain_id(superseded), context=because)
    if len(target) == 1:
        request.conflict_id = target[0]
    else:
        request.pair.CopyFrom(
            ConflictPair(first_id=plain_id(target[0]), second_id=plain_id(target[1]))
        )
    with session.client() as client:
        if resolution is None:
            request.resolution_type = _class_of(client, session, request.conflict_id)
        else:
            request.resolution_type = resolution.value_of()
        reply = client.dissonance.ResolveDissonance(request)
    if session.as_json:
        session.reply(reply)
        return
    from concord_client.cli.render.conflict_page import decided

    show(*decided(reply))
    if reply.gave_way.count > 1:  # more than the side that is shown
        show_gave_way(reply.gave_way)


def _class_of(
    client: "Client", session: Session, conflict_id: str
) -> "conflict_pb2.ConflictClass.ValueType":
    """The class that the judge found for a conflict, which is resolved as that."""
    if not conflict_id:
        raise typer.BadParameter("say what it is: --as evolution, contradiction or nuance.")
    reply = client.conflict.GetConflict(conflict_pb2.GetConflictRequest(id=conflict_id))
    if reply.status != LOOKUP_STATUS_FOUND:
        raise absent(session, conflict_id, what="conflict")
    if reply.conflict.conflict_class == conflict_pb2.CONFLICT_CLASS_UNDECIDED:
        raise typer.BadParameter("no judge could say what it is: --as says it.")
    return reply.conflict.conflict_class
