"""The graph port over graph's contract."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from types import MappingProxyType
from typing import TypeVar

import grpc
from concord.graph.v1 import (
    conflict_pb2,
    conflict_pb2_grpc,
    feed_pb2,
    feed_pb2_grpc,
    governed_pb2,
    governed_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
)
from concord.type.v1 import type_pb2
from concord_attestation.consent import GenesisRecord, PrincipalKey, SlotKeys
from concord_chassis.call.failure import TRANSIENT, Failure, from_rpc_error
from concord_chassis.call.identity import Caller, OwnTokens, RenewedToken, TokenIssuer
from concord_chassis.call.opaque import unseal
from concord_chassis.channel.channel import connect
from concord_chassis.channel.cursors import Cursor as PartitionCursor
from concord_chassis.channel.feed import PAGE, followed, messages_of, spaces_of
from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message

from concord_governance.adapters.graph.messages import (
    conflict,
    effects,
    feed_message,
    space_changes,
)
from concord_governance.domain.dissonance import Conflict, OpenConflicts
from concord_governance.domain.errors import (
    GraphFaulty,
    GraphRefused,
    GraphRolledBack,
    GraphUnavailable,
)
from concord_governance.domain.proposals import Affected, Decision, Json, Revision
from concord_governance.ports.graph import (
    AppliedChange,
    FeedMessage,
    Partitions,
    Preview,
    PrincipalKeys,
)
from concord_governance.ports.ledger import Cursor

PRINCIPAL, GRAPH = "governance", "graph"
SCOPES = frozenset(
    {"graph:read", "governed:read", "governed:write", "granted:write", "confirm:write"}
)
_TRANSIENT = TRANSIENT | {grpc.StatusCode.DATA_LOSS}
_ROLLED_BACK = "ERROR_REASON_GRAPH_ROLLED_BACK"
_DECIDED = (
    conflict_pb2.CONFLICT_CLASS_EVOLUTION,
    conflict_pb2.CONFLICT_CLASS_CONTRADICTION,
    conflict_pb2.CONFLICT_CLASS_NUANCE,
)
"""What no judge could decide stands in lists of conflicts alone."""
_NO_ETAGS: Mapping[str, str] = MappingProxyType({})

T = TypeVar("T")


class GraphClient:
    """A client of graph at an address, with tokens of governance's own service principal."""

    def __init__(self, address: str, issuer: TokenIssuer) -> None:
        self._tokens = OwnTokens(issuer, PRINCIPAL, GRAPH)
        feed = Caller("", PRINCIPAL, frozenset({"feed:all"}), "SYSTEM")
        service = RenewedToken(issuer, feed, [GRAPH])
        self._channel = connect(address, token=service)
        self._follower = connect(address, token=service, cap=None)
        self._governed = governed_pb2_grpc.GovernedChangeServiceStub(self._channel)
        self._feed = feed_pb2_grpc.ChangeFeedServiceStub(self._channel)
        self._conflicts = conflict_pb2_grpc.ConflictServiceStub(self._channel)
        self._memories = memory_pb2_grpc.MemoryServiceStub(self._channel)
        self._watched = feed_pb2_grpc.ChangeFeedServiceStub(self._follower)

    async def preview(
        self, space: str, action: Mapping[str, Json], etags: Mapping[str, str] = _NO_ETAGS
    ) -> Preview:
        request = governed_pb2.PreviewChangeRequest(action=_message(action), etags=_etags(etags))
        found = await self._call(self._governed.PreviewChange, request, space)
        return Preview(
            tuple(
                Affected(
                    item.id,
                    int(item.kind),
                    item.etag,
                    item.needs_consent,
                    item.statement,
                    item.pinned,
                    item.statement_after,
                )
                for item in found.items
            ),
            found.cascaded_count,
            found.irreversible,
        )

    async def conflict(self, space: str, conflict_id: str) -> Conflict | None:
        request = conflict_pb2.GetConflictRequest(id=conflict_id)
        found = await self._call(self._conflicts.GetConflict, request, space)
        return conflict(found.conflict) if found.HasField("conflict") else None

    async def contents(self, space: str, memory_ids: Sequence[str]) -> Mapping[str, str]:
        refs = [feed_pb2.RevisionRef(id=each) for each in memory_ids]
        request = feed_pb2.BatchGetRevisionsRequest(space=space, refs=refs)
        found = await _reply_of(self._feed.BatchGetRevisions(request))
        return {each.id: each.memory.content for each in found.revisions}

    async def open_conflicts(self, space: str, limit: int) -> OpenConflicts:
        confirmed = await self._conflicts_in(space, conflict_pb2.CONFLICT_STATE_CONFIRMED, limit)
        potential = await self._conflicts_in(space, conflict_pb2.CONFLICT_STATE_POTENTIAL, limit)
        newest = [conflict(each) for each in (*confirmed.conflicts, *potential.conflicts)]
        return OpenConflicts(newest, potential.total_count, confirmed.total_count)

    async def _conflicts_in(
        self, space: str, state: conflict_pb2.ConflictState.ValueType, size: int
    ) -> conflict_pb2.ListConflictsResponse:
        request = conflict_pb2.ListConflictsRequest(
            states=[state], classes=_DECIDED, page_size=size
        )
        return await self._call(self._conflicts.ListConflicts, request, space)

    async def apply(
        self, revision: Revision, decision: Decision, *, expected_state: Cursor
    ) -> AppliedChange:
        request = governed_pb2.ApplyGovernedChangeRequest(request_id=decision.id)
        if expected_state.seq:
            request.expected_state.seq = expected_state.seq
            request.expected_state.change_digest = expected_state.change_digest
        origin = ""  # graph takes a memory's origin from the credential, as for all writes
        if not revision.canonical:
            request.action_erased = True
        else:
            origin = revision.origin
            request.action.CopyFrom(_message(revision.action))
            request.grant = decision.grant
            if not decision.grant:
                request.etags.extend(_etags(revision.etags))
            request.irreversible = revision.irreversible
        done = await self._call(self._governed.ApplyGovernedChange, request, revision.space, origin)
        fresh = type_pb2.FreshnessToken.FromString(unseal(done.token))
        return AppliedChange(
            effects(done),
            done.token,
            fresh.epoch,
            fresh.seq,
            tuple(done.orphaned_ids),
            done.cascaded_count,
            done.cascaded_digest,
        )

    async def revoke(self, space: str, revocation: bytes, request_id: str) -> tuple[str, int]:
        request = governed_pb2.RevokeConsentRequest(request_id=request_id, revocation=revocation)
        done = await self._call(self._governed.RevokeConsent, request, space)
        fresh = type_pb2.FreshnessToken.FromString(unseal(done.token))
        return fresh.epoch, fresh.seq

    async def confirm_erased(self, space: str, memory_id: str) -> None:
        request = memory_pb2.ConfirmEraseRequest(
            request_id=f"{PRINCIPAL} {memory_id}", memory_id=memory_id
        )
        await self._call(self._memories.ConfirmErase, request, space)

    async def principal_keys(self, space: str) -> PrincipalKeys | None:
        request = governed_pb2.GetGenesisRequest()
        found = await self._call(self._governed.GetGenesis, request, space)
        if found.status != type_pb2.LOOKUP_STATUS_FOUND:
            return None
        slots = {each.slot: SlotKeys(each.principal, _keys(each)) for each in found.slots}
        record = GenesisRecord(
            space=space,
            agent=slots[type_pb2.SLOT_AGENT],
            human=slots[type_pb2.SLOT_HUMAN],
            governance_key=found.governance_key,
            digest=found.genesis_digest,
        )
        return PrincipalKeys(record, found.genesis, found.imported_seq)

    async def register_space(self, space: str, enrolment_digest: str) -> bool:
        request = feed_pb2.RegisterSpaceRequest(space=space, enrolment_digest=enrolment_digest)
        return (await _reply_of(self._feed.RegisterSpace(request))).has_genesis

    async def erase_space(self, space: str, statement: bytes) -> bool:
        request = feed_pb2.EraseSpaceRequest(space=space, statement=statement)
        return (await _reply_of(self._feed.EraseSpace(request))).complete

    async def partitions(self, known: Mapping[int, PartitionCursor]) -> Partitions:
        request = feed_pb2.ListPartitionsRequest(cursors=messages_of(known))
        found = await _reply_of(self._feed.ListPartitions(request))
        return Partitions(
            found.epoch,
            [PartitionCursor(each.number, each.change_digest) for each in found.partitions],
            frozenset(at for at, each in enumerate(found.partitions) if each.lacks_cursor),
        )

    async def spaces(self, partition: int) -> AsyncIterator[Mapping[str, int]]:
        async for page in spaces_of(self._listed, partition):
            yield {head.space: head.head_seq for head in page}

    async def _listed(self, request: feed_pb2.ListSpacesRequest) -> Sequence[feed_pb2.SpaceHead]:
        return (await _reply_of(self._feed.ListSpaces(request))).spaces

    async def lacking(self, cursors: Mapping[str, Cursor]) -> frozenset[str]:
        named = [
            feed_pb2.SpaceCursor(space=space, seq=each.seq, change_digest=each.change_digest)
            for space, each in cursors.items()
        ]
        found: set[str] = set()
        for start in range(0, len(named), PAGE):
            request = feed_pb2.FindLackingRequest(cursors=named[start : start + PAGE])
            found.update((await _reply_of(self._feed.FindLacking(request))).spaces)
        return frozenset(found)

    async def watch(self, cursors: Mapping[int, PartitionCursor]) -> AsyncGenerator[FeedMessage]:
        try:
            async with aclosing(followed(self._watched, cursors)) as messages:
                async for message in messages:
                    yield feed_message(message)
        except Failure as failure:
            raise _translated(failure) from failure

    async def changes(self, space: str, after: int) -> AsyncIterator[FeedMessage]:
        while True:
            request = feed_pb2.ListChangesRequest(space=space, after_seq=after)
            found = await _reply_of(self._feed.ListChanges(request))
            message = space_changes(found.changes, found.epoch)
            if not message.seq:
                return
            yield message
            after = message.seq

    async def close(self) -> None:
        await self._follower.close()
        await self._channel.close()

    async def _call(
        self, method: Callable[..., Awaitable[T]], request: Message, space: str, origin: str = ""
    ) -> T:
        """Call graph with a token for a space."""
        metadata = self._tokens.metadata(space, SCOPES, origin=origin)
        return await _reply_of(method(request, metadata=metadata))


def _keys(slot: governed_pb2.SlotKey) -> tuple[PrincipalKey, ...]:
    return tuple(
        PrincipalKey(key.public_key, key.label, tuple(key.successor_digests)) for key in slot.keys
    )


def _message(action: Mapping[str, Json]) -> governed_pb2.GovernedAction:
    return ParseDict(dict(action), governed_pb2.GovernedAction())


def _etags(etags: Mapping[str, str]) -> list[governed_pb2.ItemEtag]:
    return [governed_pb2.ItemEtag(id=item_id, etag=etag) for item_id, etag in etags.items()]


async def _reply_of(call: Awaitable[T]) -> T:
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        raise _translated(from_rpc_error(error)) from error


def _translated(failure: Failure) -> GraphUnavailable | GraphRefused | GraphRolledBack:
    if failure.reason == _ROLLED_BACK:
        return GraphRolledBack(failure.message)
    if failure.code == grpc.StatusCode.INTERNAL:
        return GraphFaulty(f"graph fails at it ({failure.reason})")
    if failure.code in _TRANSIENT:
        return GraphUnavailable(f"graph does not answer ({failure.summary})")
    return GraphRefused(failure)
