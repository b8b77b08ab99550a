"""An honest log with something of everything, in the hands of whoever owns every key of its space.

Every hash and every checkpoint of what the forger makes is right. It signs with the agent's key,
and with the human's only where a rule would otherwise not be the one that refuses.
"""

from __future__ import annotations

import copy
import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from typing import Any

import pytest
import rfc8785
from concord.governance.v1 import proposal_pb2
from concord.type.v1 import type_pb2
from concord_attestation.checkpoint import Checkpoint, sign_checkpoint
from concord_attestation.tree import Frontier, leaf_hash
from concord_client.trust import signing
from concord_client.trust.audit.log import LogInvalid, Pinned, read_log
from concord_client.trust.audit.replay import Replay
from concord_client.trust.audit.state import ReplayState
from governed_steps import revoke
from governed_world import AGENT, HUMAN, STATUS, Keys, Party, edge_action, refused
from writing import action_of, salt, to_change_key, to_delete_edge, to_update_edge

Leaf = dict[str, Any]
DESCRIPTIVE = type_pb2.EDGE_TYPE_DESCRIPTIVE
DAYS = 24.0
"""In hours."""


def etag(item_id: str, revision: int) -> str:
    """Return an item's version, written again here so that a mistake does not agree with itself."""
    return sha256(f"etag {revision} {item_id}".encode()).hexdigest()[:24]


@cache
def _canonical(entry: str) -> bytes:
    """Return an entry's canonical bytes: a forgery changes few of a log's entries."""
    return rfc8785.dumps(json.loads(entry))


@dataclass
class Forger:
    """`names`: what each proposal of the story is called, to its id."""

    header: Leaf
    leaves: list[Leaf]
    keys: Keys
    party: Party
    names: Mapping[str, str]
    human: signing.Signer
    """With the key that the genesis names."""
    pinned: Pinned
    lines_as: Mapping[int, Leaf] = field(default_factory=dict)
    """What entries say instead, by place."""

    def copy(self) -> Forger:
        """Return a forger of the same honest log."""
        header, leaves = json.loads(json.dumps([self.header, self.leaves]))
        return replace(self, header=header, leaves=leaves)

    def of(self, name: str, action: str, place: int = 0) -> Leaf:
        """Return an entry about a proposal of the story."""
        return [leaf for leaf in self._about(name) if leaf["action"] == action][place]

    def write(self, name: str) -> Leaf:
        """Return graph's own entry about what a proposal's decision did."""
        decision = self.of(name, "SMF_DECIDE")["properties"]["decision_id"]
        return next(
            leaf for leaf in self.leaves if leaf["properties"].get("request_id") == decision
        )

    def genesis(self, place: int = 0) -> Leaf:
        """Return an entry of the genesis."""
        return [leaf for leaf in self.leaves if leaf["action"] == "GENESIS"][place]

    def cut(self, leaf: Leaf) -> None:
        """Let the log end with an entry."""
        del self.leaves[self._place(leaf) + 1 :]

    def drop(self, leaf: Leaf) -> None:
        """Leave an entry out."""
        del self.leaves[self._place(leaf)]

    def add(self, like: Leaf, told: Mapping[str, Any] | None = None, **changed: Any) -> Leaf:
        """Append a copy of an entry with other content; `told` changes its properties."""
        leaf = copy.deepcopy(like) | {"time": self.leaves[-1]["time"]} | changed
        leaf["properties"] |= told or {}
        self.leaves.append(leaf)
        return leaf

    def add_write(self, like: Leaf, item_id: str, **told: Any) -> Leaf:
        """Append an entry of graph's that comes after all others."""
        return self.add(like, {**self.placed(), **told}, item={"id": item_id, "kind": 2})

    def placed(self) -> Leaf:
        """Return the place and time of what graph tells after all that is there."""
        newest = max(leaf["properties"].get("graph_seq", 0) for leaf in self.leaves)
        latest = max(leaf["properties"].get("record_time", "") for leaf in self.leaves)
        return {"graph_seq": newest + 1, "record_time": latest}

    def propose(self, like: str, name: str, hours: float = 0, **told: Any) -> Leaf:
        """Append a proposal like one of the story, some hours later."""
        made = self.of(like, "SMF_PROPOSE")
        expire_time = self.time(hours + 48)
        return self.add(
            made,
            {"expire_time": expire_time, **told},
            proposal={"id": name, "revision": 1},
            time=self.time(hours),
        )

    def approve(self, proposal: Leaf, slot: str, hours: float = 0, valid: float = 1) -> Leaf:
        """Append a slot's consent, which holds for some hours."""
        signer = self.party.signer(slot)
        leaf = self.add(
            self.of("made", "SMF_APPROVE"),
            proposal=proposal["proposal"],
            item=proposal["item"],
            actor=slot,
            principal=signer.principal,
            time=self.time(hours),
        )
        self.sign(leaf, proposal, slot, signer, hours=hours + valid)
        return leaf

    def sign(
        self, leaf: Leaf, proposal: Leaf, slot: str, signer: signing.Signer, *, hours: float = 1
    ) -> None:
        """Put a new consent to a proposal into an entry."""
        told = proposal["properties"]
        terms = ("action_digest", "etags", "policy_digest")
        envelope = signing.sign_consent(
            slot=slot,
            signer=signer,
            space="one",
            proposal_id=proposal["proposal"]["id"],
            revision=proposal["proposal"]["revision"],
            proposal_digest=told["digest"],
            expire_time=self.party.time(hours),
            **{name: told[name] for name in terms},
        )
        leaf["properties"]["consent"] = json.loads(envelope)

    def sign_again(self, name: str) -> None:
        """Let both consent to a proposal of the story as it says now."""
        proposal = self.of(name, "SMF_PROPOSE")
        signers = ((AGENT, self.party.agent), (HUMAN, self.human))
        for place, (slot, signer) in enumerate(signers):
            self.sign(self.of(name, "SMF_APPROVE", place), proposal, slot, signer)

    def decide(self, proposal: Leaf, hours: float = 0, **told: Any) -> Leaf:
        """Append a decision."""
        made = {"decide_time": self.time(hours), "decision_id": f"for {proposal['proposal']['id']}"}
        return self.add(
            self.of("made", "SMF_DECIDE"),
            made | told,
            proposal=proposal["proposal"],
            item=proposal["item"],
            time=self.time(hours),
        )

    def time(self, hours: float) -> str:
        """Return the story's time and some hours, as entries write it."""
        return signing.format_time(self.party.time(hours))

    def lines(self) -> list[bytes]:
        """Return the log with its places counted anew, under a new signed checkpoint."""
        frontier, lines = Frontier(), []
        for index, leaf in enumerate(self.leaves):
            told = leaf | {"index": index} | self.lines_as.get(index, {})
            data = _canonical(json.dumps(told))
            frontier.append(leaf_hash(data))
            lines.append(data + b"\n")
        origin = self.header["log_origin"]
        checkpoint = Checkpoint(origin, frontier.size, frontier.root())
        header = self.header | {"checkpoint": sign_checkpoint(checkpoint, self.keys.log)}
        return [rfc8785.dumps(header) + b"\n", *lines]

    def verify(self, *skipped: str) -> None:
        """Check the log as a stranger does who pinned the genesis, without some of the rules."""
        log = read_log(self.lines(), self.pinned)
        demand = ReplayState.demand

        def lenient(state: ReplayState, rule: str, holds: bool, *of: str, **how: Any) -> None:
            demand(state, rule, holds or rule in skipped, *of, **how)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ReplayState, "demand", lenient)
            Replay(log, self.pinned).run()

    def _about(self, name: str) -> list[Leaf]:
        return [leaf for leaf in self.leaves if leaf["proposal"]["id"] == self.names[name]]

    def _place(self, leaf: Leaf) -> int:
        return next(place for place, each in enumerate(self.leaves) if each is leaf)


async def told_by(party: Party, keys: Keys) -> Forger:
    """Let two principals live through the story, and return its log."""
    human = party.human
    names = {name: proposal.id for name, proposal in (await _story(party)).items()}
    while True:  # until graph's own entries are there
        header, *leaves = (json.loads(line) for line in await party.export_log())
        if "DELETE_ATTEMPT" in {leaf["action"] for leaf in leaves}:
            break
    pinned = Pinned(genesis_digest=signing.genesis_digest(rfc8785.dumps(header["genesis"])))
    return Forger(header, leaves, keys, party, names, human, pinned)


async def _story(party: Party) -> dict[str, proposal_pb2.Proposal]:
    told = {"made": await party.decide(await party.propose(edge_action()))}
    told["unmade"] = await party.decide(await party.undo(told["made"]))
    told["alone"] = await party.decide(await party.propose(edge_action(edge_type=DESCRIPTIVE)))
    told["rejected"] = await party.reject(await party.propose(edge_action(target="tea")), HUMAN)
    taken = told["revoked"] = await party.propose(edge_action(target="coffee"))
    consent = party.consent(taken, AGENT)
    await party.approve(taken, AGENT, consent)
    await revoke(party, taken, AGENT, consent)
    told |= {"failed": await _failing(party)}
    told |= await _changes(party)
    told["open"] = await party.propose(edge_action(target="wine"))
    await party.approve(told["open"], AGENT)
    told["key"] = await _other_key(party)
    told["small"] = await party.propose(edge_action(target="beer", edge_type=DESCRIPTIVE))
    return told


async def _failing(party: Party) -> proposal_pb2.Proposal:
    """Let both consent to what is there when it is decided."""
    twice = [await party.propose(edge_action(target="kindness")) for _ in range(2)]
    await party.decide(twice[0])
    failed = await party.decide(twice[1])
    assert failed.status == STATUS.PROPOSAL_STATUS_FAILED
    return failed


async def _changes(party: Party) -> dict[str, proposal_pb2.Proposal]:
    told = {"added": await party.decide(await party.propose(edge_action(target="candour")))}
    for weight, name in ((0.5, "changed"), (0.25, "again")):
        edge = await party.edge("agent", "VALUES", "candour")
        assert edge is not None
        edge.weight = weight
        action = action_of(to_update_edge(edge, "weight"))
        told[name] = await party.decide(await party.propose(action))
    told["back"] = await party.decide(await party.undo(told["again"]))
    edge = await party.edge("agent", "VALUES", "candour")
    assert edge is not None
    assert edge.weight == 0.5
    await refused(party.graph.DeleteEdge(to_delete_edge(edge)))
    return told


async def _other_key(party: Party) -> proposal_pb2.Proposal:
    """Change the human's key."""
    new = signing.Signer("ada", signing.generate_key())
    done = await party.decide(await party.propose(to_change_key(new)))
    party.human = new
    return done


def own_key() -> Leaf:
    """Return the action that gives the human a key of the forger's."""
    change = to_change_key(signing.Signer("ada", signing.generate_key()))
    return {"change_key": {"request_id": salt(), "proof": b64encode(change.proof).decode()}}


Forgery = Callable[[Forger], object]


def demand_refused(forger: Forger, forgeries: Mapping[str, tuple[Forgery, str]]) -> None:
    """Demand that each forgery is refused by its check."""
    for name, (forge, check) in forgeries.items():
        forged = forger.copy()
        forge(forged)

        assert (name, refusal(forged)) == (name, check)


def demand_refused_alone(forger: Forger, forgeries: Mapping[str, tuple[Forgery, str]]) -> None:
    """Demand that each forgery is refused by its rule, and that without this rule none refuses."""
    assert refusal(forger) == ""
    found = {}
    for name, (forge, rule) in forgeries.items():
        forged = forger.copy()
        forge(forged)
        found[name] = refusal(forged), refusal(forged, rule)

    assert found == {name: (rule, "") for name, (_, rule) in forgeries.items()}


def refusal(forger: Forger, *skipped: str) -> str:
    """Return the rule that refuses a log, "" when none does."""
    try:
        forger.verify(*skipped)
    except LogInvalid as error:
        return error.check.split(" of ")[0]
    return ""
