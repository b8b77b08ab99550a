"""What stands around values in their rows: as much as decides what a write changes there."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from concord_graph.domain.items import Edge
from concord_graph.domain.succession import (
    MOST_FORMER,
    Value,
    confirmed,
    former_values,
    next_values,
)
from concord_graph.ports import ValuesAround
from concord_graph.ports.space_to_settle import SpaceToSettle
from concord_graph.usecases.read.succession import FIRST_LOOK, FURTHER, place_of, value_of

Near = ValuesAround | None


class Neighbours(NamedTuple):
    """The ids of the values around one in its row.

    `beside`: those right before and right after it, by time, but for neighbours that another value
    at its instant has. `former`: those that it follows. `following`: later ones that may follow
    others once it comes or goes.
    """

    beside: list[str]
    former: set[str]
    following: set[str]


class Rows:
    """The rows of a space as a write finds them."""

    def __init__(self, tx: SpaceToSettle) -> None:
        self._tx = tx
        self._functional: Collection[str] | None = None

    async def is_functional(self, relation: str) -> bool:
        """Return whether a relation holds one value at a time."""
        if self._functional is None:
            self._functional = await self._tx.functional()
        return relation in self._functional

    async def near(self, edge: Edge) -> Near:
        """Return all values around an edge in its row; None: it is no value."""
        if edge.deleted or edge.is_lineage or not await self.is_functional(edge.relation):
            return None
        return (await self.around([edge], all_=True))[0]

    async def neighbours(self, values: Sequence[Edge]) -> list[Neighbours]:
        """Return the neighbours of each value in its row."""
        values = [edge for edge in values if await self.is_functional(edge.relation)]
        found = []
        for edge, around in zip(values, await self.around(values, all_=True), strict=True):
            earlier, at_once, later = (
                [value for value in part if value.id != edge.id] for part in around
            )
            at_once, later = confirmed(at_once), confirmed(later)
            value = value_of(edge)
            former = former_values(value, earlier)
            beside = [
                each
                for each in reversed(former)
                if all(other.target_id == each.target_id for other in at_once)
            ]
            if not at_once:
                beside += [each for each in later if each.begins == later[0].begins]
                beside += next_values(value, later)
            found.append(
                Neighbours(
                    [each.id for each in beside],
                    {each.id for each in former},
                    {each.id for each in _following(later)},
                )
            )
        return found

    async def around(self, values: Sequence[Edge], *, all_: bool) -> list[ValuesAround]:
        """Return the values around each one in its row: as many as decide what they are to it.

        `all_`: all values that it follows, not only as many as are counted.
        """
        found: list[ValuesAround] = [ValuesAround((), (), ())] * len(values)
        most, undecided = FIRST_LOOK, list(range(len(values)))
        while undecided:
            places = [place_of(values[i]) for i in undecided]
            looked = await self._tx.values_around(places, most)
            for i, around in zip(undecided, looked, strict=True):
                found[i] = around
            undecided = [
                i for i in undecided if not _decides(value_of(values[i]), found[i], most, all_=all_)
            ]
            most *= FURTHER
        return found


def _following(later: Sequence[Value]) -> list[Value]:
    """Return the values whose run of former ones may reach back before these, whatever is there."""
    first = [each for each in later if each.begins == later[0].begins]
    if len({each.target_id for each in first}) != 1:
        return first
    return first + next_values(first[0], later)


def _decides(value: Value, around: ValuesAround, most: int, *, all_: bool) -> bool:
    """Return whether these values, `most` of each part at most, are all that matter to one."""
    earlier, _, later = around
    former = former_values(value, earlier)
    if len(earlier) == most and not value.is_extracted:
        whole = [each for each in earlier if each.begins != earlier[-1].begins]
        counted = [each for each in former if not each.is_fixed]
        many = not all_ and len(counted) >= MOST_FORMER
        if not many and len({each.target_id for each in confirmed(whole)}) < 2:
            return False
    if len(later) < most:
        return True
    if not all_:
        return bool(next_values(value, later))
    following = [next_values(value, later), _following(confirmed(later))]
    return all(each and each[-1].begins < later[-1].begins for each in following)
