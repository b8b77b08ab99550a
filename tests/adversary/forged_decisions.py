"""Forgeries of decisions, of their ends and of undoing them, each with the rule that refuses it."""

from __future__ import annotations

import copy
import json

from concord_client.trust import signing
from forger import DAYS, Forger, Forgery, Leaf, own_key
from governed_world import AGENT, HUMAN


def _decided_on(it: Forger, approved: float, decided: float, **told: str) -> None:
    """Decide what the agent decides alone, some hours later."""
    made = it.of("small", "SMF_PROPOSE")
    it.approve(made, AGENT, hours=approved, valid=100)
    it.decide(made, hours=decided, **told)


def _decided_late(it: Forger) -> None:
    _decided_on(it, 1, 49)


def _decided_earlier(it: Forger) -> None:
    """Say that a late decision was made in time."""
    _decided_on(it, 1, 49, decide_time=it.time(1))


def _decided_too_late(it: Forger) -> None:
    """Let the decision wait until the consents have run out."""
    made = it.of("small", "SMF_PROPOSE")
    it.approve(made, AGENT)
    it.decide(made, hours=2)


def _decided_when_it_ended(it: Forger) -> None:
    """Decide in the very instant in which the proposal expires."""
    end = it.of("small", "SMF_PROPOSE")["properties"]["expire_time"]
    _decided_on(it, 1, 2, decide_time=end)
    it.leaves[-1]["time"] = end


def _decided_as_the_consent_ended(it: Forger) -> None:
    made = it.of("small", "SMF_PROPOSE")
    it.approve(made, AGENT, valid=1)
    it.decide(made, hours=1)


def _agent_alone(it: Forger) -> None:
    """Leave out the human's consent."""
    it.drop(it.of("made", "SMF_APPROVE", 1))


def _one_decision_twice(it: Forger) -> None:
    same = it.of("alone", "SMF_DECIDE")["properties"]["decision_id"]
    _decided_on(it, 0, 0, decision_id=same)


def _settled(it: Forger, like: str, settlement: str, *, early: bool = True) -> None:
    """Let an access key settle a proposal like one of the story, before the genesis or after."""
    first = it.leaves[0]["time"]
    made = copy.deepcopy(it.of(like, "SMF_PROPOSE"))
    made |= {"time": first, "proposal": {"id": "settled", "revision": 1}}
    told = {"settlement": settlement, "decision_id": "by ada", "decide_time": first}
    settled = copy.deepcopy(made) | {"action": "SMF_SETTLE", "actor": "HUMAN", "principal": "ada"}
    settled["properties"] = {"digest": made["properties"]["digest"], **told}
    place = 0 if early else len(it.leaves)
    it.leaves[place:place] = [made, settled]


def _undo_decided(it: Forger, original: str, hours: float = 0) -> None:
    """Let both decide to undo what cannot be undone."""
    undo = it.propose("unmade", "new", hours, undo_of=it.names[original])
    it.approve(undo, AGENT, hours)
    it.approve(undo, HUMAN, hours)
    it.decide(undo, hours)


def _undone_after_its_window(it: Forger) -> None:
    _undo_decided(it, "added", 31 * DAYS)


def _undone_as_its_window_ended(it: Forger) -> None:
    """Decide an undo in the very instant in which it is too late."""
    _undo_decided(it, "added", 30 * DAYS - 0.5)
    end = it.of("added", "SMF_EXECUTE")["properties"]["undo_until"]
    it.leaves[-1]["time"] = it.leaves[-1]["properties"]["decide_time"] = end


def _undone_when_it_was_undone(it: Forger) -> None:
    _undo_decided(it, "made")


def _key_undone(it: Forger) -> None:
    _undo_decided(it, "key")


def _undone_twice(it: Forger) -> None:
    it.add(it.of("made", "SMF_UNDO"))


def _undone_by_nothing(it: Forger) -> None:
    it.of("made", "SMF_UNDO")["properties"]["undone_by"] = it.names["made"]


def _undo_not_told(it: Forger) -> None:
    it.drop(it.of("made", "SMF_UNDO"))


def _executed_twice(it: Forger) -> None:
    it.add(it.of("alone", "SMF_EXECUTE"))


def _another_decision(it: Forger) -> None:
    it.of("alone", "SMF_EXECUTE")["properties"]["decision_id"] = "another"


def _window_for_ever(it: Forger) -> None:
    it.of("alone", "SMF_EXECUTE")["properties"]["undo_until"] = "9999-12-31T23:59:59.999999Z"


def _key_of_another_action(it: Forger) -> None:
    it.of("key", "SMF_EXECUTE")["properties"]["key_action"] = own_key()


def _decided_on_another_key(it: Forger) -> None:
    it.of("key", "SMF_DECIDE")["properties"]["key_action"] = own_key()


def _failed_quietly(it: Forger) -> None:
    it.of("failed", "SMF_FAIL")["blocked"] = False


def _another_failed(it: Forger) -> None:
    it.of("failed", "SMF_FAIL")["properties"]["decision_id"] = "another"


def _failed_when_it_was_done(it: Forger) -> None:
    """Say of what was written that nothing was done."""
    executed = it.of("back", "SMF_EXECUTE")
    it.cut(executed)
    it.leaves[-1] = copy.deepcopy(executed) | {
        "action": "SMF_FAIL",
        "blocked": True,
        "reason": "ERROR_REASON_INTERNAL",
    }


def _revoke(it: Forger, name: str, slot: str, signer: signing.Signer) -> Leaf:
    """Take a consent back where the log ends."""
    consent = it.of(name, "SMF_APPROVE", 0 if slot == AGENT else 1)
    envelope = signing.sign_revocation(
        slot=slot,
        signer=signer,
        space="one",
        proposal_id=it.names[name],
        revision=1,
        consent=json.dumps(consent["properties"]["consent"]).encode(),
    )
    told = {"envelope": json.loads(envelope), **it.placed()}
    return it.add(consent, told, action="SMF_REVOKE")


def _written_when_revoked(it: Forger) -> None:
    """Let the human take the consent back before graph did anything; do it all the same."""
    written = it.write("added")
    it.cut(it.of("added", "SMF_DECIDE"))
    _revoke(it, "added", HUMAN, it.human)
    written["properties"] |= it.placed()
    it.leaves.append(written)


def _revoked_when_written(it: Forger) -> None:
    """Let the human take back what graph has burnt already."""
    it.cut(it.of("added", "SMF_EXECUTE"))
    _revoke(it, "added", HUMAN, it.human)


def _consented_by_the_old_key(it: Forger) -> list[Leaf]:
    """Let the human consent to what is open before the key is changed; the entries from there."""
    written, proposal = it.write("key"), it.of("open", "SMF_PROPOSE")
    place = it.leaves.index(written)
    behind = it.leaves[place:]
    del it.leaves[place:]
    it.sign(it.approve(proposal, HUMAN), proposal, HUMAN, it.human)
    return behind


def _decided_by_an_old_key(it: Forger) -> None:
    it.leaves += _consented_by_the_old_key(it)
    it.decide(it.of("open", "SMF_PROPOSE"))


def _written_by_an_old_key(it: Forger) -> None:
    """Decide before the key is changed, and carry it out after that."""
    written = it.write("added")
    behind = _consented_by_the_old_key(it)
    decided = it.decide(it.of("open", "SMF_PROPOSE"))
    it.leaves += behind
    request_id = decided["properties"]["decision_id"]
    it.add_write(written, "another", request_id=request_id)


def _step_of(it: Forger, name: str, action: str, **changed: object) -> None:
    it.of(name, action).update(changed)


def _another_item(it: Forger) -> None:
    """Let an entry be about another item than its proposal."""
    other = it.of("changed", "SMF_PROPOSE")["item"]
    assert it.of("made", "SMF_APPROVE")["item"] != other
    it.of("made", "SMF_APPROVE")["item"] = other


def _item_beside(it: Forger) -> None:
    """Let a proposal be about an item that its consents do not name."""
    named = it.of("changed", "SMF_PROPOSE")["item"]["id"]
    assert named not in it.of("small", "SMF_PROPOSE")["properties"]["etags"]
    it.of("small", "SMF_PROPOSE")["item"] = {"id": named, "kind": 2}


def _withdrawn_by_another(it: Forger) -> None:
    made = it.of("small", "SMF_PROPOSE")
    it.add(made, action="SMF_WITHDRAW", principal="eve")


def _revised_by_another(it: Forger) -> None:
    made = it.of("small", "SMF_PROPOSE")
    next_one = made["proposal"] | {"revision": 2}
    it.add(made, action="SMF_REVISE", proposal=next_one, principal="eve")


DECISION_FORGERIES: dict[str, tuple[Forgery, str]] = {
    "a decision after its time": (_decided_late, "decided_late"),
    "a decision in the instant of its end": (_decided_when_it_ended, "decided_late"),
    "a late decision dated back": (_decided_earlier, "decide_time"),
    "decided when consents had run out": (_decided_too_late, "consent"),
    "decided in the instant the consent ended": (_decided_as_the_consent_ended, "consent"),
    "the human's consent is left out": (_agent_alone, "consent"),
    "one decision for two proposals": (_one_decision_twice, "decision_again"),
    "settled by a key after the genesis": (
        lambda it: _settled(it, "small", "APPROVE", early=False),
        "settle_genesis",
    ),
    "settled by a key for both": (lambda it: _settled(it, "open", "APPROVE"), "settle_level"),
    "settled in no known way": (lambda it: _settled(it, "small", "PERHAPS"), "settlement"),
    "settled against, without a reason": (
        lambda it: _settled(it, "small", "REJECT"),
        "settlement",
    ),
    "an undo after its window": (_undone_after_its_window, "retention"),
    "an undo in the instant its window ended": (_undone_as_its_window_ended, "retention"),
    "an undo of what is undone": (_undone_when_it_was_undone, "undo_state"),
    "an undo of a key's change": (_key_undone, "undo_of_key"),
    "undone twice": (_undone_twice, "state"),
    "undone by something else": (_undone_by_nothing, "undone_by"),
    "an undo that is not told": (_undo_not_told, "undo_unlogged"),
    "executed twice": (_executed_twice, "state"),
    "executed for another decision": (_another_decision, "execute_decision"),
    "a window to undo for ever": (_window_for_ever, "undo_window"),
    "a key of another action": (_key_of_another_action, "key_action"),
    "a failure that is not blocked": (_failed_quietly, "blocked"),
    "a decision that was blocked": (
        lambda it: _step_of(it, "made", "SMF_DECIDE", blocked=True),
        "blocked",
    ),
    "a decision by the human alone": (
        lambda it: _step_of(it, "made", "SMF_DECIDE", actor="HUMAN", principal="ada"),
        "by_system",
    ),
    "an execution by somebody": (
        lambda it: _step_of(it, "made", "SMF_EXECUTE", principal="eve"),
        "by_system",
    ),
    "an execution with a reason": (
        lambda it: _step_of(it, "made", "SMF_EXECUTE", reason="ordered by Ada"),
        "reason",
    ),
    "a failure without a reason's name": (
        lambda it: _step_of(it, "failed", "SMF_FAIL", reason="Ada was against it"),
        "reason",
    ),
    "a rejection with other words than were signed": (
        lambda it: _step_of(it, "rejected", "SMF_REJECT", reason="never"),
        "answer_reason",
    ),
    "a consent about another item": (_another_item, "item"),
    "a proposal about an item that nobody signs": (_item_beside, "item"),
    "withdrawn by somebody else": (_withdrawn_by_another, "proposer"),
    "revised by somebody else": (_revised_by_another, "proposer"),
    "another decision's failure": (_another_failed, "fail_decision"),
    "written on a consent that was taken back": (_written_when_revoked, "revoked_write"),
    "taken back when it was written": (_revoked_when_written, "burnt_again"),
    "a decision for a key of another action": (_decided_on_another_key, "key_action"),
    "decided on the consent of an old key": (_decided_by_an_old_key, "decide_key"),
    "written on the consent of an old key": (_written_by_an_old_key, "write_key"),
    "a failure of what was done": (_failed_when_it_was_done, "fail_written"),
}
