"""The records that search stores in graph, over graph's contract."""

from collections.abc import Sequence

import grpc
from concord.graph.v1 import recall_pb2, record_pb2, record_pb2_grpc
from concord_chassis.call.failure import from_rpc_error
from concord_chassis.call.identity import Caller, TokenIssuer
from concord_chassis.channel.channel import connect

from concord_search.adapters.graph_feed.client import PRINCIPAL, reply, translated
from concord_search.adapters.graph_feed.messages import micros
from concord_search.domain.calibration import Proposal, Votes
from concord_search.domain.errors import FeedbackRefused, QueryUnknown
from concord_search.ports import Calibration, CoRead, RankedQuery, Recall

Metadata = tuple[tuple[str, str], ...]


class RecordsClient:
    """The records port, under search's own tokens."""

    def __init__(self, address: str, issuer: TokenIssuer) -> None:
        self._issuer = issuer
        self._channel = connect(address, token=None)
        self._records = record_pb2_grpc.RecordServiceStub(self._channel)

    async def triggers(self, space: str) -> Sequence[tuple[str, Sequence[str]]]:
        request = record_pb2.ListTriggersRequest()
        found = await reply(self._records.ListTriggers(request, metadata=self._own(space)))
        return [(each.memory_id, each.surfaces_when) for each in found.memories]

    async def claim(
        self, space: str, session_id: str, memory_ids: Sequence[str], limit: int
    ) -> Sequence[str]:
        request = record_pb2.ClaimSuggestionsRequest(
            session_id=session_id, memory_ids=memory_ids, limit=limit
        )
        found = await reply(self._records.ClaimSuggestions(request, metadata=self._own(space)))
        return found.memory_ids

    async def co_reads(self, space: str, session_id: str) -> Sequence[CoRead]:
        """The co-reads of the memories that a session read, at most 1,000 pairs."""
        request = record_pb2.ListCoReadsRequest(session_id=session_id)
        found = await reply(self._records.ListCoReads(request, metadata=self._own(space)))
        return [
            CoRead(each.memory_id, each.other_id, each.session_count, micros(each.last_time))
            for each in found.co_reads
        ]

    async def put_query(self, space: str, query: RankedQuery) -> None:
        asked = record_pb2.RankedQuery(
            id=query.id,
            text=query.text,
            constitutive_weight=query.weight,
            constitutive_first=query.constitutive_first,
        )
        request = record_pb2.PutRankedQueryRequest(query=asked)
        await reply(self._records.PutRankedQuery(request, metadata=self._own(space)))

    async def add_recall(self, space: str, recall: Recall) -> None:
        logged = recall_pb2.Recall(
            query_id=recall.query_id,
            principal=recall.principal,
            session_id=recall.session_id,
            memory_ids=recall.memory_ids,
        )
        request = record_pb2.AddRecallRequest(recall=logged)
        await reply(self._records.AddRecall(request, metadata=self._own(space)))

    async def vote(
        self, space: str, query_id: str, principal: str, helpfulness: int, reason: str
    ) -> Calibration:
        request = record_pb2.AddFeedbackRequest(
            query_id=query_id,
            principal=principal,
            helpfulness=record_pb2.Helpfulness.ValueType(helpfulness),
            reason=reason,
        )
        try:
            found = await self._records.AddFeedback(request, metadata=self._own(space))
        except grpc.aio.AioRpcError as error:
            failure = from_rpc_error(error)
            if failure.code is grpc.StatusCode.NOT_FOUND:
                raise QueryUnknown(query_id) from error
            if failure.code is grpc.StatusCode.ALREADY_EXISTS:
                raise FeedbackRefused(query_id) from error
            raise translated(failure) from error
        return _calibration(found.calibration)

    async def calibration(self, space: str) -> Calibration:
        """The constitutive weight with its votes and moves."""
        request = record_pb2.GetCalibrationRequest()
        found = await reply(self._records.GetCalibration(request, metadata=self._own(space)))
        return _calibration(found.calibration)

    async def move(
        self, space: str, principal: str, old: float, asked: Proposal, etag: str
    ) -> bool:
        """Moves the constitutive weight; False if a vote or a move came in between."""
        move = record_pb2.WeightMove(
            principal=principal,
            old_weight=old,
            new_weight=asked.weight,
            evidence=asked.evidence[:1000],
        )
        request = record_pb2.MoveWeightRequest(move=move, etag=etag)
        try:
            await self._records.MoveWeight(request, metadata=self._own(space))
        except grpc.aio.AioRpcError as error:
            failure = from_rpc_error(error)
            if failure.reason == "ERROR_REASON_ETAG_MISMATCH":
                return False
            raise translated(failure) from error
        return True

    def _own(self, space: str) -> Metadata:
        who = Caller(space, PRINCIPAL, frozenset({"record:all"}), "SYSTEM")
        return (("authorization", f"Bearer {self._issuer.mint(who)}"),)

    async def close(self) -> None:
        await self._channel.close()


def _calibration(found: record_pb2.Calibration) -> Calibration:
    return Calibration(
        weight=found.constitutive_weight,
        new_votes=found.new_vote_count,
        votes=[
            Votes(
                each.principal,
                each.constitutive_weight,
                each.constitutive_first,
                each.helpful,
                each.unhelpful,
            )
            for each in found.counts
        ],
        former=found.moves[0].old_weight if found.moves else 0.0,
        etag=found.etag,
        shown=found,
    )
