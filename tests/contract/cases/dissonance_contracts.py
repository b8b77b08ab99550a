"""The contract cases of DissonanceService."""

from concord.dissonance.v1 import dissonance_pb2 as pb
from concord.graph.v1 import conflict_pb2
from contract_homes import Home
from contract_registry import Answered, Contract, invalid

COMPLETE = pb.CHECK_STATUS_COMPLETE


def _check(radius: int = 2, node: str = "Ada") -> pb.CheckDissonanceRequest:
    return pb.CheckDissonanceRequest(
        request_id="r", context_node=node, radius=radius, scope=pb.CHECK_SCOPE_FULL
    )


def _pairs(home: Home) -> pb.ClassifyPairsRequest:
    said = [f"The tower of {home.space} is {height} m high." for height in (300, 320)]
    first, second = (pb.Statement(text=text) for text in said)
    return pb.ClassifyPairsRequest(pairs=[pb.StatementPair(first=first, second=second)])


def _review(home: Home, context: str = "", action: int = 2) -> pb.ReviewConflictRequest:
    return pb.ReviewConflictRequest(
        request_id="r",
        conflict_id=home.conflict_id,
        action=action,  # type: ignore[arg-type] # numbers are the contract's; 2 is DISMISS
        context=context,
    )


def _resolve(home: Home, context: str = "", as_class: int = 2) -> pb.ResolveDissonanceRequest:
    return pb.ResolveDissonanceRequest(
        request_id="r",
        conflict_id=home.conflict_id,
        resolution_type=as_class,  # type: ignore[arg-type] # 2 is CONTRADICTION
        superseded_id=home.memory_id,
        context=context,
    )


def _texts(home: Home) -> pb.ExtractFactsRequest:
    texts = [pb.SaidText(text="Do you work? I work for Airbus.", speaker=home.space)]
    return pb.ExtractFactsRequest(texts=texts, rules_only=True)


def _reading(home: Home) -> str:
    return f"reads ({home.space})"


def _amendments(*memory_ids: str) -> pb.SuggestAmendmentsRequest:
    return pb.SuggestAmendmentsRequest(request_id="r", memory_ids=memory_ids)


DISSONANCE = {
    # Nothing disagrees in a home anew, so a check writes nothing there that its request id guards:
    # tests/e2e/test_dissonance.py sends one again that finds something.
    "CheckDissonance": Contract(
        request=lambda _: _check(),
        success=lambda reply, _: (
            reply.status == COMPLETE and reply.coverage.statements > 2 and not reply.conflicts
        ),
        bad_input=(lambda _: _check(radius=4), invalid("radius")),
        other=lambda _: _check(radius=1),
        reused=Answered(),
        on_record=frozenset(),
    ),
    "ClassifyPairs": Contract(
        request=_pairs,
        success=lambda reply, _: (
            [each.conflict_class for each in reply.verdicts]
            == [conflict_pb2.CONFLICT_CLASS_CONTRADICTION]
            and reply.status == COMPLETE
        ),
        bad_input=(lambda _: pb.ClassifyPairsRequest(), invalid("pairs")),
    ),
    "DetectContradictions": Contract(
        request=lambda _: pb.DetectContradictionsRequest(request_id="r", full=True),
        success=lambda replies, _: (
            [each.WhichOneof("event") for each in replies][-1] == "summary"
            and replies[-1].summary.status == COMPLETE
            and replies[-1].summary.coverage.statements > 2
        ),
        bad_input=(
            lambda _: pb.DetectContradictionsRequest(request_id=""),
            invalid("request_id"),
        ),
        other=lambda _: pb.DetectContradictionsRequest(request_id="r", full=True, dry_run=True),
        reused=Answered(),
        on_record=frozenset(),
    ),
    "ListConflicts": Contract(
        request=lambda home: pb.ListConflictsRequest(item_ids=[home.memory_id]),
        success=lambda reply, home: [each.id for each in reply.conflicts] == [home.conflict_id],
        bad_input=(lambda _: pb.ListConflictsRequest(page_size=201), invalid("page_size")),
    ),
    "ReviewConflict": Contract(
        request=_review,
        success=lambda reply, home: (
            reply.conflict.state == conflict_pb2.CONFLICT_STATE_DISMISSED
            and reply.conflict.reviewed_by == "agent-1"
            and reply.conflict.id == home.conflict_id
            and reply.token
        ),
        bad_input=(lambda home: _review(home, action=0), invalid("action")),
        other=lambda home: _review(home, context="for another reason"),
    ),
    "ResolveDissonance": Contract(
        request=_resolve,
        success=lambda reply, home: (
            reply.conflict.state == conflict_pb2.CONFLICT_STATE_RESOLVED
            and reply.conflict.resolution.superseded_id == home.memory_id
            and reply.token
        ),
        bad_input=(lambda home: _resolve(home, as_class=0), invalid("resolution_type")),
        other=lambda home: _resolve(home, context="for another reason"),
        on_record=frozenset({"ResolveConflict"}),
    ),
    # tests/e2e/test_text_findings.py has a run in which something was found.
    "DismissConflicts": Contract(
        request=lambda _: pb.DismissConflictsRequest(request_id="r", run_id="no-such"),
        success=lambda reply, _: not reply.dismissed_count and not reply.left_count,
        bad_input=(lambda _: pb.DismissConflictsRequest(request_id="r"), invalid("by")),
        other=lambda _: pb.DismissConflictsRequest(request_id="r", run_id="another"),
        on_record=frozenset(),
    ),
    "EndSession": Contract(
        request=lambda home: pb.EndSessionRequest(request_id="r", session_id=_reading(home)),
        success=lambda reply, home: (
            reply.session.id == _reading(home)
            and reply.session.end_time.seconds
            and reply.status == COMPLETE
            and not reply.conflicts
            and reply.token
        ),
        bad_input=(lambda _: pb.EndSessionRequest(request_id="r"), invalid("session_id")),
        other=lambda _: pb.EndSessionRequest(request_id="r", session_id="talk"),
    ),
    # tests/e2e/test_amendments_after_the_write.py has homes in which something is suggested.
    "SuggestAmendments": Contract(
        request=lambda home: _amendments(home.memory_id),
        success=lambda reply, _: not reply.amendments,
        bad_input=(lambda _: _amendments(), invalid("memory_ids")),
        other=lambda home: _amendments(home.old_id),
        reused=Answered(),
        on_record=frozenset(),
    ),
    "ExtractFacts": Contract(
        request=_texts,
        success=lambda reply, home: (
            [(e.fact.subject, e.fact.relation, e.fact.object) for e in reply.candidates]
            == [(home.space, "EMPLOYER", "Airbus")]
            and reply.candidates[0].quote == "I work for Airbus"
            and reply.outcome == pb.EXTRACTION_OUTCOME_FOUND
            and reply.counts.by_reading == 1
        ),
        bad_input=(lambda _: pb.ExtractFactsRequest(), invalid("texts")),
    ),
    "ListJudges": Contract(
        request=lambda _: pb.ListJudgesRequest(),
        success=lambda reply, _: (
            [(each.judge, each.state) for each in reply.judges]
            == [
                (conflict_pb2.JUDGE_STRUCTURAL, pb.JUDGE_STATE_READY),
                (conflict_pb2.JUDGE_LEXICAL, pb.JUDGE_STATE_READY),
            ]
        ),
    ),
}
