"""The rules of an entry's fields: actor, principal, item, blocked and reason.

Each field follows from the entry's action and the signed statements, except the fields that
decision 0009 names, which are believed.
"""

from __future__ import annotations

import re
from typing import Any

from concord_client.trust.audit.state import ReplayState

SYSTEM = ("SYSTEM", "")
"""Actor and principal of steps that governance takes by itself."""
GOVERNANCE = ("SYSTEM", "governance")
"""Actor and principal of a governed write, which governance requests from graph."""
NO_ITEM = {"id": "", "kind": 0}
NO_PROPOSAL = {"id": "", "revision": 0}

_REFUSALS = frozenset({"FRAMING_VIOLATION", "SAFEGUARD_VIOLATION", "CONSENT_REFUSED"})
_BLOCKED = _REFUSALS | {"WRITE_ATTEMPT", "DELETE_ATTEMPT", "SMF_FAIL"}
_BY_SYSTEM = frozenset(
    {"SMF_EXPIRE", "SMF_DECIDE", "SMF_EXECUTE", "SMF_FAIL", "SMF_UNDO", "RESTORE"}
)
_MADE = frozenset({"SMF_PROPOSE", "SMF_REVISE"})
_COMMANDS = frozenset({"KEY_CREATE", "KEY_REVOKE", "SPACE_CREATE", "SPACE_DELETE"})
"""An operator's commands, allowed or refused: what they did is signed by nobody and believed,
but for its order (`access_rules`); they are about no item and no proposal."""
_REASON = re.compile(r"ERROR_REASON_[A-Z_]+")


class EntryRules:
    """Judges an entry's fields."""

    def __init__(self, state: ReplayState) -> None:
        self._state = state

    def judge(self, leaf: dict[str, Any]) -> None:
        """Demand the field values that follow from the action; other rules judge the action."""
        state, action = self._state, leaf["action"]
        if action in _COMMANDS:
            state.demand("item", (leaf["item"], leaf["proposal"]) == (NO_ITEM, NO_PROPOSAL))
            state.demand("reason", leaf["blocked"] or leaf["reason"] == "")
            return
        state.demand("blocked", leaf["blocked"] == (action in _BLOCKED))
        if action in _BY_SYSTEM:
            state.demand("by_system", (leaf["actor"], leaf["principal"]) == SYSTEM)
        state.demand("reason", self._is_reason(leaf))
        state.demand("item", self._is_item(leaf))

    def _is_reason(self, leaf: dict[str, Any]) -> bool:
        """Return whether an entry with this action may have this reason.

        The reason of an answer is compared with its signed statement elsewhere; the reasons of a
        refusal and of a settlement are believed.
        """
        action, reason = leaf["action"], leaf["reason"]
        if action == "SMF_FAIL":
            return _REASON.fullmatch(reason) is not None
        given = action in ("SMF_REJECT", "SMF_REVOKE", "SMF_SETTLE")
        return given or action in _BLOCKED or reason == ""

    def _is_item(self, leaf: dict[str, Any]) -> bool:
        """Return whether an entry about a proposal names the item of its revision: an existing
        item that the consents name, or none."""
        action, item = leaf["action"], leaf["item"]
        if action in _REFUSALS or action in ("IMPORT", "RESTORE"):
            return bool(item == NO_ITEM)
        if action in _MADE:
            named = leaf["properties"]["etags"].get(item["id"], "")
            return bool(item == NO_ITEM or (named and item["kind"]))
        if not action.startswith("SMF_"):
            return True
        proposal = self._state.proposals.get(leaf["proposal"]["id"])
        return bool(item == (proposal.item if proposal else NO_ITEM))
