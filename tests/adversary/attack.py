"""An attacker who owns the agent's keys, the network and every server's keys, and its target.

What may be seen is told by `Attack.expected`: exactly what the honest human signed for, in the
order in which the log says that it was carried out.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import random
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc
import rfc8785
from concord.governance.v1 import principal_pb2, proposal_pb2
from concord.graph.v1 import governed_pb2, graph_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord.type.v1.type_pb2 import SLOT_AGENT, SLOT_HUMAN
from concord_client.trust import digests, signing
from concord_client.trust.audit.log import Pinned, read_log
from concord_client.trust.audit.replay import Replay
from concord_governance.domain.errors import GraphUnavailable
from concord_testing import signed
from google.protobuf.json_format import MessageToDict
from governed_world import (
    AGENT,
    CONSTITUTIVE,
    DAY,
    HOUR,
    HUMAN,
    SECRET,
    Keys,
    Party,
    World,
    edge_action,
    request_id,
)
from writing import (
    action_of,
    to_add,
    to_change_key,
    to_delete_edge,
    to_update_edge,
    to_update_node,
    to_upsert_edge,
)

EVIL, GOOD = "evil", "good"
CREED, CREED_SAYS, HOLDS = "creed", "I hold to what I value.", "HOLDS"
CREED_STANDS = f"{GOOD} creed"
LOG_SECONDS = 60
"""How long the log may take until it tells of what was done, on a machine that is busy."""
Edges = dict[str, float]
"""Target of `agent VALUES` to its weight; `CREED_STANDS` to 1 when the creed is whole."""
Step = Callable[["Attack"], Coroutine[Any, Any, None]]


@dataclass(frozen=True)
class Meaning:
    """What a revision would do to the constitutive state, and whether the human agrees to it."""

    kind: str
    target: str
    weight: float = 1.0
    undo_of: str = ""

    @property
    def is_good(self) -> bool:
        """Tell whether the honest human signs it."""
        return self.target.startswith(GOOD)


@dataclass
class SeenEnvelope:
    """A signed envelope that the attacker has seen."""

    data: bytes
    slot: str
    proposal: proposal_pb2.Proposal
    kind: str = "consent"
    is_genuine: bool = True
    """Made with the key of its slot, over these bytes."""


@dataclass
class Attack:
    """One attacked space, and another one of the same two principals with the same keys."""

    world: World
    keys: Keys
    party: Party
    other: Party
    chance: random.Random
    proposals: list[str] = field(default_factory=list)
    envelopes: list[SeenEnvelope] = field(default_factory=list)
    sent: list[tuple[Any, Any]] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    """The full names of the requests that were tried."""
    meanings: dict[tuple[str, int], Meaning] = field(default_factory=dict)
    signed: dict[tuple[str, int], set[bytes]] = field(default_factory=dict)
    """Revision to the consents of the human's that were not taken back."""
    settled: set[tuple[str, int]] = field(default_factory=set)
    seen: dict[tuple[str, int], dict[str, str]] = field(default_factory=dict)
    """Revision to what it showed of nodes, by name: whoever signs it agrees to these words."""
    stolen: list[signing.Signer] = field(default_factory=list)
    """Former keys of the human's: changed because the attacker has them."""
    checkpoint: str = ""
    genesis: str = ""

    async def ask(self, method: Any, request: Any) -> Any:
        """Send a request and keep it for a replay; None for whatever refusal."""
        self.sent.append((method, request))
        self.asked.add(request.DESCRIPTOR.full_name)
        return await quiet(method(request))

    async def stream(self, method: Any, requests: Sequence[Any]) -> Any:
        """Send a stream of requests; None for whatever refusal."""
        self.asked.add(requests[0].DESCRIPTOR.full_name)
        return await quiet(method(iter(requests)))

    def note(self, proposal: proposal_pb2.Proposal, meaning: Meaning) -> None:
        """Remember what a revision means, and what it shows."""
        if proposal.id not in self.proposals:
            self.proposals.append(proposal.id)
        self.meanings[proposal.id, proposal.revision] = meaning
        shown = [
            item.statement
            for item in proposal.affected
            if item.kind == type_pb2.ITEM_KIND_NODE and item.statement
        ]
        self.seen[proposal.id, proposal.revision] = {_name(each): each for each in shown}

    async def pick(self) -> proposal_pb2.Proposal | None:
        """Return a proposal as it stands."""
        if not self.proposals:
            return None
        name = self.chance.choice(self.proposals[-3:])
        reply = await self.party.proposals.GetProposal(proposal_pb2.GetProposalRequest(id=name))
        return reply.proposal

    def meaning(self, proposal: proposal_pb2.Proposal) -> Meaning:
        """Return what the newest revision means."""
        return self.meanings[proposal.id, proposal.revision]

    async def edges(self, party: Party) -> list[type_pb2.Edge]:
        """Return the constitutive edges of the agent."""
        wanted = graph_pb2.EdgeFilter(relations=["VALUES"], edge_types=[CONSTITUTIVE])
        request = graph_pb2.ListEdgesRequest(filter=wanted, page_size=100)
        return list((await party.graph.ListEdges(request)).edges)

    async def visible(self, party: Party) -> Edges:
        """Return what the constitutive state is."""
        found = {edge.target.name: _strength(edge) for edge in await self.edges(party)}
        request = memory_pb2.GetMemoryRequest(id=CREED, peek=True)
        creed = (await party.memory.GetMemory(request)).memory
        if creed.edge_type == CONSTITUTIVE and not creed.HasField("forget_time"):
            wanted = graph_pb2.EdgeFilter(relations=[HOLDS])
            held = await party.graph.ListEdges(graph_pb2.ListEdgesRequest(filter=wanted))
            said = [(each.subject, each.relation, each.object) for each in creed.facts]
            whole = creed.content == CREED_SAYS and said == [("agent", HOLDS, CREED_STANDS)]
            whole = (
                whole and not creed.supersession.is_superseded and not creed.HasField("valid_until")
            )
            stated = [each for each in held.edges if each.target.name == CREED_STANDS]
            kept = [(each.edge_type, _strength(each)) for each in stated]
            found[CREED_STANDS] = 1.0 if whole and kept == [(CONSTITUTIVE, 1.0)] else -1.0
        return found

    async def expected(self) -> tuple[Edges, dict[str, str]]:
        """Fold what was carried out, in graph's order; fail for what the human did not sign.

        With it, what each end of it must say: what was shown when it became one.
        """
        state: Edges = {}
        ends: dict[str, str] = {}
        before: dict[str, Edges] = {}
        for key in await self.carried_out():
            said = self.meanings[key]
            assert key in self.settled or self.signed.get(key), f"nobody signed {said}"
            self.settled.add(key)
            before[key[0]] = dict(state)
            match said.kind:
                case "put":
                    state[said.target] = said.weight
                case "delete":
                    del state[said.target]
                case "undo":
                    old = before[said.undo_of]
                    state = {k: v for k, v in state.items() if k != said.target}
                    if said.target in old:
                        state[said.target] = old[said.target]
            held = {"agent", *state} if state else set()
            shown = self.seen[key]
            ends = {name: ends.get(name) or shown.get(name, name) for name in held}
        return state, ends

    async def words(self, names: Sequence[str]) -> dict[str, str]:
        """Return what nodes say now, as a proposal would show it."""
        found = {}
        for name in names:
            request = graph_pb2.GetNodeRequest(name=name)
            node = (await self.party.graph.GetNode(request)).node
            label = f" ({node.label})" if node.label != "Entity" else ""
            properties = MessageToDict(node.properties)
            said = f" {json.dumps(properties, sort_keys=True)}" if properties else ""
            found[name] = f"{node.name}{label}{said}"
        return found

    async def carried_out(self) -> list[tuple[str, int]]:
        """Return the revisions that the log says had a constitutive effect, as graph did them."""
        until = time.monotonic() + LOG_SECONDS
        while True:
            leaves = [json.loads(line) for line in (await self.party.export_log())[1:]]
            done = {
                leaf["properties"]["decision_id"]: (
                    leaf["proposal"]["id"],
                    leaf["proposal"]["revision"],
                )
                for leaf in leaves
                if leaf["action"] == "SMF_EXECUTE" and leaf["properties"]["effects"]
            }
            quiet_ones = {
                name for name, key in done.items() if self.meanings[key].kind == "descriptive"
            }
            written = {
                leaf["properties"]["graph_seq"]: leaf["properties"]["request_id"]
                for leaf in leaves
                if leaf["action"] in ("WRITE_SUCCESS", "DELETE_SUCCESS")
            }
            told = done.keys() - quiet_ones
            if set(written.values()) == told:
                order = dict.fromkeys(written[seq] for seq in sorted(written))
                return [done[name] for name in order]
            assert time.monotonic() < until, (
                f"executed without a write: {told - set(written.values())};"
                f" written without an execution: {set(written.values()) - told};"
                f" at work: {self.world.app.background.running}"
            )
            await asyncio.sleep(0.01)

    async def judge(self) -> None:
        """Compare what is visible with what was signed for."""
        expected, ends = await self.expected()
        assert expected == await self.visible(self.party)
        assert ends == await self.words(list(ends))
        assert await self.visible(self.other) == {}
        for party in (self.party, self.other):
            known = await party.principals.GetPrincipals(principal_pb2.GetPrincipalsRequest())
            keys = {each.slot: each.public_key for each in known.slots}
            assert keys == {
                SLOT_AGENT: signing.public_bytes(party.signer(AGENT).key),
                SLOT_HUMAN: signing.public_bytes(party.signer(HUMAN).key),
            }

    async def judge_log(self) -> None:
        """Verify the log offline, against the genesis and the checkpoint kept before."""
        for party in (self.party, self.other):
            lines = await party.export_log()
            kept = self.checkpoint or None if party is self.party else None
            pinned = Pinned(checkpoint=kept, genesis_digest=self.genesis_of(party))
            Replay(read_log(lines, pinned), pinned).run()
            if party is self.party:
                self.checkpoint = json.loads(lines[0])["checkpoint"]

    def genesis_of(self, party: Party) -> str | None:
        """Return the pinned genesis of the attacked space."""
        return self.genesis if party is self.party else None


def _name(statement: str) -> str:
    """Return the name in what is shown of a node; the names here have no brackets."""
    return statement.split(" (", maxsplit=1)[0].split(" {", maxsplit=1)[0]


def _strength(edge: type_pb2.Edge) -> float:
    """Return an edge's weight; less than any when it is hidden or ended."""
    ended = edge.supersession.is_superseded or edge.HasField("valid_until")
    return -1.0 if ended else round(edge.weight, 3)


async def quiet(call: Any) -> Any:
    """Return a reply, or None for any typed refusal; a bug of the server's is not typed."""
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        if error.code() in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN):
            raise
        return None


# what the agent and the human do in good faith, or seemingly


async def _draft(it: Attack, *, evil: bool) -> tuple[governed_pb2.GovernedAction, Meaning]:
    target = f"{EVIL if evil else GOOD} {it.chance.randrange(3)}"
    weight = it.chance.choice([0.25, 0.5, 0.75, 1.0])
    edges = await it.edges(it.party)
    if not edges or it.chance.random() < 0.6:
        known = {edge.target.name for edge in edges}
        if target in known:  # an upsert of a known edge may merge weights: say it by update
            edge = next(each for each in edges if each.target.name == target)
            return _update(edge, weight), Meaning("put", target, weight)
        return edge_action(target=target, weight=weight), Meaning("put", target, weight)
    edge = it.chance.choice(edges)
    marked = edge.target.name if not evil else f"{EVIL} {edge.target.name}"
    if it.chance.random() < 0.5:
        return _update(edge, weight), Meaning("put", marked, weight)
    delete = to_delete_edge(edge)
    return action_of(delete), Meaning("delete", marked)


def _update(edge: type_pb2.Edge, weight: float) -> governed_pb2.GovernedAction:
    edge.weight = weight
    return action_of(to_update_edge(edge, "weight"))


async def proposes(it: Attack) -> None:
    """Propose a change, a good or an evil one."""
    action, meaning = await _draft(it, evil=it.chance.random() < 0.4)
    request = proposal_pb2.CreateProposalRequest(request_id=request_id(), action=action)
    reply = await it.ask(it.party.proposals.CreateProposal, request)
    if reply is not None:
        it.note(reply.proposal, meaning)


async def edits(it: Attack) -> None:
    """Replace a proposal's action by an evil one, whatever was signed already."""
    proposal = await it.pick()
    if proposal is None:
        return
    action, meaning = await _draft(it, evil=it.chance.random() < 0.8)
    request = proposal_pb2.ReviseProposalRequest(
        request_id=request_id(),
        proposal_id=proposal.id,
        revision=proposal.revision,
        action=action,
    )
    reply = await it.ask(it.party.proposals.ReviseProposal, request)
    if reply is not None:
        it.note(reply.proposal, meaning)


async def agent_signs(it: Attack) -> None:
    """Sign for the agent, for any time."""
    proposal = await it.pick()
    if proposal is not None:
        hours = it.chance.choice([0.5, 1, 100])
        envelope = it.party.consent(proposal, AGENT, hours=hours)
        it.envelopes.append(SeenEnvelope(envelope, AGENT, proposal))


async def human_looks(it: Attack) -> None:
    """Let the human read a proposal: sign what is good, refuse the rest."""
    proposal = await it.pick()
    if proposal is None:
        return
    if it.meaning(proposal).is_good:
        envelope = it.party.consent(proposal, HUMAN)
        it.signed.setdefault((proposal.id, proposal.revision), set()).add(envelope)
        it.envelopes.append(SeenEnvelope(envelope, HUMAN, proposal))
        return
    envelope = signing.sign_rejection(
        slot=HUMAN,
        signer=it.party.human,
        space=it.party.space,
        proposal_id=proposal.id,
        revision=proposal.revision,
        reason="not so",
    )
    it.envelopes.append(SeenEnvelope(envelope, HUMAN, proposal, "rejection"))


async def takes_back(it: Attack) -> None:
    """Sign the revocation of a consent that was given."""
    given = [
        envelope for envelope in it.envelopes if envelope.kind == "consent" and envelope.is_genuine
    ]
    if not given:
        return
    envelope = it.chance.choice(given)
    revocation = it.party.revocation(envelope.proposal, envelope.slot, envelope.data)
    await completes(it)
    await it.judge()
    about = {"request_id": request_id(), "proposal_id": envelope.proposal.id}
    request = proposal_pb2.RevokeConsentRequest(revocation=revocation, **about)
    it.envelopes.append(SeenEnvelope(revocation, envelope.slot, envelope.proposal, "revocation"))
    if await it.ask(it.party.proposals.RevokeConsent, request) is not None:
        it.signed.get((envelope.proposal.id, envelope.proposal.revision), set()).discard(
            envelope.data
        )


def _deliver(it: Attack, envelope: SeenEnvelope, proposal_id: str, kind: str) -> tuple[Any, Any]:
    services, about = it.party.proposals, {"request_id": request_id(), "proposal_id": proposal_id}
    match kind:
        case "rejection":
            return services.RejectProposal, proposal_pb2.RejectProposalRequest(
                rejection=envelope.data, **about
            )
        case "revocation":
            return services.RevokeConsent, proposal_pb2.RevokeConsentRequest(
                revocation=envelope.data, **about
            )
        case _:
            return services.ApproveProposal, proposal_pb2.ApproveProposalRequest(
                consent=envelope.data, **about
            )


async def delivers(it: Attack) -> None:
    """Bring an envelope to where it belongs."""
    if it.envelopes:
        envelope = it.chance.choice(it.envelopes[-4:])
        await it.ask(*_deliver(it, envelope, envelope.proposal.id, envelope.kind))


async def goes_well(it: Attack) -> None:
    """Let a proposal have its ordinary course: both look at it, and their envelopes arrive."""
    await proposes(it)
    await _take_its_course(it)


async def agrees_on_a_creed(it: Attack) -> None:
    """Let both agree on a constitutive memory that states a fact."""
    fact = type_pb2.Fact(subject="agent", relation=HOLDS, object=CREED_STANDS)
    memory = type_pb2.Memory(id=CREED, content=CREED_SAYS, edge_type=CONSTITUTIVE, facts=[fact])
    action = action_of(to_add(memory))
    request = proposal_pb2.CreateProposalRequest(request_id=request_id(), action=action)
    reply = await it.ask(it.party.proposals.CreateProposal, request)
    if reply is not None:
        it.note(reply.proposal, Meaning("put", CREED_STANDS))
        await _take_its_course(it)


@contextlib.contextmanager
def latest_alone(it: Attack) -> Iterator[None]:
    """Let everybody look at the newest proposal."""
    rest, it.proposals = it.proposals[:-1], it.proposals[-1:]
    yield
    it.proposals = rest + it.proposals


async def delivers_last(it: Attack, envelope: SeenEnvelope | None = None) -> None:
    """Bring the newest envelope, or this one, to where it belongs."""
    if it.envelopes:
        envelope = envelope or it.envelopes[-1]
        await it.ask(*_deliver(it, envelope, envelope.proposal.id, envelope.kind))


async def _take_its_course(it: Attack) -> None:
    with latest_alone(it):
        for course in (agent_signs, human_looks):
            place = len(it.envelopes)
            await course(it)
            for envelope in it.envelopes[place:]:
                await delivers_last(it, envelope)


async def swaps(it: Attack) -> None:
    """Bring an envelope to another proposal, as another kind, or to another space."""
    if not it.envelopes or not it.proposals:
        return
    envelope = it.chance.choice(it.envelopes)
    kind = it.chance.choice(["consent", "rejection", "revocation"])
    method, request = _deliver(it, envelope, it.chance.choice(it.proposals), kind)
    await it.ask(method, request)
    if kind == "consent":
        await quiet(it.other.proposals.ApproveProposal(request))


async def delivers_at_once(it: Attack) -> None:
    """Bring several envelopes at the same time, some twice."""
    if it.envelopes:
        some = [it.chance.choice(it.envelopes) for _ in range(3)]
        asked = [_deliver(it, envelope, envelope.proposal.id, envelope.kind) for envelope in some]
        for method, request in [*asked, asked[0]]:
            it.sent.append((method, request))
        async with asyncio.TaskGroup() as group:
            for method, request in [*asked, asked[0]]:
                group.create_task(quiet(method(request)))


async def bulk_approves(it: Attack) -> None:
    """Bring envelopes through the bulk door."""
    if it.envelopes:
        some = [it.chance.choice(it.envelopes) for _ in range(2)]
        request = proposal_pb2.BulkApproveRequest(
            request_id=request_id(),
            dry_run=it.chance.random() < 0.3,
            items=[
                proposal_pb2.ApproveItem(proposal_id=envelope.proposal.id, consent=envelope.data)
                for envelope in some
            ],
        )
        await it.ask(it.party.proposals.BulkApprove, request)


async def replays(it: Attack) -> None:
    """Send earlier requests again, as they were, and under another request id."""
    if it.sent:
        method, request = it.chance.choice(it.sent)
        await quiet(method(request))
        again = type(request)()
        again.CopyFrom(request)
        if "request_id" in again.DESCRIPTOR.fields_by_name:
            again.request_id = request_id()
        if not isinstance(request, proposal_pb2.CreateProposalRequest) and not isinstance(
            request, proposal_pb2.ReviseProposalRequest
        ):
            await quiet(method(again))


async def forges(it: Attack) -> None:
    """Make a human's consent without the human's key."""
    proposal = await it.pick()
    if proposal is None:
        return
    agent, human = it.party.agent, it.party.human
    forger = it.chance.choice(
        [
            agent,
            signing.Signer("ada", agent.key),
            signing.Signer("Ada", agent.key),
            signing.Signer("ada", it.keys.grant),
            signing.Signer("ada", it.keys.log),
            signing.Signer("ada", signing.generate_key()),
            *it.stolen,
        ]
    )
    envelope = SeenEnvelope(
        it.party.consent(proposal, HUMAN, signer=forger), HUMAN, proposal, is_genuine=False
    )
    seen = [each for each in it.envelopes if each.slot == HUMAN and each.is_genuine]
    if seen and it.chance.random() < 0.6:
        envelope = _altered(it, it.chance.choice(seen), envelope)
    assert human.key is not forger.key
    it.envelopes.append(envelope)
    await it.ask(*_deliver(it, envelope, proposal.id, "consent"))


def _altered(it: Attack, genuine: SeenEnvelope, wanted: SeenEnvelope) -> SeenEnvelope:
    """Put a genuine signature over other bytes, in one of the ways there are."""
    mine, theirs = json.loads(wanted.data), json.loads(genuine.data)
    match it.chance.randrange(4):
        case 0:
            mine["signatures"] = theirs["signatures"]
        case 1:
            mine["signatures"] = [*theirs["signatures"], *mine["signatures"]]
        case 2:
            theirs["payload"] = theirs["payload"].rstrip("=") + "A==="
            mine = theirs
        case _:
            said = json.loads(base64.b64decode(theirs["payload"]))
            said |= {"proposal_id": wanted.proposal.id, "revision": wanted.proposal.revision}
            theirs["payload"] = base64.b64encode(rfc8785.dumps(said)).decode()
            mine = theirs
    is_genuine = mine == json.loads(genuine.data)  # the very bytes that the human signed for it
    return SeenEnvelope(json.dumps(mine).encode(), HUMAN, wanted.proposal, is_genuine=is_genuine)


async def applies_directly(it: Attack) -> None:
    """Go to graph with a grant by governance's own key, and envelopes that do not carry it."""
    proposal = await it.pick()
    if proposal is None:
        return
    if it.chance.random() < 0.3 and it.meaning(proposal).is_good:
        action, _ = await _draft(it, evil=True)
    else:
        action = proposal.action
    of_human: list[SeenEnvelope | None] = [
        envelope for envelope in it.envelopes if envelope.slot == HUMAN
    ]
    human = it.chance.choice(of_human or [None])
    if human is not None and _carries(human, proposal, action):
        return  # what the human signed for is not an attack
    agent = it.party.consent(proposal, AGENT)
    envelopes = {AGENT: agent, HUMAN: human.data if human else agent}
    with contextlib.suppress(ValueError):  # an envelope that is no JSON cannot be put into a grant
        await _apply(it, proposal, action, envelopes)


def _carries(envelope: SeenEnvelope, proposal: Any, action: Any) -> bool:
    """Tell whether a human's envelope is a consent to this very thing."""
    return (
        envelope.kind == "consent"
        and envelope.is_genuine
        and envelope.proposal.id == proposal.id
        and envelope.proposal.revision == proposal.revision
        and action == proposal.action
    )


async def _apply(it: Attack, proposal: Any, action: Any, envelopes: dict[str, bytes]) -> None:
    space = it.chance.choice([it.party, it.party, it.other])
    honest = it.chance.random() < 0.5
    grant = signed.sign_grant(
        governance=it.chance.choice([it.keys.grant, it.keys.grant, it.keys.log]),
        space=space.space,
        decision_id=request_id(),
        proposal_id=proposal.id,
        revision=proposal.revision,
        proposal_digest=proposal.digest,
        action_digest=digests.action_digest(action) if honest else proposal.action_digest,
        etags={item.id: item.etag for item in proposal.affected},
        policy_digest=proposal.policy_digest,
        consents=envelopes,
        expire_time=space.time(2),
    )
    request = governed_pb2.ApplyGovernedChangeRequest(
        request_id=request_id(), action=action, grant=grant
    )
    await it.ask(space.governed.ApplyGovernedChange, request)


async def applies_without_grant(it: Attack) -> None:
    """Go to graph with no grant at all."""
    proposal = await it.pick()
    if proposal is not None:
        request = governed_pb2.ApplyGovernedChangeRequest(
            request_id=request_id(),
            action=proposal.action,
            etags=[governed_pb2.ItemEtag(id=item.id, etag=item.etag) for item in proposal.affected],
        )
        await it.ask(it.party.governed.ApplyGovernedChange, request)


async def writes_ungoverned(it: Attack) -> None:
    """Try one of graph's own writes on what is constitutive, or on what carries it."""
    graph, edges = it.party.graph, await it.edges(it.party)
    evil = f"{EVIL} {it.chance.randrange(3)}"
    said = edge_action(target=evil).upsert_edge
    agent = await graph.GetNode(graph_pb2.GetNodeRequest(name="agent"))
    tries: list[tuple[Any, Any]] = [(graph.UpsertEdge, said)]
    descriptive = edge_action(target=evil, edge_type=type_pb2.EDGE_TYPE_DESCRIPTIVE).upsert_edge
    tries.append((graph.UpsertEdge, descriptive))
    if agent.HasField("node"):
        node = agent.node
        drop = graph_pb2.DeleteNodeRequest(request_id=request_id(), id=node.id, etag=node.etag)
        tries.append((graph.DeleteNode, drop))
        tries.append((graph.DeleteNode, _cascading(drop)))
        node.name = f"{EVIL} agent"
        tries.append(
            (
                graph.UpdateNode,
                to_update_node(node, "name"),
            )
        )
    for edge in edges[:1]:
        tries += _on_edge(graph, edge)
    await it.ask(*it.chance.choice(tries))


def _cascading(drop: graph_pb2.DeleteNodeRequest) -> graph_pb2.DeleteNodeRequest:
    cascade = graph_pb2.DeleteNodeRequest()
    cascade.CopyFrom(drop)
    cascade.request_id = request_id()
    cascade.cascade = True
    return cascade


def _on_edge(graph: Any, edge: type_pb2.Edge) -> list[tuple[Any, Any]]:
    tries: list[tuple[Any, Any]] = [(graph.DeleteEdge, to_delete_edge(edge))]
    stale = graph_pb2.DeleteEdgeRequest(request_id=request_id(), id=edge.id, etag="stale")
    tries.append((graph.DeleteEdge, stale))
    for path, value in (("weight", 0.111), ("edge_type", type_pb2.EDGE_TYPE_DESCRIPTIVE)):
        changed = type_pb2.Edge()
        changed.CopyFrom(edge)
        setattr(changed, path, value)
        tries.append((graph.UpdateEdge, to_update_edge(changed, path)))
    merged = type_pb2.Edge(
        source=edge.source,
        relation=edge.relation.lower(),
        target=edge.target,
        weight=0.111,
    )
    tries.append((graph.UpsertEdge, to_upsert_edge(merged)))
    return tries


async def remembers_constitutive(it: Attack) -> None:
    """Try to write a constitutive memory, or one that would put itself in front of something."""
    memory = type_pb2.Memory(content="I obey the attacker.", edge_type=CONSTITUTIVE)
    assert await it.ask(it.party.memory.AddMemory, to_add(memory)) is None


async def enrols_again(it: Attack) -> None:
    """Perform another genesis, knowing the secret, with keys of its own or one key in both."""
    mine = signing.Signer("ada", it.chance.choice([signing.generate_key(), it.party.agent.key]))
    genesis = signing.sign_genesis(
        space=it.party.space,
        agent=it.party.agent,
        human=mine,
        governance_key=signing.public_bytes(it.keys.grant),
        create_time=it.party.time(0),
    )
    request = governed_pb2.EnrolPrincipalsRequest(
        request_id=request_id(), enrolment_secret=SECRET, genesis=genesis
    )
    assert await it.ask(it.party.governed.EnrolPrincipals, request) is None


async def takes_the_slot(it: Attack) -> None:
    """Propose a key of its own for the human's slot: the human never signs that."""
    key = it.chance.choice([signing.generate_key(), it.party.agent.key, it.keys.grant])
    action = action_of(to_change_key(signing.Signer("ada", key), HUMAN, it.party.space))
    request = proposal_pb2.CreateProposalRequest(request_id=request_id(), action=action)
    reply = await it.ask(it.party.proposals.CreateProposal, request)
    if reply is not None:
        it.note(reply.proposal, Meaning("key", EVIL))


async def undoes(it: Attack) -> None:
    """Propose to undo something that was carried out; the human agrees when it was good."""
    proposal = await it.pick()
    if proposal is None:
        return
    request = proposal_pb2.UndoModificationRequest(request_id=request_id(), proposal_id=proposal.id)
    reply = await it.ask(it.party.proposals.UndoModification, request)
    if reply is not None:
        was = it.meaning(proposal)
        it.note(reply.proposal, Meaning("undo", was.target, undo_of=proposal.id))


async def withdraws(it: Attack) -> None:
    """Take a proposal back."""
    proposal = await it.pick()
    if proposal is not None:
        request = proposal_pb2.WithdrawProposalRequest(
            request_id=request_id(), proposal_id=proposal.id
        )
        await it.ask(it.party.proposals.WithdrawProposal, request)


async def time_passes(it: Attack) -> None:
    """Let time pass: consents, proposals and undos run out."""
    it.world.clock.pass_(it.chance.choice([1, HOUR // 2, HOUR, 2 * HOUR, 49 * HOUR, 31 * DAY]))
    await it.party.entries()


async def proposes_something_descriptive(it: Attack) -> None:
    """Propose what the agent decides alone, sign and deliver it."""
    action = edge_action(
        target=f"{EVIL} {it.chance.randrange(3)}",
        edge_type=type_pb2.EDGE_TYPE_DESCRIPTIVE,
        relation="LIKES",
    )
    request = proposal_pb2.CreateProposalRequest(request_id=request_id(), action=action)
    reply = await it.ask(it.party.proposals.CreateProposal, request)
    if reply is not None:
        it.note(reply.proposal, Meaning("descriptive", EVIL))


async def loses_the_next_answer(it: Attack) -> None:
    """Cut governance off from graph before or after its next effect."""
    client = it.world.app._graph
    real = type(client).apply
    before = it.chance.random() < 0.5

    async def cut(*args: Any, **named: Any) -> Any:
        del client.__dict__["apply"]
        if not before:
            await real(client, *args, **named)
        raise GraphUnavailable("cut off")

    client.__dict__["apply"] = cut


async def completes(it: Attack) -> None:
    """Let governance go on with what was decided."""
    it.world.app._graph.__dict__.pop("apply", None)
    for space in await it.world.app._ledger.spaces():
        await it.world.app._execution.complete(space)


STEPS: dict[str, Step] = {
    step.__name__: step
    for step in (
        *(proposes, edits, agent_signs, human_looks, takes_back, delivers, goes_well),
        *(swaps, delivers_at_once, bulk_approves, replays, forges, applies_directly),
        *(applies_without_grant, writes_ungoverned, remembers_constitutive, enrols_again),
        *(takes_the_slot, undoes, withdraws, time_passes, proposes_something_descriptive),
        *(loses_the_next_answer, completes, agrees_on_a_creed),
    )
}
