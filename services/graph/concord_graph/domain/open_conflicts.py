"""The open conflicts at an item, and how many of them put it at risk (D5, S8)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
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
    author: str

    @property
    def is_text_finding(self) -> bool:
        """Whether it was merely found in texts."""
        return is_text_finding(ConflictState[self.state], Judge(self.judge))

    @property
    def is_risk(self) -> bool:
        """Whether it puts its sides at risk: no text finding does, nor what a caller says that
        nobody confirmed (W9)."""
        is_said = self.state == ConflictState.POTENTIAL.name and self.judge == Judge.CALLER
        return not is_said and not self.is_text_finding


class OpenConflicts(NamedTuple):
    """An item's open conflicts: the ids of at most `MOST_OPEN`, newest first, how many put it at
    risk, and how many there are."""

    ids: tuple[str, ...] = ()
    risks: int = 0
    total: int = 0


def by_item(found: Iterable[OpenConflict]) -> Mapping[str, OpenConflicts]:
    """Return the open conflicts of each item.

    What is UNDECIDED stands in lists of conflicts alone.
    """
    of_item: dict[str, list[OpenConflict]] = defaultdict(list)
    for each in sorted(set(found), reverse=True):
        if each.conflict_class != ConflictClass.UNDECIDED:
            of_item[each.item_id].append(each)
    return {
        item_id: OpenConflicts(
            tuple(each.conflict_id for each in _fairly(ones)),
            sum(each.is_risk for each in ones),
            len(ones),
        )
        for item_id, ones in of_item.items()
    }


def _fairly(newest_first: Sequence[OpenConflict]) -> Sequence[OpenConflict]:
    """Return at most `MOST_OPEN` conflicts: each writer's first, then each one's second, and so on,
    so that many of one hide nobody else's (W9). Of one's, those merely found in texts come last."""
    if len(newest_first) <= MOST_OPEN:
        return newest_first
    turns: Counter[str] = Counter()
    turn_of: dict[OpenConflict, int] = {}
    for each in sorted(newest_first, key=lambda each: each.is_text_finding):
        turns[each.author] += 1
        turn_of[each] = turns[each.author]
    shown = sorted(newest_first, key=turn_of.__getitem__)[:MOST_OPEN]
    return sorted(shown, reverse=True)
