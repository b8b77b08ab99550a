"""What supersedes what, from when, as it is known: the one rule (T2, G4, M1, M3; decision 0043).

A write finds the items that it affects and what stands around each; these functions say what
follows, and the store keeps it as the item's `Standing` from that record time on. Readers compare
its numbers with the instant that they are asked about.

- Lineage (SUPERSEDES, DEPRECATES) replaces its older side from when the newer one begins.
- The live edges of one source with one functional relation are a *row* of values, by when they
  begin. A value gives way to the next ones with another target; those of one instant stand side by
  side, and edges of one triple never end one another. An *extracted* value, which nobody stated or
  confirmed, ends none.
- What is *fixed* gives way to what both principals agreed to alone: a constitutive item, one at
  which agreed lineage starts, and a memory at which a constitutive edge, or one like that, ends.
- A value that lineage replaced by an earlier one of its source and relation *never held*: it is in
  no row. Whether the earlier one held itself does not matter.
- A memory that states facts ends with the last of them, unless it is fixed.
- *Claimed* lineage replaces nothing, and a claimed value ends none, as an extracted one (W9).
- Lineage that one principal wrote at a ghost does not replace what another wrote there later.
- A deleted item is in no row and states nothing: lineage alone replaces it.

All times are microseconds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from concord_graph.domain.items import FOREVER, Edge, EdgeType, Memory

MOST_FORMER = 100
"""Former values of one edge that are counted: a hub has thousands."""


class Newer(NamedTuple):
    """The newer side of lineage that counts, and when it begins."""

    id: str
    begins: int


class Value(NamedTuple):
    """An edge of a row, as far as the row is concerned."""

    id: str
    target_id: str
    begins: int
    is_fixed: bool = False
    is_extracted: bool = False


class Standing(NamedTuple):
    """What lineage, rows and consent make of an item; the default is that of most items.

    `replacers`: the live newer sides of lineage that counts, by id. `followed_from`: when the next
    values of its row begin; of a memory, when its last fact ends. `comes_next`: it comes right
    after another value of its row. `former`: the number of values that give way to it (of a
    memory, to its facts), at most MOST_FORMER each; `older`: of other items that it replaces.
    `exit_of`: the source of the row, if a walk to the heads may leave the row, or end, at it.
    """

    replacers: tuple[Newer, ...] = ()
    followed_from: int = FOREVER
    never_held: bool = False
    is_fixed: bool = False
    comes_next: bool = False
    former: int = 0
    older: int = 0
    exit_of: str = ""

    @property
    def superseded_from(self) -> int:
        """The instant from which another item stands in its place; FOREVER without one."""
        return min([self.followed_from, *(newer.begins for newer in self.replacers)])


UNTOUCHED = Standing()


@dataclass(frozen=True, slots=True)
class Replacement:
    """Live lineage with its live newer side; `makers`: who first wrote it, and its older side."""

    lineage: Edge
    newer: Edge | Memory
    makers: tuple[str, str] = ("", "")


def is_constitutive(item: Edge | Memory) -> bool:
    """Return whether an item defines the agent."""
    return item.edge_type == EdgeType.CONSTITUTIVE


def is_early(lineage: Edge, older: Edge | Memory) -> bool:
    """Return whether lineage named a memory before it was written: its makers matter (M3)."""
    return isinstance(older, Memory) and lineage.create_time < older.create_time


def counts(replacement: Replacement, older: Edge | Memory, *, fixed: bool) -> bool:
    """Return whether lineage has effect on its older side, given whether that is fixed."""
    if replacement.lineage.governed:
        return True
    if replacement.lineage.claimed:
        return False
    wrote, made = replacement.makers
    return not fixed and not (is_early(replacement.lineage, older) and wrote != made)


def replacers(replacements: Iterable[Replacement]) -> tuple[Newer, ...]:
    """Return the newer sides of lineage that counts, each once."""
    newer = {Newer(each.newer.id, each.newer.effective_from) for each in replacements}
    return tuple(sorted(newer))


def never_held(edge: Edge, newer: Iterable[Edge | Memory]) -> bool:
    """Return whether one of those that replace a value is an earlier one of its row (0043)."""
    return any(
        isinstance(each, Edge)
        and (each.source.id, each.relation) == (edge.source.id, edge.relation)
        and each.effective_from < edge.effective_from
        for each in newer
    )


def next_values(value: Value, later: Sequence[Value]) -> list[Value]:
    """Return the values that would follow one; `later`: those after it in its row, by time."""
    others = [each for each in confirmed(later) if each.target_id != value.target_id]
    return [each for each in others if each.begins == others[0].begins]


def confirmed(values: Iterable[Value]) -> list[Value]:
    """Return the values that may end others."""
    return [each for each in values if not each.is_extracted]


def former_values(value: Value, earlier: Sequence[Value]) -> list[Value]:
    """Return the values that one would follow; `earlier`: those before it in its row, latest first.

    They are those of the last instant, and earlier ones with one of their targets, back to the last
    value with another target; and extracted ones among these.
    """
    found: list[Value] = []
    if value.is_extracted:
        return found
    between: set[str] = set()  # the targets of values that begin later than those of this instant
    for begins in dict.fromkeys(each.begins for each in earlier):
        at_once = [each for each in earlier if each.begins == begins]
        found += [
            each
            for each in at_once
            if each.target_id != value.target_id and between <= {each.target_id}
        ]
        between |= {each.target_id for each in confirmed(at_once)}
        if len(between) > 1:
            break
    return found


def until(item: Edge | Memory, standing: Standing) -> int:
    """Return until when an item holds: as stated, or until it is superseded."""
    stated = FOREVER if item.valid_until is None else item.valid_until
    return min(stated, max(item.effective_from, standing.superseded_from))


def ended_from(facts: Collection[tuple[Edge, Standing]]) -> int:
    """Return when the last of the live edges that a memory states ends; FOREVER without any."""
    return max((until(edge, standing) for edge, standing in facts), default=FOREVER)
