"""What each guard holds back: attempts, and the harm that is done when nothing refuses them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import grpc
from concord.graph.v1 import governed_pb2, graph_pb2, lineage_pb2, memory_pb2
from concord_chassis.call.failure import Failure
from concord_client.trust import digests, signing
from concord_testing import signed
from contract_homes import (
    CONSTITUTIVE,
    EXPIRE_TIME,
    Home,
    Parties,
    Template,
    edge_said,
    new_parties,
    weaken,
)
from contract_live import Answer, Live, Request, governing, member
from contract_registry import Refused
from google.protobuf.field_mask_pb2 import FieldMask

Probe = Callable[[Live, Template], Awaitable[bool]]
"""Tries to do harm. Returns whether it was done: not when it was refused as it should be.
Fails when it was refused otherwise: then another guard has spoken."""


def attempt(
    method: str, request: Callable[[Home], Request], code: grpc.StatusCode, reason: str
) -> Probe:
    """Return the probe that sends one request of A's and must be refused so."""

    async def probe(live: Live, template: Template) -> bool:
        answer = await live.ask(member("a"), method, request(template.a))
        return is_done(answer, Refused(code, reason))

    return probe


def is_done(answer: Answer, demanded: Refused) -> bool:
    """Whether an attempt succeeded; fail when it was refused otherwise than demanded."""
    answer = _with_item_errors(answer)
    if answer.refusal is None:
        return True
    assert demanded.unmet_by(answer) == ""
    return False


def _with_item_errors(answer: Answer) -> Answer:
    """A batch tells its refusal in its reply."""
    for reply in answer.replies:
        for error in getattr(reply, "errors", ()):
            return Answer(
                refusal=Failure(grpc.StatusCode.FAILED_PRECONDITION, error.reason, error.message)
            )
    return answer


def _update(home: Home, path: str, **fields: Any) -> graph_pb2.UpdateEdgeRequest:
    edge = replace_edge(home, **fields)
    return graph_pb2.UpdateEdgeRequest(
        request_id="x", edge=edge, update_mask=FieldMask(paths=[path])
    )


def replace_edge(home: Home, **fields: Any) -> Any:
    """Return the constitutive edge of a home with some fields said otherwise."""
    edge = edge_said("VALUES", "Honesty", **fields)
    edge.id, edge.etag = home.rock_id, home.rock_etag
    return edge


def _promoted(home: Home) -> graph_pb2.UpdateEdgeRequest:
    request = _update(home, "edge_type", edge_type=CONSTITUTIVE)
    request.edge.id, request.edge.etag = home.edge_id, home.edge_etag
    return request


def _node(home: Home, path: str, **fields: Any) -> graph_pb2.UpdateNodeRequest:
    node = {"id": home.node_id, "etag": home.node_etag} | fields
    return graph_pb2.UpdateNodeRequest(
        request_id="x",
        node=node,  # type: ignore[arg-type] # protobuf takes a mapping
        update_mask=FieldMask(paths=[path]),
    )


def _memory(**fields: Any) -> memory_pb2.AddMemoryRequest:
    return memory_pb2.AddMemoryRequest(request_id="x", memory=fields)  # type: ignore[arg-type] # a mapping will do


def _creed(home: Home, path: str, **fields: Any) -> memory_pb2.UpdateMemoryRequest:
    memory = {"id": home.creed_id, "etag": home.creed_etag, "content": "I may lie"} | fields
    return memory_pb2.UpdateMemoryRequest(
        request_id="x",
        memory=memory,  # type: ignore[arg-type] # protobuf takes a mapping
        update_mask=FieldMask(paths=[path]),
    )


def _relinked(home: Home) -> memory_pb2.UpdateMemoryRequest:
    return _creed(
        home,
        "content",
        id=home.memory_id,
        etag=home.memory_etag,
        content=f"Deprecates: [[memory:{home.creed_id}]]",
    )


def _batched(home: Home) -> Request:
    return [
        memory_pb2.BatchAddMemoriesRequest(
            header=memory_pb2.BatchHeader(request_id="x", memory_count=1)
        ),
        memory_pb2.BatchAddMemoriesRequest(
            memory=_memory(content=f"Amends: [[memory:{home.creed_id}]]").memory
        ),
    ]


def _lineage(newer: str, older: str, relation: int) -> lineage_pb2.AddLineageRequest:
    return lineage_pb2.AddLineageRequest(
        request_id="x",
        newer_id=newer,
        older_id=older,
        relation=relation,  # type: ignore[arg-type] # numbers are the contract's
    )


# Every way in which somebody alone could change what defines the agent (G4, G5), by its harm.
PROTECTED: dict[str, tuple[str, Callable[[Home], Request]]] = {
    "deleted": (
        "DeleteEdge",
        lambda h: graph_pb2.DeleteEdgeRequest(request_id="x", id=h.rock_id, etag=h.rock_etag),
    ),
    "re-weighted": ("UpdateEdge", lambda h: _update(h, "weight", weight=0.1)),
    "demoted": ("UpdateEdge", lambda h: _update(h, "edge_type", edge_type=1)),
    "given properties": ("UpdateEdge", lambda h: _update(h, "properties", properties={"a": 1})),
    "re-pointed": ("UpdateEdge", lambda h: _update(h, "target", target={"name": "Gold"})),
    "ended": (
        "UpdateEdge",
        lambda h: _update(h, "valid_until", valid_until="2030-01-01T00:00:00Z"),
    ),
    "re-weighted by upsert": (
        "UpsertEdge",
        lambda _: graph_pb2.UpsertEdgeRequest(
            request_id="x", edge=edge_said("VALUES", "Honesty", weight=0.1)
        ),
    ),
    "removed with its node": (
        "DeleteNode",
        lambda h: graph_pb2.DeleteNodeRequest(
            request_id="x", id=h.node_id, etag=h.node_etag, cascade=True
        ),
    ),
    "re-named at its end": ("UpdateNode", lambda h: _node(h, "name", name="Eve")),
    "re-labelled at its end": ("UpdateNode", lambda h: _node(h, "label", label="Robot")),
    "merged at its end": (
        "UpsertNode",
        lambda _: graph_pb2.UpsertNodeRequest(
            request_id="x",
            node={"name": "Ada", "properties": {"a": 1}},  # type: ignore[arg-type] # a mapping will do
        ),
    ),
    "created": (
        "UpsertEdge",
        lambda _: graph_pb2.UpsertEdgeRequest(
            request_id="x", edge=edge_said("VALUES", "Gold", edge_type=CONSTITUTIVE)
        ),
    ),
    "promoted": ("UpdateEdge", _promoted),
    "created as a memory": (
        "AddMemory",
        lambda _: _memory(content="I may lie", edge_type=CONSTITUTIVE),
    ),
    "rewritten": ("UpdateMemory", lambda h: _creed(h, "content")),
    "demoted as a memory": ("UpdateMemory", lambda h: _creed(h, "edge_type", edge_type=1)),
    "forgotten": (
        "ForgetMemory",
        lambda h: memory_pb2.ForgetMemoryRequest(request_id="x", id=h.creed_id, etag=h.creed_etag),
    ),
    "erased": (
        "EraseMemory",
        lambda h: memory_pb2.EraseMemoryRequest(request_id="x", id=h.creed_id, etag=h.creed_etag),
    ),
    "superseded": ("AddLineage", lambda h: _lineage(h.memory_id, h.creed_id, 1)),
    "deprecated": ("AddLineage", lambda h: _lineage(h.memory_id, h.creed_id, 2)),
    "amended": ("AddLineage", lambda h: _lineage(h.memory_id, h.creed_id, 3)),
    "superseded by an edge": ("AddLineage", lambda h: _lineage(h.edge_id, h.rock_id, 1)),
    "superseded by a link": (
        "AddMemory",
        lambda h: _memory(content=f"Supersedes: [[memory:{h.creed_id}]]"),
    ),
    "deprecated by a new link": ("UpdateMemory", _relinked),
    "amended by a batch": ("BatchAddMemories", _batched),
}


@dataclass(frozen=True)
class Forgery:
    """A grant that does not hold, for the check that finds it."""

    reason: str
    check: str
    grant: Callable[[Home], bytes]


def _granted(home: Home, parties: Parties | None = None, **other: Any) -> bytes:
    """Return the grant of a home's governed action, with something signed otherwise."""
    who = parties or home.parties
    return who.grant(home.space, home.governed_action, {home.rock_id: home.rock_etag}, **other)


def _consents(home: Home, agent: signing.Signer, human: signing.Signer) -> bytes:
    return _granted(home, Parties(agent, human, home.parties.governance))


def _without_consent(home: Home) -> bytes:
    """Return a grant that governance signed for a decision nobody consented to."""
    return signed.sign_grant(
        governance=home.parties.governance,
        space=home.space,
        decision_id="d-1",
        proposal_id="p-1",
        revision=1,
        proposal_digest="0" * 64,
        action_digest=digests.action_digest(home.governed_action),
        etags={home.rock_id: home.rock_etag},
        policy_digest="0" * 64,
        consents={},
        expire_time=EXPIRE_TIME,
    )


FORGERIES = {
    "signed by another governance": Forgery(
        "GRANT_INVALID",
        "governance_signature",
        lambda h: _granted(h, replace(h.parties, governance=signing.generate_key())),
    ),
    "for another space": Forgery(
        "GRANT_INVALID",
        "space",
        lambda h: h.parties.grant("b", h.governed_action, {h.rock_id: h.rock_etag}),
    ),
    "for another action": Forgery(
        "GRANT_INVALID",
        "action_digest",
        lambda h: _granted(h, action_digest=digests.action_digest(weaken(h, 0.8))),
    ),
    "over": Forgery(
        "GRANT_INVALID",
        "expiry",
        lambda h: _granted(h, expire_time=EXPIRE_TIME - timedelta(days=1)),
    ),
    "without consents": Forgery("CONSENT_INVALID", "missing", _without_consent),
    "with the agent's own consent twice": Forgery(
        "CONSENT_INVALID",
        "signature",
        lambda h: _consents(
            h,
            h.parties.agent,
            signing.Signer(h.parties.human.principal, h.parties.agent.key),
        ),
    ),
    "with a stranger's consent": Forgery(
        "CONSENT_INVALID",
        "signature",
        lambda h: _consents(h, h.parties.agent, new_parties().human),
    ),
}


def forged(forgery: Forgery) -> Probe:
    """Return the probe that asks for a change under a forged grant."""

    async def probe(live: Live, template: Template) -> bool:
        home = template.a
        request = governed_pb2.ApplyGovernedChangeRequest(
            request_id="x", action=home.governed_action, grant=forgery.grant(home)
        )
        answer = await live.ask(governing("a"), "ApplyGovernedChange", request)
        demanded = Refused(grpc.StatusCode.FAILED_PRECONDITION, forgery.reason)
        done = is_done(answer, demanded)
        assert answer.refusal is None or answer.refusal.metadata["check"] == forgery.check
        return done

    return probe
