"""The verbs of claims: what a writer would do to what somebody above it said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from concord.graph.v1 import claim_pb2
from concord.type.v1 import type_pb2

from concord_client.verbs.arguments import value_of
from concord_client.verbs.claim_things import Claim, ClaimState
from concord_client.verbs.read_reply import name_of, time_of
from concord_client.verbs.steps import Step
from concord_client.verbs.things import Page


def claims(
    *,
    state: ClaimState = "OPEN",
    claimant: str = "",
    item_id: str = "",
    limit: int = 50,
    page_token: str = "",
) -> Step[Page[Claim]]:
    """A page of the claims, the newest first. `limit`: 1 to 1,000.

    `claimant`: only this principal's; `item_id`: only at this item.
    """
    request = claim_pb2.ListClaimsRequest(
        state=value_of(type_pb2.ClaimState, state, "state"),
        claimant=claimant,
        item_id=item_id,
        page_size=limit,
        page_token=page_token,
    )

    def read(reply: claim_pb2.ListClaimsResponse) -> Page[Claim]:
        return Page(_claims(reply), reply.next_page_token)

    return Step(request, read)


def accept_claims(
    numbers: Sequence[int] = (), *, claimant: str = "", up_to: int = 0
) -> Step[tuple[Claim, ...]]:
    """Do what claims would do: by number, or all of a claimant up to a number that you looked at.

    For the items' owners, and for who governs with a kind at least as high.
    """
    named = claim_pb2.ClaimsNamed(ids=map(str, numbers), claimant=claimant, up_to_number=up_to)
    return Step(claim_pb2.AcceptClaimsRequest(named=named), _claims)


def refuse_claims(
    numbers: Sequence[int] = (), *, claimant: str = "", up_to: int = 0
) -> Step[tuple[Claim, ...]]:
    """Refuse claims, named as for `accept_claims`: they never do anything."""
    named = claim_pb2.ClaimsNamed(ids=map(str, numbers), claimant=claimant, up_to_number=up_to)
    return Step(claim_pb2.RefuseClaimsRequest(named=named), _claims)


def withdraw_claims(numbers: Sequence[int]) -> Step[tuple[Claim, ...]]:
    """Take back claims of your own."""
    named = claim_pb2.ClaimsNamed(ids=map(str, numbers))
    return Step(claim_pb2.WithdrawClaimsRequest(named=named), _claims)


def _claims(reply: Any) -> tuple[Claim, ...]:
    return tuple(_claim(each) for each in reply.claims)


def _claim(read: claim_pb2.Claim) -> Claim:
    return Claim(
        number=read.number,
        action=name_of(type_pb2.ClaimAction, read.action),
        item_id=read.item_id,
        item_says=read.item_statement,
        by_id=read.by_id,
        by_says=read.by_statement,
        asks=read.asks,
        claimant=read.claimant,
        owner=read.owner,
        state=name_of(type_pb2.ClaimState, read.state),
        settled_by=read.settled_by,
        reason=name_of(type_pb2.ClaimReason, read.reason) if read.reason else "",
        created=time_of(read, "create_time"),
        settled=time_of(read, "settle_time"),
    )
