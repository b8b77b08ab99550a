"""Two spaces full of things with the same names, and one where nothing is."""

import json
import secrets
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any  # what the dynamic calls give back

from concord.governance.v1 import access_pb2, audit_pb2, proposal_pb2
from concord.graph.v1 import (
    claim_pb2,
    conflict_pb2,
    dialogue_pb2,
    episode_pb2,
    governed_pb2,
    graph_pb2,
    memory_pb2,
    record_pb2,
    relation_pb2,
    session_pb2,
    space_pb2,
    working_memory_pb2,
)
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from concord_client.transfer import agreed_in
from concord_client.trust import digests, signing
from concord_testing import signed
from contract_governance import GRANT_KEY, followed, governed_live, ledger_of
from contract_live import NOW, OPERATOR, Live, dissonant, governing, graph_app, graph_live, member
from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message

CONSTITUTIVE = type_pb2.EDGE_TYPE_CONSTITUTIVE
EXPIRE_TIME = datetime.fromtimestamp(NOW // 1_000_000, UTC) + timedelta(days=1)
MADE = 3
CONFLICTS = "concord.graph.v1.ConflictService"
"""Dissonance has methods of the same names."""
POLICY = sha256(b"policy").hexdigest()


@dataclass(frozen=True)
class Parties:
    """Who must consent in a space, with their keys, and the governance that grants."""

    agent: signing.Signer
    human: signing.Signer
    governance: Any  # cryptography's private key; signing makes and takes it

    def genesis(self, space: str) -> bytes:
        """Return a space's genesis record."""
        return signing.sign_genesis(
            space=space,
            agent=self.agent,
            human=self.human,
            governance_key=signing.public_bytes(self.governance),
        )

    def grant(
        self,
        space: str,
        action: governed_pb2.GovernedAction,
        etags: Mapping[str, str],
        **other: Any,  # what a forger signs instead, by the names of `sign_consent`
    ) -> bytes:
        """Return a grant with both consents to an action that may make some items."""
        agreed: dict[str, Any] = {
            "space": space,
            "proposal_id": "p-1",
            "revision": 1,
            "proposal_digest": POLICY,
            "action_digest": digests.action_digest(action),
            "etags": {f"made-{number}": "" for number in range(MADE)} | dict(etags),
            "policy_digest": POLICY,
            "expire_time": EXPIRE_TIME,
        } | other
        consents = {
            slot: signing.sign_consent(slot=slot, signer=signer, **agreed)
            for slot, signer in ((signing.AGENT, self.agent), (signing.HUMAN, self.human))
        }
        return signed.sign_grant(
            governance=self.governance, decision_id="d-1", consents=consents, **agreed
        )


def new_parties() -> Parties:
    """Make the keys of a space."""
    return Parties(
        signing.Signer("agent-1", signing.generate_key()),
        signing.Signer("anna@example.org", signing.generate_key()),
        GRANT_KEY,
    )


@dataclass(frozen=True)
class Home:
    """A furnished space: names that every home has, ids and etags of its own."""

    space: str
    parties: Parties
    node_id: str = ""  # Ada, whose edges are below
    node_etag: str = ""
    loose_id: str = ""  # a node without edges
    loose_etag: str = ""
    edge_id: str = ""  # Ada WORKS_AT Acme
    edge_etag: str = ""
    later_edge_id: str = ""  # Ada WORKS_AT Zeta
    rock_id: str = ""  # Ada VALUES Honesty, constitutive
    rock_etag: str = ""
    memory_id: str = ""  # supersedes the old one
    memory_etag: str = ""
    old_id: str = ""
    old_etag: str = ""
    gone_id: str = ""  # forgotten
    gone_etag: str = ""
    erased_id: str = ""
    erase_id: str = ""
    creed_id: str = ""  # constitutive
    creed_etag: str = ""
    turn_ids: tuple[str, ...] = ()  # of the session "talk"
    conflict_id: str = ""  # a potential one of two memories, the older one
    conflict_etag: str = ""
    dismissed_id: str = ""  # a conflict that somebody dismissed
    dismissed_etag: str = ""
    claim_id: str = ""  # a tool's, to forget the old memory
    other_claim_id: str = ""  # and to erase it
    episode_id: str = ""  # the older one
    entry_id: str = ""  # in working memory, the older one
    waiting: Any = None  # a proposal: weakens the rock, unanswered
    waiting_id: str = ""
    answered: Any = None  # the same with the agent's consent
    answered_id: str = ""
    small: Any = None  # a proposal that needs the agent alone
    small_id: str = ""
    key_id: str = ""  # an API key, which came with the keys file
    deletion: bytes = b""  # what both slots sign to have the space deleted
    key_digest: str = ""  # of the space's one key
    code: str = ""  # which opens a session of it
    executed_id: str = ""  # a proposal that took effect
    unsigned_id: str = ""  # a descriptive proposal of the fresh space
    fresh_space: str = ""  # a space of the same owner that has no genesis yet
    genesis: bytes = b""  # for the fresh space
    secret: str = ""  # for the fresh space
    grant: bytes = b""  # for `governed_action`
    export: bytes = b""  # what the fresh space was in another store, genesis and all
    restore_grant: bytes = b""  # for `export`
    query_id: str = ""  # a search that waits for feedback
    token: str = ""  # as fresh as the home's last write
    page_tokens: Mapping[str, str] = field(default_factory=dict)  # by method

    @property
    def governed_action(self) -> governed_pb2.GovernedAction:
        """What `grant` allows: weakening what Ada values."""
        return weaken(self, 0.9)

    def ids(self) -> list[str]:
        """Return the ids of everything that stands in this home."""
        return [getattr(self, each.name) for each in fields(self) if each.name.endswith("_id")]


def weaken(home: Home, weight: float) -> governed_pb2.GovernedAction:
    """Return the action that gives a home's constitutive edge another weight."""
    edge = type_pb2.Edge(id=home.rock_id, etag=home.rock_etag, weight=weight)
    update = graph_pb2.UpdateEdgeRequest(request_id="inner", edge=edge)
    update.update_mask.paths.append("weight")
    return governed_pb2.GovernedAction(update_edge=update)


def nowhere(home: Home) -> Home:
    """Return a home all of whose ids name nothing anywhere, in the order of the home's own.

    A pair of ids is compared by their order: a refusal then names the same one of the two.
    """
    names = [each.name for each in fields(home) if each.name.endswith("_id")]
    in_order = sorted(names, key=lambda name: str(getattr(home, name)))
    lost = dict(zip(in_order, sorted(str(uuid.uuid4()) for _ in names), strict=True))
    lost["key_id"] = secrets.token_hex(6)
    return replace(home, **lost)  # type: ignore[arg-type] # every one of these fields is a text


@dataclass(frozen=True)
class Template:
    """Store files to copy: `alone` holds A's space, `both` the same bytes of A and then B's."""

    alone: Path
    both: Path
    a: Home
    b: Home
    enrolment: Mapping[str, str]

    def copy(self, into: Path, *, both: bool = True) -> Path:
        """Return a fresh copy of a store file."""
        kept, copy = self.both if both else self.alone, into / "graph.db"
        shutil.copy(ledger_of(kept), ledger_of(copy))
        return Path(shutil.copy(kept, copy))


async def make_template(folder: Path) -> Template:
    """Furnish A, keep a copy, furnish B beside it."""
    words: dict[str, str] = {}
    alone, both = folder / "alone.db", folder / "both.db"
    async with governed_live(alone, {}) as live:
        words |= await made(live, "a")
        a = await furnish(live, "a", words)
        await followed(live, ledger_of(alone))
    shutil.copy(alone, both)
    shutil.copy(ledger_of(alone), ledger_of(both))
    async with governed_live(both, {}) as live:
        words |= await made(live, "b")
        b = await furnish(live, "b", words)
        await followed(live, ledger_of(both))
    enrolment = {space: sha256(text.encode()).hexdigest() for space, text in words.items()}
    async with graph_live(graph_app(folder / "elsewhere.db", enrolment=enrolment)) as live:
        a, b = await exported(live, a), await exported(live, b)
    async with graph_live(graph_app(both, enrolment=enrolment)) as live:
        refusal = await live.ask(member(b.fresh_space), "ImportSpace", [*importing(b, grant=b"")])
        assert refusal.reason == "ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED"
    return Template(alone, both, a, b, enrolment)


async def made(live: Live, space: str) -> dict[str, str]:
    """Make a home's two spaces by command; return their enrolment secrets."""
    secrets = {}
    for name in (space, f"{space}-fresh"):
        request = access_pb2.CreateSpaceRequest(request_id=f"make {name}", space=name)
        secrets[name] = (await live.tell(OPERATOR, "CreateSpace", request)).enrolment_secret
    return secrets


async def furnish(live: Live, space: str, secrets: Mapping[str, str]) -> Home:
    """Fill a space with the things of a home; every content tells whose it is."""
    home = Home(
        space, new_parties(), fresh_space=f"{space}-fresh", secret=secrets[f"{space}-fresh"]
    )
    who = member(space)
    await live.tell(
        who,
        "EnrolPrincipals",
        governed_pb2.EnrolPrincipalsRequest(
            request_id="genesis",
            enrolment_secret=secrets[space],
            genesis=home.parties.genesis(space),
        ),
    )
    for furnisher in (
        _with_relations,
        *(_with_nodes_and_edges, _with_memories, _with_conflicts, _with_claims, _with_layers),
        *(_with_what_defines, _with_proposals, _with_key, _with_pages),
    ):
        home = await furnisher(live, home)
    known = await live.tell(who, "GetGenesis", governed_pb2.GetGenesisRequest())
    deletion = signed.sign_deletion(
        space=space,
        agent=home.parties.agent,
        human=home.parties.human,
        genesis_digest=known.genesis_digest,
        expire_time=EXPIRE_TIME,
    )
    home = replace(home, deletion=deletion)
    await live.tell(who, "GetEdge", graph_pb2.GetEdgeRequest(id=home.edge_id))
    for memory_id in (home.old_id, home.memory_id):
        read = memory_pb2.GetMemoryRequest(id=memory_id, session_id=f"reads ({space})")
        await live.tell(who, "GetMemory", read)
    query_id = f"query-{space}"
    asked = {"id": query_id, "text": "what", "weight": 2.0, "constitutive_first": False}
    name = record_pb2.RecordName(kind="ranked_query", key=query_id)
    record = record_pb2.Record(name=name, body=json.dumps(asked))
    search = Caller(space, "search", frozenset({"record:all"}), "SYSTEM")
    await live.tell(search, "PutRecords", record_pb2.PutRecordsRequest(records=[record]))
    return replace(
        home,
        query_id=query_id,
        genesis=home.parties.genesis(home.fresh_space),
        grant=home.parties.grant(space, home.governed_action, {home.rock_id: home.rock_etag}),
    )


async def exported(live: Live, home: Home) -> Home:
    """Use a home's fresh space in another store, and add the export of that to the home."""
    who = member(home.fresh_space)
    enrol = governed_pb2.EnrolPrincipalsRequest(
        request_id="genesis", enrolment_secret=home.secret, genesis=home.genesis
    )
    await live.tell(who, "EnrolPrincipals", enrol)
    node = type_pb2.Node(name=f"Elsewhere ({home.space})")
    await live.tell(who, "UpsertNode", graph_pb2.UpsertNodeRequest(request_id="node", node=node))
    asked = space_pb2.ExportSpaceRequest(form=space_pb2.EXPORT_FORM_FULL)
    replies = (await live.ask(who, "ExportSpace", asked)).replies
    export = "".join(f"{line}\n" for reply in replies for line in reply.lines).encode()
    agreed, standing = agreed_in(export.splitlines(keepends=True))
    payload = signing.restore_payload(
        space=home.fresh_space,
        constitutive_digest=agreed,
        keys=standing,
        governance_key=signing.public_bytes(home.parties.governance),
        genesis_digest=signing.genesis_digest(home.genesis),
        export_digest=sha256(export).hexdigest(),
        expire_time=EXPIRE_TIME,
    )
    keys = [home.parties.agent.key, home.parties.human.key]
    grant = signing.sign_envelope(signing.RESTORE_TYPE, payload, keys)
    return replace(home, export=export, restore_grant=grant)


def importing(home: Home, *, grant: bytes | None = None, export: bytes = b"") -> list[Message]:
    """Return the requests that import a home's export, or another, into its fresh space."""
    header = space_pb2.ImportHeader(
        request_id="r",
        restore_grant=home.restore_grant if grant is None else grant,
        enrolment_secret=home.secret,
    )
    return [
        space_pb2.ImportSpaceRequest(header=header),
        space_pb2.ImportSpaceRequest(piece=export or home.export),
    ]


def edge_said(relation: str, target: str, /, **fields_: Any) -> type_pb2.Edge:
    """Return an edge from Ada to a named node."""
    return ParseDict(
        {"source": {"name": "Ada"}, "relation": relation, "target": {"name": target}, **fields_},
        type_pb2.Edge(),
    )


async def _with_relations(live: Live, home: Home) -> Home:
    """Declare a relation that each home has, and one of its own."""
    for name, functional in (("BORN_IN", home.space == "a"), (f"OWNED_BY {home.space}", False)):
        request = relation_pb2.DeclareRelationRequest(
            request_id=f"relation {name}", name=name, functional=functional
        )
        await live.tell(member(home.space), "DeclareRelation", request)
    return home


async def _with_nodes_and_edges(live: Live, home: Home) -> Home:
    who, whose = member(home.space), {"properties": {"whose": home.space}}
    edges = []
    for target, start in (("Acme", "2020-01-01T00:00:00Z"), ("Zeta", "2024-01-01T00:00:00Z")):
        edge = edge_said("WORKS_AT", target, valid_from=start, **whose)
        request = graph_pb2.UpsertEdgeRequest(request_id=f"edge {target}", edge=edge)
        edges.append((await live.tell(who, "UpsertEdge", request)).edge)
    nodes = []
    for name in ("Ada", "Loose"):
        node = ParseDict({"name": name, "label": "Thing", **whose}, type_pb2.Node())
        request_ = graph_pb2.UpsertNodeRequest(request_id=f"node {name}", node=node)
        nodes.append((await live.tell(who, "UpsertNode", request_)).node)
    return replace(
        home,
        node_id=nodes[0].id,
        node_etag=nodes[0].etag,
        loose_id=nodes[1].id,
        loose_etag=nodes[1].etag,
        edge_id=edges[0].id,
        edge_etag=edges[0].etag,
        later_edge_id=edges[1].id,
    )


async def _with_memories(live: Live, home: Home) -> Home:
    who = member(home.space)

    async def add(request_id: str, content: str, **fields_: Any) -> Any:
        memory = ParseDict({"content": f"{content} ({home.space})", **fields_}, type_pb2.Memory())
        request = memory_pb2.AddMemoryRequest(request_id=request_id, memory=memory)
        return (await live.tell(who, "AddMemory", request)).memory

    old = await add("m1", "Ada likes tea", tags=["taste"], domain="people.ada")
    new = await add(
        "m2",
        f"Ada likes coffee now. Supersedes: [[memory:{old.id}]]",
        external_id="ext-1",
        session_id="s-1",
    )
    await add("m3", "Both homes call this one so", id="shared/one", kind="MEMORY_KIND_PLAN")
    gone = await add("m4", "Soon forgotten. Supersedes: [[memory:shared/one]]")
    forget = memory_pb2.ForgetMemoryRequest(request_id="m5", id=gone.id, etag=gone.etag)
    gone = (await live.tell(who, "ForgetMemory", forget)).memory
    await add("m6", f"Replaces what is forgotten. Supersedes: [[memory:{gone.id}]]", id="heir")
    told = {"subject": "Nobody", "relation": "READS", "object": "these words"}
    doomed = await add(
        "m7", "Never to be read again. See [[memory:nowhere]]", tags=["taste"], facts=[told]
    )
    erase = memory_pb2.EraseMemoryRequest(request_id="m8", id=doomed.id, etag=doomed.etag)
    erased = await live.tell(who, "EraseMemory", erase)
    return replace(
        home,
        memory_id=new.id,
        memory_etag=new.etag,
        old_id=old.id,
        old_etag=old.etag,
        erased_id=doomed.id,
        erase_id=erased.erase_id,
        gone_id=gone.id,
        gone_etag=gone.etag,
    )


def claimant(space: str) -> Caller:
    """Return a tool of a space, which stands below its agent."""
    return Caller(space, "cron", member(space).scopes, "SYSTEM")


async def _with_claims(live: Live, home: Home) -> Home:
    """Let a tool claim twice on the old memory."""
    who, named = claimant(home.space), {"id": home.old_id, "etag": home.old_etag}
    forget = memory_pb2.ForgetMemoryRequest(request_id="claim 1", **named)
    erase = memory_pb2.EraseMemoryRequest(request_id="claim 2", **named)
    asked = {"claim_id": ("ForgetMemory", forget), "other_claim_id": ("EraseMemory", erase)}
    made = {name: (await live.tell(who, *each)).claims[0].id for name, each in asked.items()}
    return replace(home, **made)


async def _with_conflicts(live: Live, home: Home) -> Home:
    """Record two findings about memories, and dismiss one."""
    who = member(home.space)
    got = [
        (await live.tell(who, "GetMemory", memory_pb2.GetMemoryRequest(id=i, peek=True))).memory
        for i in (home.memory_id, "heir", "shared/one")
    ]
    found = conflict_pb2.RecordConflictsRequest(
        request_id="k1", findings=[disagreement(*got[:2]), disagreement(*got[1:])]
    )
    kept = (await live.tell(dissonant(home.space), "RecordConflicts", found)).findings
    conflicts = [
        (
            await live.tell(
                who, "GetConflict", conflict_pb2.GetConflictRequest(id=each.conflict_id)
            )
        ).conflict
        for each in kept
    ]
    dismiss = conflict_pb2.ReviewConflictRequest(
        request_id="k2",
        conflict_id=conflicts[1].id,
        etag=conflicts[1].etag,
        decision=conflict_pb2.REVIEW_DECISION_DISMISS,
    )
    dismissed = (await live.tell(who, f"{CONFLICTS}.ReviewConflict", dismiss)).conflict
    return replace(
        home,
        conflict_id=conflicts[0].id,
        conflict_etag=conflicts[0].etag,
        dismissed_id=dismissed.id,
        dismissed_etag=dismissed.etag,
    )


Sided = type_pb2.Memory | conflict_pb2.ConflictSide
"""What has an id and the etag of the version that is judged."""


def disagreement(one: Sided, other: Sided) -> conflict_pb2.Finding:
    """Return a finding about two memories."""
    return conflict_pb2.Finding(
        first_id=one.id,
        first_etag=one.etag,
        second_id=other.id,
        second_etag=other.etag,
        conflict_class=conflict_pb2.CONFLICT_CLASS_CONTRADICTION,
        judge=conflict_pb2.JUDGE_LEXICAL,
        confidence=0.9,
    )


async def _with_layers(live: Live, home: Home) -> Home:
    """Add a dialogue of two turns, two episodes, and two texts held in mind."""
    who = member(home.space)
    said = [
        dialogue_pb2.DialogueTurn(speaker=speaker, content=f"{text} ({home.space})")
        for speaker, text in (("Ada", "Tea?"), ("Bob", "Coffee."))
    ]
    append = dialogue_pb2.AppendDialogueRequest(request_id="l1", session_id="talk", turns=said)
    turns = (await live.tell(who, "AppendDialogue", append)).turns
    episodes, entries = [], []
    for number in range(2):
        tried = episode_pb2.AddEpisodeRequest(
            request_id=f"l2 {number}",
            query=f"Offer tea ({home.space})",
            reward=number,
            session_id="talk",
            memory_ids=[home.memory_id],
        )
        episodes.append((await live.tell(who, "AddEpisode", tried)).episode)
        held = working_memory_pb2.PutWorkingMemoryRequest(
            request_id=f"l3 {number}", content=f"Cup {number} ({home.space})", session_id="talk"
        )
        entries.append((await live.tell(who, "PutWorkingMemory", held)).entry)
    return replace(
        home,
        turn_ids=tuple(turn.id for turn in turns),
        episode_id=episodes[0].id,
        entry_id=entries[0].id,
    )


async def _with_what_defines(live: Live, home: Home) -> Home:
    """Add a constitutive edge and a constitutive memory, with both consents."""
    edge = governed_pb2.GovernedAction()
    edge.upsert_edge.request_id = "inner"
    edge.upsert_edge.edge.CopyFrom(edge_said("VALUES", "Honesty"))
    edge.upsert_edge.edge.edge_type = CONSTITUTIVE
    creed = governed_pb2.GovernedAction()
    creed.add_memory.request_id = "inner"
    creed.add_memory.memory.content = f"I keep promises ({home.space})"
    creed.add_memory.memory.edge_type = CONSTITUTIVE
    done = [await apply(live, home, action) for action in (edge, creed)]
    return replace(
        home,
        rock_id=done[0].edge.id,
        rock_etag=done[0].edge.etag,
        creed_id=done[1].memory.id,
        creed_etag=done[1].memory.etag,
        token=done[1].token,
    )


async def _with_proposals(live: Live, home: Home) -> Home:
    """Propose: one that waits, one that the agent answered, a small one, and one that is done."""
    who = member(home.space)

    async def propose(request_id: str, weight: float, edge_id: str, etag: str) -> Any:
        edge = type_pb2.Edge(id=edge_id, etag=etag, weight=weight)
        update = graph_pb2.UpdateEdgeRequest(
            request_id=f"salt of {request_id}".ljust(22), edge=edge
        )
        update.update_mask.paths.append("weight")
        action = governed_pb2.GovernedAction(update_edge=update)
        request = proposal_pb2.CreateProposalRequest(request_id=request_id, action=action)
        return (await live.tell(who, "CreateProposal", request)).proposal

    async def approve(proposal: Any, nonce: bytes) -> None:
        request = proposal_pb2.ApproveProposalRequest(
            request_id=f"approve {proposal.number}",
            proposal_id=proposal.id,
            consent=consent_to(home, proposal, signing.AGENT, nonce),
        )
        await live.tell(who, "ApproveProposal", request)

    waiting = await propose("p1", 0.6, home.rock_id, home.rock_etag)
    answered = await propose("p2", 0.7, home.rock_id, home.rock_etag)
    await approve(answered, b"answered" * 4)
    small = await propose("p3", 0.4, home.edge_id, home.edge_etag)
    later = (await live.tell(who, "GetEdge", graph_pb2.GetEdgeRequest(id=home.later_edge_id))).edge
    executed = await propose("p4", 0.8, home.later_edge_id, later.etag)
    await approve(executed, b"executed" * 4)
    return replace(
        await _with_unsigned(live, home),
        waiting=waiting,
        waiting_id=waiting.id,
        answered=answered,
        answered_id=answered.id,
        small=small,
        small_id=small.id,
        executed_id=executed.id,
    )


async def _with_unsigned(live: Live, home: Home) -> Home:
    """Propose where nobody can sign."""
    ends = type_pb2.EdgeEnd(name="Ada"), type_pb2.EdgeEnd(name="tea")
    edge = type_pb2.Edge(source=ends[0], relation="LIKES", target=ends[1])
    upsert = graph_pb2.UpsertEdgeRequest(request_id="salt of unsigned".ljust(22), edge=edge)
    action = governed_pb2.GovernedAction(upsert_edge=upsert)
    request = proposal_pb2.CreateProposalRequest(request_id="unsigned", action=action)
    made = await live.tell(member(home.fresh_space), "CreateProposal", request)
    return replace(home, unsigned_id=made.proposal.id)


async def _with_key(live: Live, home: Home) -> Home:
    """Make the space's one key."""
    request = access_pb2.CreateKeyRequest(
        request_id=f"key of {home.space}",
        space=home.space,
        principal="agent-1",
        kind=type_pb2.PRINCIPAL_KIND_AGENT,
        scopes=[access_pb2.KEY_SCOPE_READ],
    )
    reply = await live.tell(OPERATOR, "CreateKey", request)
    digest = sha256(reply.secret.encode()).hexdigest()
    home = replace(home, key_id=reply.key.id, key_digest=digest)
    made = await live.tell(key_holder(home), "CreateSignIn", access_pb2.CreateSignInRequest())
    return replace(home, code=made.code)


def key_holder(home: Home) -> Caller:
    """Return a member as governance knows it, by its key."""
    return replace(member(home.space), key_id=home.key_id)


def consent_to(home: Home, proposal: Any, slot: str, nonce: bytes) -> bytes:
    """Return a slot's consent to a proposal's first revision."""
    signer = home.parties.agent if slot == signing.AGENT else home.parties.human
    return signing.sign_consent(
        slot=slot,
        signer=signer,
        space=home.space,
        proposal_id=proposal.id,
        revision=1,
        proposal_digest=proposal.digest,
        action_digest=proposal.action_digest,
        etags={item.id: item.etag for item in proposal.affected},
        policy_digest=proposal.policy_digest,
        expire_time=EXPIRE_TIME,
        nonce=nonce,
    )


async def seen(live: Live, home: Home, action: governed_pb2.GovernedAction) -> dict[str, str]:
    """Return the etags of what an action touches and rests on, as both principals see it."""
    request = governed_pb2.PreviewChangeRequest(action=action)
    touched = (await live.tell(member(home.space), "PreviewChange", request)).items
    return {item.id: item.etag for item in touched}


async def apply(live: Live, home: Home, action: governed_pb2.GovernedAction) -> Any:
    """Apply a change with both consents and return the reply."""
    etags = await seen(live, home, action)
    request = governed_pb2.ApplyGovernedChangeRequest(
        request_id=str(uuid.uuid4()),
        action=action,
        grant=home.parties.grant(home.space, action, etags),
    )
    return await live.tell(governing(home.space), "ApplyGovernedChange", request)


async def _with_pages(live: Live, home: Home) -> Home:
    """Read the first page of everything that has pages, one thing a page."""
    tokens = {}
    for method, request in paged(home).items():
        tokens[method] = (await live.tell(member(home.space), method, request)).next_page_token
        assert tokens[method], f"{method} has one page only"
    return replace(home, page_tokens=tokens)


def paged(home: Home) -> dict[str, Any]:
    """Return a request for the first page of each paged method, by its name."""
    return {
        "ListNodes": graph_pb2.ListNodesRequest(page_size=1),
        "ListEdges": graph_pb2.ListEdgesRequest(page_size=1),
        "ListOperations": space_pb2.ListOperationsRequest(page_size=1),
        "QueryNeighbors": graph_pb2.QueryNeighborsRequest(
            start=type_pb2.EdgeEnd(name="Ada"), page_size=1, include_superseded=True, peek=True
        ),
        f"{CONFLICTS}.ListConflicts": conflict_pb2.ListConflictsRequest(page_size=1),
        "ListClaims": claim_pb2.ListClaimsRequest(page_size=1),
        "ListProposals": proposal_pb2.ListProposalsRequest(page_size=1),
        "ListAuditEntries": audit_pb2.ListAuditEntriesRequest(page_size=1),
        "ListRelations": relation_pb2.ListRelationsRequest(page_size=1),
        "ListSessions": session_pb2.ListSessionsRequest(page_size=1),
        "ListMemories": memory_pb2.ListMemoriesRequest(page_size=1),
        "ListDialogue": dialogue_pb2.ListDialogueRequest(session_id="talk", page_size=1),
        "ListEpisodes": episode_pb2.ListEpisodesRequest(page_size=1),
        "ListWorkingMemory": working_memory_pb2.ListWorkingMemoryRequest(page_size=1),
        "GetMemoryHistory": memory_pb2.GetMemoryHistoryRequest(id=home.gone_id, page_size=1),
    }
