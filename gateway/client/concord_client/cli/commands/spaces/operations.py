"""`concord operations`: a space's changes with their authors and times."""

from typing import TYPE_CHECKING, Annotated

import typer
from concord.type.v1.type_pb2 import ItemKind

from concord_client.cli.choices import ChangeType
from concord_client.cli.options import PageTokenOption
from concord_client.cli.render.page import show, show_more, table, text, when, word
from concord_client.cli.session import Session
from concord_client.cli.values import import_named, instant

if TYPE_CHECKING:
    from concord.graph.v1.space_pb2 import ListOperationsResponse


def operations(
    session: Session,
    item: Annotated[
        str, typer.Argument(metavar="[ID]", help="Only this item.", show_default=False)
    ] = "",
    *,
    principal: Annotated[str, typer.Option(help="Only what this principal did.")] = "",
    session_id: Annotated[
        str, typer.Option("--session", help="Only what wrote this session's memories and notes.")
    ] = "",
    import_id: Annotated[
        str,
        typer.Option(
            "--import", metavar="ID", help="Only what this import did, by one of its requests."
        ),
    ] = "",
    deed: Annotated[
        list[ChangeType] | None,
        typer.Option("--type", case_sensitive=False, help="Only these; may be repeated."),
    ] = None,
    since: Annotated[str | None, typer.Option(help="Not before this time (ISO 8601).")] = None,
    before: Annotated[str | None, typer.Option(help="Only before this time.")] = None,
    oldest_first: Annotated[
        bool, typer.Option("--oldest-first", help="The oldest first, instead of the newest.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=500, help="Most operations shown.")] = 50,
    page_token: PageTokenOption = "",
) -> None:
    """List who changed what and when, newest first: digests, never content."""
    from concord.graph.v1.space_pb2 import ListOperationsRequest

    request = ListOperationsRequest(
        item_id=item,
        principal=principal,
        session_id=session_id,
        import_id=import_named(import_id),
        types=[each.value_of() for each in deed or ()],
        since=instant(since),
        before=instant(before),
        oldest_first=oldest_first,
        page_size=limit,
        page_token=page_token,
    )
    with session.client() as client:
        reply = client.space.ListOperations(request)
    session.answer(reply, _show)


def _show(reply: "ListOperationsResponse") -> None:
    from concord.graph.v1.feed_pb2 import ChangeType

    made = table("#Seq", "When", "Who", "What", "Item", "Digest", "Request")
    for each in reply.operations:
        deed = word(ChangeType, each.type)
        done = f"{deed} ({each.method})" if each.method else deed
        made.add_row(
            str(each.seq),
            when(each.record_time),
            text(each.principal),
            text(f"{done}: {each.reason}" if each.reason else done),
            text(f"{word(ItemKind, each.item_kind)} {each.item_id}"),
            f"{each.before_digest[:8] or '—'} → {each.after_digest[:8] or '—'}",
            text(each.request_id),
        )
    show(made)
    show_more(reply.next_page_token)
