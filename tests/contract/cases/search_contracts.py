"""The contract cases of SearchService and IndexService."""

from concord.search.v1 import feedback_pb2, health_pb2, suggestion_pb2
from concord.search.v1 import search_pb2 as pb
from concord.type.v1 import type_pb2
from contract_homes import Home
from contract_registry import Contract, Refused, invalid
from grpc import StatusCode

FOUND, MISSED = type_pb2.LOOKUP_STATUS_FOUND, type_pb2.LOOKUP_STATUS_NOT_FOUND


def _search(home: Home) -> pb.SearchRequest:
    return pb.SearchRequest(
        query="what Ada likes", consistency=type_pb2.Consistency(at_least_as_fresh=home.token)
    )


SEARCH = {
    "Search": Contract(
        request=_search,
        success=lambda reply, home: (
            home.memory_id in {r.memory.id for r in reply.results}
            and home.old_id not in {r.memory.id for r in reply.results}
        ),
        bad_input=(lambda _: pb.SearchRequest(query=" \t"), invalid("query")),
    ),
    "IntegrativeSearch": Contract(
        request=lambda home: pb.IntegrativeSearchRequest(
            query="what Ada values, and whether honesty matters",
            context_node="Ada",
            consistency=type_pb2.Consistency(at_least_as_fresh=home.token),
            peek=True,
        ),
        success=lambda reply, home: (
            reply.context_status == FOUND
            and home.rock_id in {each.edge_id for each in reply.constitutive_statements}
            and reply.results[0].edge.id == home.rock_id
            and home.memory_id in {each.memory.id for each in reply.results}
        ),
        bad_input=(
            lambda _: pb.IntegrativeSearchRequest(query="what Ada values"),
            invalid("context_node"),
        ),
    ),
    "FindSimilar": Contract(
        request=lambda home: pb.FindSimilarRequest(memory_id=home.memory_id),
        success=lambda reply, home: (
            reply.status == FOUND
            and reply.similar
            and home.memory_id not in {near.memory_id for near in reply.similar}
        ),
        bad_input=(lambda _: pb.FindSimilarRequest(), invalid("to")),
    ),
    "BatchFindSimilar": Contract(
        request=lambda home: pb.BatchFindSimilarRequest(memory_ids=[home.memory_id, "shared/one"]),
        success=lambda reply, home: (
            [one.memory_id for one in reply.found] == [home.memory_id, "shared/one"]
            and all(one.status == FOUND and one.similar for one in reply.found)
            and all(near.memory_id != one.memory_id for one in reply.found for near in one.similar)
        ),
        bad_input=(lambda _: pb.BatchFindSimilarRequest(), invalid("memory_ids")),
    ),
}


def _feedback(home: Home, reason: str = "") -> feedback_pb2.SubmitFeedbackRequest:
    return feedback_pb2.SubmitFeedbackRequest(
        request_id="r",
        query_id=home.query_id,
        helpfulness=feedback_pb2.HELPFULNESS_HELPFUL,
        reason=reason,
    )


FEEDBACK = {
    "SubmitFeedback": Contract(
        request=_feedback,
        success=lambda reply, _: reply.constitutive_weight == 2 and reply.new_vote_count == 1,
        bad_input=(
            lambda _: feedback_pb2.SubmitFeedbackRequest(request_id="r"),
            invalid("query_id"),
        ),
        other=lambda home: _feedback(home, "because"),
        # A vote is named by its principal and its query, not by the request.
        reused=Refused(StatusCode.ALREADY_EXISTS, "ITEM_EXISTS"),
        on_record=frozenset(),
    ),
    "GetCalibration": Contract(
        request=lambda _: feedback_pb2.GetCalibrationRequest(),
        success=lambda reply, _: reply.constitutive_weight == 2,
    ),
    "Recalibrate": Contract(
        request=lambda _: feedback_pb2.RecalibrateRequest(),
        success=lambda reply, _: reply.old_weight == reply.new_weight == 2 and not reply.moved,
        bad_input=(
            lambda _: feedback_pb2.RecalibrateRequest(action=9),  # type: ignore[arg-type] # unknown
            invalid("action"),
        ),
    ),
}

HEALTH = {
    "AssessHealth": Contract(
        request=lambda _: health_pb2.AssessHealthRequest(),
        success=lambda reply, home: (
            home.old_id in {each.memory_id for each in reply.memories}
            and sum(each.count for each in reply.counts) >= len(reply.memories) > 0
        ),
        bad_input=(
            lambda _: health_pb2.AssessHealthRequest(page_size=1001),
            invalid("page_size"),
        ),
    ),
}

SUGGESTION = {
    "SuggestProactively": Contract(
        request=lambda home: suggestion_pb2.SuggestProactivelyRequest(
            snippet="Ada likes what",
            consistency=type_pb2.Consistency(at_least_as_fresh=home.token),
        ),
        success=lambda reply, _: reply.all_triggers_tried and len(reply.suggestions) <= 3,
        bad_input=(
            lambda _: suggestion_pb2.SuggestProactivelyRequest(session_id="s"),
            invalid("snippet"),
        ),
    ),
}

INDEX = {
    "GetIndexStatus": Contract(
        request=lambda _: pb.GetIndexStatusRequest(),
        success=lambda reply, _: reply.following and reply.applied_seq == reply.head_seq > 0,
    ),
    "ReconcileIndex": Contract(
        request=lambda _: pb.ReconcileIndexRequest(repair=True),
        success=lambda reply, _: reply.agrees and reply.state_count > 0 and not reply.differing_ids,
    ),
    "Reindex": Contract(
        request=lambda _: pb.ReindexRequest(),
        success=lambda reply, _: (
            reply.version.role == pb.INDEX_VERSION_ROLE_NEXT
            and reply.version.model.model_id == "word-counts"
        ),
        bad_input=(lambda _: pb.ReindexRequest(model_id="no such model"), invalid("model_id")),
    ),
    "DropIndexVersion": Contract(
        request=lambda _: pb.DropIndexVersionRequest(role=pb.INDEX_VERSION_ROLE_FORMER),
        success=lambda reply, _: isinstance(reply, pb.DropIndexVersionResponse),
        bad_input=(
            lambda _: pb.DropIndexVersionRequest(role=pb.INDEX_VERSION_ROLE_SERVING),
            invalid("role"),
        ),
    ),
    "ListParkedChanges": Contract(
        request=lambda _: pb.ListParkedChangesRequest(page_size=5),
        success=lambda reply, _: reply == pb.ListParkedChangesResponse(),
        bad_input=(
            lambda _: pb.ListParkedChangesRequest(page_token="x"),
            invalid("page_token", "PAGE_TOKEN_INVALID"),
        ),
    ),
    "RetryParkedChanges": Contract(
        request=lambda _: pb.RetryParkedChangesRequest(),
        success=lambda reply, _: reply == pb.RetryParkedChangesResponse(),
    ),
}
