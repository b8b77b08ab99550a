"""`concord proposals` and `concord briefing`."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from google.protobuf.json_format import MessageToDict

from concord_client.cli.choices import ProposalStatus
from concord_client.cli.options import LimitOption, PageTokenOption
from concord_client.cli.render.page import show, show_more
from concord_client.cli.session import Session
from concord_client.cli.situation import (
    ErrorOption,
    FileOption,
    SessionOption,
    TextOption,
    situation,
)

if TYPE_CHECKING:
    from concord.governance.v1.proposal_pb2 import GetBriefingResponse, Proposal
    from concord.search.v1.suggestion_pb2 import SuggestProactivelyResponse

    from concord_client.client import Client


def proposals(
    session: Session,
    *,
    status: Annotated[
        list[ProposalStatus] | None,
        typer.Option(case_sensitive=False, help="Only these; may be repeated."),
    ] = None,
    item: Annotated[str, typer.Option(help="Only those that touch this item.")] = "",
    limit: LimitOption = 50,
    page_token: PageTokenOption = "",
) -> None:
    """List proposals, newest first."""
    from concord.governance.v1.proposal_pb2 import ListProposalsRequest

    request = ListProposalsRequest(
        statuses=[each.value_of() for each in status or ()],
        item_id=item,
        page_size=limit,
        page_token=page_token,
        with_summaries=True,
    )
    with session.client() as client:
        reply = client.proposals.ListProposals(request)
    if session.as_json:
        session.reply(reply)
        return
    from concord_client.cli.render.proposal_page import listed

    show(listed(list(reply.proposals)))
    show_more(reply.next_page_token)


def briefing(
    session: Session,
    *,
    path: FileOption = "",
    error: ErrorOption = "",
    said: TextOption = "",
    session_id: SessionOption = "",
) -> None:
    """Say how much waits for an answer or a review, how many conflicts are open, the first of each,
    and what matters here.

    With --file, --error or --text, --json prints `briefing` and `suggestions` as one object.
    """
    from concord.governance.v1.proposal_pb2 import GetBriefingRequest
    from concord.graph.v1.claim_pb2 import ListClaimantsRequest

    here = situation(path, error, said, session_id)
    with session.client() as client:
        reply = client.proposals.GetBriefing(GetBriefingRequest())
        claims = client.claim.ListClaimants(ListClaimantsRequest())
        suggested = None if here is None else client.suggestions.SuggestProactively(here)
        pending = [] if session.as_json else _pending(client, reply)
    if session.as_json:
        beside = MessageToDict(claims)  # nothing where nobody claims
        if suggested is None:
            session.reply(reply, beside)
        else:
            _reply_both(reply, suggested, beside)
        return
    from concord_client.cli.render.claim_page import grouped
    from concord_client.cli.render.proposal_page import briefed

    show(*briefed(reply, pending), *grouped(claims.claimants))
    if suggested is not None:
        from concord_client.cli.render.suggestion_page import show_suggestions

        show_suggestions(suggested)


def _pending(client: "Client", reply: "GetBriefingResponse") -> "Sequence[Proposal]":
    """The proposals that the briefing's lines are about: those lines name no items."""
    from concord.governance.v1.proposal_pb2 import ListProposalsRequest

    if not reply.proposals:
        return []
    request = ListProposalsRequest(
        statuses=[ProposalStatus.PENDING.value_of()], page_size=200, with_summaries=True
    )
    return client.proposals.ListProposals(request).proposals


def _reply_both(
    briefing: "GetBriefingResponse",
    suggested: "SuggestProactivelyResponse",
    beside: Mapping[str, object],
) -> None:
    from concord_client.cli.session import write_line

    said = {**MessageToDict(briefing), **beside}
    both = {"briefing": said, "suggestions": MessageToDict(suggested)}
    write_line(json.dumps(both, indent=2))
