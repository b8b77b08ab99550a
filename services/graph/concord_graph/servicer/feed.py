"""ChangeFeedService."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from concord.graph.v1 import feed_pb2, feed_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import caller

from concord_graph.domain.items import is_erased
from concord_graph.domain.leases import LEASE_SECONDS, Lease, LeaseKey
from concord_graph.ports import Change, Clock, GraphStore, Imported, State
from concord_graph.servicer import incoming, outgoing
from concord_graph.servicer.calls import Context
from concord_graph.usecases.governed.apply import register
from concord_graph.usecases.governed.change_digest import digest_at, digest_of
from concord_graph.usecases.governed.space_erasure import ErasingSpaces
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.read.shown import Shown
from concord_graph.usecases.read.states import DIGEST_BYTES, FEW, digests, states

CHANGES_A_MESSAGE = 500
KEEP_ALIVE_SECONDS = 10.0
_LEASE_MICROSECONDS = LEASE_SECONDS * 1_000_000
_NEVER = Imported(0, b"")

gather = asyncio.sleep
"""Waits for some seconds, so that one message carries the changes of that time."""


class FeedServicer(feed_pb2_grpc.ChangeFeedServiceServicer):
    """Translates the outbox for the services that follow it."""

    def __init__(
        self,
        store: GraphStore,
        reader: Reader,
        erasing: ErasingSpaces,
        clock: Clock,
    ) -> None:
        self._store = store
        self._erasing = erasing
        self._clock = clock
        self._reader = reader
        self._epoch = store.epoch
        self._imported: dict[str, Imported] = {}

    async def ListSpaces(
        self, request: feed_pb2.ListSpacesRequest, context: Context
    ) -> feed_pb2.ListSpacesResponse:
        applied = {cursor.space: cursor for cursor in request.cursors}
        heads = await self._store.spaces(*_range(request))
        return feed_pb2.ListSpacesResponse(
            spaces=[
                feed_pb2.SpaceHead(
                    space=head.space,
                    epoch=self._epoch,
                    head_seq=head.seq,
                    lacks_cursor=head.space in applied
                    and await self._lacks(applied[head.space], head.seq),
                )
                for head in heads
            ]
        )

    async def RegisterSpace(
        self, request: feed_pb2.RegisterSpaceRequest, context: Context
    ) -> feed_pb2.RegisterSpaceResponse:
        digest = request.enrolment_digest
        has_genesis = await self._store.write(request.space, lambda tx: register(tx, digest))
        return feed_pb2.RegisterSpaceResponse(has_genesis=has_genesis)

    async def EraseSpace(
        self, request: feed_pb2.EraseSpaceRequest, context: Context
    ) -> feed_pb2.EraseSpaceResponse:
        complete = await self._erasing.step(request.space, caller().principal, request.statement)
        return feed_pb2.EraseSpaceResponse(complete=complete)

    async def AcquireLease(
        self, request: feed_pb2.AcquireLeaseRequest, context: Context
    ) -> feed_pb2.AcquireLeaseResponse:
        now = self._clock()
        until = now + _LEASE_MICROSECONDS
        lease = await self._store.acquire_lease(_lease_key(request), request.holder, now, until)
        return feed_pb2.AcquireLeaseResponse(
            acquired=lease.is_held_by(request.holder, now),
            fencing_number=lease.number,
            remaining_millis=(lease.until - now) // 1000,
        )

    async def RenewLease(
        self, request: feed_pb2.RenewLeaseRequest, context: Context
    ) -> feed_pb2.RenewLeaseResponse:
        now = self._clock()
        lease = Lease(request.holder, request.fencing_number, now + _LEASE_MICROSECONDS)
        renewed = await self._store.renew_lease(_lease_key(request), lease, now)
        return feed_pb2.RenewLeaseResponse(renewed=renewed)

    async def _lacks(self, cursor: feed_pb2.SpaceCursor, head_seq: int) -> bool:
        if head_seq < cursor.seq or not cursor.change_digest:
            return head_seq < cursor.seq
        return await digest_at(self._store, cursor.space, cursor.seq) != cursor.change_digest

    async def WatchChanges(
        self, request: feed_pb2.WatchChangesRequest, context: Context
    ) -> AsyncIterator[feed_pb2.WatchChangesResponse]:
        applied = {cursor.space: cursor.seq for cursor in request.cursors}
        while True:
            version = self._store.version
            async for message in self._news(request, applied):
                yield message
            if request.replay_only:
                return
            try:
                await asyncio.wait_for(self._store.changed(version), KEEP_ALIVE_SECONDS)
            except TimeoutError:
                yield feed_pb2.WatchChangesResponse(epoch=self._epoch)
            else:
                await gather(request.gather_millis / 1000)

    async def _news(
        self, request: feed_pb2.WatchChangesRequest, applied: dict[str, int]
    ) -> AsyncIterator[feed_pb2.WatchChangesResponse]:
        """Yield the spaces' changes after those in `applied`, and advance `applied`."""
        for head in await self._store.spaces(*_range(request)):
            while applied.get(head.space, 0) < head.seq:
                after = applied.get(head.space, 0)
                found = await self._store.changes(head.space, after - 1, CHANGES_A_MESSAGE + 1)
                changes = [each for each in found if each.seq > after][:CHANGES_A_MESSAGE]
                if not changes:
                    break
                imported = await self._came(head.space)
                applied[head.space] = changes[-1].seq
                known = found[0].seq == after
                yield feed_pb2.WatchChangesResponse(
                    space=head.space,
                    changes=[_change(change, imported) for change in changes],
                    head_seq=head.seq,
                    epoch=self._epoch,
                    change_digest=digest_of(self._epoch, changes[-1]),
                    previous_change_digest=digest_of(self._epoch, found[0]) if known else "",
                )

    async def _came(self, space: str) -> Imported:
        """Return the import of a space. It is cached: only a space's first write can be one."""
        if space not in self._imported:
            found = await self._store.read(space, lambda tx: tx.founding())
            self._imported[space] = found.imported or _NEVER
        return self._imported[space]

    async def GetDigests(
        self, request: feed_pb2.GetDigestsRequest, context: Context
    ) -> feed_pb2.GetDigestsResponse:
        found = await digests(self._store, request.space, request.seq)
        return feed_pb2.GetDigestsResponse(
            epoch=self._epoch,
            seq=found.seq,
            buckets=[
                feed_pb2.BucketDigest(
                    state_count=bucket.states, digest=bucket.digest.to_bytes(DIGEST_BYTES)
                )
                for bucket in found.buckets()
            ],
        )

    async def BatchGetRevisions(
        self, request: feed_pb2.BatchGetRevisionsRequest, context: Context
    ) -> feed_pb2.BatchGetRevisionsResponse:
        refs = [(ref.id, ref.seq) for ref in request.refs]
        as_of = incoming.as_of(request)
        found, logs = await self._reader.read(
            request.space,
            lambda tx, now: states(tx, refs, as_of, now),
            brief=len(refs) <= FEW,
        )
        if request.count_as_read:
            read = [each[0].view.item for each in found if each]
            ids = {item.id for item in read if not is_erased(item)}
            unsure = {ref.id for ref in request.refs if ref.unsure} & ids
            self._reader.count(request.space, ids - unsure, request.session_id, of_session=True)
            self._reader.count(request.space, unsure, request.session_id)
        revisions = [
            _revision(ref_id, state) for (ref_id, _), state in zip(refs, found, strict=True)
        ]
        return feed_pb2.BatchGetRevisionsResponse(revisions=revisions, recall_log=logs)


def _range(
    request: feed_pb2.ListSpacesRequest | feed_pb2.WatchChangesRequest,
) -> tuple[str, str]:
    """Return the first name that is asked for, and the one to stop before; empty: no bound."""
    if request.space:
        return request.space, f"{request.space}\0"
    return request.from_space, request.before_space


def _lease_key(request: feed_pb2.AcquireLeaseRequest | feed_pb2.RenewLeaseRequest) -> LeaseKey:
    return LeaseKey(request.space, caller().principal, request.name)


def _change(change: Change, imported: Imported) -> feed_pb2.Change:
    is_import = change.seq == imported.seq
    audited = change.needs_consent or change.paper or is_import
    attestation = _attestation(change) if audited else None
    return feed_pb2.Change(
        attestation=attestation,
        seq=change.seq,
        record_time=outgoing.stamp(change.record_time),
        item_id=change.item_id,
        item_kind=int(change.item_kind),  # type: ignore[arg-type] # numbers are the contract's
        type=int(change.type),  # type: ignore[arg-type] # numbers are the contract's
        revision=change.revision,
        digest=change.digest,
        imported=change.seq < imported.seq,
        restore_grant=imported.restore if is_import else b"",
        revocation=change.paper.encode(),
        method=change.author.method,
    )


def _attestation(change: Change) -> feed_pb2.Attestation:
    return feed_pb2.Attestation(
        principal=change.author.principal,
        method=change.author.method,
        request_id=change.author.request_id,
        before_digest=change.before_digest,
        reason=change.reason,
        constitutive=change.ends is not None,
        ends=change.ends,
        actor=type_pb2.PrincipalKind.Value(f"PRINCIPAL_KIND_{change.author.kind or 'UNSPECIFIED'}"),
    )


def _revision(memory_id: str, found: tuple[State, Shown] | None) -> feed_pb2.Revision:
    if found is None:
        return feed_pb2.Revision(id=memory_id)
    state, shown = found
    if is_erased(state.view.item):
        return feed_pb2.Revision(
            id=memory_id,
            seq=state.seq,
            record_time=outgoing.stamp(state.record_time),
            erased=True,
        )
    return feed_pb2.Revision(
        id=memory_id,
        seq=state.seq,
        memory=outgoing.memory(shown, shown.valid),
        record_time=outgoing.stamp(state.record_time),
    )
