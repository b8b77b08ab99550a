"""The rules of proposals and of the signed envelopes that answer them (V4, V6, V7)."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import rfc8785
from concord_attestation.consent import REJECTION_TYPE, REVOCATION_TYPE, Answer, Terms
from concord_attestation.instants import parse_time
from concord_attestation.verify import verify_answer, verify_consent

from concord_client.trust.audit.entry_rules import SYSTEM
from concord_client.trust.audit.state import (
    DECIDED,
    ENDED,
    FAILED,
    OPEN,
    REQUIRED,
    REVIEWED,
    LoggedConsent,
    LoggedProposal,
    ReplayState,
)
from concord_client.trust.audit.write_rules import WriteRules

HOUR = 3_600_000_000
DAY = 24 * HOUR
DISSONANCE = ("SYSTEM", "dissonance")
"""Actor and principal of dissonance, which alone proposes without being asked."""


class ConsentRules:
    """Judges proposals, their revisions, and the signed answers to them."""

    def __init__(self, state: ReplayState, writes: WriteRules) -> None:
        self._state = state
        self._writes = writes
        self._policies: dict[str, dict[str, Any]] = {}

    def on_propose(self, leaf: dict[str, Any]) -> None:
        """Judge and add a new proposal."""
        proposal_id = leaf["proposal"]["id"]
        self._state.demand("proposed_again", proposal_id not in self._state.proposals)
        self._state.demand("first_revision", leaf["proposal"]["revision"] == 1)
        proposal = self._state.proposals[proposal_id] = self._logged(leaf)
        if "status" in leaf["properties"]:
            proposal.state = self._reviewed(leaf["properties"])

    def _reviewed(self, said: dict[str, Any]) -> str:
        """Return the state of a proposal that waits for the agent's review: a new class (D5)."""
        form = (said["status"], said["kind"]) == ("PENDING_REVIEW", "RECLASSIFY")
        self._state.demand("reviewed", form and said["trigger"] != "MANUAL")
        return REVIEWED

    def on_revise(self, leaf: dict[str, Any]) -> None:
        """Judge the next revision, which voids earlier consents and ends a review."""
        before = self._state.known(leaf, OPEN, REVIEWED)
        after = self._logged(leaf)
        self._state.demand("proposer", after.proposer == before.proposer)
        self._state.demand("next_revision", after.terms.revision == before.terms.revision + 1)
        self._state.proposals[leaf["proposal"]["id"]] = after

    def _logged(self, leaf: dict[str, Any]) -> LoggedProposal:
        said = leaf["properties"]
        terms = Terms(
            space=self._state.log.space,
            proposal_id=leaf["proposal"]["id"],
            revision=leaf["proposal"]["revision"],
            proposal_digest=said["digest"],
            action_digest=said["action_digest"],
            etags=said["etags"],
            policy_digest=said["policy_digest"],
        )
        policy = self._policy(said)
        expire_time = parse_time(said["expire_time"])
        clock = parse_time(leaf["time"]) + policy["approval_timeout_hours"] * HOUR
        self._state.demand("expire_time", expire_time == clock)
        self._state.demand("level", said["level"] in REQUIRED)
        alone = said["kind"] == "CHANGE_KEY" and said["level"] != "BILATERAL"
        self._state.demand("key_level", not alone)
        by_dissonance = (leaf["actor"], leaf["principal"]) == DISSONANCE
        self._state.demand("trigger", by_dissonance or said["trigger"] == "MANUAL")
        return LoggedProposal(
            terms=terms,
            level=said["level"],
            kind=said["kind"],
            undo_of=said["undo_of"],
            proposer=leaf["principal"],
            item=leaf["item"],
            expire_time=expire_time,
            retention=policy["undo_retention_days"] * DAY,
        )

    def _policy(self, said: dict[str, Any]) -> dict[str, Any]:
        """Return the entry's policy, which the consents name by its digest."""
        policy: dict[str, Any] = said["policy"]
        digest = said["policy_digest"]
        if self._policies.get(digest) != policy:
            named = sha256(rfc8785.dumps(policy)).hexdigest() == digest
            self._state.demand("policy", named)
            self._policies[digest] = policy
        slots = {level: list(slots) for level, slots in REQUIRED.items()}
        self._state.demand("policy_slots", policy["required_slots"] == slots)
        return policy

    def on_approve(self, leaf: dict[str, Any]) -> None:
        """Demand a valid consent of a required slot, in time, with a fresh nonce."""
        state = self._state
        proposal = state.known(leaf, OPEN)
        envelope = json.dumps(leaf["properties"]["consent"]).encode()
        now = parse_time(leaf["time"])
        given = verify_consent(envelope, genesis=state.keys(), terms=proposal.terms, now_us=now)
        state.demand("approved_late", now < proposal.expire_time)
        named = (given.slot, given.principal) == (leaf["actor"], leaf["principal"])
        state.demand("approve_principal", named)
        state.demand("approve_slot", given.slot in REQUIRED[proposal.level])
        state.demand("approve_nonce", state.spend(given.nonce))
        state.demand("approve_revoked", not state.is_burnt(given.slot, given.nonce))
        proposal.consents[given.slot] = LoggedConsent(
            given.expire_time, given.nonce, given.public_key
        )

    def on_revoke(self, leaf: dict[str, Any]) -> None:
        """Judge a revocation, an entry of graph's. Like a write, it burns a nonce at most once.

        A caller of graph itself can revoke consents that are not in the log, and consents to
        proposals that ended or that the agent decided alone: these revocations change nothing.
        """
        state = self._state
        self._writes.in_order(leaf)
        answer = self._answer(leaf, REVOCATION_TYPE)
        state.demand("burnt_again", state.burn(answer.slot, answer.nonce))
        proposal = state.proposals.get(answer.proposal_id)
        if proposal is None or proposal.terms.revision != answer.revision:
            return
        given = proposal.consents.get(answer.slot, LoggedConsent())
        in_time = proposal.state in (OPEN, FAILED) or proposal.level == "BILATERAL"
        if given.nonce == answer.nonce and in_time:
            del proposal.consents[answer.slot]
            proposal.taken_back = proposal.taken_back or proposal.state == DECIDED

    def on_reject(self, leaf: dict[str, Any]) -> None:
        """Demand a valid rejection by a required slot."""
        proposal = self._state.known(leaf, OPEN)
        answer = self._answer(leaf, REJECTION_TYPE)
        self._state.demand("reject_slot", answer.slot in REQUIRED[proposal.level])
        self._state.demand("reject_nonce", self._state.spend(answer.nonce))
        proposal.state = ENDED

    def _answer(self, leaf: dict[str, Any], payload_type: str) -> Answer:
        answer = verify_answer(
            json.dumps(leaf["properties"]["envelope"]).encode(),
            payload_type,
            genesis=self._state.keys(),
            space=self._state.log.space,
            proposal_id=leaf["proposal"]["id"],
            revision=leaf["proposal"]["revision"],
        )
        named = (answer.slot, answer.principal) == (leaf["actor"], leaf["principal"])
        self._state.demand("answer_principal", named)
        self._state.demand("answer_reason", leaf["reason"] == answer.reason)
        return answer

    def on_end(self, leaf: dict[str, Any]) -> None:
        """Judge a withdrawal: only its proposer may withdraw a proposal.

        Governance itself ends one whose conflict another proposal has decided. Which conflict that
        was the log does not say, so this is believed: it takes a chance to agree, and no consent.
        """
        proposal = self._state.known(leaf, OPEN, REVIEWED)
        by_system = (leaf["actor"], leaf["principal"]) == SYSTEM
        self._state.demand("proposer", by_system or leaf["principal"] == proposal.proposer)
        proposal.state = ENDED

    def on_expire(self, leaf: dict[str, Any]) -> None:
        """Demand that a proposal expires undecided, and not before its expiry time."""
        proposal = self._state.known(leaf, OPEN, REVIEWED)
        self._state.demand("expired_early", parse_time(leaf["time"]) >= proposal.expire_time)
        proposal.state = ENDED

    def on_restore(self, leaf: dict[str, Any]) -> None:
        """End the pending proposals: a ledger restored from a backup reopens none."""
        backup_time = parse_time(leaf["properties"]["backup_time"])
        self._state.demand("backup_time", backup_time <= parse_time(leaf["time"]))
        for proposal in self._state.proposals.values():
            if proposal.state in (OPEN, REVIEWED):
                proposal.state = ENDED
