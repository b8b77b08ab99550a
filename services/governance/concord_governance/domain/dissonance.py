"""Dissonance's privileges: it names the triggers of its proposals, and opens reviews (V3, D5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from concord_governance.domain.actions import conflict_of, kind_of
from concord_governance.domain.errors import SafeguardViolation
from concord_governance.domain.proposals import Json, Kind, Trigger

DISSONANCE: Final = "dissonance"
"""The principal of dissonance, and the issuer of its tokens."""
MOST_PENDING: Final = 20
"""Most proposals of dissonance that wait in a space: 500 findings do not bury others' (D7)."""

NUANCE: Final = 3
"""The contract's number of the class of conflicts that are no contradictions."""
_KINDS_NAMING_CAUSE = frozenset({Kind.ADD_LINEAGE, Kind.MERGE, Kind.DECLARE_RELATION})


@dataclass(frozen=True, slots=True)
class Conflict:
    """A conflict as graph has it, with the ids and statements of both sides; numbers as in the
    contract."""

    id: str
    conflict_class: int
    state: int
    statements: tuple[str, str]
    side_ids: tuple[str, str]


@dataclass(frozen=True, slots=True)
class OpenConflicts:
    """The newest CONFIRMED and then the newest POTENTIAL ones, and the numbers of each in all."""

    newest: Sequence[Conflict]
    potential: int
    confirmed: int


def demand_trigger(
    trigger: Trigger, action: Mapping[str, Json], session_id: str, *, by_dissonance: bool
) -> None:
    """Refuse a trigger that the proposer may not name, or whose conflict or session is missing.

    Raises:
        SafeguardViolation: a proposer other than dissonance names a trigger or a session, or the
            proposal lacks the conflict or session that its trigger needs.
    """
    if trigger == Trigger.MANUAL and not session_id:
        return
    if not by_dissonance or trigger == Trigger.MANUAL:
        raise SafeguardViolation("what caused a proposal follows from who proposes: leave it out")
    conflict_id = conflict_of(action)
    grounds = {
        Trigger.DISSONANCE: conflict_id,
        Trigger.SESSION_END: session_id,
        # The ground of an amendment or a merge is the pair itself, that of a declaration the
        # relation's facts: the action names both.
        Trigger.PROACTIVE: conflict_id or session_id or kind_of(action) in _KINDS_NAMING_CAUSE,
    }
    if not grounds[trigger]:
        raise SafeguardViolation(f"a proposal of the trigger {trigger.name} names what caused it")
