"""Turns the contract's messages into plain data."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from concord.dissonance.v1 import dissonance_pb2
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import episode_pb2, graph_pb2, lineage_pb2, memory_pb2, relation_pb2
from concord.search.v1 import search_pb2, suggestion_pb2
from concord.type.v1 import type_pb2
from google.protobuf import json_format
from google.protobuf.message import Message

from concord_client.trust.review import review
from concord_client.verbs import governance_things, things
from concord_client.verbs.claim_things import ClaimNote

CONSTITUTIVE = type_pb2.EDGE_TYPE_CONSTITUTIVE


def memory(read: type_pb2.Memory) -> things.Memory:
    """A memory."""
    return things.Memory(**_memory(read))


def written_memory(reply: Any) -> things.WrittenMemory:
    """A memory that was written, and what gave way by it, or is claimed."""
    return things.WrittenMemory(**_memory(reply.memory), **_done(reply))


def _done(reply: Any) -> dict[str, Any]:
    """What gave way by a write, and what it claims."""
    return {
        "gave_way": gave_way(reply.gave_way),
        "outcome": name_of(type_pb2.WriteOutcome, reply.outcome),
        "claimed": claims(reply.claims),
    }


def claims(read: Iterable[type_pb2.ClaimNote]) -> tuple[ClaimNote, ...]:
    """Claims in brief."""
    return tuple(
        ClaimNote(
            each.number,
            name_of(type_pb2.ClaimAction, each.action),
            each.item_id,
            each.by_id,
            each.claimant,
            each.owner,
        )
        for each in read
    )


def gave_way(read: type_pb2.GaveWay) -> tuple[things.GivenWay, ...]:
    """What gave way by a write."""
    return tuple(
        things.GivenWay(
            each.id,
            name_of(type_pb2.LineageRelation, each.relation),
            each.by_id,
            each.declared_by,
        )
        for each in read.items
    )


def _memory(read: type_pb2.Memory) -> dict[str, Any]:
    heads = read.supersession.head_ids if read.supersession.is_superseded else ()
    return {
        "id": read.id,
        "content": read.content,
        "kind": name_of(type_pb2.MemoryKind, read.kind),
        "importance": name_of(type_pb2.Importance, read.importance),
        "domain": read.domain,
        "tags": tuple(read.tags),
        "surfaces_when": tuple(read.surfaces_when),
        "facts": tuple(map(_fact, read.facts)),
        "sources": tuple(
            things.Source(each.speaker, each.file, tuple(each.turn_ids), tuple(each.memory_ids))
            for each in read.sources
        ),
        "session_id": read.session_id,
        "origin": name_of(type_pb2.Origin, read.origin),
        "words_origin": name_of(type_pb2.Origin, read.words_origin),
        "principal": read.principal,
        "properties": json_format.MessageToDict(read.properties),
        "valid_from": time_of(read, "valid_from"),
        "valid_until": time_of(read, "valid_until"),
        "created": time_of(read, "create_time"),
        "modified": time_of(read, "modify_time"),
        "forgotten": time_of(read, "forget_time"),
        "erased": time_of(read, "erase_time"),
        "etag": read.etag,
        "is_constitutive": read.edge_type == CONSTITUTIVE,
        "is_superseded": read.supersession.is_superseded,
        "superseded_by": tuple(heads),
        "conflict_ids": tuple(read.conflict_ids),
        "claims": claims(read.claims),
    }


def added(read: memory_pb2.AddMemoryResponse) -> things.Added:
    """The result of adding a memory."""
    return things.Added(memory(read.memory), read.created, **_done(read))


def answer(read: search_pb2.SearchResponse) -> things.Answer:
    """The answer of a search."""
    return things.Answer(
        results=tuple(_result(each) for each in read.results if each.HasField("memory")),
        confidence=name_of(search_pb2.ConfidenceBand, read.confidence),
        advice=tuple(read.stac_lines),
        next_action=name_of(search_pb2.NextAction, read.next_action),
        index_incomplete=read.index_incomplete,
        context=read.context,
        times=tuple(_time(each) for each in read.times),
        edges=tuple(_found_edge(each) for each in read.results if each.HasField("edge")),
        paths=tuple(tuple(map(_fact, each.facts)) for each in read.paths),
        superseded_match=read.superseded_match.memory_id,
        unfit_ids=tuple(read.unfit_memory_ids),
    )


def _found_edge(read: search_pb2.SearchResult) -> things.FoundEdge:
    band = name_of(search_pb2.ConfidenceBand, read.confidence)
    why = read.explanation.relevance_reason
    return things.FoundEdge(edge(read.edge), read.composite_score, band, why)


def _fact(read: type_pb2.Fact) -> things.Fact:
    return things.Fact(read.subject, read.relation, read.object, read.extracted)


def _time(read: search_pb2.TimePhrase) -> things.TimePhrase:
    return things.TimePhrase(
        phrase=read.phrase,
        since=time_of(read, "since"),
        before=time_of(read, "before"),
        use=name_of(search_pb2.TimeUse, read.use),
        dated_by=read.dated_by_memory_id,
    )


def _result(read: search_pb2.SearchResult) -> things.Result:
    return things.Result(
        memory=memory(read.memory),
        score=read.composite_score,
        confidence=name_of(search_pb2.ConfidenceBand, read.confidence),
        why=read.explanation.relevance_reason,
        provenance=read.provenance,
        signals={each.signal_name: each.score for each in read.explanation.signals},
        conflict_ids=tuple(each.conflict_id for each in read.potential_conflicts),
    )


def suggestions(
    read: suggestion_pb2.SuggestProactivelyResponse,
) -> tuple[things.Suggestion, ...]:
    """The memories that were suggested, the best first."""
    return tuple(
        things.Suggestion(
            memory(each.memory), each.composite_score, each.trigger, tuple(each.shared_concepts)
        )
        for each in read.suggestions
    )


def version(read: memory_pb2.MemoryVersion) -> things.Version:
    """One of a memory's versions."""
    return things.Version(
        read.revision,
        memory(read.memory),
        time_of(read, "record_from"),
        time_of(read, "record_until"),
        read.principal,
    )


def edge(read: type_pb2.Edge) -> things.Edge:
    """An edge."""
    return things.Edge(**_edge(read))


def written_edge(reply: Any) -> things.WrittenEdge:
    """An edge that was written, and what gave way by it, or is claimed."""
    return things.WrittenEdge(**_edge(reply.edge), **_done(reply))


def _edge(read: type_pb2.Edge) -> dict[str, Any]:
    return {
        "id": read.id,
        "source": read.source.name or read.source.id,
        "relation": read.relation,
        "target": read.target.name or read.target.id,
        "weight": read.weight,
        "valid_from": time_of(read, "valid_from"),
        "valid_until": time_of(read, "valid_until"),
        "etag": read.etag,
        "is_constitutive": read.edge_type == CONSTITUTIVE,
        "is_superseded": read.supersession.is_superseded,
        "claims": claims(read.claims),
    }


def neighbor(read: graph_pb2.Neighbor) -> things.Neighbor:
    """A neighbour."""
    return things.Neighbor(read.neighbor.name or read.neighbor.id, read.distance, edge(read.edge))


def followed(read: relation_pb2.FollowRelationsResponse) -> things.Followed:
    """The ends that a chain of relations leads to."""
    hops = tuple(
        things.Hop(
            each.relation,
            tuple(edge(walked) for walked in each.edges),
            each.truncated,
            tuple(each.held_relations),
        )
        for each in read.hops
    )
    return things.Followed(tuple(end.name or end.id for end in read.ends), hops, read.unheld_hop)


def proposal(read: proposal_pb2.Proposal) -> governance_things.Proposal:
    """A proposal. Raises `ReviewError` if its fields are not those of its canonical bytes."""
    action = review(read).document["action"] if read.canonical else {}
    return governance_things.Proposal(
        id=read.id,
        number=read.number,
        status=name_of(proposal_pb2.ProposalStatus, read.status),
        kind=name_of(proposal_pb2.ProposalKind, read.kind),
        level=name_of(proposal_pb2.ApprovalLevel, read.approval_level),
        says=read.summary or read.framing.neutral_summary,
        digest=read.digest,
        action=action,
        canonical=read.canonical,
    )


def chain(read: lineage_pb2.GetLineageResponse) -> things.Chain:
    """A lineage."""
    return things.Chain(
        tuple(_chain_item(each) for each in read.items),
        tuple(edge(each) for each in read.edges),
        read.truncated,
    )


def _chain_item(read: lineage_pb2.LineageItem) -> things.ChainItem:
    return things.ChainItem(
        id=read.id,
        kind=name_of(type_pb2.ItemKind, read.kind),
        says=read.statement,
        valid_from=time_of(read.supersession, "effective_valid_from"),
        valid_until=time_of(read.supersession, "effective_valid_until"),
        is_head=read.is_head,
        is_superseded=read.supersession.is_superseded,
        is_deleted=read.is_deleted,
        is_erased=read.is_erased,
    )


def receipt(read: memory_pb2.EraseReceipt) -> things.Receipt:
    """The receipt of an erasure."""
    return things.Receipt(
        id=read.erase_id,
        memory_id=read.memory_id,
        erased=time_of(read, "erase_time"),
        principal=read.principal,
        reason=read.reason,
        digest=read.digest,
        waiting=tuple(
            each.confirmer for each in read.confirmations if not each.HasField("confirm_time")
        ),
        completed=time_of(read, "complete_time"),
    )


def episode(read: episode_pb2.Episode) -> things.Episode:
    """What was tried."""
    return things.Episode(
        id=read.id,
        query=read.query,
        reward=read.reward,
        reflection=read.reflection,
        session_id=read.session_id,
        memory_ids=tuple(read.memory_ids),
        created=time_of(read, "create_time"),
    )


def time_of(read: Message, name: str) -> datetime | None:
    """The instant of a timestamp field; None if the field is not set."""
    if not read.HasField(name):
        return None
    found: datetime = getattr(read, name).ToDatetime(tzinfo=UTC)
    return found


def name_of(enum: Any, value: int) -> str:
    """The name of an enum value without the enum's prefix; empty for an unspecified value.

    `enum`: the generated wrapper, whose type at run time differs from that in its stubs.
    """
    if not value or value not in enum.values():
        return ""
    prefix = str(enum.keys()[0]).removesuffix("UNSPECIFIED")
    return str(enum.Name(value)).removeprefix(prefix)


def extraction(reply: dissonance_pb2.ExtractFactsResponse) -> things.Extraction:
    """What was found in texts."""
    return things.Extraction(
        name_of(dissonance_pb2.ExtractionOutcome, reply.outcome),
        tuple(map(_candidate, reply.candidates)),
        reply.counts.texts_left,
        reply.counts.budget_spent,
        reply.counts.invalid_replies,
        reply.counts.dropped,
    )


def _candidate(read: dissonance_pb2.FactCandidate) -> things.Candidate:
    return things.Candidate(
        _fact(read.fact),
        read.quote,
        read.text,
        read.span.start,
        read.span.end,
        time_of(read, "valid_from"),
        time_of(read, "valid_until"),
        read.confidence,
        read.sure,
        name_of(dissonance_pb2.ExtractionArm, read.arm),
    )
