"""The rules of proposals and of the papers that answer them (V4, V6, V7)."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import rfc8785
from concord_attestation.consent import REJECTION_TYPE, REVOCATION_TYPE, Answer, Terms
from concord_attestation.instants import parse_time
from concord_attestation.verify import verify_answer, verify_consent

from concord_client.trust.audit.course import (
    DECIDED,
    ENDED,
    FAILED,
    OPEN,
    REQUIRED,
    Course,
    Given,
    Told,
)
from concord_client.trust.audit.write_rules import WriteRules

HOUR = 3_600_000_000
DAY = 24 * HOUR


class ConsentRules:
    """What may be proposed, and whose signed answer counts."""

    def __init__(self, course: Course, writes: WriteRules) -> None:
        self._course = course
        self._writes = writes
        self._policies: dict[str, dict[str, Any]] = {}

    def on_propose(self, leaf: dict[str, Any]) -> None:
        """Take a new proposal."""
        proposal_id = leaf["proposal"]["id"]
        self._course.demand("proposed_again", proposal_id not in self._course.proposals)
        self._course.demand("first_revision", leaf["proposal"]["revision"] == 1)
        self._course.proposals[proposal_id] = self._told(leaf)

    def on_revise(self, leaf: dict[str, Any]) -> None:
        """Take the next revision; earlier consents are gone with it."""
        before = self._course.known(leaf, OPEN)
        after = self._told(leaf)
        self._course.demand("proposer", after.proposer == before.proposer)
        self._course.demand("next_revision", after.terms.revision == before.terms.revision + 1)
        self._course.proposals[leaf["proposal"]["id"]] = after

    def _told(self, leaf: dict[str, Any]) -> Told:
        told = leaf["properties"]
        terms = Terms(
            space=self._course.log.space,
            proposal_id=leaf["proposal"]["id"],
            revision=leaf["proposal"]["revision"],
            proposal_digest=told["digest"],
            action_digest=told["action_digest"],
            etags=told["etags"],
            policy_digest=told["policy_digest"],
        )
        policy = self._policy(told)
        expire_time = parse_time(told["expire_time"])
        clock = parse_time(leaf["time"]) + policy["approval_timeout_hours"] * HOUR
        self._course.demand("expire_time", expire_time == clock)
        self._course.demand("level", told["level"] in REQUIRED)
        alone = told["kind"] == "CHANGE_KEY" and told["level"] != "BILATERAL"
        self._course.demand("key_level", not alone)
        return Told(
            terms=terms,
            level=told["level"],
            kind=told["kind"],
            undo_of=told["undo_of"],
            proposer=leaf["principal"],
            item=leaf["item"],
            expire_time=expire_time,
            retention=policy["undo_retention_days"] * DAY,
        )

    def _policy(self, told: dict[str, Any]) -> dict[str, Any]:
        """Return the policy that the papers name by its digest."""
        policy: dict[str, Any] = told["policy"]
        digest = told["policy_digest"]
        if self._policies.get(digest) != policy:
            named = sha256(rfc8785.dumps(policy)).hexdigest() == digest
            self._course.demand("policy", named)
            self._policies[digest] = policy
        slots = {level: list(slots) for level, slots in REQUIRED.items()}
        self._course.demand("policy_slots", policy["required_slots"] == slots)
        return policy

    def on_approve(self, leaf: dict[str, Any]) -> None:
        """Demand a valid consent of a slot with a say, in time, with a fresh nonce."""
        course = self._course
        told = course.known(leaf, OPEN)
        paper = json.dumps(leaf["properties"]["consent"]).encode()
        now = parse_time(leaf["time"])
        given = verify_consent(paper, genesis=course.keys(), terms=told.terms, now_us=now)
        course.demand("approved_late", now < told.expire_time)
        named = (given.slot, given.principal) == (leaf["actor"], leaf["principal"])
        course.demand("approve_principal", named)
        course.demand("approve_slot", given.slot in REQUIRED[told.level])
        course.demand("approve_nonce", course.spend(given.nonce))
        course.demand("approve_revoked", not course.is_burnt(given.slot, given.nonce))
        key = course.keys().slot(given.slot).public_key
        told.consents[given.slot] = Given(given.expire_time, given.nonce, key)

    def on_revoke(self, leaf: dict[str, Any]) -> None:
        """Take a consent back, which graph tells of: it burns each nonce once, by a revocation or
        by a write.

        Whoever calls graph itself can take back what the log does not know, what ended, and what
        the agent decided alone: of such there is nothing that it undoes.
        """
        course = self._course
        self._writes.in_order(leaf)
        answer = self._answer(leaf, REVOCATION_TYPE)
        course.demand("burnt_again", course.burn(answer.slot, answer.nonce))
        told = course.proposals.get(answer.proposal_id)
        if told is None or told.terms.revision != answer.revision:
            return
        given = told.consents.get(answer.slot, Given())
        in_time = told.state in (OPEN, FAILED) or told.level == "BILATERAL"
        if given.nonce == answer.nonce and in_time:
            del told.consents[answer.slot]
            told.taken_back = told.taken_back or told.state == DECIDED

    def on_reject(self, leaf: dict[str, Any]) -> None:
        """Demand a valid rejection by a slot with a say."""
        told = self._course.known(leaf, OPEN)
        answer = self._answer(leaf, REJECTION_TYPE)
        self._course.demand("reject_slot", answer.slot in REQUIRED[told.level])
        self._course.demand("reject_nonce", self._course.spend(answer.nonce))
        told.state = ENDED

    def _answer(self, leaf: dict[str, Any], payload_type: str) -> Answer:
        answer = verify_answer(
            json.dumps(leaf["properties"]["envelope"]).encode(),
            payload_type,
            genesis=self._course.keys(),
            space=self._course.log.space,
            proposal_id=leaf["proposal"]["id"],
            revision=leaf["proposal"]["revision"],
        )
        named = (answer.slot, answer.principal) == (leaf["actor"], leaf["principal"])
        self._course.demand("answer_principal", named)
        self._course.demand("answer_reason", leaf["reason"] == answer.reason)
        return answer

    def on_end(self, leaf: dict[str, Any]) -> None:
        """Take a proposal back, which its proposer alone may."""
        told = self._course.known(leaf, OPEN)
        self._course.demand("proposer", leaf["principal"] == told.proposer)
        told.state = ENDED

    def on_expire(self, leaf: dict[str, Any]) -> None:
        """Demand that nobody answered in time."""
        told = self._course.known(leaf, OPEN)
        self._course.demand("expired_early", parse_time(leaf["time"]) >= told.expire_time)
        told.state = ENDED
