"""Translates agents' results into sources, and requests for a review into tasks."""

from concord.dissonance.v1 import dialectic_pb2 as pb
from concord.dissonance.v1 import review_pb2
from concord_reading.language import language_of

from concord_dissonance.clients.graph.messages import micros
from concord_dissonance.domain.dialectic.theses import Claim, Source
from concord_dissonance.domain.errors import FieldInvalid
from concord_dissonance.domain.peer_review.criteria import WHOLE, Criterion, checked, criteria_set
from concord_dissonance.domain.peer_review.review import ReviewTask

_SETS = {
    review_pb2.CRITERIA_SET_UNSPECIFIED: "general",
    review_pb2.CRITERIA_SET_GENERAL: "general",
    review_pb2.CRITERIA_SET_LEGAL: "legal",
    review_pb2.CRITERIA_SET_TECHNICAL: "technical",
}


def sources(request: pb.SynthesizeRequest) -> list[Source]:
    """The agents' results of a request.

    Raises `FieldInvalid` without any source, or for lineage without a memory.
    """
    if not (request.results or request.memory_ids or request.query):
        raise FieldInvalid("results", "must not be empty where memory_ids and query are")
    if request.keep.amend_sources and not request.keep.memory:
        raise FieldInvalid("keep.amend_sources", "needs keep.memory")
    return [_source(each) for each in request.results]


def _source(result: pb.AgentResult) -> Source:
    return Source(
        result.agent,
        [_claim(each) for each in result.theses],
        result.text,
        result.confidence if result.HasField("confidence") else None,
    )


def _claim(said: pb.ThesisInput) -> Claim:
    return Claim(
        said.claim,
        tuple(said.evidence),
        said.confidence if said.HasField("confidence") else None,
        tuple(said.legal_basis),
        said.context,
        said.region,
        micros(said.valid_from) if said.HasField("valid_from") else None,
        said.authority if said.HasField("authority") else None,
    )


def review_task(request: review_pb2.ReviewAnswerRequest) -> ReviewTask:
    """The task of a review. Raises `FieldInvalid`."""
    language = request.language or language_of(request.question, request.answer)
    criteria = (
        checked(
            [
                Criterion(each.name, round(each.weight * WHOLE), each.description)
                for each in request.criteria
            ]
        )
        if request.criteria
        else criteria_set(_SETS[request.criteria_set], language)
    )
    return ReviewTask(request.question, request.answer, tuple(request.sources), criteria, language)
