"""Graph's change feed, the positions up to which work is done, and leases."""

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing

import grpc
from concord.graph.v1 import feed_pb2, feed_pb2_grpc, space_pb2, space_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.failure import Failure
from concord_chassis.call.identity import TokenIssuer
from concord_chassis.call.opaque import seal
from concord_chassis.channel.cursors import Cursor
from concord_chassis.channel.feed import followed, messages_of, spaces_of, through_of
from concord_chassis.channel.records import Record, SmallRecords

from concord_dissonance.clients.graph import messages
from concord_dissonance.clients.service_calls import OwnCalls, own
from concord_dissonance.domain.errors import ServiceUnavailable
from concord_dissonance.ports.feed import (
    Changed,
    Followed,
    Heard,
    Lease,
    Position,
    Reached,
    Store,
)

GRAPH = "graph"
PAGE = 200
FOLLOW = "follow"
"""The name of the work for which a lease is held."""
GATHER_MILLIS = 200
"""Milliseconds of changes in one message. No check starts sooner after a change, and a message for
each change would cost every write."""
_NEWEST = 1 << 62
"""A sequence number after which no space has changes: such a page says how far the space is."""
_SCOPES = frozenset({"graph:read", "record:all"})
_JUDGED_KINDS = frozenset({type_pb2.ITEM_KIND_EDGE, type_pb2.ITEM_KIND_MEMORY})
_UNJUDGED = frozenset(
    {
        feed_pb2.CHANGE_TYPE_TOUCHED,
        feed_pb2.CHANGE_TYPE_REFUSED,
        feed_pb2.CHANGE_TYPE_ERASE_CONFIRMED,
        feed_pb2.CHANGE_TYPE_REVOKED,
    }
)
"""Types of changes that leave every statement as it was."""


class FeedClient:
    """Graph, as `GraphClient` is given it; `follower`: without a deadline, for streams.

    `holder`: the id of leases that the process drew at its start.
    """

    def __init__(
        self,
        channel: grpc.aio.Channel,
        follower: grpc.aio.Channel,
        issuer: TokenIssuer,
        holder: str,
    ) -> None:
        self._call = OwnCalls(GRAPH, issuer, _SCOPES)
        self._feed = feed_pb2_grpc.ChangeFeedServiceStub(channel)
        self._watched = feed_pb2_grpc.ChangeFeedServiceStub(follower)
        self._records = SmallRecords(channel, self._call.metadata)
        self._spaces = space_pb2_grpc.SpaceServiceStub(channel)
        self._holder = holder

    async def partitions(self, known: Mapping[int, Cursor]) -> Store:
        """Graph's partitions; `known`: a change of each that is compared."""
        request = feed_pb2.ListPartitionsRequest(cursors=messages_of(known))
        found = await own(GRAPH, self._feed.ListPartitions(request))
        return Store(
            found.epoch,
            [Cursor(each.number, each.change_digest) for each in found.partitions],
            {at for at, each in enumerate(found.partitions) if each.lacks_cursor},
        )

    async def spaces(self, partition: int) -> AsyncIterator[Sequence[str]]:
        """The spaces of a partition, page by page."""
        async for page in spaces_of(self._listed, partition):
            yield [each.space for each in page]

    async def _listed(self, request: feed_pb2.ListSpacesRequest) -> Sequence[feed_pb2.SpaceHead]:
        return (await own(GRAPH, self._feed.ListSpaces(request))).spaces

    async def heard(self, cursors: Mapping[int, Cursor]) -> AsyncIterator[Heard]:
        """Yields the spaces that changed after the cursors, then each that changes; without a space
        it only says that graph answers. Raises `ServiceUnavailable` when the feed breaks."""
        feed = followed(self._watched, cursors, gather_millis=GATHER_MILLIS)
        try:
            async with aclosing(feed):
                async for message in feed:
                    yield _heard(message)
        except Failure as failure:
            raise ServiceUnavailable(GRAPH, failure.summary) from failure

    async def changed(self, space: str, since: Position | None) -> Changed:
        """The changes since a position; None: everything changed."""
        page = await self._page(space, since.seq if since else _NEWEST)
        head = Position(page.epoch, page.changes.head_seq)
        if since is None or not _is_before(since, head):
            return Changed(head, everything=True)
        ids: set[str] = set()
        while page.changes.changes:
            for change in page.changes.changes:
                if change.item_kind == type_pb2.ITEM_KIND_RELATION:
                    return Changed(head, everything=True)
                if change.item_kind in _JUDGED_KINDS and change.type not in _UNJUDGED:
                    ids.add(change.item_id)
            head = Position(page.epoch, page.changes.changes[-1].seq)
            page = await self._page(space, head.seq)
        return Changed(head, frozenset(ids))

    async def changes(self, space: str, since: Position | None) -> AsyncIterator[Followed]:
        """The changes of a space after a position, up to its newest one; None: all changes."""
        page = await self._page(space, since.seq if since else _NEWEST)
        if since is None or not _is_before(since, Position(page.epoch, page.changes.head_seq)):
            page = await self._page(space, await self._imported(space))
        while page.changes.changes:
            yield _followed(page.changes, page.epoch)
            page = await self._page(space, page.changes.changes[-1].seq)

    async def _page(self, space: str, after: int) -> feed_pb2.ListChangesResponse:
        request = feed_pb2.ListChangesRequest(space=space, after_seq=after)
        return await own(GRAPH, self._feed.ListChanges(request))

    async def _imported(self, space: str) -> int:
        """The change up to which all was imported: the changes before it were made elsewhere."""
        request = space_pb2.ListOperationsRequest(
            types=[feed_pb2.CHANGE_TYPE_IMPORTED], page_size=PAGE
        )
        newest = 0
        async for page in self._call.pages(space, self._spaces.ListOperations, request):
            newest = max([newest, *(each.seq for each in page.operations)])
        return newest

    async def reached(self, space: str, kind: str) -> Reached:
        """The stored position of a kind."""
        (stored,) = await own(GRAPH, self._records.get(space, (kind, "")))
        seq, _, epoch = stored.body.get("token", "").partition(" ")
        position = Position(epoch, int(seq)) if seq.isdecimal() else None
        return Reached(position, stored.body.get("judge_version", ""), stored.etag)

    async def note_reached(self, space: str, kind: str, reached: Reached) -> str:
        """Stores a position, and returns the record's etag. Raises `ServiceUnavailable` if another
        process has stored one meanwhile."""
        at = reached.position
        body = {"token": f"{at.seq} {at.epoch}" if at else "", "judge_version": reached.version}
        record = Record((kind, ""), body, reached.etag)
        (etag,) = await own(GRAPH, self._records.put(space, record))
        return etag

    async def acquire(self, space: str) -> Lease:
        """Take the lease of a space unless another process has it."""
        request = feed_pb2.AcquireLeaseRequest(space=space, name=FOLLOW, holder=self._holder)
        reply = await own(GRAPH, self._feed.AcquireLease(request))
        return Lease(reply.acquired, reply.fencing_number, reply.remaining_millis / 1000)

    async def renew(self, space: str, number: int) -> bool:
        """Prolong a lease; False: it is lost."""
        request = feed_pb2.RenewLeaseRequest(
            space=space, name=FOLLOW, holder=self._holder, fencing_number=number
        )
        return bool((await own(GRAPH, self._feed.RenewLease(request))).renewed)


def _is_of_text(change: feed_pb2.Change) -> bool:
    return change.item_kind == type_pb2.ITEM_KIND_MEMORY and change.type not in _UNJUDGED


def _is_before(since: Position, head: Position) -> bool:
    """Whether a position is one of the store of a space's newest change."""
    return since.epoch == head.epoch and since.seq <= head.seq


def _heard(message: feed_pb2.WatchChangesResponse) -> Heard:
    changes = message.changes.changes
    return Heard(
        message.changes.space,
        any(each.item_kind == type_pb2.ITEM_KIND_CONFLICT for each in changes),
        any(map(messages.triggers, changes)),
        {each.item_id for each in changes if _is_of_text(each)},
        message.partition,
        through_of(message),
    )


def _followed(found: feed_pb2.SpaceChanges, epoch: str) -> Followed:
    written: defaultdict[str, bool] = defaultdict(lambda: True)
    ended = {}
    last = found.changes[-1]
    for change in filter(messages.triggers, found.changes):
        if change.type == feed_pb2.CHANGE_TYPE_SESSION_ENDED:
            ended[change.item_id] = messages.micros(change.record_time)
        else:
            written[change.item_id] &= messages.is_import(change)
    fresh = type_pb2.FreshnessToken(space=found.space, epoch=epoch, seq=last.seq)
    return Followed(
        Position(epoch, last.seq),
        seal(fresh.SerializeToString(deterministic=True)),
        written,
        list(ended.items()),
    )
