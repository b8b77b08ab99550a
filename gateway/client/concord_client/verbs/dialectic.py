"""The verbs whose replies stream: they pass a run's events to `on_event`, and return its result.

A run that fails, or ends without a result, raises `Refused` or one of its kinds, as a call does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import grpc
from concord.dissonance.v1 import dialectic_pb2, review_pb2
from google.protobuf.message import Message

from concord_client.refusal import Refused
from concord_client.verbs import dialectic_things as things
from concord_client.verbs import read_dialectic
from concord_client.verbs.arguments import stamp, value_of
from concord_client.verbs.dialectic_things import AgentResult, CriteriaSet, Language

T = TypeVar("T")

_DIALECTIC = "/concord.dissonance.v1.DialecticService/"
LONG_RUN = 600.0
"""The default timeout of a run, in seconds."""

OnEvent = Callable[[things.Event], None]


Reply = dialectic_pb2.SynthesizeResponse | dialectic_pb2.ReviewAnswerResponse


@dataclass(frozen=True)
class Run(Generic[T]):
    """A call whose replies are a run's events, and the function that reads its last event."""

    path: str
    request: Message
    reply: type[Reply]
    read: Callable[[dialectic_pb2.DialecticEvent], T]
    on_event: OnEvent | None
    timeout: float

    def heard(self, reply: Reply) -> dialectic_pb2.DialecticEvent | None:
        """The run's last event, if this reply has it, else None. Raises `Refused` for a failure."""
        event = reply.event
        if event.HasField("failed"):
            raise read_dialectic.failure(event.failed)
        if event.HasField("done"):
            return event
        if self.on_event:
            self.on_event(read_dialectic.event(event))
        return None


def synthesize(
    question: str = "",
    *,
    results: Sequence[AgentResult] = (),
    memory_ids: Sequence[str] = (),
    query: str = "",
    limit: int = 10,
    language: Language = "",
    by_model: bool = False,
    keep: bool = False,
    amend_sources: bool = False,
    record_conflicts: bool = False,
    review: bool = False,
    on_event: OnEvent | None = None,
    timeout: float = LONG_RUN,
) -> Run[things.Synthesis]:
    """Synthesize the claims of agents (`results`), memories, and a query's best results.

    `by_model`: a model writes the synthesis, if one is set up, and rules check and complete it.
    `keep`: it becomes a memory; `amend_sources`: which amends the memories that it comes from.
    `record_conflicts`: unresolved contradictions between memories become conflicts. `review`:
    models review it. `limit`: 1 to 50 results of the query. `timeout`: seconds.
    """
    request = dialectic_pb2.SynthesizeRequest(
        question=question,
        results=[_result(each) for each in results],
        memory_ids=memory_ids,
        query=query,
        query_limit=limit,
        language=language,
        review=review,
    )
    if by_model:
        request.method = dialectic_pb2.SYNTHESIS_METHOD_MODEL
    if keep or amend_sources or record_conflicts:
        request.keep.memory = keep or amend_sources
        request.keep.amend_sources = amend_sources
        request.keep.conflicts = record_conflicts
    return Run(
        f"{_DIALECTIC}Synthesize",
        request,
        dialectic_pb2.SynthesizeResponse,
        read_dialectic.synthesis,
        on_event,
        timeout,
    )


def review_answer(
    question: str,
    answer: str,
    *,
    sources: Sequence[str] = (),
    criteria_set: CriteriaSet = "GENERAL",
    criteria: Mapping[str, float] | None = None,
    reviewers: Sequence[str] = (),
    quorum: int = 0,
    max_revisions: int = 0,
    critical_contradictions: int = 0,
    language: Language = "",
    on_event: OnEvent | None = None,
    timeout: float = LONG_RUN,
) -> Run[things.AnswerReview]:
    """Have several different models review an answer, and combine their scores.

    `criteria`: names with weights that sum to 1, instead of a named set; `reviewers`: names, none
    for all; `quorum`: 0 for the operator's; `max_revisions`: 0 to 2; `timeout`: seconds.
    """
    request = review_pb2.ReviewAnswerRequest(
        question=question,
        answer=answer,
        sources=sources,
        criteria_set=value_of(review_pb2.CriteriaSet, criteria_set, "criteria_set"),
        criteria=[
            review_pb2.Criterion(name=name, weight=weight)
            for name, weight in (criteria or {}).items()
        ],
        reviewers=reviewers,
        quorum=quorum,
        max_revisions=max_revisions,
        critical_contradictions=critical_contradictions,
        language=language,
    )
    return Run(
        f"{_DIALECTIC}ReviewAnswer",
        request,
        dialectic_pb2.ReviewAnswerResponse,
        read_dialectic.review,
        on_event,
        timeout,
    )


def without_end() -> Refused:
    """The error of a run whose events stopped before its end."""
    code = grpc.StatusCode.UNAVAILABLE
    return Refused(code, "ERROR_REASON_UNAVAILABLE", "The run's events stopped before its end.")


def _result(given: AgentResult) -> dialectic_pb2.AgentResult:
    return dialectic_pb2.AgentResult(
        agent=given.agent,
        text=given.text,
        theses=[_thesis(each) for each in given.theses],
        confidence=given.confidence,
    )


def _thesis(given: things.ThesisInput) -> dialectic_pb2.ThesisInput:
    return dialectic_pb2.ThesisInput(
        claim=given.claim,
        evidence=given.evidence,
        confidence=given.confidence,
        legal_basis=given.legal_basis,
        context=given.context,
        region=given.region,
        valid_from=stamp(given.valid_from),
        authority=given.authority,
    )
