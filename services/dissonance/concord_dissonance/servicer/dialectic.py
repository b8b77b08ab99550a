"""DialecticService: each call follows a run."""

import hashlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import grpc
from concord.dissonance.v1 import dialectic_pb2 as pb
from concord.dissonance.v1 import dialectic_pb2_grpc, review_pb2
from concord_chassis.call.identity import caller
from google.protobuf.message import Message

from concord_dissonance.servicer import dialectic_incoming, dialectic_outgoing
from concord_dissonance.servicer.dissonance import credential
from concord_dissonance.usecases.dialectic.by_model import SynthesizeByModel
from concord_dissonance.usecases.dialectic.review_answer import AnswerReviewed, ReviewAnswer
from concord_dissonance.usecases.dialectic.runs import Run, RunId, Runs
from concord_dissonance.usecases.dialectic.synthesize import Synthesize

Context = grpc.aio.ServicerContext[Any, Any]


class DialecticServicer(dialectic_pb2_grpc.DialecticServiceServicer):
    """Synthesis from agents' results and memories, and reviews, in the caller's space."""

    def __init__(
        self,
        *,
        runs: Runs,
        synthesize: Synthesize,
        by_model: SynthesizeByModel,
        review_answer: ReviewAnswer,
    ) -> None:
        self._runs, self._synthesize, self._by_model = runs, synthesize, by_model
        self._review_answer = review_answer

    async def Synthesize(
        self, request: pb.SynthesizeRequest, context: Context
    ) -> AsyncIterator[pb.SynthesizeResponse]:
        space, who = caller().space, credential(context)
        results = dialectic_incoming.sources(request)
        review = (
            self._review_answer.prepare(space, review_pb2.ReviewAnswerRequest())
            if request.review
            else None
        )
        is_by_model = request.method == pb.SYNTHESIS_METHOD_MODEL
        model = self._by_model.prepare(space) if is_by_model else None
        run = self._runs.begin(
            _run_id(request.request_id),
            _digest(request),
            lambda run: self._synthesize(
                run, space, who, request, results, review=review, model=model
            ),
        )
        async with aclosing(_events(run)) as events:
            async for event in events:
                yield pb.SynthesizeResponse(event=event)

    async def ReviewAnswer(
        self, request: review_pb2.ReviewAnswerRequest, context: Context
    ) -> AsyncIterator[pb.ReviewAnswerResponse]:
        task = dialectic_incoming.review_task(request)
        review = self._review_answer.prepare(caller().space, request)

        async def work(run: Run) -> AnswerReviewed:
            return await review(
                task,
                lambda stage, share, said: run.say(stage, 100 * share, said),
                critical=request.critical_contradictions,
            )

        run = self._runs.begin(_run_id(request.request_id), _digest(request), work)
        async with aclosing(_events(run)) as events:
            async for event in events:
                yield pb.ReviewAnswerResponse(event=event)

    async def ResumeRun(
        self, request: pb.ResumeRunRequest, context: Context
    ) -> AsyncIterator[pb.ResumeRunResponse]:
        run = self._runs.of(_run_id(request.run_id))
        async with aclosing(_events(run, request.after_number)) as events:
            async for event in events:
                yield pb.ResumeRunResponse(event=event)


async def _events(run: Run, after: int = 0) -> AsyncGenerator[pb.DialecticEvent, None]:
    async with aclosing(run.follow(after)) as events:
        async for event in events:
            yield dialectic_outgoing.event(run.id.request_id, event)


def _run_id(request_id: str) -> RunId:
    who = caller()
    return RunId(who.space, who.principal, request_id)


def _digest(request: Message) -> bytes:
    """Name a request by its type and content."""
    content = request.SerializeToString(deterministic=True)
    return hashlib.sha256(request.DESCRIPTOR.full_name.encode() + content).digest()
