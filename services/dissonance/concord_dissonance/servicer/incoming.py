"""Translates requests into queries."""

from unicodedata import normalize

from concord.dissonance.v1 import dissonance_pb2 as pb
from concord.graph.v1 import conflict_pb2

from concord_dissonance.clients.graph.messages import micros
from concord_dissonance.domain.errors import FieldInvalid
from concord_dissonance.domain.sides import Kind, Side, TypedFact
from concord_dissonance.ports.actions import Decision

_DECISIONS = {
    pb.REVIEW_ACTION_CONFIRM: conflict_pb2.REVIEW_DECISION_CONFIRM,
    pb.REVIEW_ACTION_DISMISS: conflict_pb2.REVIEW_DECISION_DISMISS,
    pb.REVIEW_ACTION_EXCEPT: conflict_pb2.REVIEW_DECISION_EXCEPT,
    pb.REVIEW_ACTION_RECLASSIFY: conflict_pb2.REVIEW_DECISION_RECLASSIFY,
}


def pairs(request: pb.ClassifyPairsRequest) -> list[tuple[Side, Side]]:
    """The pairs to judge; a statement of several is one side, and so is read once."""
    sides: dict[tuple[bytes, str], Side] = {}

    def side(said: pb.Statement, place: str) -> Side:
        key = said.SerializeToString(deterministic=True), place
        if key not in sides:
            sides[key] = _side(said, place)
        return sides[key]

    return [(side(each.first, "1"), side(each.second, "2")) for each in request.pairs]


def _side(said: pb.Statement, place: str) -> Side:
    fact = None
    if said.HasField("fact"):
        words = (said.fact.subject, said.fact.relation, said.fact.object)
        fact = TypedFact(*(normalize("NFC", word) for word in words))
    return Side(
        id=place,
        kind=Kind.FACT if fact is None else Kind.EDGE,
        text=said.text,
        fact=fact,
        valid_from=micros(said.valid_from) if said.HasField("valid_from") else None,
        valid_until=micros(said.valid_until) if said.HasField("valid_until") else None,
        sources=frozenset({said.speaker} - {""}),
        speakers=frozenset({said.speaker} - {""}),
    )


def conflicts_query(request: pb.ListConflictsRequest) -> conflict_pb2.ListConflictsRequest:
    """Graph's own request for the page."""
    return conflict_pb2.ListConflictsRequest(
        states=request.states,
        classes=request.classes,
        item_ids=request.item_ids,
        page_size=request.page_size,
        page_token=request.page_token,
        run_id=request.run_id,
    )


def review(request: pb.ReviewConflictRequest) -> Decision:
    """A caller's decision about a conflict."""
    if request.action == pb.REVIEW_ACTION_REOPEN:
        return conflict_pb2.ReopenConflictRequest(
            request_id=request.request_id, conflict_id=request.conflict_id, etag=request.etag
        )
    return conflict_pb2.ReviewConflictRequest(
        request_id=request.request_id,
        conflict_id=request.conflict_id,
        etag=request.etag,
        decision=_DECISIONS[request.action],
        context=request.context,
        conflict_class=request.conflict_class,
        older_id=request.older_id,
    )


def dismissal(request: pb.DismissConflictsRequest) -> conflict_pb2.DismissConflictsRequest:
    """Graph's own request for the conflicts that are to be dismissed."""
    asked = conflict_pb2.DismissConflictsRequest(
        request_id=request.request_id, context=request.context
    )
    if by := request.WhichOneof("by"):
        setattr(asked, by, getattr(request, by))
    return asked


def resolution(request: pb.ResolveDissonanceRequest) -> conflict_pb2.ResolveConflictRequest:
    """A caller's resolution of a conflict; the empty etag stands for its newest version.

    Raises `FieldInvalid`.
    """
    if request.HasField("pair") and request.pair.first_id == request.pair.second_id:
        raise FieldInvalid("pair.second_id", "must be another item than pair.first_id")
    return conflict_pb2.ResolveConflictRequest(
        request_id=request.request_id,
        conflict_id=request.conflict_id,
        resolution_type=request.resolution_type,
        superseded_id=request.superseded_id,
        context=request.context,
    )
