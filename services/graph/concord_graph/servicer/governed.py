"""GovernedChangeService."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from concord.graph.v1 import governed_pb2, governed_pb2_grpc
from concord.type.v1 import type_pb2
from concord_attestation.consent import REQUIRED_SLOTS, SlotKeys
from concord_chassis.call.identity import caller, demand_service
from concord_chassis.call.opaque import page_cursor, page_token
from google.protobuf.message import Message

from concord_graph.domain.errors import FieldInvalid
from concord_graph.domain.items import ItemKind
from concord_graph.ports import Author, ChangeApplied, ItemEffect
from concord_graph.servicer import calls, outgoing
from concord_graph.servicer.actions import Actions, scope_of
from concord_graph.usecases.governed.apply import GovernedChange, GovernedChanges
from concord_graph.usecases.governed.preview import Previews
from concord_graph.usecases.governed.principal_keys import genesis, genesis_digest
from concord_graph.usecases.read.attested import attested
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.write.commands import Commands, Done

DIGESTS_PAGE = 200
APPLY = "ApplyGovernedChange"
GOVERNANCE = "governance"
"""The principal that applies changes, and the name under which it signs its own tokens."""


class GovernedServicer(governed_pb2_grpc.GovernedChangeServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(
        self,
        commands: Commands,
        reader: Reader,
        actions: Actions,
        governed: GovernedChanges,
        *,
        previews: Previews,
        action_digest: Callable[[Message], str],
        erased: Callable[[], None],
    ) -> None:
        """`erased` runs after each erasure."""
        self._erased = erased
        self._commands = commands
        self._reader = reader
        self._actions = actions
        self._governed = governed
        self._previews = previews
        self._action_digest = action_digest

    async def EnrolPrincipals(
        self, request: governed_pb2.EnrolPrincipalsRequest, context: calls.Context
    ) -> governed_pb2.EnrolPrincipalsResponse:
        done = await calls.execute(
            self._commands,
            request,
            partial(
                self._governed.enrol, secret=request.enrolment_secret, envelope=request.genesis
            ),
        )
        space = caller().space
        return calls.reply(
            governed_pb2.EnrolPrincipalsResponse,
            done,
            genesis_digest=await self._reader.read(space, genesis_digest),
        )

    async def PreviewChange(
        self, request: governed_pb2.PreviewChangeRequest, context: calls.Context
    ) -> governed_pb2.PreviewChangeResponse:
        who = caller()
        found = await self._previews.touched(
            who.space,
            Author(who.principal, "PreviewChange", ""),
            self._actions.governed(request.action, self._governed),
            {each.id: each.etag for each in request.etags},
            scope_of(request.action),
        )
        return governed_pb2.PreviewChangeResponse(
            cascaded_count=found.cascaded_count,
            irreversible=found.irreversible,
            items=[
                governed_pb2.AffectedItem(
                    id=item.id,
                    kind=int(item.kind),  # type: ignore[arg-type] # numbers are the contract's
                    etag=item.etag,
                    needs_consent=item.needs_consent,
                    statement=item.statement,
                    pinned=item.is_pinned,
                    statement_after=item.statement_after,
                )
                for item in found.items
            ],
        )

    async def RevokeConsent(
        self, request: governed_pb2.RevokeConsentRequest, context: calls.Context
    ) -> governed_pb2.RevokeConsentResponse:
        done = await calls.execute(
            self._commands,
            request,
            partial(self._governed.revoke, envelope=request.revocation),
        )
        return calls.reply(governed_pb2.RevokeConsentResponse, done)

    async def GetGenesis(
        self, request: governed_pb2.GetGenesisRequest, context: calls.Context
    ) -> governed_pb2.GetGenesisResponse:
        found = await self._reader.read(caller().space, genesis)
        if found is None:
            return governed_pb2.GetGenesisResponse(status=calls.NOT_FOUND)
        record, envelope, imported_seq = found
        return governed_pb2.GetGenesisResponse(
            status=calls.FOUND,
            genesis=envelope,
            imported_seq=imported_seq,
            genesis_digest=record.digest,
            governance_key=record.governance_key,
            slots=[_slot_key(name, record.slot(name)) for name in REQUIRED_SLOTS],
        )

    async def GetConstitutiveDigests(
        self, request: governed_pb2.GetConstitutiveDigestsRequest, context: calls.Context
    ) -> governed_pb2.GetConstitutiveDigestsResponse:
        size = request.page_size or DIGESTS_PAGE
        kind, time, last = page_cursor(request, (int, int, str)) or (int(ItemKind.EDGE), 0, "")
        cursor = (kind == ItemKind.MEMORY, int(time), str(last))
        found = await self._reader.read(
            caller().space, lambda tx, now: attested(tx, now, cursor, size + 1)
        )
        page, more = found[:size], len(found) > size
        return governed_pb2.GetConstitutiveDigestsResponse(
            items=[
                governed_pb2.ConstitutiveItem(
                    id=item.id,
                    kind=int(item.kind),  # type: ignore[arg-type] # numbers are the contract's
                    digest=item.digest,
                    ends=item.ends,
                )
                for item in page
            ],
            next_page_token=page_token(
                request, [int(page[-1].kind), page[-1].create_time, page[-1].id]
            )
            if more
            else "",
        )

    async def ApplyGovernedChange(
        self, request: governed_pb2.ApplyGovernedChangeRequest, context: calls.Context
    ) -> governed_pb2.ApplyGovernedChangeResponse:
        demand_service(GOVERNANCE, "granted:write")
        newest = (request.expected_state.seq, request.expected_state.change_digest)
        if request.action_erased:
            recall = partial(self._governed.recall, newest=newest)
            return _applied(await calls.execute_as(self._commands, APPLY, request, b"", recall))
        if not request.HasField("action"):
            raise FieldInvalid("action", "is missing")
        try:
            digest = self._action_digest(request.action)
        except ValueError as error:
            raise FieldInvalid("action", "has no JSON form") from error
        change = GovernedChange(
            command=self._actions.governed(request.action, self._governed),
            action_digest=digest,
            scope=replace(scope_of(request.action), irreversible=request.irreversible),
            newest=newest,
            grant=request.grant,
            etags={each.id: each.etag for each in request.etags},
            changes_key=request.action.WhichOneof("action") == "change_key",
        )
        command = partial(self._governed.change, change=change)
        done = await calls.execute_as(self._commands, APPLY, request, _compared(request), command)
        if request.action.WhichOneof("action") == "erase_memory":
            self._erased()
        return _applied(done)


def _applied(done: Done[ChangeApplied]) -> governed_pb2.ApplyGovernedChangeResponse:
    """Return the reply for an applied change."""
    result = done.result
    message = calls.reply(
        governed_pb2.ApplyGovernedChangeResponse,
        done,
        effects=map(_effect, result.effects),
        orphaned_ids=result.orphaned_ids,
        cascaded_count=result.cascaded.count,
        cascaded_digest=result.cascaded.digest,
    )
    if outgoing.is_kind(done, ItemKind.NODE):
        message.node.CopyFrom(outgoing.done_node(done))
    elif outgoing.is_kind(done, ItemKind.EDGE):
        message.edge.CopyFrom(outgoing.done_edge(done))
    elif done.views and done.views[0].item.kind == ItemKind.MEMORY:
        message.memory.CopyFrom(outgoing.done_memory(done))
    return message


def _slot_key(name: str, holder: SlotKeys) -> governed_pb2.SlotKey:
    return governed_pb2.SlotKey(
        slot=type_pb2.Slot.Value(f"SLOT_{name}"),
        principal=holder.principal,
        public_key=holder.keys[0].public_key,
        successor_digests=holder.successors,
        keys=[
            governed_pb2.PrincipalKey(
                public_key=key.public_key, label=key.label, successor_digests=key.successors
            )
            for key in holder.keys
        ],
    )


def _compared(request: governed_pb2.ApplyGovernedChangeRequest) -> bytes:
    """Return the bytes by which a repeated request is recognized.

    They leave out `expected_state`: the caller may have seen more of the feed by then.
    """
    same = governed_pb2.ApplyGovernedChangeRequest()
    same.CopyFrom(request)
    same.ClearField("expected_state")
    return same.SerializeToString(deterministic=True)


def _effect(effect: ItemEffect) -> governed_pb2.Effect:
    return governed_pb2.Effect(
        id=effect.after.id,
        kind=int(effect.after.kind),  # type: ignore[arg-type] # numbers are the contract's
        before_revision=effect.before,
        after_revision=effect.after.revision,
        governed_revisions=effect.governed,
        cascaded=effect.cascaded,
    )
