"""`concord lineage`."""

from datetime import UTC
from typing import TYPE_CHECKING, Annotated

import typer
from concord.graph.v1.conflict_pb2 import (
    CONFLICT_STATE_CONFIRMED,
    CONFLICT_STATE_POTENTIAL,
    ListConflictsRequest,
)
from concord.type.v1.type_pb2 import LOOKUP_STATUS_FOUND, AsOf
from rich.console import RenderableType

from concord_client.cli.items import absent
from concord_client.cli.options import AsOfOption, KnownAtOption
from concord_client.cli.render.page import show
from concord_client.cli.session import Session
from concord_client.cli.values import asked_time, item_id

MOST_ASKED = 500
"""Conflicts are shown for the newest so many items of a chain."""

if TYPE_CHECKING:
    from concord.graph.v1.lineage_pb2 import GetLineageResponse

    from concord_client.client import Client


def lineage(
    session: Session,
    item: Annotated[str, typer.Argument(metavar="ID", help="Any memory or edge of the chain.")],
    *,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
) -> None:
    """Show what replaced what: the whole chain around an item, oldest first."""
    from concord.graph.v1.lineage_pb2 import GetLineageRequest

    asked, at = item_id(item) or item, asked_time(as_of, known_at)
    with session.client() as client:
        reply = client.lineage.GetLineage(GetLineageRequest(id=asked, as_of=at))
        if session.as_json:
            session.reply(reply)
        if reply.status != LOOKUP_STATUS_FOUND:
            raise absent(session, item, at=at)
        if not session.as_json:
            show(*_timeline(client, reply, asked, at))


def _timeline(
    client: "Client", reply: "GetLineageResponse", asked: str, at: AsOf | None
) -> list[RenderableType]:
    from concord_client.cli.render.lineage_page import timeline

    found = client.conflict.ListConflicts(
        ListConflictsRequest(
            states=[CONFLICT_STATE_POTENTIAL, CONFLICT_STATE_CONFIRMED],
            item_ids=[each.id for each in reply.items[-MOST_ASKED:]],
            as_of=at,
            page_size=200,
        )
    )
    then = at.valid_time.ToDatetime(tzinfo=UTC) if at and at.HasField("valid_time") else None
    return timeline(reply, asked, then, found.conflicts)
