"""The rules of decisions, of their execution and of its undo (V5, V6, V8)."""

from __future__ import annotations

from typing import Any

from concord_attestation.instants import parse_time

from concord_client.trust.audit.effects import EffectRules
from concord_client.trust.audit.state import (
    CHANGE_KEY,
    DECIDED,
    ENDED,
    EXECUTED,
    FAILED,
    OPEN,
    REQUIRED,
    UNDONE,
    LoggedConsent,
    LoggedProposal,
    ReplayState,
)
from concord_client.trust.audit.write_rules import WriteRules


class DecisionRules:
    """Judges decisions, their execution, their failure and their undo."""

    def __init__(self, state: ReplayState, writes: WriteRules) -> None:
        self._state = state
        self._writes = writes
        self._effects = EffectRules(state)

    def on_decide(self, leaf: dict[str, Any]) -> None:
        """Demand a valid consent of every required slot at the time of the decision."""
        state = self._state
        proposal = state.known(leaf, OPEN)
        now = parse_time(leaf["properties"]["decide_time"])
        state.demand("decide_time", now == parse_time(leaf["time"]))
        state.demand("decided_late", now < proposal.expire_time)
        if proposal.kind == "UNDO":
            self._demand_undoable(state.proposals[proposal.undo_of], now)
        for slot in REQUIRED[proposal.level]:
            state.demand(
                "consent", proposal.consents.get(slot, LoggedConsent()).expire_time > now, slot
            )
        state.demand("decide_key", state.has_its_keys(proposal))
        self._decide(proposal, leaf["properties"]["decision_id"])
        proposal.key_action = leaf["properties"].get("key_action")
        if proposal.key_action is not None:
            state.demand_signed_key(proposal, proposal.key_action)

    def on_settle(self, leaf: dict[str, Any]) -> None:
        """Demand that no genesis came before, and that the proposal needs no consent of both."""
        state, said = self._state, leaf["properties"]
        proposal = state.known(leaf, OPEN)
        now = parse_time(leaf["time"])
        state.demand("settle_genesis", not self._writes.has_genesis)
        state.demand("settle_level", proposal.level == "AGENT")
        state.demand("decided_late", now < proposal.expire_time)
        rejected = said["settlement"] == "REJECT" and leaf["reason"] != ""
        state.demand("settlement", rejected or said["settlement"] == "APPROVE")
        if rejected:
            proposal.state = ENDED
            return
        state.demand("decide_time", now == parse_time(said["decide_time"]))
        if proposal.kind == "UNDO":
            self._demand_undoable(state.proposals[proposal.undo_of], now)
        self._decide(proposal, said["decision_id"])

    def _decide(self, proposal: LoggedProposal, decision_id: str) -> None:
        state = self._state
        state.demand("decision_again", decision_id not in state.decisions)
        proposal.state, proposal.decision_id = DECIDED, decision_id
        state.decisions[decision_id] = proposal
        proposal.decided_at = state.index

    def on_execute(self, leaf: dict[str, Any]) -> None:
        """Demand that the executed change was decided, and that it has no other effects."""
        state, properties = self._state, leaf["properties"]
        proposal = state.known(leaf, DECIDED)
        state.demand("execute_decision", properties["decision_id"] == proposal.decision_id)
        self._effects.on_execute(proposal, properties["effects"], properties["cascaded"])
        proposal.state = EXECUTED
        proposal.undo_until = parse_time(properties["undo_until"])
        window = parse_time(leaf["time"]) + proposal.retention
        state.demand("undo_window", proposal.undo_until <= window)
        if proposal.kind == CHANGE_KEY:
            state.demand_signed_key(proposal, properties["key_action"])
            if proposal.key_action is None:
                state.change_key(properties["key_action"])

    def _demand_undoable(self, original: LoggedProposal, now: int) -> None:
        """Demand that an undo is decided within the original's window, and that it undoes no key.

        A key changes only with a proof by its owner, which an undo would not have.
        """
        self._state.demand("undo_state", original.state == EXECUTED)
        self._state.demand("undo_of_key", original.kind != CHANGE_KEY)
        self._state.demand("retention", now < original.undo_until)

    def on_fail(self, leaf: dict[str, Any]) -> None:
        """Judge the failure of a decision: it may have no effect."""
        proposal = self._state.known(leaf, DECIDED)
        named = leaf["properties"]["decision_id"] == proposal.decision_id
        self._state.demand("fail_decision", named)
        self._state.demand("fail_written", not proposal.writes)
        proposal.state = FAILED

    def on_undo(self, leaf: dict[str, Any]) -> None:
        """Demand that an executed undo names the undone proposal."""
        proposal = self._state.known(leaf, EXECUTED)
        undo = self._state.proposals[leaf["properties"]["undone_by"]]
        undoes = undo.kind == "UNDO" and undo.undo_of == proposal.terms.proposal_id
        self._state.demand("undone_by", undoes and undo.state == EXECUTED)
        proposal.state = UNDONE

    def demand_undone(self) -> None:
        """Demand an UNDO entry for each proposal that an executed undo names."""
        for undo in self._state.proposals.values():
            if undo.kind == "UNDO" and undo.state in (EXECUTED, UNDONE):
                original = self._state.proposals[undo.undo_of]
                self._state.demand("undo_unlogged", original.state == UNDONE)
