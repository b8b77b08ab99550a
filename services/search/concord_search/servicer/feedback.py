"""FeedbackService."""

from typing import Any, cast

import grpc
from concord.graph.v1 import record_pb2
from concord.search.v1 import feedback_pb2, feedback_pb2_grpc
from concord_chassis.call.identity import caller

from concord_search.usecases.feedback import Action, Feedback

Context = grpc.aio.ServicerContext[Any, Any]

_ACTIONS = {
    feedback_pb2.RECALIBRATE_ACTION_UNSPECIFIED: Action.DRY_RUN,
    feedback_pb2.RECALIBRATE_ACTION_DRY_RUN: Action.DRY_RUN,
    feedback_pb2.RECALIBRATE_ACTION_APPLY: Action.APPLY,
    feedback_pb2.RECALIBRATE_ACTION_REVERT: Action.REVERT,
}


class FeedbackServicer(feedback_pb2_grpc.FeedbackServiceServicer):
    """Votes on searches of the caller's space, and the constitutive weight calibrated by them."""

    def __init__(self, feedback: Feedback) -> None:
        self._feedback = feedback

    async def SubmitFeedback(
        self, request: feedback_pb2.SubmitFeedbackRequest, context: Context
    ) -> feedback_pb2.SubmitFeedbackResponse:
        who = caller()
        weight, found = await self._feedback.submit(
            who.space, request.query_id, who.principal, request.helpfulness, request.reason
        )
        return feedback_pb2.SubmitFeedbackResponse(
            constitutive_weight=weight, new_vote_count=found.new_votes
        )

    async def GetCalibration(
        self, request: feedback_pb2.GetCalibrationRequest, context: Context
    ) -> feedback_pb2.GetCalibrationResponse:
        weight, found = await self._feedback.calibration(caller().space)
        return feedback_pb2.GetCalibrationResponse(
            constitutive_weight=weight, calibration=cast(record_pb2.Calibration, found.shown)
        )

    async def Recalibrate(
        self, request: feedback_pb2.RecalibrateRequest, context: Context
    ) -> feedback_pb2.RecalibrateResponse:
        who = caller()
        found = await self._feedback.recalibrate(who.space, who.principal, _ACTIONS[request.action])
        return feedback_pb2.RecalibrateResponse(
            old_weight=found.old,
            new_weight=found.new,
            evidence=found.evidence,
            moved=found.moved,
        )
