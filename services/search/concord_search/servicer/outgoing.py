"""Translates answers into replies."""

from collections.abc import Sequence
from typing import cast

from concord.graph.v1 import conflict_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_attestation.visible import cut
from concord_chassis.call import opaque

from concord_search.domain.asked_times import TimePhrase
from concord_search.domain.confidence import Band
from concord_search.domain.memory import Parked
from concord_search.domain.stated import Triple
from concord_search.ports.embedder import EmbeddingModel
from concord_search.ports.index import IndexState, Version
from concord_search.servicer.provenance import (
    CLAIMED_CHARACTERS,
    context,
    packed,
    provenance,
    provenance_of_edge,
)
from concord_search.usecases.find_similar import SimilarAnswer
from concord_search.usecases.index_status import Status
from concord_search.usecases.integrative_search import IntegrativeAnswer, IntegrativeResult
from concord_search.usecases.parked import ParkedPage
from concord_search.usecases.paths import FactPath
from concord_search.usecases.reconcile import Agreement
from concord_search.usecases.results import Result
from concord_search.usecases.search import SearchAnswer

FEEDBACK_QUESTION = "Did these results help?"
SHOWN_PARKED = 20
SHOWN_DIFFERING = 20


def answer(
    found: SearchAnswer, request: search_pb2.SearchRequest, space: str
) -> search_pb2.SearchResponse:
    """A page of results."""
    more, advice = found.next_offset is not None, found.advice
    reply = search_pb2.SearchResponse(
        query_id=found.query_id,
        next_page_token=(
            opaque.page_token(request, [found.next_offset, found.now]) if more else ""
        ),
        confidence=_band(advice.band),
        stac_lines=advice.lines,
        next_action=search_pb2.NextAction.Value(f"NEXT_ACTION_{advice.action.name}"),
        preferred_memory_id=advice.preference.preferred_id if advice.preference else "",
        index_token=token(space, found.epoch, found.applied_seq),
        index_incomplete=found.is_incomplete,
    )
    for each in found.results:
        _add_result(reply, each)
    _tell_claims(reply)
    for phrase in found.times:
        _add_time(reply.times.add(), phrase)
    for path in found.paths:
        _add_path(reply.paths.add(), path)
    if found.superseded is not None:
        reply.superseded_match.memory_id = found.superseded.memory_id
        reply.superseded_match.concepts.extend(found.superseded.concepts)
    if request.pack_tokens:
        beside = found.companions, found.paths
        reply.context, unfit = packed(reply.results, *beside, request.pack_tokens)
        reply.unfit_memory_ids.extend(unfit)
    elif request.include_context:
        reply.context = context(reply.results)
    return reply


def _tell_claims(reply: search_pb2.SearchResponse) -> None:
    """Has a result say in which words another result would take its place (W9)."""
    said = {each.memory.id: each.memory.content for each in reply.results}
    for result in reply.results:
        for each in result.memory.claims:
            if each.by_id in said and each.by_id != result.memory.id:
                each.by_statement = cut(said[each.by_id], CLAIMED_CHARACTERS)


def _band(found: Band) -> search_pb2.ConfidenceBand.ValueType:
    return search_pb2.ConfidenceBand.Value(f"CONFIDENCE_BAND_{found.name}")


def token(space: str, epoch: str, seq: int) -> str:
    """The freshness token of an index that has applied `seq`."""
    fresh = type_pb2.FreshnessToken(space=space, epoch=epoch, seq=seq)
    return opaque.seal(fresh.SerializeToString(deterministic=True))


def _add_result(reply: search_pb2.SearchResponse, found: Result) -> None:
    """Adds one result with its explanation."""
    message = reply.results.add(
        composite_score=found.breakdown.composite,
        vector_similarity=found.cosine,
        fusion_score=found.fusion,
        confidence=_band(found.band),
        potential_conflicts=_conflicts(found),
    )
    if found.memory.state.is_edge:
        message.edge.MergeFrom(cast(type_pb2.Edge, found.memory.shown))
        message.provenance = provenance_of_edge(message.edge)
    else:
        message.memory.MergeFrom(cast(type_pb2.Memory, found.memory.shown))
        message.provenance = provenance(message.memory)
    if found.stated is not None:
        message.matched_fact.MergeFrom(_fact(found.stated))
    _explain(message.explanation, found, found.relevance_reason)


def _fact(fact: Triple) -> type_pb2.Fact:
    subject, relation, target = fact
    return type_pb2.Fact(subject=subject, relation=relation, object=target)


def _add_path(message: search_pb2.FactPath, path: FactPath) -> None:
    message.facts.extend(_fact(each.fact) for each in path.steps)
    message.edge_ids.extend(each.edge_id for each in path.steps)
    message.memory_ids.extend(dict.fromkeys(each.state.id for each in path.memories))


def _add_time(message: search_pb2.TimePhrase, phrase: TimePhrase) -> None:
    message.phrase = phrase.phrase
    message.use = search_pb2.TimeUse.Value(f"TIME_USE_{phrase.use.name}")
    message.dated_by_memory_id = phrase.dated_by
    for field, instant in ((message.since, phrase.begin), (message.before, phrase.end)):
        if instant is not None:
            field.FromMicroseconds(instant)


def _explain(message: search_pb2.Explanation, found: Result, reason: str) -> None:
    """Fills in an explanation: in place, as most of a reply is explanations."""
    message.relevance_reason = reason
    for part, said in zip(found.breakdown.parts, found.reasons, strict=True):
        message.signals.add(
            signal_name=part.name,
            score=part.score,
            weight=part.weight,
            contribution=part.contribution,
            reason=said,
        )
    for name, said in found.breakdown.dropped:
        message.dropped.add(signal_name=name, reason=said)


def _conflicts(found: Result) -> list[search_pb2.PotentialConflict]:
    return [
        search_pb2.PotentialConflict(
            conflict_id=each.id,
            state=conflict_pb2.ConflictState.ValueType(each.state),
            conflict_class=conflict_pb2.ConflictClass.ValueType(each.conflict_class),
            other_id=each.other_id,
            other_statement=each.other_statement,
            is_text_finding=each.is_text_finding,
        )
        for each in found.conflicts
    ]


def integrative(found: IntegrativeAnswer, space: str) -> search_pb2.IntegrativeSearchResponse:
    """The reply of an integrative search: results, weighed by the node's values."""
    known = found.statements is not None
    check = found.check
    reply = search_pb2.IntegrativeSearchResponse(
        context_status=(
            type_pb2.LOOKUP_STATUS_FOUND if known else type_pb2.LOOKUP_STATUS_NOT_FOUND
        ),
        constitutive_statements=[
            search_pb2.ConstitutiveStatement(
                edge_id=each.edge_id, statement=each.text, memory_ids=each.memory_ids
            )
            for each in found.statements or ()
        ],
        constitutive_weight=found.weight,
        feedback_request=(
            search_pb2.FeedbackRequest(query_id=found.query_id, question=FEEDBACK_QUESTION)
            if found.query_id
            else None
        ),
        check=search_pb2.StatementCheck(
            status=search_pb2.StatementCheckStatus.Value(
                f"STATEMENT_CHECK_STATUS_{check.status.name}"
            ),
            pair_count=check.pairs,
            judged_pair_count=check.judged,
            unjudged_pair_count=check.pairs - check.judged,
        ),
        index_token=token(space, found.epoch, found.applied_seq),
        index_incomplete=found.is_incomplete,
    )
    for each in found.results:
        _add_integrative_result(reply, each)
    return reply


def _add_integrative_result(
    reply: search_pb2.IntegrativeSearchResponse, result: IntegrativeResult
) -> None:
    found, place = result.found, result.place
    message = reply.results.add(
        statement=found.memory.state.content,
        ief_score=place.score,
        text_relevance=place.text_relevance,
        constitutive_factor=place.factor,
        relevance_score=place.recency,
        composite_score=found.breakdown.composite,
        vector_similarity=found.cosine,
        confidence=_band(found.band),
        potential_conflicts=_conflicts(found),
        conflict_flag=any(each.is_flagged for each in result.clashes),
        clashes=[
            search_pb2.StatementClash(
                edge_id=each.statement.edge_id,
                statement=each.statement.text,
                conflict_class=conflict_pb2.ConflictClass.ValueType(each.conflict_class),
                confidence=each.confidence,
                is_text_finding=each.is_text_finding,
            )
            for each in result.clashes
        ],
    )
    _explain(message.explanation, found, result.reason)
    if found.memory.state.is_edge:
        message.edge.CopyFrom(cast(type_pb2.Edge, found.memory.shown))
    else:
        message.memory.CopyFrom(cast(type_pb2.Memory, found.memory.shown))


def similar(found: SimilarAnswer) -> search_pb2.FindSimilarResponse:
    """The near memories."""
    return search_pb2.FindSimilarResponse(status=_lookup(found), similar=_similar(found))


def similar_to_each(
    found: Sequence[tuple[str, SimilarAnswer]],
) -> search_pb2.BatchFindSimilarResponse:
    """The memories near to each memory."""
    return search_pb2.BatchFindSimilarResponse(
        found=[
            search_pb2.SimilarToOne(
                memory_id=memory_id, status=_lookup(answer), similar=_similar(answer)
            )
            for memory_id, answer in found
        ]
    )


def _lookup(found: SimilarAnswer) -> type_pb2.LookupStatus.ValueType:
    return type_pb2.LOOKUP_STATUS_FOUND if found.exists else type_pb2.LOOKUP_STATUS_NOT_FOUND


def _similar(found: SimilarAnswer) -> list[search_pb2.SimilarMemory]:
    return [
        search_pb2.SimilarMemory(memory_id=each.id, similarity=each.similarity)
        for each in found.near
    ]


def index_status(found: Status) -> search_pb2.GetIndexStatusResponse:
    """The state of the index."""
    state: IndexState = found.state
    return search_pb2.GetIndexStatusResponse(
        applied_seq=state.applied_seq,
        head_seq=found.head_seq,
        indexed_memories=state.memories,
        parked_changes=state.parked_count,
        parked=_parked(state.parked[:SHOWN_PARKED]),
        model=embedding_model(state.model),
        following=found.following,
        unconfirmed_erasures=len(found.state.unconfirmed),
        versions=[index_version(role, each) for role, each in found.versions.items()],
        models=[embedding_model(each) for each in found.models],
        unread_texts=found.unread,
    )


def index_version(role: Version, state: IndexState) -> search_pb2.IndexVersion:
    """A version of the index."""
    return search_pb2.IndexVersion(
        role=search_pb2.IndexVersionRole.Value(f"INDEX_VERSION_ROLE_{role.name}"),
        model=embedding_model(state.model),
        applied_seq=state.applied_seq,
        indexed_memories=state.memories,
        parked_changes=state.parked_count,
    )


def parked_page(
    found: ParkedPage, request: search_pb2.ListParkedChangesRequest
) -> search_pb2.ListParkedChangesResponse:
    """Some parked changes."""
    return search_pb2.ListParkedChangesResponse(
        parked=_parked(found.changes),
        next_page_token=(
            "" if found.next_seq is None else opaque.page_token(request, [found.next_seq])
        ),
        parked_changes=found.total,
    )


def _parked(changes: Sequence[Parked]) -> list[search_pb2.ParkedChange]:
    return [
        search_pb2.ParkedChange(seq=each.seq, item_id=each.item_id, reason=each.reason)
        for each in changes
    ]


def agreement(found: Agreement) -> search_pb2.ReconcileIndexResponse:
    """The differences between index and graph."""
    return search_pb2.ReconcileIndexResponse(
        seq=found.seq,
        state_count=found.states,
        missing_state_count=len(found.missing),
        surplus_state_count=len(found.surplus),
        differing_ids=found.differing[:SHOWN_DIFFERING],
        agrees=found.agrees,
    )


def embedding_model(model: EmbeddingModel) -> search_pb2.EmbeddingModel:
    """The model of the vectors."""
    return search_pb2.EmbeddingModel(
        model_id=model.model_id, dimension=model.dimension, revision=model.revision
    )
