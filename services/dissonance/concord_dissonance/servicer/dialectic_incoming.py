"""Translates requests for a synthesis into queries."""

from concord.dissonance.v1 import dialectic_pb2 as pb

from concord_dissonance.domain.dialectic.theses import Claim, Source
from concord_dissonance.domain.errors import FieldInvalid
from concord_dissonance.servicer.incoming import micros
from concord_dissonance.usecases.dialectic.keep import Keep
from concord_dissonance.usecases.dialectic.synthesize import SynthesisQuery

DEFAULT_LIMIT = 10


def synthesis(request: pb.SynthesizeRequest) -> SynthesisQuery:
    """A request's query.

    Raises `FieldInvalid` without any source, or for lineage without a memory.
    """
    if not (request.results or request.memory_ids or request.query):
        raise FieldInvalid("results", "must not be empty where memory_ids and query are")
    keep = request.keep
    if keep.amend_sources and not keep.memory:
        raise FieldInvalid("keep.amend_sources", "needs keep.memory")
    return SynthesisQuery(
        request_id=request.request_id,
        question=request.question,
        sources=[_source(each) for each in request.results],
        memory_ids=list(request.memory_ids),
        query=request.query,
        query_limit=request.query_limit or DEFAULT_LIMIT,
        fresh=request.consistency.at_least_as_fresh,
        language=request.language,
        keep=Keep(keep.memory, keep.amend_sources, keep.conflicts)
        if request.HasField("keep")
        else None,
    )


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
