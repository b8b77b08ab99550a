"""The rules of proposals and of the papers that answer them (V4, V6, V7)."""

from __future__ import annotations

import json
from typing import Any

from concord_attestation.consent import REJECTION_TYPE, REVOCATION_TYPE, Answer, Terms
from concord_attestation.instants import parse_time
from concord_attestation.verify import verify_answer, verify_consent

from concord_client.audit.course import DECIDED, ENDED, FAILED, OPEN, REQUIRED, Course, Told


class ConsentRules:
    """What may be proposed, and whose signed answer counts."""

    def __init__(self, course: Course) -> None:
        self._course = course

    def on_propose(self, leaf: dict[str, Any]) -> None:
        """Take a new proposal."""
        proposal_id = leaf["proposal"]["id"]
        if proposal_id in self._course.proposals or leaf["proposal"]["revision"] != 1:
            raise self._course.breach("proposal")
        self._course.proposals[proposal_id] = self._told(leaf)

    def on_revise(self, leaf: dict[str, Any]) -> None:
        """Take the next revision; earlier consents are gone with it."""
        before = self._course.known(leaf, OPEN)
        after = self._told(leaf)
        if after.terms.revision != before.terms.revision + 1:
            raise self._course.breach("revision")
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
        alone = told["kind"] == "CHANGE_KEY" and told["level"] != "BILATERAL"
        if told["level"] not in REQUIRED or alone:
            raise self._course.breach("level")
        return Told(
            terms, told["level"], told["kind"], told["undo_of"], parse_time(told["expire_time"])
        )

    def on_approve(self, leaf: dict[str, Any]) -> None:
        """Demand a valid consent of a slot with a say, in time, with a fresh nonce."""
        told = self._course.known(leaf, OPEN)
        paper = json.dumps(leaf["properties"]["consent"]).encode()
        now = parse_time(leaf["time"])
        given = verify_consent(paper, genesis=self._course.keys(), terms=told.terms, now_us=now)
        if now >= told.expire_time:
            raise self._course.breach("expiry")
        if (given.slot, given.principal) != (leaf["actor"], leaf["principal"]):
            raise self._course.breach("principal")
        if given.slot not in REQUIRED[told.level]:
            raise self._course.breach("slot")
        self._course.spend(given.nonce)
        told.consents[given.slot] = (given.expire_time, given.nonce)

    def on_revoke(self, leaf: dict[str, Any]) -> None:
        """Demand that the consent that is taken back was given."""
        told = self._course.known(leaf, OPEN, DECIDED, FAILED)
        answer = self._answer(leaf, told, REVOCATION_TYPE)
        if told.consents.get(answer.slot, (0, ""))[1] != answer.nonce:
            raise self._course.breach("nonce")
        del told.consents[answer.slot]

    def on_reject(self, leaf: dict[str, Any]) -> None:
        """Demand a valid rejection by a slot with a say."""
        told = self._course.known(leaf, OPEN)
        answer = self._answer(leaf, told, REJECTION_TYPE)
        if answer.slot not in REQUIRED[told.level]:
            raise self._course.breach("slot")
        self._course.spend(answer.nonce)
        told.state = ENDED

    def _answer(self, leaf: dict[str, Any], told: Told, payload_type: str) -> Answer:
        answer = verify_answer(
            json.dumps(leaf["properties"]["paper"]).encode(),
            payload_type,
            genesis=self._course.keys(),
            space=self._course.log.space,
            proposal_id=told.terms.proposal_id,
            revision=told.terms.revision,
        )
        if (answer.slot, answer.principal) != (leaf["actor"], leaf["principal"]):
            raise self._course.breach("principal")
        return answer

    def on_end(self, leaf: dict[str, Any]) -> None:
        """Take a proposal back."""
        self._course.known(leaf, OPEN).state = ENDED

    def on_expire(self, leaf: dict[str, Any]) -> None:
        """Demand that nobody answered in time."""
        told = self._course.known(leaf, OPEN)
        if parse_time(leaf["time"]) < told.expire_time:
            raise self._course.breach("expiry")
        told.state = ENDED
