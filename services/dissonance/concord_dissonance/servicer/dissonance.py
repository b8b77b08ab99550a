"""DissonanceService."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
from concord.dissonance.v1 import dissonance_pb2 as pb
from concord.dissonance.v1 import dissonance_pb2_grpc
from concord_chassis.call.identity import caller

from concord_dissonance.ports.calls import Credential
from concord_dissonance.servicer import extraction, incoming, outgoing
from concord_dissonance.usecases.amendments import Amendments
from concord_dissonance.usecases.ask_models import AskModels
from concord_dissonance.usecases.check import Check
from concord_dissonance.usecases.classify import ClassifyPairs
from concord_dissonance.usecases.detect import Detect
from concord_dissonance.usecases.end_session import EndSession
from concord_dissonance.usecases.extract_facts import ExtractFacts
from concord_dissonance.usecases.reviews import Reviews

Context = grpc.aio.ServicerContext[Any, Any]


class DissonanceServicer(dissonance_pb2_grpc.DissonanceServiceServicer):
    """Finds and decides disagreements in the caller's space."""

    def __init__(
        self,
        *,
        classify: ClassifyPairs,
        check: Check,
        detect: Detect,
        reviews: Reviews,
        end_session: EndSession,
        amendments: Amendments,
        models: AskModels,
        extract: ExtractFacts,
        unread: Callable[[str], int | None],
    ) -> None:
        """`unread`: how many texts of a space are not read; None: it is not known."""
        self._classify, self._check, self._detect = classify, check, detect
        self._reviews, self._end_session = reviews, end_session
        self._amendments, self._models = amendments, models
        self._extract, self._unread = extract, unread

    async def ClassifyPairs(
        self, request: pb.ClassifyPairsRequest, context: Context
    ) -> pb.ClassifyPairsResponse:
        said, covered = await self._classify(
            caller().space, incoming.pairs(request), rules_only=request.rules_only
        )
        return pb.ClassifyPairsResponse(
            verdicts=map(outgoing.verdict, said), status=outgoing.status_of(covered)
        )

    async def CheckDissonance(
        self, request: pb.CheckDissonanceRequest, context: Context
    ) -> pb.CheckDissonanceResponse:
        return outgoing.check(await self._check(caller().space, request))

    async def DetectContradictions(
        self, request: pb.DetectContradictionsRequest, context: Context
    ) -> AsyncIterator[pb.DetectContradictionsResponse]:
        async for event in self._detect(caller().space, request):
            yield outgoing.event(event)

    async def ListConflicts(
        self, request: pb.ListConflictsRequest, context: Context
    ) -> pb.ListConflictsResponse:
        page, proposals = await self._reviews.list(
            caller().space, credential(context), incoming.conflicts_query(request)
        )
        return pb.ListConflictsResponse(
            conflicts=page.conflicts, proposals=proposals, next_page_token=page.next_page_token
        )

    async def ReviewConflict(
        self, request: pb.ReviewConflictRequest, context: Context
    ) -> pb.ReviewConflictResponse:
        outcome = await self._reviews.decide(
            caller().space, credential(context), incoming.review(request)
        )
        return pb.ReviewConflictResponse(**outgoing.outcome(outcome))

    async def DismissConflicts(
        self, request: pb.DismissConflictsRequest, context: Context
    ) -> pb.DismissConflictsResponse:
        done = await self._reviews.dismiss(credential(context), incoming.dismissal(request))
        return pb.DismissConflictsResponse(
            dismissed_count=done.dismissed_count, left_count=done.left_count, token=done.token
        )

    async def ResolveDissonance(
        self, request: pb.ResolveDissonanceRequest, context: Context
    ) -> pb.ResolveDissonanceResponse:
        who, space = credential(context), caller().space
        resolution = incoming.resolution(request)
        if request.HasField("pair"):
            outcome = await self._reviews.resolve_pair(space, who, request.pair, resolution)
        else:
            outcome = await self._reviews.decide(space, who, resolution)
        return pb.ResolveDissonanceResponse(**outgoing.outcome(outcome))

    async def EndSession(
        self, request: pb.EndSessionRequest, context: Context
    ) -> pb.EndSessionResponse:
        ended = await self._end_session(
            caller().space, credential(context), request.request_id, request.session_id
        )
        return outgoing.ended(ended)

    async def SuggestAmendments(
        self, request: pb.SuggestAmendmentsRequest, context: Context
    ) -> pb.SuggestAmendmentsResponse:
        fresh = request.consistency.at_least_as_fresh
        found = await self._amendments(caller().space, request.memory_ids, fresh)
        return pb.SuggestAmendmentsResponse(amendments=found)

    async def ExtractFacts(
        self, request: pb.ExtractFactsRequest, context: Context
    ) -> pb.ExtractFactsResponse:
        found = await self._extract(
            caller().space, extraction.said(request), rules_only=request.rules_only
        )
        return extraction.reply(request, found)

    async def ListJudges(
        self, request: pb.ListJudgesRequest, context: Context
    ) -> pb.ListJudgesResponse:
        return outgoing.judges(self._models.states, self._unread(caller().space))


def credential(context: Context) -> Credential:
    """The caller's authorization header, which calls in the caller's name carry unchanged."""
    for key, value in context.invocation_metadata() or ():
        if key == "authorization" and isinstance(value, str):
            return Credential(value)
    raise LookupError("a call without a credential does not come this far")
