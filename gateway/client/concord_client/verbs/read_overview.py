"""Turns the contract's messages of integrative search, health and the briefing into plain data."""

from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import claim_pb2, conflict_pb2
from concord.search.v1 import health_pb2, search_pb2
from concord.type.v1 import type_pb2

from concord_client.verbs import overview_things as things
from concord_client.verbs.read_reply import edge, memory, name_of, time_of


def integrative(read: search_pb2.IntegrativeSearchResponse) -> things.IntegrativeAnswer:
    """The answer of an integrative search."""
    return things.IntegrativeAnswer(
        results=tuple(_result(each) for each in read.results),
        statements=tuple(
            things.ConstitutiveStatement(each.edge_id, each.statement, tuple(each.memory_ids))
            for each in read.constitutive_statements
        ),
        node_found=read.context_status == type_pb2.LOOKUP_STATUS_FOUND,
        constitutive_weight=read.constitutive_weight,
        check=name_of(search_pb2.StatementCheckStatus, read.check.status),
        query_id=read.feedback_request.query_id,
        index_incomplete=read.index_incomplete,
    )


def _result(read: search_pb2.IntegrativeResult) -> things.IntegrativeResult:
    return things.IntegrativeResult(
        item=edge(read.edge) if read.HasField("edge") else memory(read.memory),
        says=read.statement,
        score=read.ief_score,
        text_relevance=read.text_relevance,
        constitutive_factor=read.constitutive_factor,
        relevance_score=read.relevance_score,
        confidence=name_of(search_pb2.ConfidenceBand, read.confidence),
        why=read.explanation.relevance_reason,
        conflict_ids=tuple(each.conflict_id for each in read.potential_conflicts),
        clashes=tuple(
            things.Clash(
                each.edge_id,
                each.statement,
                name_of(conflict_pb2.ConflictClass, each.conflict_class),
                each.confidence,
                each.is_text_finding,
            )
            for each in read.clashes
        ),
    )


def assessed(read: health_pb2.AssessedMemory) -> things.AssessedMemory:
    """A memory with its health."""
    status = name_of(type_pb2.HealthStatus, read.health.status)
    return things.AssessedMemory(read.memory_id, read.statement, status, tuple(read.health.reasons))


def counts(read: health_pb2.AssessHealthResponse) -> dict[str, int]:
    """How many memories have which status."""
    return {name_of(type_pb2.HealthStatus, each.status): each.count for each in read.counts}


def briefing(read: proposal_pb2.GetBriefingResponse) -> things.Briefing:
    """What waits."""
    return things.Briefing(
        proposals=tuple(_waiting(each) for each in read.proposals),
        pending_count=read.pending_count,
        reviews=tuple(_waiting(each) for each in read.reviews),
        review_count=read.review_count,
        conflicts=tuple(
            things.OpenConflict(
                each.conflict_id,
                name_of(conflict_pb2.ConflictClass, each.conflict_class),
                name_of(conflict_pb2.ConflictState, each.state),
                each.first_statement,
                each.second_statement,
            )
            for each in read.conflicts
        ),
        conflict_count=read.potential_count + read.confirmed_count,
        graph_rolled_back=read.graph_rolled_back,
    )


def claimants(read: claim_pb2.ListClaimantsResponse) -> tuple[tuple[str, int], ...]:
    """Who has open claims, and how many."""
    return tuple((each.claimant, each.open_count) for each in read.claimants)


def _waiting(read: proposal_pb2.BriefingLine) -> things.WaitingProposal:
    return things.WaitingProposal(
        id=read.proposal_id,
        number=read.number,
        kind=name_of(proposal_pb2.ProposalKind, read.kind),
        level=name_of(proposal_pb2.ApprovalLevel, read.approval_level),
        missing_slots=tuple(name_of(type_pb2.Slot, each) for each in read.missing_slots),
        says=read.summary,
        expires=time_of(read, "expire_time"),
        conflict_id=read.conflict_id,
    )
