"""The rules of decisions, of their execution and of undoing it (V5, V6, V8)."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import replace
from hashlib import sha256
from typing import Any

import rfc8785
from concord_attestation.instants import parse_time
from concord_attestation.verify import verify_new_key

from concord_client.audit.course import (
    DECIDED,
    EXECUTED,
    FAILED,
    OPEN,
    REQUIRED,
    UNDONE,
    Course,
    Told,
)
from concord_client.audit.log import LogInvalid


class DecisionRules:
    """What may be decided, done and undone."""

    def __init__(self, course: Course) -> None:
        self._course = course

    def on_decide(self, leaf: dict[str, Any]) -> None:
        """Demand every required slot's consent at that very moment."""
        told = self._course.known(leaf, OPEN)
        now = parse_time(leaf["properties"]["decide_time"])
        if now >= told.expire_time or now != parse_time(leaf["time"]):
            raise self._course.breach("expiry")
        if told.kind == "UNDO":
            self._demand_undoable(told, now)
        for slot in REQUIRED[told.level]:
            if told.consents.get(slot, (0, ""))[0] <= now:
                raise self._course.breach(f"consent of {slot}")
        told.state, told.decision_id = DECIDED, leaf["properties"]["decision_id"]
        if told.decision_id in self._course.decisions:
            raise self._course.breach("decision")
        self._course.decisions[told.decision_id] = told

    def on_execute(self, leaf: dict[str, Any]) -> None:
        """Demand that what was done was decided, and touched nothing else."""
        told = self._course.known(leaf, DECIDED)
        properties = leaf["properties"]
        if properties["decision_id"] != told.decision_id:
            raise self._course.breach("decision")
        told.state = EXECUTED
        told.undo_until = parse_time(properties["undo_until"])
        told.effects = {
            each["id"]: (each["before"], each["after"]) for each in properties["effects"]
        }
        if any(
            before and name not in told.terms.etags for name, (before, _) in told.effects.items()
        ):
            raise self._course.breach("effects")
        if told.kind == "CHANGE_KEY":
            self._change_key(told, properties["key_action"])

    def _change_key(self, told: Told, action: dict[str, Any]) -> None:
        """Take a new key from the action that the consents name by its digest."""
        if sha256(rfc8785.dumps(action)).hexdigest() != told.terms.action_digest:
            raise self._course.breach("action_digest")
        keys = self._course.keys()
        slot, holder = verify_new_key(b64decode(action["change_key"]["proof"], validate=True), keys)
        self._course.genesis = (
            replace(keys, agent=holder) if slot == "AGENT" else replace(keys, human=holder)
        )

    def _demand_undoable(self, undo: Told, now: int) -> None:
        """Demand what decides an undo to come in the window of what it undoes."""
        original = self._course.proposals[undo.undo_of]
        if original.state != EXECUTED:
            raise self._course.breach("undo")
        if now >= original.undo_until:
            raise self._course.breach("retention")

    def on_fail(self, leaf: dict[str, Any]) -> None:
        """Take a decision that had no effect."""
        told = self._course.known(leaf, DECIDED)
        if not leaf["blocked"] or leaf["properties"]["decision_id"] != told.decision_id:
            raise self._course.breach("decision")
        told.state = FAILED

    def on_undo(self, leaf: dict[str, Any]) -> None:
        """Demand that an executed undo names it."""
        told = self._course.known(leaf, EXECUTED)
        undo = self._course.proposals[leaf["properties"]["undone_by"]]
        undoes = undo.kind == "UNDO" and undo.undo_of == told.terms.proposal_id
        if not undoes or undo.state != EXECUTED:
            raise self._course.breach("undo")
        told.state = UNDONE

    def demand_undone(self) -> None:
        """Demand that what an undo undid is told to be undone."""
        for undo in self._course.proposals.values():
            if undo.kind == "UNDO" and undo.state in (EXECUTED, UNDONE):
                original = self._course.proposals[undo.undo_of]
                if original.state != UNDONE:
                    raise LogInvalid("undo", len(self._course.log.leaves))
