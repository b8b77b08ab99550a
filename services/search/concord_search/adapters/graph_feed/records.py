"""The records that search stores in graph, over graph's contract."""

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

import grpc
from concord.graph.v1 import (
    memory_pb2,
    memory_pb2_grpc,
    recall_pb2,
    recall_pb2_grpc,
    session_pb2,
    session_pb2_grpc,
)
from concord_chassis.call.failure import from_rpc_error
from concord_chassis.call.identity import OwnTokens, TokenIssuer
from concord_chassis.channel.channel import connect
from concord_chassis.channel.records import Name, Record, SmallRecords, is_changed

from concord_search.adapters.graph_feed.client import PRINCIPAL, reply, translated
from concord_search.adapters.graph_feed.messages import micros
from concord_search.domain import feedback
from concord_search.domain.calibration import Proposal
from concord_search.domain.feedback import Body, Calibration, Vote
from concord_search.domain.instants import DAY, Clock
from concord_search.ports.records import CoRead, RankedQuery, Recall

Metadata = tuple[tuple[str, str], ...]
_CALIBRATION = ("calibration", "")


class RecordsClient:
    """The records port, under search's own tokens."""

    def __init__(self, address: str, issuer: TokenIssuer, clock: Clock) -> None:
        self._tokens, self._clock = OwnTokens(issuer, PRINCIPAL, "graph"), clock
        self._channel = connect(address, token=None)
        self._memories = memory_pb2_grpc.MemoryServiceStub(self._channel)
        self._sessions = session_pb2_grpc.SessionServiceStub(self._channel)
        self._recalls = recall_pb2_grpc.RecallServiceStub(self._channel)
        self._records = SmallRecords(self._channel, self._own)

    async def triggers(self, space: str) -> Sequence[tuple[str, Sequence[str]]]:
        request = memory_pb2.ListTriggersRequest()
        found = await reply(self._memories.ListTriggers(request, metadata=self._own(space)))
        return [(each.memory_id, each.surfaces_when) for each in found.memories]

    async def claim(
        self, space: str, session_id: str, memory_ids: Sequence[str], limit: int
    ) -> Sequence[str]:
        def decide(bodies: Sequence[Body]) -> tuple[Sequence[str], Sequence[Body]]:
            return feedback.claimed(bodies[0], memory_ids, limit)

        return await reply(self._records.change(space, [("suggested", session_id)], decide))

    async def co_reads(self, space: str, session_id: str) -> Sequence[CoRead]:
        request = session_pb2.ListCoReadsRequest(session_id=session_id)
        found = await reply(self._sessions.ListCoReads(request, metadata=self._own(space)))
        return [
            CoRead(each.memory_id, each.other_id, each.session_count, micros(each.last_time))
            for each in found.co_reads
        ]

    async def put_query(self, space: str, query: RankedQuery) -> None:
        """Keeps a query for feedback; drops those that have waited for `KEPT_DAYS`."""
        oldest = self._clock() - feedback.KEPT_DAYS * DAY
        first_id = str(UUID(int=max(oldest, 0) // 1_000 << 80))  # ids sort by time
        record = Record(("ranked_query", query.id), asdict(query))
        # False: a call whose reply was lost has stored it
        await self._stored(space, record, drop_before=("ranked_query", first_id))

    async def add_recall(self, space: str, recall: Recall) -> None:
        logged = recall_pb2.Recall(
            query_id=recall.query_id,
            principal=recall.principal,
            session_id=recall.session_id,
            memory_ids=recall.memory_ids,
        )
        request = recall_pb2.AddRecallRequest(recall=logged)
        await reply(self._recalls.AddRecall(request, metadata=self._own(space)))

    async def vote(
        self, space: str, query_id: str, principal: str, helpful: bool | None, reason: str
    ) -> Calibration:
        vote = Vote(query_id, principal, helpful, reason, self._clock())
        names = [
            ("ranked_query", query_id),  # stored as it was: an erasure of its text is seen
            ("feedback", f"{query_id}/{principal}"),
            _CALIBRATION,
        ]

        def decide(bodies: Sequence[Body]) -> tuple[Calibration, Sequence[Body | None]]:
            return feedback.voted(vote, *bodies)

        return await reply(self._records.change(space, names, decide))

    async def calibration(self, space: str) -> Calibration:
        (found,) = await reply(self._records.get(space, _CALIBRATION))
        return feedback.calibration_of(found.body, found.etag)

    async def move(
        self, space: str, found: Calibration, principal: str, old: float, asked: Proposal
    ) -> bool:
        body = feedback.moved(found, principal, old, asked, self._clock())
        return await self._stored(space, Record(_CALIBRATION, body, found.etag))

    async def _stored(self, space: str, record: Record, drop_before: Name | None = None) -> bool:
        """Store a record; return False if it was changed since it was read."""
        try:
            await self._records.put(space, record, drop_before=drop_before)
        except grpc.aio.AioRpcError as error:
            if is_changed(error):
                return False
            raise translated(from_rpc_error(error)) from error
        return True

    def _own(self, space: str) -> Metadata:
        return self._tokens.metadata(space, frozenset({"record:all"}))

    async def close(self) -> None:
        await self._channel.close()
