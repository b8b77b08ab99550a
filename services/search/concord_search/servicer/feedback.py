"""FeedbackService."""

from concord.search.v1 import feedback_pb2, feedback_pb2_grpc
from concord_chassis.call.call import Context
from concord_chassis.call.identity import caller

from concord_search.domain.feedback import Calibration
from concord_search.usecases.feedback import Action, Feedback

_ACTIONS = {
    feedback_pb2.RECALIBRATE_ACTION_UNSPECIFIED: Action.DRY_RUN,
    feedback_pb2.RECALIBRATE_ACTION_DRY_RUN: Action.DRY_RUN,
    feedback_pb2.RECALIBRATE_ACTION_APPLY: Action.APPLY,
    feedback_pb2.RECALIBRATE_ACTION_REVERT: Action.REVERT,
}
_HELPFUL = {
    feedback_pb2.HELPFULNESS_UNSPECIFIED: None,
    feedback_pb2.HELPFULNESS_HELPFUL: True,
    feedback_pb2.HELPFULNESS_UNHELPFUL: False,
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
            who.space,
            request.query_id,
            who.principal,
            _HELPFUL[request.helpfulness],
            request.reason,
        )
        return feedback_pb2.SubmitFeedbackResponse(
            constitutive_weight=weight, new_vote_count=found.new_votes
        )

    async def GetCalibration(
        self, request: feedback_pb2.GetCalibrationRequest, context: Context
    ) -> feedback_pb2.GetCalibrationResponse:
        weight, found = await self._feedback.calibration(caller().space)
        return feedback_pb2.GetCalibrationResponse(
            constitutive_weight=weight, calibration=_calibration(found)
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


def _calibration(found: Calibration) -> feedback_pb2.Calibration:
    shown = feedback_pb2.Calibration(
        constitutive_weight=found.weight,
        new_vote_count=found.new_votes,
        counts=[
            feedback_pb2.VoteCount(
                principal=each.principal,
                constitutive_weight=each.weight,
                constitutive_first=each.constitutive_first,
                helpful=int(each.helpful),
                unhelpful=int(each.unhelpful),
            )
            for each in found.counts
        ],
        etag=found.etag,
    )
    for each in found.moves:
        move = shown.moves.add(
            principal=each.principal,
            old_weight=each.old,
            new_weight=each.new,
            evidence=each.evidence,
        )
        move.move_time.FromMicroseconds(each.time)
    return shown
