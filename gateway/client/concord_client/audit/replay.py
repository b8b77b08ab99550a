"""The rules of governance, replayed over a log (A2): nothing took effect that they forbid.

Every paper in the log is verified anew, with the keys as they stood at its place.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import rfc8785
from concord_attestation.consent import (
    REJECTION_TYPE,
    REVOCATION_TYPE,
    Answer,
    ConsentError,
    GenesisRecord,
    Terms,
)
from concord_attestation.instants import parse_time
from concord_attestation.verify import (
    verify_answer,
    verify_consent,
    verify_genesis,
    verify_new_key,
)

from concord_client.audit.log import Log, LogInvalid, Pinned

GENESIS_EDGES = 3
"""What a genesis writes: an edge for each slot's key and one for governance's."""
REQUIRED = {"AGENT": ("AGENT",), "BILATERAL": ("AGENT", "HUMAN")}

OPEN, DECIDED, EXECUTED, FAILED, UNDONE, ENDED = (
    *("open", "decided", "executed", "failed", "undone", "ended"),
)


@dataclass(slots=True)
class Told:
    """A proposal as the log tells it."""

    terms: Terms
    level: str
    kind: str
    undo_of: str
    expire_time: int
    state: str = OPEN
    consents: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Slot to the consent's expiry and nonce."""
    decision_id: str = ""
    undo_until: int = 0
    effects: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Findings:
    """What a replay learned. `constitutive`: the id of everything that both parties agreed to as
    it stands, and of what it rests on, to the digest that its last governed write gave it."""

    entries: int
    proposals: int
    executed: int
    undone: int
    refused: int
    constitutive: Mapping[str, str]


class Replay:
    """Goes through a log entry by entry and stops at the first that breaks a rule."""

    def __init__(self, log: Log, pinned: Pinned) -> None:
        self._log = log
        self._pinned = pinned
        self._genesis: GenesisRecord | None = None
        self._proposals: dict[str, Told] = {}
        self._decisions: dict[str, Told] = {}
        self._nonces: set[str] = set()
        self._written: list[tuple[int, str, str]] = []
        self._standing: dict[str, list[str]] = {}
        """What is constitutive, with the ids of its ends."""
        self._digests: dict[str, str] = {}
        self._written_last: dict[str, str] = {}
        """Item to the digest that its newest entry gave it."""
        self._enrolled: set[str] = set()
        self._enrolments: set[str] = set()
        self._index = 0
        self._refused = 0
        self._rules: dict[str, Callable[[dict[str, Any]], None]] = {
            "GENESIS": self._on_genesis,
            "SMF_PROPOSE": self._on_propose,
            "SMF_REVISE": self._on_revise,
            "SMF_APPROVE": self._on_approve,
            "SMF_REVOKE": self._on_revoke,
            "SMF_REJECT": self._on_reject,
            "SMF_WITHDRAW": self._on_end,
            "SMF_EXPIRE": self._on_expire,
            "SMF_DECIDE": self._on_decide,
            "SMF_EXECUTE": self._on_execute,
            "SMF_FAIL": self._on_fail,
            "SMF_UNDO": self._on_undo,
            "WRITE_SUCCESS": self._on_write,
            "DELETE_SUCCESS": self._on_write,
            "WRITE_ATTEMPT": self._on_refusal,
            "DELETE_ATTEMPT": self._on_refusal,
            "FRAMING_VIOLATION": self._on_refusal,
            "SAFEGUARD_VIOLATION": self._on_refusal,
            "CONSENT_REFUSED": self._on_refusal,
        }

    def run(self) -> Findings:
        """Replay the whole log.

        Raises:
            LogInvalid: names the rule and the entry.
        """
        for index, leaf in enumerate(self._log.leaves):
            self._index = index
            rule = self._rules.get(leaf["action"])
            if rule is None:
                raise self._breach("action")
            try:
                rule(leaf)
            except ConsentError as error:
                raise self._breach(f"paper {getattr(error, 'check', '')}".strip()) from None
            except (KeyError, TypeError, ValueError, AttributeError):
                raise self._breach("form") from None
        self._demand_written_as_decided()
        self._demand_undone()
        told = self._proposals.values()
        return Findings(
            entries=len(self._log.leaves),
            proposals=len(self._proposals),
            executed=sum(each.state in (EXECUTED, UNDONE) for each in told),
            undone=sum(each.state == UNDONE for each in told),
            refused=self._refused,
            constitutive={
                item_id: self._digests[item_id]
                for standing, ends in self._standing.items()
                for item_id in (standing, *ends)
            },
        )

    def _on_genesis(self, leaf: dict[str, Any]) -> None:
        """Take the edges that one enrolment wrote: no later write passes for a genesis."""
        self._keys()
        self._enrolled.add(leaf["item"]["id"])
        self._enrolments.add(leaf["properties"]["request_id"])
        again = leaf["item"]["id"] in self._written_last
        if again or len(self._enrolments) > 1 or len(self._enrolled) > GENESIS_EDGES:
            raise self._breach("genesis")
        self._note_item(leaf)

    def _on_propose(self, leaf: dict[str, Any]) -> None:
        proposal_id = leaf["proposal"]["id"]
        if proposal_id in self._proposals or leaf["proposal"]["revision"] != 1:
            raise self._breach("proposal")
        self._proposals[proposal_id] = self._told(leaf)

    def _on_revise(self, leaf: dict[str, Any]) -> None:
        before = self._known(leaf, OPEN)
        after = self._told(leaf)
        if after.terms.revision != before.terms.revision + 1:
            raise self._breach("revision")
        self._proposals[leaf["proposal"]["id"]] = after

    def _told(self, leaf: dict[str, Any]) -> Told:
        told = leaf["properties"]
        terms = Terms(
            space=self._log.space,
            proposal_id=leaf["proposal"]["id"],
            revision=leaf["proposal"]["revision"],
            proposal_digest=told["digest"],
            action_digest=told["action_digest"],
            etags=told["etags"],
            policy_digest=told["policy_digest"],
        )
        alone = told["kind"] == "CHANGE_KEY" and told["level"] != "BILATERAL"
        if told["level"] not in REQUIRED or alone:
            raise self._breach("level")
        return Told(
            terms, told["level"], told["kind"], told["undo_of"], parse_time(told["expire_time"])
        )

    def _on_approve(self, leaf: dict[str, Any]) -> None:
        told = self._known(leaf, OPEN)
        paper = json.dumps(leaf["properties"]["consent"]).encode()
        now = parse_time(leaf["time"])
        given = verify_consent(paper, genesis=self._keys(), terms=told.terms, now_us=now)
        if now >= told.expire_time:
            raise self._breach("expiry")
        if (given.slot, given.principal) != (leaf["actor"], leaf["principal"]):
            raise self._breach("principal")
        if given.slot not in REQUIRED[told.level]:
            raise self._breach("slot")
        self._spend(given.nonce)
        told.consents[given.slot] = (given.expire_time, given.nonce)

    def _on_revoke(self, leaf: dict[str, Any]) -> None:
        told = self._known(leaf, OPEN, DECIDED, FAILED)
        answer = self._answer(leaf, told, REVOCATION_TYPE)
        if told.consents.get(answer.slot, (0, ""))[1] != answer.nonce:
            raise self._breach("nonce")
        del told.consents[answer.slot]

    def _on_reject(self, leaf: dict[str, Any]) -> None:
        told = self._known(leaf, OPEN)
        answer = self._answer(leaf, told, REJECTION_TYPE)
        if answer.slot not in REQUIRED[told.level]:
            raise self._breach("slot")
        self._spend(answer.nonce)
        told.state = ENDED

    def _answer(self, leaf: dict[str, Any], told: Told, payload_type: str) -> Answer:
        answer = verify_answer(
            json.dumps(leaf["properties"]["paper"]).encode(),
            payload_type,
            genesis=self._keys(),
            space=self._log.space,
            proposal_id=told.terms.proposal_id,
            revision=told.terms.revision,
        )
        if (answer.slot, answer.principal) != (leaf["actor"], leaf["principal"]):
            raise self._breach("principal")
        return answer

    def _on_end(self, leaf: dict[str, Any]) -> None:
        self._known(leaf, OPEN).state = ENDED

    def _on_expire(self, leaf: dict[str, Any]) -> None:
        told = self._known(leaf, OPEN)
        if parse_time(leaf["time"]) < told.expire_time:
            raise self._breach("expiry")
        told.state = ENDED

    def _on_decide(self, leaf: dict[str, Any]) -> None:
        told = self._known(leaf, OPEN)
        now = parse_time(leaf["properties"]["decide_time"])
        if now >= told.expire_time or now != parse_time(leaf["time"]):
            raise self._breach("expiry")
        if told.kind == "UNDO":
            self._demand_undoable(told, now)
        for slot in REQUIRED[told.level]:
            if told.consents.get(slot, (0, ""))[0] <= now:
                raise self._breach(f"consent of {slot}")
        told.state, told.decision_id = DECIDED, leaf["properties"]["decision_id"]
        if told.decision_id in self._decisions:
            raise self._breach("decision")
        self._decisions[told.decision_id] = told

    def _on_execute(self, leaf: dict[str, Any]) -> None:
        told = self._known(leaf, DECIDED)
        properties = leaf["properties"]
        if properties["decision_id"] != told.decision_id:
            raise self._breach("decision")
        told.state = EXECUTED
        told.undo_until = parse_time(properties["undo_until"])
        told.effects = {
            each["id"]: (each["before"], each["after"]) for each in properties["effects"]
        }
        if any(
            before and name not in told.terms.etags for name, (before, _) in told.effects.items()
        ):
            raise self._breach("effects")
        if told.kind == "CHANGE_KEY":
            self._change_key(told, properties["key_action"])

    def _change_key(self, told: Told, action: dict[str, Any]) -> None:
        """Take a new key from the action that the consents name by its digest."""
        if sha256(rfc8785.dumps(action)).hexdigest() != told.terms.action_digest:
            raise self._breach("action_digest")
        keys = self._keys()
        slot, holder = verify_new_key(b64decode(action["change_key"]["proof"], validate=True), keys)
        self._genesis = (
            replace(keys, agent=holder) if slot == "AGENT" else replace(keys, human=holder)
        )

    def _demand_undoable(self, undo: Told, now: int) -> None:
        """Demand what decides an undo to come in the window of what it undoes."""
        original = self._proposals[undo.undo_of]
        if original.state != EXECUTED:
            raise self._breach("undo")
        if now >= original.undo_until:
            raise self._breach("retention")

    def _on_fail(self, leaf: dict[str, Any]) -> None:
        told = self._known(leaf, DECIDED)
        if not leaf["blocked"] or leaf["properties"]["decision_id"] != told.decision_id:
            raise self._breach("decision")
        told.state = FAILED

    def _on_undo(self, leaf: dict[str, Any]) -> None:
        told = self._known(leaf, EXECUTED)
        undo = self._proposals[leaf["properties"]["undone_by"]]
        undoes = undo.kind == "UNDO" and undo.undo_of == told.terms.proposal_id
        if not undoes or undo.state != EXECUTED:
            raise self._breach("undo")
        told.state = UNDONE

    def _on_write(self, leaf: dict[str, Any]) -> None:
        if leaf["blocked"]:
            raise self._breach("blocked")
        item_id, told = leaf["item"]["id"], leaf["properties"]
        if told["before_digest"] != self._written_last.get(item_id, told["before_digest"]):
            raise self._breach("before_digest")
        self._written.append((self._index, told["request_id"], item_id))
        self._note_item(leaf)

    def _on_refusal(self, leaf: dict[str, Any]) -> None:
        if not leaf["blocked"]:
            raise self._breach("blocked")
        self._refused += 1

    def _demand_written_as_decided(self) -> None:
        """Demand a bilateral decision behind every governed write: it may be told later."""
        for index, request_id, item_id in self._written:
            told = self._decisions.get(request_id)
            if told is None or told.level != "BILATERAL":
                raise LogInvalid("undecided_write", index)
            if told.state == FAILED or (told.effects and item_id not in told.effects):
                raise LogInvalid("undecided_write", index)

    def _demand_undone(self) -> None:
        """Demand that what an undo undid is told to be undone."""
        for undo in self._proposals.values():
            if undo.kind == "UNDO" and undo.state in (EXECUTED, UNDONE):
                original = self._proposals[undo.undo_of]
                if original.state != UNDONE:
                    raise LogInvalid("undo", len(self._log.leaves))

    def _known(self, leaf: dict[str, Any], *states: str) -> Told:
        told = self._proposals.get(leaf["proposal"]["id"])
        if told is None or told.state not in states:
            raise self._breach("state")
        if leaf["action"] != "SMF_REVISE" and leaf["proposal"]["revision"] != told.terms.revision:
            raise self._breach("revision")
        return told

    def _keys(self) -> GenesisRecord:
        """Return the keys as they stand at this entry."""
        if self._genesis is None:
            if self._log.genesis is None:
                raise self._breach("genesis")
            self._genesis = verify_genesis(rfc8785.dumps(self._log.genesis), self._log.space)
            if self._pinned.genesis_digest not in (None, self._genesis.digest):
                raise self._breach("genesis_digest")
        return self._genesis

    def _spend(self, nonce: str) -> None:
        if nonce in self._nonces:
            raise self._breach("nonce")
        self._nonces.add(nonce)

    def _note_item(self, leaf: dict[str, Any]) -> None:
        item_id, told = leaf["item"]["id"], leaf["properties"]
        removed = leaf["action"] == "DELETE_SUCCESS"
        self._written_last[item_id] = "" if removed else told["digest"]
        self._digests |= {item_id: told["digest"], **told.get("ends", {})}
        self._standing.pop(item_id, None)
        if "ends" in told:
            self._standing[item_id] = list(told["ends"])

    def _breach(self, rule: str) -> LogInvalid:
        return LogInvalid(rule, self._index)
