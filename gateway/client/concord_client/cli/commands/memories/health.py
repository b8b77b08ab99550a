"""`concord health`."""

from collections import Counter
from typing import Annotated

import typer
from concord.search.v1.health_pb2 import AssessHealthRequest

from concord_client.cli.choices import HealthStatus
from concord_client.cli.options import AsOfOption, KnownAtOption
from concord_client.cli.render.health_page import show_health
from concord_client.cli.session import Session
from concord_client.cli.values import asked_time


def health(
    session: Session,
    *,
    status: Annotated[
        list[HealthStatus] | None,
        typer.Option(case_sensitive=False, help="List these; repeatable. Else all but healthy."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Most memories listed.")] = 50,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
) -> None:
    """Show which memories are at risk, stale or connected with nothing. Nothing counts as read."""
    request = AssessHealthRequest(
        statuses=[each.value_of() for each in status or ()],
        page_size=limit,
        as_of=asked_time(as_of, known_at),
    )
    with session.client() as client:
        reply = client.memory_health.AssessHealth(request)
        counts = Counter({each.status: each.count for each in reply.counts})
        # A reply covers at most 10,000 memories: go on until the list is full.
        while reply.next_page_token and len(reply.memories) < limit:
            request.page_token = reply.next_page_token
            request.page_size = limit - len(reply.memories)
            more = client.memory_health.AssessHealth(request)
            counts.update({each.status: each.count for each in more.counts})
            reply.memories.extend(more.memories)
            reply.next_page_token = more.next_page_token
    del reply.counts[:]
    for number, count in sorted(counts.items()):
        reply.counts.add(status=number, count=count)
    session.answer(reply, show_health)
