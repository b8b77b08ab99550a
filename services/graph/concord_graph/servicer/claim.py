"""ClaimService."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from concord.graph.v1 import claim_pb2, claim_pb2_grpc
from concord_chassis.call.identity import caller
from concord_chassis.call.opaque import page_cursor

from concord_graph.domain.claims import Claim, ClaimAction, ClaimState, claim_of
from concord_graph.domain.errors import ItemState
from concord_graph.domain.items import ItemKind
from concord_graph.ports import ClaimsSettled, EntryFilter
from concord_graph.servicer import calls, outgoing
from concord_graph.servicer.actions import Actions
from concord_graph.servicer.claimed_request import in_words, meant, requested, with_etag
from concord_graph.usecases.items.claims import ClaimsNamed, Meant, settle_claims
from concord_graph.usecases.read.claims import (
    ShownClaim,
    list_claimants,
    list_claims,
    shown_claims,
)
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.records import ClaimSettings, Records
from concord_graph.usecases.write.commands import Command, Commands, Done

GOVERNS = "governed:write"
"""The permission of who decides about what others wrote."""
CLAIMS_EACH = 3


class ClaimServicer(claim_pb2_grpc.ClaimServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(
        self,
        commands: Commands,
        reader: Reader,
        actions: Actions,
        records: Records,
        erased: Callable[[], None],
    ) -> None:
        """`erased` runs after each erasure."""
        self._records = records
        self._commands = commands
        self._reader = reader
        self._erased = erased
        self._requests = _Requests(actions)

    async def ListClaims(
        self, request: claim_pb2.ListClaimsRequest, context: calls.Context
    ) -> claim_pb2.ListClaimsResponse:
        before = page_cursor(request, (int, int))
        filter_ = EntryFilter(
            ItemKind.CLAIM,
            ClaimState(request.state or ClaimState.OPEN).name,
            sides=(request.item_id,) if request.item_id else (),
            claimant=request.claimant,
        )
        found, total = await self._reader.read(
            caller().space,
            lambda tx, now: list_claims(
                tx,
                filter_,
                now,
                (before[0], before[1]) if before else None,
                calls.page_limit(request),
            ),
        )
        page, token = calls.one_page(request, found, lambda last: calls.rank_of(last.entry))
        return claim_pb2.ListClaimsResponse(
            claims=map(_claim, page), total=total, next_page_token=token
        )

    async def ListClaimants(
        self, request: claim_pb2.ListClaimantsRequest, context: calls.Context
    ) -> claim_pb2.ListClaimantsResponse:
        each = request.claims_each or CLAIMS_EACH
        found, truncated = await self._reader.read(
            caller().space, lambda tx, now: list_claimants(tx, now, each)
        )
        claimants = [
            claim_pb2.Claimant(
                claimant=one.claimant, open_count=one.total, claims=map(_claim, one.claims)
            )
            for one in found
        ]
        return claim_pb2.ListClaimantsResponse(claimants=claimants, truncated=truncated)

    async def AcceptClaims(
        self, request: claim_pb2.AcceptClaimsRequest, context: calls.Context
    ) -> claim_pb2.AcceptClaimsResponse:
        done = await self._settle(request, ClaimState.ACCEPTED)
        if any(claim_of(entry).action == ClaimAction.ERASE for entry in done.entries):
            self._erased()
        claims = await self._now(done)
        return calls.reply(claim_pb2.AcceptClaimsResponse, done, claims=claims)

    async def RefuseClaims(
        self, request: claim_pb2.RefuseClaimsRequest, context: calls.Context
    ) -> claim_pb2.RefuseClaimsResponse:
        done = await self._settle(request, ClaimState.REFUSED)
        return calls.reply(claim_pb2.RefuseClaimsResponse, done, claims=await self._now(done))

    async def WithdrawClaims(
        self, request: claim_pb2.WithdrawClaimsRequest, context: calls.Context
    ) -> claim_pb2.WithdrawClaimsResponse:
        done = await self._settle(request, ClaimState.WITHDRAWN)
        return calls.reply(claim_pb2.WithdrawClaimsResponse, done, claims=await self._now(done))

    async def GetClaimSettings(
        self, request: claim_pb2.GetClaimSettingsRequest, context: calls.Context
    ) -> claim_pb2.GetClaimSettingsResponse:
        found = await self._records.claim_settings(caller().space)
        return claim_pb2.GetClaimSettingsResponse(settings=_settings(found))

    async def SetClaimSettings(
        self, request: claim_pb2.SetClaimSettingsRequest, context: calls.Context
    ) -> claim_pb2.SetClaimSettingsResponse:
        wanted = ClaimSettings(request.settings.claims_among_equals)
        await self._records.set_claim_settings(caller().space, wanted)
        return claim_pb2.SetClaimSettingsResponse(settings=_settings(wanted))

    async def _settle(self, request: Any, state: ClaimState) -> Done[ClaimsSettled]:
        named = request.named
        command = partial(
            settle_claims,
            named=ClaimsNamed(tuple(named.ids), named.claimant, named.up_to_number),
            state=state,
            governs=GOVERNS in caller().scopes,
            requests=self._requests,
        )
        return await calls.execute(self._commands, request, command)

    async def _now(self, done: Done[ClaimsSettled]) -> Sequence[claim_pb2.Claim]:
        found = await self._reader.read(
            caller().space, lambda tx, now: shown_claims(tx, done.entries, now)
        )
        return [_claim(one) for one in found]


@dataclass(frozen=True, slots=True)
class _Requests:
    """The requests that claims recorded."""

    actions: Actions

    def meant(self, claim: Claim) -> Meant:
        return meant(claim)

    def command(self, claim: Claim, etag: str) -> Command[Any]:
        return _command(self.actions, claim, etag)


def _command(actions: Actions, claim: Claim, etag: str) -> Command[Any]:
    """Return the command of the request that a claim recorded, against a version of its item."""
    commands: Mapping[str, Callable[[Any], Command[Any]]] = {
        "UpsertNode": actions.upsert_node,
        "UpdateNode": actions.update_node,
        "DeleteNode": actions.delete_node,
        "UpsertEdge": actions.upsert_edge,
        "UpdateEdge": actions.update_edge,
        "DeleteEdge": actions.delete_edge,
        "UpdateMemory": actions.update_memory,
        "ForgetMemory": actions.forget_memory,
        "RestoreMemory": actions.restore_memory,
        "EraseMemory": actions.erase_memory,
        "DeclareRelation": actions.declare_relation,
        "ReviewConflict": actions.review_conflict,
        "ResolveConflict": actions.resolve_conflict,
        "ReopenConflict": actions.reopen_conflict,
    }
    request = requested(claim)
    if request is None or claim.method not in commands:
        raise ItemState(f"nothing is known that a claim by {claim.method} would do")
    return commands[claim.method](with_etag(request, etag))


def _settings(found: ClaimSettings) -> claim_pb2.ClaimSettings:
    return claim_pb2.ClaimSettings(claims_among_equals=found.claims_among_equals)


def _claim(shown: ShownClaim) -> claim_pb2.Claim:
    claim, entry = shown.claim, shown.entry
    return claim_pb2.Claim(
        id=entry.id,
        number=entry.rank,
        action=int(claim.action),  # type: ignore[arg-type] # numbers are the contract's
        item_id=claim.item.id,
        item_kind=int(claim.item.kind),  # type: ignore[arg-type] # numbers are the contract's
        item_statement=shown.item_words,
        by_id=claim.by.id,
        by_statement=shown.by_words,
        claimant=claim.claimant,
        claimant_kind=claim.claimant_kind,
        owner=claim.owner,
        method=claim.method,
        asks=in_words(claim),
        state=int(claim.state),  # type: ignore[arg-type] # numbers are the contract's
        create_time=outgoing.stamp(entry.create_time),
        settle_time=outgoing.stamp(claim.time) if claim.time else None,
        settled_by=claim.settled_by,
        reason=int(claim.reason),  # type: ignore[arg-type] # numbers are the contract's
    )
