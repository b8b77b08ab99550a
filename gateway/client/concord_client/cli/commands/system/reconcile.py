"""`concord reconcile`: compares the index with graph, and repairs it on request."""

from typing import Annotated

import typer
from concord.search.v1.search_pb2 import ReconcileIndexRequest, ReconcileIndexResponse

from concord_client.cli.errors import CommandError
from concord_client.cli.render.page import plural, show, text
from concord_client.cli.session import Session
from concord_client.credentials import Role

RECONCILE_TIMEOUT = 3600.0


def reconcile(
    session: Session,
    *,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what differs.")] = False,
) -> None:
    """Prove that the index holds what the graph remembers, or say what differs and mend it."""
    with session.client(Role.ADMIN) as client:
        request = ReconcileIndexRequest(repair=repair)
        reply = client.index.ReconcileIndex(request, timeout=RECONCILE_TIMEOUT)
    session.answer(reply, _show)
    if not reply.agrees:
        raise CommandError("Index and graph differ: `concord reconcile --repair` mends the index.")


def _show(reply: ReconcileIndexResponse) -> None:
    states = plural(reply.state_count, "state")
    if not reply.differing_ids:
        if reply.agrees:
            show(text(f"Index and graph agree on {states} through change {reply.seq:,}."))
        return
    missing = plural(reply.missing_state_count, "state")
    surplus = plural(reply.surplus_state_count, "state")
    show(text(f"Of {states} through change {reply.seq:,} the index lacked {missing}"))
    show(text(f"and held {surplus} that graph does not have: {', '.join(reply.differing_ids)}."))
    if reply.agrees:
        show(text("They were indexed anew; index and graph agree."))
