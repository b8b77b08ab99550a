"""The effects of a decision, compared with the consents and with graph's entries (V6, V8)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from concord_client.trust.audit.items import Items, etag_of
from concord_client.trust.audit.state import LoggedProposal, ReplayState, of_type


def within_signed(decision: LoggedProposal, items: Items, touched: Iterable[str]) -> bool:
    """Return whether the consents cover all touched items: each old one, and as many new ones.

    A new item gets its id when it is created, so the consents name it by another id and an empty
    etag.
    """
    etags = decision.terms.etags
    new = [name for name in touched if not etags.get(name)]
    room = sum(not etag for etag in etags.values())
    firsts = (items.first(name) for name in new)
    known = any(first is not None and first < decision.decided_at for first in firsts)
    return len(new) <= room and not known


def _is_counted(cascaded: dict[str, Any]) -> bool:
    """Return whether a count above 0 has a digest of the counted items, and a count of 0 none."""
    count, digest = of_type(cascaded["count"], int), cascaded["digest"]
    return count >= 0 and bool(re.fullmatch("[0-9a-f]{64}" if count else "", digest))


class EffectRules:
    """Judges the effects that an EXECUTE entry names."""

    def __init__(self, state: ReplayState) -> None:
        self._state = state

    def on_execute(
        self, proposal: LoggedProposal, effects: list[dict[str, Any]], cascaded: dict[str, Any]
    ) -> None:
        """Demand that the effects match both the consents and graph's entries.

        Cascaded items are only counted, since they need no consent; a write of an item that needs
        one is always among the effects.
        """
        self._state.demand("cascaded", _is_counted(cascaded))
        self._demand_signed(proposal, effects)
        self._demand_logged(proposal, effects)
        proposal.effects = {each["id"]: (each["before"], each["after"]) for each in effects}
        proposal.left = {
            name: self._state.items.constitutive_digest(name) for name in proposal.effects
        }
        self._demand_newest(effects)
        if proposal.kind == "UNDO":
            self._demand_as_before(proposal, self._state.proposals[proposal.undo_of])
        for each in effects:
            self._state.items.saw(each["id"], self._state.index)

    def _demand_signed(self, proposal: LoggedProposal, effects: list[dict[str, Any]]) -> None:
        state, etags = self._state, proposal.terms.etags
        for each in effects:
            for number in (each["before"], each["after"], *each["governed"]):
                of_type(number, int)
        names = [each["id"] for each in effects]
        forward = all(
            proposal.began.get(each["id"], 0) <= each["before"] < each["after"] for each in effects
        )
        state.demand("effect_revisions", forward and len(set(names)) == len(names))
        for each in effects:
            signed = etags.get(each["id"], "") if each["before"] else ""
            version = etag_of(each["id"], each["before"]) if each["before"] else ""
            state.demand("unsigned_effect", signed == version)
        made = [each["id"] for each in effects if not each["before"]]
        state.demand("made", within_signed(proposal, state.items, made))

    def _demand_logged(self, proposal: LoggedProposal, effects: list[dict[str, Any]]) -> None:
        """Demand that graph has exactly one entry for each governed revision."""
        state = self._state
        governed = {each["id"]: each["governed"] for each in effects if each["governed"]}
        state.demand("effects_logged", governed == proposal.writes)
        state.demand("no_effect", bool(governed) == (proposal.level == "BILATERAL"))
        for each in effects:
            inside = all(each["before"] < number <= each["after"] for number in each["governed"])
            state.demand("governed_revisions", inside)

    def _demand_newest(self, effects: list[dict[str, Any]]) -> None:
        """Demand that each constitutive item's revision is the last one in the log, since every
        write on such an item has an entry."""
        for each in effects:
            if each["governed"] and self._state.items.constitutive_digest(each["id"]):
                self._state.demand("newest_revision", each["after"] <= max(each["governed"]))

    def _demand_as_before(self, undo: LoggedProposal, original: LoggedProposal) -> None:
        """Demand that an undo begins at the state that the original left, and restores its start.

        An item may have been changed and changed back in between: the digest of a constitutive
        item proves this; other items have no entries in the log.
        """
        state = self._state
        for name, (_, after) in original.effects.items():
            began, left = undo.effects.get(name, (0,))[0], original.left[name]
            back = began > after and undo.stood.get(name, "") == left
            state.demand("undone_effects", began == after or back)
        for name, digest in original.stood.items():
            state.demand("undone_state", state.items.constitutive_digest(name) == digest)
