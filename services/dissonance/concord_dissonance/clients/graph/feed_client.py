"""Graph's change feed, the positions up to which work is done, and leases."""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence

import grpc
from concord.graph.v1 import feed_pb2, feed_pb2_grpc, space_pb2, space_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import TokenIssuer
from concord_chassis.call.opaque import seal
from concord_chassis.channel.records import Record, SmallRecords

from concord_dissonance.clients.graph import messages
from concord_dissonance.clients.graph.watching import replay, watch
from concord_dissonance.clients.service_calls import OwnCalls, own
from concord_dissonance.ports.feed import Changed, Followed, Heard, Lease, Position, Reached

GRAPH = "graph"
PAGE = 200
FOLLOW = "follow"
"""The name of the work for which a lease is held."""
GATHER_MILLIS = 200
"""Milliseconds of changes in one message. No check starts sooner after a change, and a message for
each change would cost every write."""
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

    async def spaces(self) -> Sequence[str]:
        """Every space."""
        return [each.space for each in await self._heads()]

    async def heard(self) -> AsyncIterator[Heard | None]:
        """Yields every space, then None once the feed is followed, then each space that changes.
        Ends, or raises `ServiceUnavailable`, when the feed breaks."""
        heads = await self._heads()
        for each in heads:
            yield Heard(each.space)
        yield None
        known = {each.space: each.head_seq for each in heads}
        async for message in watch(self._watched, known, GATHER_MILLIS):
            kinds = {change.item_kind for change in message.changes}
            conflicts = type_pb2.ITEM_KIND_CONFLICT in kinds
            triggers = any(map(messages.triggers, message.changes))
            texts = {each.item_id for each in message.changes if _is_of_text(each)}
            if conflicts or triggers or texts:
                yield Heard(message.space, conflicts, triggers, texts)

    async def changed(self, space: str, since: Position | None) -> Changed:
        """The changes since a position; None: everything changed."""
        head = await self._head(space)
        if since is None or not _is_before(since, head):
            return Changed(head, everything=True)
        ids: set[str] = set()
        if since.seq < head.seq:
            async for message in replay(self._watched, space, since.seq):
                for change in message.changes:
                    if change.item_kind == type_pb2.ITEM_KIND_RELATION:
                        return Changed(head, everything=True)
                    if change.item_kind in _JUDGED_KINDS and change.type not in _UNJUDGED:
                        ids.add(change.item_id)
        return Changed(head, frozenset(ids))

    async def changes(self, space: str, since: Position | None) -> AsyncIterator[Followed]:
        """The changes of a space after a position, up to its newest one; None: all changes."""
        head = await self._head(space)
        start = since.seq if since and _is_before(since, head) else 0
        start = start or await self._imported(space)
        if start == head.seq:
            return
        async for message in replay(self._watched, space, start):
            if message.changes:
                yield _followed(message)

    async def _heads(self, space: str = "") -> Sequence[feed_pb2.SpaceHead]:
        request = feed_pb2.ListSpacesRequest(space=space)
        return (await own(GRAPH, self._feed.ListSpaces(request))).spaces

    async def _head(self, space: str) -> Position:
        """The position of a space's newest change; 0 of no epoch before the first one."""
        heads = await self._heads(space)
        return next((Position(each.epoch, each.head_seq) for each in heads), Position("", 0))

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


def _followed(message: feed_pb2.WatchChangesResponse) -> Followed:
    written: defaultdict[str, bool] = defaultdict(lambda: True)
    ended = {}
    last = message.changes[-1]
    for change in filter(messages.triggers, message.changes):
        if change.type == feed_pb2.CHANGE_TYPE_SESSION_ENDED:
            ended[change.item_id] = messages.micros(change.record_time)
        else:
            written[change.item_id] &= messages.is_import(change)
    fresh = type_pb2.FreshnessToken(space=message.space, epoch=message.epoch, seq=last.seq)
    return Followed(
        Position(message.epoch, last.seq),
        seal(fresh.SerializeToString(deterministic=True)),
        written,
        list(ended.items()),
    )
