"""The open conflicts at an item, and how many of them put it at risk (D5, S8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from concord_graph.domain.conflicts import ConflictClass, ConflictState, Judge, is_text_finding

MOST_OPEN = 20
"""How many of its open conflicts an item shows."""


class OpenConflict(NamedTuple):
    """An open conflict at an item, as a store finds it; `rank`: its place in lists."""

    rank: int
    item_id: str
    conflict_id: str
    state: str
    judge: int
    conflict_class: int


class OpenConflicts(NamedTuple):
    """An item's open conflicts: the ids of the newest `MOST_OPEN`, and how many put it at risk."""

    ids: tuple[str, ...] = ()
    risks: int = 0


def by_item(found: Iterable[OpenConflict]) -> Mapping[str, OpenConflicts]:
    """Return the open conflicts of each item; a text finding, and what a caller says that nobody
    confirmed (W9), put none at risk.

    What is UNDECIDED stands in lists of conflicts alone.
    """
    of_item: dict[str, OpenConflicts] = {}
    decided = (each for each in found if each.conflict_class != ConflictClass.UNDECIDED)
    for each in sorted(decided, reverse=True):
        known = of_item.get(each.item_id, OpenConflicts())
        state, judge = ConflictState[each.state], Judge(each.judge)
        is_said = state == ConflictState.POTENTIAL and judge == Judge.CALLER
        is_risk = not is_said and not is_text_finding(state, judge)
        ids = (*known.ids, each.conflict_id)[:MOST_OPEN]
        of_item[each.item_id] = OpenConflicts(ids, known.risks + is_risk)
    return of_item
