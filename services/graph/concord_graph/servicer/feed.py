"""ChangeFeedService."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence

from concord.graph.v1 import feed_pb2, feed_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import caller

from concord_graph.domain.errors import FieldInvalid
from concord_graph.domain.items import is_erased
from concord_graph.domain.leases import LEASE_SECONDS, Lease, LeaseKey
from concord_graph.ports import Change, Clock, FeedChange, GraphStore, Imported, Reads, State
from concord_graph.servicer import incoming, outgoing
from concord_graph.servicer.calls import Context
from concord_graph.usecases.governed.apply import register
from concord_graph.usecases.governed.change_digest import ALL, digest_of
from concord_graph.usecases.governed.space_erasure import ErasingSpaces
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.read.shown import Shown
from concord_graph.usecases.read.states import DIGEST_BYTES, FEW, digests, states

CHANGES_A_MESSAGE = 500
SPACES_A_PAGE = 500
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

    async def ListPartitions(
        self, request: feed_pb2.ListPartitionsRequest, context: Context
    ) -> feed_pb2.ListPartitionsResponse:
        numbers = await self._store.numbers()
        cursors = {each.partition: each for each in request.cursors}
        wanted = {(each.partition, each.number) for each in request.cursors} | {*enumerate(numbers)}
        found = await self._store.numbered(wanted)
        digests = {each: digest_of(self._epoch, change) for each, change in found.items()}
        return feed_pb2.ListPartitionsResponse(
            epoch=self._epoch,
            partitions=[
                feed_pb2.PartitionHead(
                    number=number,
                    change_digest=digests.get((partition, number), ""),
                    lacks_cursor=partition in cursors
                    and _lacks(
                        cursors[partition].number,
                        cursors[partition].change_digest,
                        digests.get((partition, cursors[partition].number)),
                    ),
                )
                for partition, number in enumerate(numbers)
            ],
        )

    async def ListSpaces(
        self, request: feed_pb2.ListSpacesRequest, context: Context
    ) -> feed_pb2.ListSpacesResponse:
        await self._demand_partitions({request.partition: "partition"})
        most = request.page_size or SPACES_A_PAGE
        heads = await self._store.spaces(request.partition, request.after, most)
        return feed_pb2.ListSpacesResponse(
            epoch=self._epoch,
            spaces=[feed_pb2.SpaceHead(space=head.space, head_seq=head.seq) for head in heads],
        )

    async def FindLacking(
        self, request: feed_pb2.FindLackingRequest, context: Context
    ) -> feed_pb2.FindLackingResponse:
        found = await self._store.changes_at({(each.space, each.seq) for each in request.cursors})
        digests = {each: digest_of(self._epoch, change) for each, change in found.items()}
        lacking = {
            each.space
            for each in request.cursors
            if _lacks(each.seq, each.change_digest, digests.get((each.space, each.seq)))
        }
        return feed_pb2.FindLackingResponse(spaces=sorted(lacking))

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

    async def WatchChanges(
        self, request: feed_pb2.WatchChangesRequest, context: Context
    ) -> AsyncIterator[feed_pb2.WatchChangesResponse]:
        numbers = await self._demand_partitions(
            {each.partition: f"cursors[{i}].partition" for i, each in enumerate(request.cursors)}
        )
        sent = {cursor.partition: cursor.number for cursor in request.cursors}
        if len(sent) < len(request.cursors):
            raise FieldInvalid("cursors", "more than one of a partition")
        ahead: Collection[int] = [each for each, number in sent.items() if numbers[each] > number]
        while True:
            for partition in ahead:
                async for message in self._news(partition, sent):
                    yield message
            if request.replay_only:
                return
            try:
                ahead = await asyncio.wait_for(self._store.passed(sent), KEEP_ALIVE_SECONDS)
            except TimeoutError:
                ahead = ()
                yield feed_pb2.WatchChangesResponse(epoch=self._epoch)
            else:
                await gather(request.gather_millis / 1000)
                ahead = await self._store.passed(sent)  # also those of the time of gathering

    async def _news(
        self, partition: int, sent: dict[int, int]
    ) -> AsyncIterator[feed_pb2.WatchChangesResponse]:
        """Yield a partition's changes after the number in `sent`, and advance that: of each page a
        message for each space, of which the last one says up to where everything was sent."""
        full = True
        while full:
            page = await self._store.feed(partition, sent[partition], CHANGES_A_MESSAGE)
            full = len(page) == CHANGES_A_MESSAGE
            of_space: dict[str, list[FeedChange]] = {}
            for each in page:
                of_space.setdefault(each.space, []).append(each)
            before = await self._store.changes_at(
                {(space, changes[0].change.seq - 1) for space, changes in of_space.items()}
            )
            for space, changes in of_space.items():
                message = feed_pb2.WatchChangesResponse(
                    changes=self._space_changes(
                        space,
                        [each.change for each in changes],
                        previous=before.get((space, changes[0].change.seq - 1)),
                        head_seq=changes[0].head_seq,
                        imported=_import_of(changes),
                    ),
                    epoch=self._epoch,
                    partition=partition,
                )
                if space == [*of_space][-1]:
                    message.through = sent[partition] = page[-1].number
                    message.through_digest = digest_of(self._epoch, page[-1].change)
                yield message

    async def ListChanges(
        self, request: feed_pb2.ListChangesRequest, context: Context
    ) -> feed_pb2.ListChangesResponse:
        reply = feed_pb2.ListChangesResponse(epoch=self._epoch)

        async def work(tx: Reads) -> None:
            changes = await tx.operations(ALL, request.after_seq - 1, CHANGES_A_MESSAGE + 1)
            previous = changes[0] if changes and changes[0].seq == request.after_seq else None
            changes = [each for each in changes if each.seq > request.after_seq]
            changes = changes[:CHANGES_A_MESSAGE]
            found = self._space_changes(
                request.space,
                changes,
                previous=previous,
                head_seq=await tx.head_seq(),
                imported=(await tx.founding()).imported,
            )
            reply.changes.CopyFrom(found)

        await self._store.read(request.space, work)
        return reply

    def _space_changes(
        self,
        space: str,
        changes: Sequence[Change],
        *,
        previous: Change | None,
        head_seq: int,
        imported: Imported | None,
    ) -> feed_pb2.SpaceChanges:
        return feed_pb2.SpaceChanges(
            space=space,
            changes=[_change(change, imported or _NEVER) for change in changes],
            head_seq=head_seq,
            change_digest=digest_of(self._epoch, changes[-1]) if changes else "",
            previous_change_digest=digest_of(self._epoch, previous) if previous else "",
        )

    async def _demand_partitions(self, partitions: Mapping[int, str]) -> Sequence[int]:
        """Demand that the store has these partitions, each named by its field; return the numbers.

        Raises:
            FieldInvalid: it has fewer.
        """
        numbers = await self._store.numbers()
        for partition, field in partitions.items():
            if partition >= len(numbers):
                raise FieldInvalid(field, f"the store has {len(numbers)} partitions")
        return numbers

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


def _import_of(changes: Sequence[FeedChange]) -> Imported | None:
    """Return the import of the changes' space, with its grant if it is one of them."""
    found = (each.imported for each in changes if each.imported)
    return max(found, key=lambda imported: len(imported.restore), default=None)


def _lacks(number: int, expected: str, there: str | None) -> bool:
    """Return whether the store lacks the change of a cursor; `there` is the digest of its change of
    that number, None without one."""
    return number > 0 and (there is None or (bool(expected) and there != expected))


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
