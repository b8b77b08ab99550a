"""`concord reindex` and `concord parked`: the versions and parked changes of a space's index."""

import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from concord.search.v1.search_pb2 import (
    DropIndexVersionRequest,
    GetIndexStatusRequest,
    GetIndexStatusResponse,
    IndexVersion,
    IndexVersionRole,
    ListParkedChangesRequest,
    ReindexRequest,
    RetryParkedChangesRequest,
)

from concord_client.cli.errors import CommandError
from concord_client.cli.options import LimitOption, PageTokenOption
from concord_client.cli.render.page import plural, show, show_more, table, text
from concord_client.cli.session import Session
from concord_client.credentials import Role

if TYPE_CHECKING:
    from concord_client.client import Client

LOOK_EVERY = 0.2
"""Seconds between two status requests while a version is being built."""

DROP_TIMEOUT = 600.0


class SpareVersion(StrEnum):
    """A version of an index that does not serve."""

    NEXT = "next"
    FORMER = "former"


def reindex(
    session: Session,
    *,
    model: Annotated[
        str, typer.Option(help="The id of an embedding model; `concord status` lists them.")
    ] = "",
    rollback: Annotated[
        bool, typer.Option("--rollback", help="Bring the former version back instead.")
    ] = False,
    drop: Annotated[
        SpareVersion | None,
        typer.Option(help="Drop the former version, or the next one and its building."),
    ] = None,
    wait: Annotated[bool, typer.Option(help="Wait until the new version serves.")] = True,
) -> None:
    """Build the search index anew beside the one that answers, and swap the two."""
    if sum((bool(model), rollback, drop is not None)) > 1:
        raise CommandError("Give one of --model, --rollback and --drop.")
    if drop is not None:
        _drop(session, drop)
        return
    request = ReindexRequest(roll_back=True) if rollback else ReindexRequest(model_id=model)
    with session.client(Role.ADMIN) as client:
        status = _built(client, request, wait=wait)
    if session.as_json:
        session.reply(status)
        return
    serving = _of_role(status, "SERVING")
    if wait and serving is not None:
        found = plural(serving.indexed_memories, "memory", "memories")
        show(text(f"{serving.model.model_id} serves {found}. `--rollback` brings back the former."))
    else:
        show(text("The new version is being built; `concord status` shows how far it is."))


def _drop(session: Session, drop: SpareVersion) -> None:
    role = IndexVersionRole.Value(f"INDEX_VERSION_ROLE_{drop.name}")
    with session.client(Role.ADMIN) as client:
        request = DropIndexVersionRequest(role=role)
        reply = client.index.DropIndexVersion(request, timeout=DROP_TIMEOUT)
    done = f"Dropped the {drop} version." if reply.existed else f"No {drop} version is kept."
    session.answer(reply, done)


def _built(client: "Client", request: ReindexRequest, *, wait: bool) -> GetIndexStatusResponse:
    """Reindex; return the status once the new version serves, or at once without `wait`."""
    from concord_client.cli.render.progress import bar

    client.index.Reindex(request)
    with bar("Reindexing") as advance:
        while True:
            status = client.index.GetIndexStatus(GetIndexStatusRequest())
            building = _of_role(status, "NEXT")
            if building is None or not wait:
                return status
            advance(building.applied_seq, status.head_seq)
            if building.parked_changes > status.parked_changes:
                raise CommandError(
                    f"{building.parked_changes} changes cannot be applied to the new version, which"
                    " therefore does not serve; they are tried again. `--drop next` gives it up."
                )
            time.sleep(LOOK_EVERY)


def _of_role(status: GetIndexStatusResponse, name: str) -> IndexVersion | None:
    role = IndexVersionRole.Value(f"INDEX_VERSION_ROLE_{name}")
    return next((each for each in status.versions if each.role == role), None)


def parked(
    session: Session,
    *,
    retry: Annotated[bool, typer.Option("--retry", help="Try the first 100 again now.")] = False,
    limit: LimitOption = 50,
    page_token: PageTokenOption = "",
) -> None:
    """List the changes that the index could not take, with the reasons, or try them again."""
    if retry:
        _retry(session)
        return
    request = ListParkedChangesRequest(page_size=limit, page_token=page_token)
    with session.client() as client:
        reply = client.index.ListParkedChanges(request)
    if session.as_json:
        session.reply(reply)
        return
    if not reply.parked:
        show(text("No change is parked."))
        return
    listed = table("#change", "memory", "reason")
    for each in reply.parked:
        listed.add_row(str(each.seq), text(each.item_id), text(each.reason))
    show(listed, text("Each is tried again by itself; `concord parked --retry` tries now."))
    show_more(reply.next_page_token)


def _retry(session: Session) -> None:
    with session.client(Role.ADMIN) as client:
        request = RetryParkedChangesRequest()
        reply = client.index.RetryParkedChanges(request, timeout=DROP_TIMEOUT)
    if session.as_json:
        session.reply(reply)
        return
    applied = plural(reply.applied_changes, "change")
    show(text(f"Applied {applied} now; {reply.parked_changes:,} are left."))
