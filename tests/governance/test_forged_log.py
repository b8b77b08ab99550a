"""Each rule of the offline verifier, proven by a log that this rule alone refuses (A2).

The forger owns the log's key, governance's and the agent's: every hash and every checkpoint is
right. It does not have the human's key.
"""

from __future__ import annotations

import copy
import json
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import rfc8785
from concord.graph.v1 import governed_pb2
from concord.type.v1 import type_pb2
from concord_attestation.checkpoint import Checkpoint, sign_checkpoint
from concord_attestation.tree import Frontier, leaf_hash
from concord_client import signing
from concord_client.audit.log import LogInvalid, Pinned, read_log
from concord_client.audit.replay import Replay
from governed_world import AGENT, HUMAN, Keys, Party, edge_action, salt, world
from test_papers import revoke

Leaf = dict[str, Any]


@dataclass
class Forger:
    """An honest log of one space, and the keys of whoever rewrites it."""

    header: Leaf
    leaves: list[Leaf]
    keys: Keys
    party: Party

    def one(self, action: str, place: int = 0, **wanted: Any) -> Leaf:
        """Return an entry by its action, and by parts of its proposal's kind."""
        found = [leaf for leaf in self.leaves if leaf["action"] == action]
        if "kind" in wanted:
            names = {
                leaf["proposal"]["id"]
                for leaf in self.leaves
                if leaf["properties"].get("kind") == wanted["kind"]
            }
            found = [leaf for leaf in found if leaf["proposal"]["id"] in names]
        return found[place]

    def about(self, proposal: Leaf) -> list[Leaf]:
        """Return all entries of the proposal of an entry."""
        return [leaf for leaf in self.leaves if leaf["proposal"] == proposal["proposal"]]

    def add(self, like: Leaf, **changed: Any) -> Leaf:
        """Append a copy of an entry with other content."""
        leaf = copy.deepcopy(like) | {"time": self.leaves[-1]["time"]} | changed
        self.leaves.append(leaf)
        return leaf

    def lines(self) -> list[bytes]:
        """Return the log with its places counted anew, under a new signed checkpoint."""
        frontier, lines = Frontier(), []
        for index, leaf in enumerate(self.leaves):
            data = rfc8785.dumps(leaf | {"index": index})
            frontier.append(leaf_hash(data))
            lines.append(data + b"\n")
        origin = self.header["log_origin"]
        checkpoint = Checkpoint(origin, frontier.size, frontier.root())
        header = self.header | {"checkpoint": sign_checkpoint(checkpoint, self.keys.log)}
        return [rfc8785.dumps(header) + b"\n", *lines]

    def verify(self) -> None:
        """Check the log as a stranger does who pinned the genesis."""
        genesis = signing.genesis_digest(rfc8785.dumps(self.header["genesis"]))
        pinned = Pinned(genesis_digest=genesis)
        Replay(read_log(self.lines(), pinned), pinned).run()


async def _story(party: Party) -> None:
    done = await party.decide(await party.propose(edge_action()))
    await party.decide(await party.undo(done))
    await party.decide(await party.propose(edge_action(edge_type=type_pb2.EDGE_TYPE_DESCRIPTIVE)))
    await party.reject(await party.propose(edge_action(target="tea")), HUMAN)
    taken = await party.propose(edge_action(target="coffee"))
    consent = party.consent(taken, AGENT)
    await party.approve(taken, AGENT, consent)
    await revoke(party, taken, AGENT, consent)
    proof = signing.sign_new_key(
        slot=HUMAN, principal="ada", space="one", key=signing.generate_key()
    )
    change = governed_pb2.ChangeKeyRequest(request_id=salt(), proof=proof)
    await party.propose(governed_pb2.GovernedAction(change_key=change))
    await party.approve(await party.propose(edge_action(target="wine")), AGENT)


@pytest_asyncio.fixture(loop_scope="function")
async def forger(tmp_path: Path) -> AsyncIterator[Forger]:
    """An honest log with something of everything."""
    keys = Keys()
    async with world(tmp_path, keys=keys) as live:
        party = live.party()
        await party.enrol()
        await _story(party)
        while True:  # until graph's own entries are there
            header, *leaves = (json.loads(line) for line in await party.export_log())
            if "DELETE_SUCCESS" in {leaf["action"] for leaf in leaves}:
                break
        yield Forger(header, leaves, keys, party)


Forgery = Callable[[Forger], object]


def _resigned_consent(it: Forger, leaf: Leaf, slot: str, **changed: Any) -> None:
    """Replace a consent by one that the agent's key signs."""
    told = next(each for each in it.about(leaf) if each["action"] in ("SMF_PROPOSE", "SMF_REVISE"))[
        "properties"
    ]
    said: dict[str, Any] = {
        "space": "one",
        "proposal_id": leaf["proposal"]["id"],
        "revision": leaf["proposal"]["revision"],
        "proposal_digest": told["digest"],
        "action_digest": told["action_digest"],
        "etags": told["etags"],
        "policy_digest": told["policy_digest"],
        "expire_time": it.party.time(1),
    }
    paper = signing.sign_consent(slot=slot, signer=it.party.agent, **(said | changed))
    leaf["properties"]["consent"] = json.loads(paper)


def _agent_alone(it: Forger) -> None:
    """Leave out the human's consent."""
    it.leaves.remove(it.one("SMF_APPROVE", 1))


def _agent_for_human(it: Forger) -> None:
    _resigned_consent(it, it.one("SMF_APPROVE", 1), HUMAN)


def _expired_consent(it: Forger) -> None:
    _resigned_consent(it, it.one("SMF_APPROVE"), AGENT, expire_time=it.party.time(0))


def _other_action(it: Forger) -> None:
    it.one("SMF_PROPOSE")["properties"]["action_digest"] = "0" * 64


def _other_etags(it: Forger) -> None:
    it.one("SMF_PROPOSE")["properties"]["etags"] = {}


def _consent_moved(it: Forger) -> None:
    human = it.one("SMF_APPROVE", 1)
    wine = it.one("SMF_APPROVE", -1)
    it.add(human, proposal=wine["proposal"])


def _later(it: Forger, hours: float) -> str:
    return signing.format_time(it.party.time(hours))


def _decided_late(it: Forger) -> None:
    """Let the decision wait until the consents have run out."""
    place = it.leaves.index(it.one("SMF_DECIDE"))
    for leaf in it.leaves[place:]:
        leaf["time"] = _later(it, 2)
    it.leaves[place]["properties"]["decide_time"] = _later(it, 2)


def _decided_earlier(it: Forger) -> None:
    """Say that a late decision was made in time."""
    place = it.leaves.index(it.one("SMF_DECIDE"))
    for leaf in it.leaves[place:]:
        leaf["time"] = _later(it, 2)


def _undone_late(it: Forger) -> None:
    it.one("SMF_EXECUTE")["properties"]["undo_until"] = _later(it, 0)


def _undone_twice(it: Forger) -> None:
    it.add(it.one("SMF_UNDO"))


def _undone_by_nothing(it: Forger) -> None:
    it.one("SMF_UNDO")["properties"]["undone_by"] = it.one("SMF_PROPOSE")["proposal"]["id"]


def _executed_undecided(it: Forger) -> None:
    it.leaves.remove(it.one("SMF_DECIDE"))


def _executed_twice(it: Forger) -> None:
    it.add(it.one("SMF_EXECUTE", 2))


def _as_descriptive(it: Forger) -> None:
    """Call a constitutive change the agent's own affair."""
    first = it.one("SMF_PROPOSE")
    first["properties"]["level"] = "AGENT"
    it.leaves.remove(it.one("SMF_APPROVE", 1))


def _written_by_nobody(it: Forger) -> None:
    it.one("WRITE_SUCCESS")["properties"]["request_id"] = "nobody"


def _written_beside(it: Forger) -> None:
    """Let a decision have an effect on an item that it did not name."""
    it.one("WRITE_SUCCESS")["item"]["id"] = "another"
    it.one("DELETE_SUCCESS")["properties"]["before_digest"] = ""


def _effect_beside(it: Forger) -> None:
    it.one("SMF_EXECUTE")["properties"]["effects"].append(
        {"id": "another", "kind": 2, "before": 1, "after": 2}
    )


def _changed_between(it: Forger) -> None:
    """Let an item change without an entry."""
    it.one("DELETE_SUCCESS")["properties"]["before_digest"] = "0" * 64


def _genesis_for_a_write(it: Forger) -> None:
    it.add(it.one("GENESIS"), item={"id": "another", "kind": 2})


def _another_genesis(it: Forger) -> None:
    genesis = signing.sign_genesis(
        space="one",
        agent=it.party.agent,
        human=signing.Signer("ada", signing.generate_key()),
        governance_key=signing.public_bytes(it.keys.grant),
        create_time=it.party.time(0),
    )
    pinned = signing.genesis_digest(rfc8785.dumps(it.header["genesis"]))
    it.header["genesis"] = json.loads(genesis)
    it.verify = lambda: _judge(it, Pinned(genesis_digest=pinned))  # type: ignore[method-assign]


def _judge(it: Forger, pinned: Pinned) -> None:
    Replay(read_log(it.lines(), pinned), pinned).run()


def _no_genesis(it: Forger) -> None:
    it.header["genesis"] = None
    it.verify = lambda: _judge(it, Pinned())  # type: ignore[method-assign]


def _key_change(it: Forger, action: Leaf, level: str = "BILATERAL") -> None:
    """Dress the first honest proposal as the change of the human's key to one of the forger's."""
    told = it.one("SMF_PROPOSE")["properties"]
    told["kind"], told["level"] = "CHANGE_KEY", level
    it.one("SMF_EXECUTE")["properties"]["key_action"] = action


def _own_key() -> Leaf:
    key = signing.generate_key()
    proof = signing.sign_new_key(slot=HUMAN, principal="ada", space="one", key=key)
    return {"change_key": {"request_id": salt(), "proof": b64encode(proof).decode()}}


def _key_of_another_action(it: Forger) -> None:
    _key_change(it, _own_key())


def _key_by_the_agent_alone(it: Forger) -> None:
    action = _own_key()
    _key_change(it, action, "AGENT")


def _agent_decides_for_all(it: Forger) -> None:
    it.one("SMF_PROPOSE")["properties"]["level"] = "NOBODY"


def _human_where_not_asked(it: Forger) -> None:
    alone = it.one("SMF_PROPOSE", 2)
    assert alone["properties"]["level"] == "AGENT"
    first = it.one("SMF_PROPOSE")["properties"]
    first["level"] = "AGENT"


def _proposed_twice(it: Forger) -> None:
    it.add(it.one("SMF_PROPOSE"))


def _revision_skipped(it: Forger) -> None:
    wine = it.one("SMF_PROPOSE", -1)
    moved = {"id": wine["proposal"]["id"], "revision": 3}
    it.add(wine, action="SMF_REVISE", proposal=moved)


def _old_revision_consented(it: Forger) -> None:
    wine, paper = it.one("SMF_PROPOSE", -1), it.one("SMF_APPROVE", -1)
    it.leaves.remove(paper)
    revised = {"id": wine["proposal"]["id"], "revision": 2}
    it.add(wine, action="SMF_REVISE", proposal=revised)
    it.add(paper)


def _nonce_again(it: Forger) -> None:
    it.add(it.one("SMF_APPROVE", -1))


def _revoked_what_was_not(it: Forger) -> None:
    it.add(it.one("SMF_REVOKE"))


def _consent_of_another_name(it: Forger) -> None:
    it.one("SMF_APPROVE")["principal"] = "eve"


def _rejected_by_another_name(it: Forger) -> None:
    it.one("SMF_REJECT")["principal"] = "eve"


def _expired_early(it: Forger) -> None:
    it.add(it.one("SMF_APPROVE", -1), action="SMF_EXPIRE", properties={})


def _approved_late(it: Forger) -> None:
    it.one("SMF_PROPOSE", -1)["properties"]["expire_time"] = _later(it, 0)


def _failed_quietly(it: Forger) -> None:
    fail = it.one("SMF_EXECUTE")
    fail["action"] = "SMF_FAIL"


def _another_decision(it: Forger) -> None:
    it.one("SMF_EXECUTE")["properties"]["decision_id"] = "another"


def _one_decision_twice(it: Forger) -> None:
    same = it.one("SMF_DECIDE")["properties"]["decision_id"]
    it.one("SMF_DECIDE", 2)["properties"]["decision_id"] = same


def _blocked_write(it: Forger) -> None:
    it.one("WRITE_SUCCESS")["blocked"] = True


def _refusal_let_through(it: Forger) -> None:
    it.add(it.one("WRITE_SUCCESS"), action="WRITE_ATTEMPT", blocked=False)


def _unheard_of(it: Forger) -> None:
    it.one("SMF_REJECT")["action"] = "SMF_IGNORE"


def _undo_not_told(it: Forger) -> None:
    it.leaves.remove(it.one("SMF_UNDO"))


def _without_evidence(it: Forger) -> None:
    del it.one("SMF_APPROVE")["properties"]["consent"]


FORGERIES: dict[str, tuple[Forgery, str]] = {
    "the human's consent is left out": (_agent_alone, "consent of HUMAN"),
    "the agent signs for the human": (_agent_for_human, "paper signature"),
    "a consent had run out": (_expired_consent, "paper expiry"),
    "another action than was signed": (_other_action, "paper action_digest"),
    "other etags than were signed": (_other_etags, "paper etags"),
    "a consent moved to another proposal": (_consent_moved, "paper proposal"),
    "decided when consents had run out": (_decided_late, "consent of AGENT"),
    "a late decision dated back": (_decided_earlier, "expiry"),
    "an undo after its window": (_undone_late, "retention"),
    "undone twice": (_undone_twice, "state"),
    "undone by something else": (_undone_by_nothing, "undo"),
    "an undo that is not told": (_undo_not_told, "undo"),
    "executed without a decision": (_executed_undecided, "state"),
    "executed twice": (_executed_twice, "state"),
    "a constitutive change by the agent alone": (_as_descriptive, "undecided_write"),
    "a write that nobody decided": (_written_by_nobody, "undecided_write"),
    "a write beside the decided one": (_written_beside, "undecided_write"),
    "an effect that nobody consented to": (_effect_beside, "effects"),
    "a change between two entries": (_changed_between, "before_digest"),
    "a write dressed as genesis": (_genesis_for_a_write, "genesis"),
    "another genesis": (_another_genesis, "genesis_digest"),
    "no genesis": (_no_genesis, "genesis"),
    "a key of another action": (_key_of_another_action, "action_digest"),
    "a key change by the agent alone": (_key_by_the_agent_alone, "level"),
    "a level that does not exist": (_agent_decides_for_all, "level"),
    "a slot that has no say": (_human_where_not_asked, "slot"),
    "a proposal made twice": (_proposed_twice, "proposal"),
    "a revision skipped": (_revision_skipped, "revision"),
    "a consent to an old revision": (_old_revision_consented, "revision"),
    "a nonce used twice": (_nonce_again, "nonce"),
    "a revocation of nothing": (_revoked_what_was_not, "nonce"),
    "a consent under another name": (_consent_of_another_name, "principal"),
    "a rejection under another name": (_rejected_by_another_name, "principal"),
    "expired before its time": (_expired_early, "expiry"),
    "approved after its time": (_approved_late, "expiry"),
    "a failure that is not blocked": (_failed_quietly, "decision"),
    "executed for another decision": (_another_decision, "decision"),
    "one decision for two proposals": (_one_decision_twice, "decision"),
    "a write that was blocked": (_blocked_write, "blocked"),
    "a refusal that was let through": (_refusal_let_through, "blocked"),
    "an action that does not exist": (_unheard_of, "action"),
    "an entry without its evidence": (_without_evidence, "form"),
}


async def test_every_rule_refuses_its_forged_log(forger: Forger) -> None:
    """A2 Hashes and checkpoint of each forgery are right; the rule named here refuses it."""
    forger.verify()
    for name, (forge, check) in FORGERIES.items():
        forged = Forger(
            copy.deepcopy(forger.header), copy.deepcopy(forger.leaves), forger.keys, forger.party
        )
        forge(forged)

        with pytest.raises(LogInvalid) as caught:
            forged.verify()

        assert (name, caught.value.check) == (name, check)


def _time_back(it: Forger) -> None:
    it.leaves[-1]["time"] = _later(it, -1)


def _no_time(it: Forger) -> None:
    it.leaves[-1]["time"] = "yesterday"


def _more_said(it: Forger) -> None:
    it.leaves[-1]["note"] = "more"


def _another_space(it: Forger) -> None:
    it.leaves[-1]["space"] = "two"


LOG_FORGERIES: dict[str, tuple[Forgery, str]] = {
    "time goes back": (_time_back, "time"),
    "no time": (_no_time, "time"),
    "a field too many": (_more_said, "form"),
    "another space": (_another_space, "sequence"),
}


async def test_every_rule_of_the_log_itself_refuses_its_forgery(forger: Forger) -> None:
    """A2 Form, order, time and space of entries, whatever their hashes say."""
    for name, (forge, check) in LOG_FORGERIES.items():
        forged = Forger(
            copy.deepcopy(forger.header), copy.deepcopy(forger.leaves), forger.keys, forger.party
        )
        forge(forged)

        with pytest.raises(LogInvalid) as caught:
            forged.verify()

        assert (name, caught.value.check) == (name, check)


def _spaced(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[1].replace(b'":', b'": ', 1), *lines[2:]]


def _unterminated(lines: list[bytes]) -> list[bytes]:
    return [*lines[:-1], lines[-1].removesuffix(b"\n")]


def _doubled_key(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[1].replace(b'{"action"', b'{"action":"X","action"', 1), *lines[2:]]


def _respelled_key(lines: list[bytes]) -> list[bytes]:
    """Spell the log's key otherwise: 43 letters hold two bits more than it has."""
    key = json.loads(lines[0])["log_key"].encode()
    letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    other = letters[letters.index(key[-2]) + 1 :][:1]
    return [lines[0].replace(key, key[:-2] + other + b"="), *lines[1:]]


LINE_FORGERIES: dict[str, tuple[Callable[[list[bytes]], list[bytes]], str]] = {
    "another spelling of the same JSON": (_spaced, "canonical"),
    "another spelling of the log's key": (_respelled_key, "form"),
    "a key twice": (_doubled_key, "canonical"),
    "no line break at the end": (_unterminated, "truncated"),
    "no JSON": (lambda lines: [lines[0], b"{\n"], "form"),
    "too long a line": (lambda lines: [lines[0], b'"' + b"x" * (1 << 20) + b'"\n'], "form"),
    "nothing at all": (lambda _: [], "form"),
    "an entry left out": (lambda lines: [lines[0], *lines[2:]], "sequence"),
    "the end left out": (lambda lines: lines[:-1], "root"),
}


async def test_every_rule_of_the_lines_refuses_its_forgery(forger: Forger) -> None:
    """A2 One spelling of every byte, and no line too many or too few."""
    lines = forger.lines()
    for name, (forge, check) in LINE_FORGERIES.items():
        with pytest.raises(LogInvalid) as caught:
            read_log(forge(lines), Pinned())

        assert (name, caught.value.check) == (name, check)


async def test_what_a_reader_pinned_is_compared(forger: Forger) -> None:
    """A2 Another key, a shorter log and another history are refused against what was kept."""
    whole = forger.lines()
    kept = json.loads(whole[0])["checkpoint"]
    last = forger.leaves.pop()
    shorter = forger.lines()
    forger.leaves.append(last | {"reason": "rewritten"})
    rewritten = forger.lines()

    for lines, pinned, check in (
        (whole, Pinned(log_key=bytes(32)), "log_key"),
        (shorter, Pinned(checkpoint=kept), "shorter_than_witnessed"),
        (rewritten, Pinned(checkpoint=kept), "not_an_extension"),
        (whole, Pinned(checkpoint=kept.replace("one", "two")), "witnessed_checkpoint"),
    ):
        with pytest.raises(LogInvalid) as caught:
            read_log(lines, pinned)
        assert check == caught.value.check


async def test_a_change_made_past_governance_is_found(tmp_path: Path) -> None:
    """A2 V6 Who has every server's key and both consents can go to graph directly, but not unseen:
    the log tells of a write that nobody decided."""
    keys = Keys()
    async with world(tmp_path, keys=keys) as live:
        party = live.party()
        await party.enrol()
        proposal = await party.propose(edge_action())
        grant = signing.sign_grant(
            governance=keys.grant,
            space="one",
            decision_id="mine",
            proposal_id=proposal.id,
            revision=1,
            proposal_digest=proposal.digest,
            action_digest=proposal.action_digest,
            etags={item.id: item.etag for item in proposal.affected},
            policy_digest=proposal.policy_digest,
            consents={slot: party.consent(proposal, slot) for slot in (AGENT, HUMAN)},
            expire_time=party.time(1),
        )
        await party.governed.ApplyGovernedChange(
            governed_pb2.ApplyGovernedChangeRequest(
                request_id="mine", action=proposal.action, grant=grant
            )
        )
        while "WRITE_SUCCESS" not in await party.actions():
            pass

        with pytest.raises(LogInvalid) as caught:
            await party.verified()

        assert caught.value.check == "undecided_write"
