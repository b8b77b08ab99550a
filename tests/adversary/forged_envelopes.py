"""Forgeries of proposals and of envelopes that answer them, each with the rule that refuses it."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import replace
from hashlib import sha256

import rfc8785
from concord_client.trust import signing
from concord_client.trust.audit.log import Pinned
from forger import Forger, Forgery, Leaf
from governed_world import AGENT, HUMAN


def _proposed_again(it: Forger) -> None:
    it.add(it.of("small", "SMF_PROPOSE"))


def _not_the_first(it: Forger) -> None:
    it.propose("small", "new")["proposal"]["revision"] = 2


def _revision_skipped(it: Forger) -> None:
    made = it.of("open", "SMF_PROPOSE")
    moved = {"id": made["proposal"]["id"], "revision": 3}
    it.add(made, action="SMF_REVISE", proposal=moved)


def _old_revision_withdrawn(it: Forger) -> None:
    made = it.of("open", "SMF_PROPOSE")
    other = {"id": made["proposal"]["id"], "revision": 2}
    it.add(made, action="SMF_WITHDRAW", proposal=other)


def _policy(it: Forger, **changed: object) -> None:
    """Propose under another policy than that of the constants."""
    told = it.of("small", "SMF_PROPOSE")["properties"]
    policy = told["policy"] | changed
    digest = sha256(rfc8785.dumps(policy)).hexdigest()
    it.propose("small", "new", policy=policy, policy_digest=digest)


def _other_policy(it: Forger) -> None:
    """Say that another policy is what was signed."""
    told = it.of("small", "SMF_PROPOSE")["properties"]
    told["policy"]["undo_retention_days"] = 9999


def _agent_speaks_for_both(it: Forger) -> None:
    _policy(it, required_slots={"AGENT": ["AGENT"], "BILATERAL": ["AGENT"]})


def _longer_to_answer(it: Forger) -> None:
    it.of("small", "SMF_PROPOSE")["properties"]["expire_time"] = it.time(49)


def _approved_late(it: Forger) -> None:
    it.approve(it.of("small", "SMF_PROPOSE"), AGENT, hours=49)


def _consent_of_another_name(it: Forger) -> None:
    it.of("made", "SMF_APPROVE")["principal"] = "eve"


def _human_where_not_asked(it: Forger) -> None:
    it.approve(it.of("small", "SMF_PROPOSE"), HUMAN)


def _nonce_again(it: Forger) -> None:
    it.add(it.of("open", "SMF_APPROVE"))


def _revoked_twice(it: Forger) -> None:
    it.add(it.of("revoked", "SMF_REVOKE"), it.placed())


def _revoked_earlier(it: Forger) -> None:
    """Tell a revocation where graph did not."""
    revoked = it.of("revoked", "SMF_REVOKE")
    revoked["properties"]["graph_seq"] = 1


def _consent_after_its_revocation(it: Forger) -> None:
    """Let the agent take back what it has not given yet, and give it then."""
    given, proposal = it.of("open", "SMF_APPROVE"), it.of("small", "SMF_PROPOSE")
    approval = it.approve(proposal, AGENT)
    it.leaves.pop()
    revocation = signing.sign_revocation(
        slot=AGENT,
        signer=it.party.agent,
        space="one",
        proposal_id=it.names["small"],
        revision=1,
        consent=json.dumps(approval["properties"]["consent"]).encode(),
    )
    told = {"envelope": json.loads(revocation), **it.placed()}
    it.add(given, told, action="SMF_REVOKE", proposal=proposal["proposal"])
    it.leaves.append(approval)


def _rejection(it: Forger, name: str, slot: str, nonce: bytes | None = None) -> None:
    proposal, signer = it.of(name, "SMF_PROPOSE"), it.party.signer(slot)
    rejection = signing.sign_rejection(
        slot=slot,
        signer=signer,
        space="one",
        proposal_id=proposal["proposal"]["id"],
        revision=1,
        reason="no",
        nonce=nonce,
    )
    told = {"envelope": json.loads(rejection)}
    who = {"actor": slot, "principal": signer.principal, "reason": "no"}
    it.add(it.of("rejected", "SMF_REJECT"), told, proposal=proposal["proposal"], **who)


def _rejected_where_not_asked(it: Forger) -> None:
    _rejection(it, "small", HUMAN)


def _rejected_with_a_used_nonce(it: Forger) -> None:
    payload = it.of("open", "SMF_APPROVE")["properties"]["consent"]["payload"]
    nonce = json.loads(b64decode(payload))["nonce"]
    _rejection(it, "small", AGENT, b64decode(nonce + "=", b"-_"))


def _rejected_by_another_name(it: Forger) -> None:
    it.of("rejected", "SMF_REJECT")["principal"] = "eve"


def _revoked_by_another_name(it: Forger) -> None:
    it.of("revoked", "SMF_REVOKE")["principal"] = "eve"


def _expired_early(it: Forger) -> None:
    made = it.of("small", "SMF_PROPOSE")
    it.add(made, action="SMF_EXPIRE", actor="SYSTEM", principal="", properties={})


def _restored(it: Forger, backup_time: str) -> None:
    nobody: Leaf = {"proposal": {"id": "", "revision": 0}, "item": {"id": "", "kind": 0}}
    nobody |= {"action": "RESTORE", "actor": "SYSTEM", "principal": ""}
    it.add(it.of("small", "SMF_PROPOSE"), properties={"backup_time": backup_time}, **nobody)


def _taken_up_after_a_restore(it: Forger) -> None:
    _restored(it, it.time(0))
    it.add(it.of("small", "SMF_PROPOSE"), action="SMF_WITHDRAW", properties={})


def _executed_undecided(it: Forger) -> None:
    it.drop(it.of("alone", "SMF_DECIDE"))


def _level(it: Forger, level: str, kind: str = "ADD") -> None:
    it.propose("small", "new", level=level, kind=kind)


def _unheard_of(it: Forger) -> None:
    it.add(it.of("small", "SMF_PROPOSE"), action="SMF_IGNORE")


def _another_genesis(it: Forger) -> None:
    it.pinned = replace(it.pinned, genesis_digest="0" * 64)


def _no_genesis(it: Forger) -> None:
    it.header["genesis"] = None
    it.pinned = Pinned()


def _caused_by_another(it: Forger) -> None:
    it.of("open", "SMF_PROPOSE")["properties"]["trigger"] = "DISSONANCE"


def _reviewed_without_a_conflict(it: Forger) -> None:
    it.of("small", "SMF_PROPOSE")["properties"]["status"] = "PENDING_REVIEW"


PAPER_FORGERIES: dict[str, tuple[Forgery, str]] = {
    "a proposal made twice": (_proposed_again, "proposed_again"),
    "a proposal that begins with its second revision": (_not_the_first, "first_revision"),
    "a revision skipped": (_revision_skipped, "next_revision"),
    "an answer to another revision": (_old_revision_withdrawn, "revision"),
    "another policy than was signed": (_other_policy, "policy"),
    "a policy that asks the agent alone": (_agent_speaks_for_both, "policy_slots"),
    "more time to answer than the policy gives": (_longer_to_answer, "expire_time"),
    "a level that does not exist": (lambda it: _level(it, "NOBODY"), "level"),
    "a key change by the agent alone": (lambda it: _level(it, "AGENT", "CHANGE_KEY"), "key_level"),
    "approved after its time": (_approved_late, "approved_late"),
    "a consent under another name": (_consent_of_another_name, "approve_principal"),
    "a consent of a slot that has no say": (_human_where_not_asked, "approve_slot"),
    "a nonce used twice": (_nonce_again, "approve_nonce"),
    "a revocation told twice": (_revoked_twice, "burnt_again"),
    "a revocation where graph did not tell it": (_revoked_earlier, "graph_seq"),
    "a consent whose nonce was taken back": (_consent_after_its_revocation, "approve_revoked"),
    "a rejection by a slot that has no say": (_rejected_where_not_asked, "reject_slot"),
    "a rejection with a used nonce": (_rejected_with_a_used_nonce, "reject_nonce"),
    "a rejection under another name": (_rejected_by_another_name, "answer_principal"),
    "a revocation under another name": (_revoked_by_another_name, "answer_principal"),
    "expired before its time": (_expired_early, "expired_early"),
    "restored from a later backup": (lambda it: _restored(it, it.time(1)), "backup_time"),
    "taken up after a restore": (_taken_up_after_a_restore, "state"),
    "an action that does not exist": (_unheard_of, "action"),
    "a cause that dissonance alone names": (_caused_by_another, "trigger"),
    "a review of something else than a conflict": (_reviewed_without_a_conflict, "reviewed"),
    "another genesis": (_another_genesis, "genesis_digest"),
}


def _agent_for_human(it: Forger) -> None:
    made = it.of("made", "SMF_PROPOSE")
    it.sign(it.of("made", "SMF_APPROVE", 1), made, HUMAN, it.party.agent)


def _expired_consent(it: Forger) -> None:
    made = it.of("made", "SMF_PROPOSE")
    it.sign(it.of("made", "SMF_APPROVE"), made, AGENT, it.party.agent, hours=0)


def _other_terms(it: Forger, name: str, value: object) -> None:
    it.of("made", "SMF_PROPOSE")["properties"][name] = value


def _consent_moved(it: Forger) -> None:
    it.add(it.of("made", "SMF_APPROVE", 1), proposal=it.of("open", "SMF_PROPOSE")["proposal"])


def _old_revision_consented(it: Forger) -> None:
    made = it.of("open", "SMF_PROPOSE")
    approval = it.of("open", "SMF_APPROVE")
    it.drop(approval)
    it.add(made, action="SMF_REVISE", proposal=made["proposal"] | {"revision": 2})
    it.add(approval)


def _approved_in_review(it: Forger) -> None:
    """Let the agent consent to what it has to review first."""
    made = it.of("open", "SMF_PROPOSE")
    made |= {"actor": "SYSTEM", "principal": "dissonance"}
    cause = {"trigger": "DISSONANCE", "kind": "RECLASSIFY", "status": "PENDING_REVIEW"}
    made["properties"] |= cause


def _without_evidence(it: Forger) -> None:
    del it.of("made", "SMF_APPROVE")["properties"]["consent"]


READ_FORGERIES: dict[str, tuple[Forgery, str]] = {
    "executed without a decision": (_executed_undecided, "state"),
    "approved before the review": (_approved_in_review, "state"),
    "the agent signs for the human": (_agent_for_human, "envelope signature"),
    "a consent had run out": (_expired_consent, "envelope expiry"),
    "another action than was signed": (
        lambda it: _other_terms(it, "action_digest", "0" * 64),
        "envelope action_digest",
    ),
    "other etags than were signed": (lambda it: _other_terms(it, "etags", {}), "envelope etags"),
    "other words than were signed": (
        lambda it: _other_terms(it, "digest", "0" * 64),
        "envelope proposal_digest",
    ),
    "a consent moved to another proposal": (_consent_moved, "envelope signature"),
    "a consent to an old revision": (_old_revision_consented, "revision"),
    "an entry without its evidence": (_without_evidence, "form"),
    "no genesis": (_no_genesis, "genesis"),
}
"""What cannot be read, or is no envelope of this proposal, or what several rules refuse."""
