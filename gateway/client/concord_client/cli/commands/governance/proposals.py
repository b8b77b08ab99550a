"""`concord proposals` and `concord briefing`."""

from typing import Annotated

import typer

from concord_client.cli.choices import ProposalStatus
from concord_client.cli.options import LimitOption, PageTokenOption
from concord_client.cli.session import JsonOption, Session, SpaceOption


def proposals(
    ctx: typer.Context,
    *,
    status: Annotated[
        list[ProposalStatus] | None,
        typer.Option(case_sensitive=False, help="Only these; may be repeated."),
    ] = None,
    item: Annotated[str, typer.Option(help="Only those that touch this item.")] = "",
    limit: LimitOption = 50,
    page_token: PageTokenOption = "",
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """List proposals, newest first."""
    from concord.governance.v1.proposal_pb2 import ListProposalsRequest

    session = Session.of(ctx, space, as_json)
    request = ListProposalsRequest(
        statuses=[each.value_of() for each in status or ()],
        item_id=item,
        page_size=limit,
        page_token=page_token,
    )
    with session.client() as client:
        reply = client.proposals.ListProposals(request)
    if session.as_json:
        session.reply(reply)
        return
    from concord_client.cli.render.page import show, show_more
    from concord_client.cli.render.proposal_page import listed

    show(listed(list(reply.proposals)))
    show_more(reply.next_page_token)


def briefing(ctx: typer.Context, space: SpaceOption = None, as_json: JsonOption = False) -> None:
    """Say what waits for an answer or a review, and which conflicts are open."""
    from concord.governance.v1.proposal_pb2 import GetBriefingRequest

    session = Session.of(ctx, space, as_json)
    with session.client() as client:
        reply = client.proposals.GetBriefing(GetBriefingRequest())
    if session.as_json:
        session.reply(reply)
        return
    from concord_client.cli.render.page import show
    from concord_client.cli.render.proposal_page import briefed

    show(*briefed(reply))
