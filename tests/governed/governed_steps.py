"""Steps that several tests of a governed space take."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from concord.governance.v1 import principal_pb2, proposal_pb2
from concord.graph.v1 import governed_pb2, graph_pb2
from concord.type.v1 import type_pb2
from concord_client.trust import digests, signing
from concord_client.trust.audit.store import differences
from concord_governance.adapters.graph.client import GraphClient
from concord_governance.domain.errors import GraphUnavailable
from concord_governance.ports.graph import AppliedChange, FeedMessage
from concord_governance.usecases.graph_feed import GraphFollower
from concord_testing import signed
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.message import Message
from governed_world import (
    AGENT,
    CONSTITUTIVE,
    HUMAN,
    STATUS,
    Party,
    edge_action,
    eventually,
    request_id,
)
from writing import action_of, salt, to_add, to_change_key, to_upsert_edge

DESCRIPTIVE = type_pb2.EDGE_TYPE_DESCRIPTIVE


EXECUTED = STATUS.PROPOSAL_STATUS_EXECUTED


Applying = Callable[..., Awaitable[AppliedChange]]


RARE = "quinquagesimal"


async def does(party: Party, action: Message) -> proposal_pb2.Proposal:
    """Propose, decide and demand that it was done."""
    done = await party.decide(await party.propose(action))
    assert done.status == EXECUTED
    return done


def creed() -> governed_pb2.GovernedAction:
    """Return the action that adds a constitutive memory."""
    memory = type_pb2.Memory(
        id="creed",
        content="I never lie to Ada.",
        kind=type_pb2.MEMORY_KIND_FACT,
        edge_type=CONSTITUTIVE,
        facts=[type_pb2.Fact(subject="agent", relation="TELLS", object="the truth")],
    )
    return action_of(to_add(memory))


async def demand_honest(party: Party) -> None:
    """Verify the log offline, and hold the store against it."""
    found = await party.verified()
    stored = await party.governed.GetConstitutiveDigests(
        governed_pb2.GetConstitutiveDigestsRequest()
    )
    assert differences(found.constitutive, stored.items) == []


async def never(*_: Any, **__: Any) -> AppliedChange:
    """Fail before graph was asked."""
    raise GraphUnavailable("cut off before")


def lost(apply: Applying) -> Applying:
    """Let the effect happen, and lose the answer."""

    async def apply_and_lose(self: GraphClient, *args: Any, **kwargs: Any) -> AppliedChange:
        await apply(self, *args, **kwargs)
        raise GraphUnavailable("cut off after")

    return apply_and_lose


async def ended(party: Party, proposal: proposal_pb2.Proposal) -> proposal_pb2.Proposal:
    """Wait until a decided proposal has its end."""
    return await eventually(
        lambda: party.get(proposal), lambda now: now.status != STATUS.PROPOSAL_STATUS_APPROVED
    )


def reword(ledger: Path, proposal_id: str, word: str) -> None:
    """Change what a stored revision says of why, with the digest that fits."""
    with closing(sqlite3.connect(ledger)) as file, file:
        (canonical,) = file.execute(
            "SELECT canonical FROM revision WHERE proposal_id = ?", (proposal_id,)
        ).fetchone()
        said = json.loads(canonical)
        said[word] = {
            "framing": dict.fromkeys(said["framing"], "The other words."),
            "trigger": "DISSONANCE",
            "proposer": "somebody",
        }[word]
        bytes_now = rfc8785.dumps(said)
        file.execute(
            "UPDATE revision SET canonical = ?, digest = ? WHERE proposal_id = ?",
            (bytes_now, sha256(bytes_now).hexdigest(), proposal_id),
        )


async def revoke(party: Party, proposal: proposal_pb2.Proposal, slot: str, consent: bytes) -> Any:
    """Take a consent back."""
    envelope = party.revocation(proposal, slot, consent)
    reply = await party.proposals.RevokeConsent(
        proposal_pb2.RevokeConsentRequest(
            request_id=request_id(), proposal_id=proposal.id, revocation=envelope
        )
    )
    return reply.proposal


def linking(count: int) -> governed_pb2.GovernedAction:
    """Return the action that adds a constitutive memory with so many links, an edge each."""
    links = " ".join(f"[[memory:m{number:03}]]" for number in range(count))
    memory = type_pb2.Memory(id="creed", content=links, edge_type=CONSTITUTIVE)
    return action_of(to_add(memory))


async def key_change(party: Party, slot: str) -> tuple[proposal_pb2.Proposal, signing.Signer]:
    """Propose another key for a slot; return the proposal and who signs by the new key."""
    new = signing.Signer(party.signer(slot).principal, signing.generate_key())
    return await party.propose(to_change_key(new, slot, party.space)), new


async def keys_of(party: Party) -> list[bytes]:
    """Return the slots' keys as graph has them."""
    known = await party.principals.GetPrincipals(principal_pb2.GetPrincipalsRequest())
    return [slot.public_key for slot in known.slots]


@asynccontextmanager
async def follower_held(party: Party, proposal: proposal_pb2.Proposal) -> AsyncIterator[None]:
    """Decide while nothing of graph's reaches the log; within, graph has done it."""
    real, told = GraphFollower.apply, asyncio.Event()
    before = await keys_of(party)

    async def held(self: GraphFollower, news: FeedMessage) -> None:
        await told.wait()
        await real(self, news)

    with pytest.MonkeyPatch.context() as patch:
        await party.approve(proposal, AGENT)
        patch.setattr(GraphFollower, "apply", held)
        deciding = asyncio.create_task(party.approve(proposal, HUMAN))
        try:
            await eventually(lambda: keys_of(party), lambda now: now != before)
            yield
        finally:
            told.set()
            await deciding


def asked_with(envelope: bytes) -> governed_pb2.RevokeConsentRequest:
    """Return what graph itself is asked."""
    return governed_pb2.RevokeConsentRequest(request_id=request_id(), revocation=envelope)


async def revocations(party: Party, count: int = 1) -> list[dict[str, Any]]:
    """Wait until the log tells of so many revocations; return their entries."""

    async def told() -> list[dict[str, Any]]:
        leaves = [json.loads(line) for line in (await party.export_log())[1:]]
        return [leaf for leaf in leaves if leaf["action"] == "SMF_REVOKE"]

    return await eventually(told, lambda found: len(found) >= count)


async def hub_with(party: Party, count: int) -> governed_pb2.GovernedAction:
    """Make a constitutive edge at a node, hang others there; return what deletes the node."""
    await does(party, edge_action("hub", "VALUES", "honesty"))
    for number in range(count):
        edge = edge_action("hub", f"R{number}", "x", edge_type=DESCRIPTIVE).upsert_edge.edge
        await party.graph.UpsertEdge(to_upsert_edge(edge))
    node = (await party.graph.GetNode(graph_pb2.GetNodeRequest(name="hub"))).node
    delete = graph_pb2.DeleteNodeRequest(
        request_id=salt(), id=node.id, etag=node.etag, cascade=True
    )
    return action_of(delete)


def said(folder: Path) -> list[str]:
    """Return the ledger's files in which the rare word can be read."""
    files = folder.glob("ledger.db*")
    return [each.name for each in files if RARE.encode() in each.read_bytes()]


async def decided(party: Party, proposal: proposal_pb2.Proposal) -> proposal_pb2.Proposal:
    """Give both consents, and wait until the log has followed graph through all of the change."""
    found = await party.decide(proposal)
    return await eventually(
        lambda: party.get(found), lambda now: now.status != STATUS.PROPOSAL_STATUS_APPROVED
    )


def past_governance(
    party: Party,
    proposal: proposal_pb2.Proposal,
    governance: Ed25519PrivateKey,
    consents: Mapping[str, bytes],
) -> governed_pb2.ApplyGovernedChangeRequest:
    """Return what graph is asked to carry out, under a grant by governance's own key."""
    grant = signed.sign_grant(
        governance=governance,
        space=party.space,
        decision_id="mine",
        proposal_id=proposal.id,
        revision=proposal.revision,
        proposal_digest=proposal.digest,
        action_digest=proposal.action_digest,
        etags={item.id: item.etag for item in proposal.affected},
        policy_digest=proposal.policy_digest,
        consents=consents,
        expire_time=party.time(1),
    )
    return governed_pb2.ApplyGovernedChangeRequest(
        request_id="mine", action=proposal.action, grant=grant
    )


def agreed_unproposed(
    party: Party,
    governance: Ed25519PrivateKey,
    action: governed_pb2.GovernedAction,
    etags: Mapping[str, str],
) -> governed_pb2.ApplyGovernedChangeRequest:
    """Return what graph is asked with both consents to an action that no governance looked at."""
    agreed: dict[str, Any] = {
        "space": party.space,
        "proposal_id": request_id(),
        "revision": 1,
        "proposal_digest": "0" * 64,
        "action_digest": digests.action_digest(action),
        "etags": etags,
        "policy_digest": "0" * 64,
        "expire_time": party.time(1),
    }
    consents = {
        slot: signing.sign_consent(slot=slot, signer=party.signer(slot), **agreed)
        for slot in (AGENT, HUMAN)
    }
    grant = signed.sign_grant(
        governance=governance, decision_id=request_id(), consents=consents, **agreed
    )
    return governed_pb2.ApplyGovernedChangeRequest(
        request_id=request_id(), action=action, grant=grant
    )
