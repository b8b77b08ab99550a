"""RecordService."""

from __future__ import annotations

from typing import Any

import grpc
from concord.graph.v1 import record_pb2, record_pb2_grpc
from concord_chassis.call.identity import caller

from concord_graph.domain.recalls import Recall
from concord_graph.ports import ServiceRecord
from concord_graph.servicer.outgoing import stamp
from concord_graph.usecases.feedback import Calibration, Feedback, Move, RankedQuery
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.recalls import Recalls
from concord_graph.usecases.records import JudgedPosition, Records, Sums

MOST_PAIRS = 1_000
"""Pairs of memories in a list of co-reads."""
MOST_RESTATED = 1_000
"""Memories in a list of restated memories."""
MOST_TRIGGERED = 10_000
"""Memories in a list of triggers."""

Context = grpc.aio.ServicerContext[Any, Any]

_KINDS = {
    record_pb2.POSITION_KIND_UNSPECIFIED: ServiceRecord.JUDGED_POSITION,
    record_pb2.POSITION_KIND_TRIGGERS: ServiceRecord.TRIGGERS_POSITION,
}


class RecordServicer(record_pb2_grpc.RecordServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(
        self, records: Records, feedback: Feedback, reader: Reader, recalls: Recalls
    ) -> None:
        self._records = records
        self._recalls = recalls
        self._feedback = feedback
        self._reader = reader

    async def GetJudgedPosition(
        self, request: record_pb2.GetJudgedPositionRequest, context: Context
    ) -> record_pb2.GetJudgedPositionResponse:
        found = await self._records.judged_position(caller().space, _KINDS[request.kind])
        position = record_pb2.JudgedPosition(token=found.token, judge_version=found.judge_version)
        return record_pb2.GetJudgedPositionResponse(position=position, etag=found.etag)

    async def PutJudgedPosition(
        self, request: record_pb2.PutJudgedPositionRequest, context: Context
    ) -> record_pb2.PutJudgedPositionResponse:
        said = request.position
        position = JudgedPosition(said.token, said.judge_version, request.etag)
        etag = await self._records.put_judged_position(
            caller().space, position, _KINDS[request.kind]
        )
        return record_pb2.PutJudgedPositionResponse(etag=etag)

    async def AddModelSpend(
        self, request: record_pb2.AddModelSpendRequest, context: Context
    ) -> record_pb2.AddModelSpendResponse:
        limit = _sums(request.limit) if request.HasField("limit") else None
        added, total = await self._records.add_model_spend(
            caller().space, _sums(request.spend), limit, request.spend_id
        )
        return record_pb2.AddModelSpendResponse(added=added, total=record_pb2.ModelSpend(**total))

    async def ListCoReads(
        self, request: record_pb2.ListCoReadsRequest, context: Context
    ) -> record_pb2.ListCoReadsResponse:
        found = await self._reader.read(
            caller().space, lambda tx, _: tx.co_reads(request.session_id, MOST_PAIRS)
        )
        return record_pb2.ListCoReadsResponse(
            co_reads=[
                record_pb2.CoRead(
                    memory_id=each.memory_id,
                    other_id=each.other_id,
                    session_count=each.session_count,
                    last_time=stamp(each.last_time),
                )
                for each in found
            ]
        )

    async def ListRestated(
        self, request: record_pb2.ListRestatedRequest, context: Context
    ) -> record_pb2.ListRestatedResponse:
        least = request.least_sessions or 2
        sessions = list(request.session_ids)
        found = await self._reader.read(
            caller().space, lambda tx, _: tx.restated(sessions, least, MOST_RESTATED)
        )
        return record_pb2.ListRestatedResponse(
            memories=[
                record_pb2.Restated(memory_id=each.memory_id, session_ids=each.session_ids)
                for each in found
            ]
        )

    async def ListTriggers(
        self, request: record_pb2.ListTriggersRequest, context: Context
    ) -> record_pb2.ListTriggersResponse:
        found = await self._reader.read(caller().space, lambda tx, _: tx.triggered(MOST_TRIGGERED))
        return record_pb2.ListTriggersResponse(
            memories=[
                record_pb2.MemoryTriggers(memory_id=memory_id, surfaces_when=triggers)
                for memory_id, triggers in found
            ]
        )

    async def ClaimSuggestions(
        self, request: record_pb2.ClaimSuggestionsRequest, context: Context
    ) -> record_pb2.ClaimSuggestionsResponse:
        taken = await self._records.claim_suggestions(
            caller().space, request.session_id, request.memory_ids, request.limit
        )
        return record_pb2.ClaimSuggestionsResponse(memory_ids=taken)

    async def AddRecall(
        self, request: record_pb2.AddRecallRequest, context: Context
    ) -> record_pb2.AddRecallResponse:
        said = request.recall
        recall = Recall(said.query_id, said.principal, said.session_id, tuple(said.memory_ids))
        kept = await self._recalls.add(caller().space, recall)
        return record_pb2.AddRecallResponse(kept=kept)

    async def PutRankedQuery(
        self, request: record_pb2.PutRankedQueryRequest, context: Context
    ) -> record_pb2.PutRankedQueryResponse:
        asked = request.query
        query = RankedQuery(
            asked.id, asked.text, asked.constitutive_weight, asked.constitutive_first
        )
        await self._feedback.put_query(caller().space, query)
        return record_pb2.PutRankedQueryResponse()

    async def AddFeedback(
        self, request: record_pb2.AddFeedbackRequest, context: Context
    ) -> record_pb2.AddFeedbackResponse:
        found = await self._feedback.add(
            caller().space,
            request.query_id,
            request.principal,
            _HELPFUL[request.helpfulness],
            request.reason,
        )
        return record_pb2.AddFeedbackResponse(calibration=_calibration(found))

    async def GetCalibration(
        self, request: record_pb2.GetCalibrationRequest, context: Context
    ) -> record_pb2.GetCalibrationResponse:
        found = await self._feedback.calibration(caller().space)
        return record_pb2.GetCalibrationResponse(calibration=_calibration(found))

    async def MoveWeight(
        self, request: record_pb2.MoveWeightRequest, context: Context
    ) -> record_pb2.MoveWeightResponse:
        asked = request.move
        move = Move(asked.principal, asked.old_weight, asked.new_weight, asked.evidence)
        found = await self._feedback.move(caller().space, move, request.etag)
        return record_pb2.MoveWeightResponse(calibration=_calibration(found))


_HELPFUL = {
    record_pb2.HELPFULNESS_UNSPECIFIED: None,
    record_pb2.HELPFULNESS_HELPFUL: True,
    record_pb2.HELPFULNESS_UNHELPFUL: False,
}


def _calibration(found: Calibration) -> record_pb2.Calibration:
    return record_pb2.Calibration(
        constitutive_weight=found.weight,
        new_vote_count=found.new_votes,
        counts=[
            record_pb2.VoteCount(
                principal=each.principal,
                constitutive_weight=each.weight,
                constitutive_first=each.constitutive_first,
                helpful=each.helpful,
                unhelpful=each.unhelpful,
            )
            for each in found.counts
        ],
        moves=[
            record_pb2.WeightMove(
                move_time=stamp(each.time),
                principal=each.principal,
                old_weight=each.old,
                new_weight=each.new,
                evidence=each.evidence,
            )
            for each in found.moves
        ],
        etag=found.etag,
    )


def _sums(spend: record_pb2.ModelSpend) -> Sums:
    return {"calls": spend.calls, "tokens": spend.tokens, "micros": spend.micros}
