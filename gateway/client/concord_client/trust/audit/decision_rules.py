"""The rules of decisions, of their execution and of undoing it (V5, V6, V8)."""

from __future__ import annotations

from typing import Any

from concord_attestation.instants import parse_time

from concord_client.trust.audit.course import (
    CHANGE_KEY,
    DECIDED,
    EXECUTED,
    FAILED,
    OPEN,
    REQUIRED,
    UNDONE,
    Course,
    Given,
    Told,
)
from concord_client.trust.audit.effects import EffectRules


class DecisionRules:
    """What may be decided, done and undone."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._effects = EffectRules(course)

    def on_decide(self, leaf: dict[str, Any]) -> None:
        """Demand every required slot's consent at that very moment."""
        course = self._course
        told = course.known(leaf, OPEN)
        now = parse_time(leaf["properties"]["decide_time"])
        course.demand("decide_time", now == parse_time(leaf["time"]))
        course.demand("decided_late", now < told.expire_time)
        if told.kind == "UNDO":
            self._demand_undoable(course.proposals[told.undo_of], now)
        for slot in REQUIRED[told.level]:
            course.demand("consent", told.consents.get(slot, Given()).expire_time > now, slot)
        course.demand("decide_key", course.has_its_keys(told))
        told.state, told.decision_id = DECIDED, leaf["properties"]["decision_id"]
        course.demand("decision_again", told.decision_id not in course.decisions)
        course.decisions[told.decision_id] = told
        told.decided_at = course.index
        told.key_action = leaf["properties"].get("key_action")
        if told.key_action is not None:
            course.demand_signed_key(told, told.key_action)

    def on_execute(self, leaf: dict[str, Any]) -> None:
        """Demand that what was done was decided, and touched nothing else."""
        course, properties = self._course, leaf["properties"]
        told = course.known(leaf, DECIDED)
        course.demand("execute_decision", properties["decision_id"] == told.decision_id)
        self._effects.on_execute(told, properties["effects"], properties["cascaded"])
        told.state = EXECUTED
        told.undo_until = parse_time(properties["undo_until"])
        window = parse_time(leaf["time"]) + told.retention
        course.demand("undo_window", told.undo_until <= window)
        if told.kind == CHANGE_KEY:
            course.demand_signed_key(told, properties["key_action"])
            if told.key_action is None:
                course.change_key(properties["key_action"])

    def _demand_undoable(self, original: Told, now: int) -> None:
        """Demand what decides an undo to come in the window of what it undoes.

        A key is changed by its owner's proof alone: an undo would bring back one without it.
        """
        self._course.demand("undo_state", original.state == EXECUTED)
        self._course.demand("undo_of_key", original.kind != CHANGE_KEY)
        self._course.demand("retention", now < original.undo_until)

    def on_fail(self, leaf: dict[str, Any]) -> None:
        """Take a decision that had no effect."""
        told = self._course.known(leaf, DECIDED)
        named = leaf["properties"]["decision_id"] == told.decision_id
        self._course.demand("fail_decision", named)
        self._course.demand("fail_written", not told.writes)
        told.state = FAILED

    def on_undo(self, leaf: dict[str, Any]) -> None:
        """Demand that an executed undo names it."""
        told = self._course.known(leaf, EXECUTED)
        undo = self._course.proposals[leaf["properties"]["undone_by"]]
        undoes = undo.kind == "UNDO" and undo.undo_of == told.terms.proposal_id
        self._course.demand("undone_by", undoes and undo.state == EXECUTED)
        told.state = UNDONE

    def demand_undone(self) -> None:
        """Demand that what an undo undid is told to be undone."""
        for undo in self._course.proposals.values():
            if undo.kind == "UNDO" and undo.state in (EXECUTED, UNDONE):
                original = self._course.proposals[undo.undo_of]
                self._course.demand("undo_untold", original.state == UNDONE)
