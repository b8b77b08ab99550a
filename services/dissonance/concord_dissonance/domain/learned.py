"""Learns from facts which undeclared relations are functional: to propose, never assume (D4)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from concord_dissonance.domain.candidates import begin_and_value, claim_together
from concord_dissonance.domain.sides import RelationRule, Rules
from concord_dissonance.domain.statements import Statement

LEAST_SUBJECTS = 20
"""Fewer subjects show nothing about their relation."""
LEAST_SHARE = 0.95
"""Least share of the subjects that have one value at a time."""
LEAST_CHANGES = 3
"""Fewest subjects whose value changed in stated time, for a relation of states."""


@dataclass(frozen=True, slots=True)
class Learned:
    """A relation that seems to hold one value at a time, with the counts that show it."""

    relation: str
    single: int
    """Subjects with one value at a time."""
    subjects: int
    changed: int
    """Of these, subjects whose values follow one another in stated time."""

    @property
    def is_of_states(self) -> bool:
        """Whether its values are states: each holds until another replaces it."""
        return self.changed >= LEAST_CHANGES


def learned(statements: Iterable[Statement], rules: Rules) -> list[Learned]:
    """Return the undeclared relations that seem to hold one value at a time, by name."""
    values: dict[str, dict[str, list[Statement]]] = defaultdict(lambda: defaultdict(list))
    for each in statements:
        fact = each.side.fact
        if fact is not None and rules.of(fact.relation).functional is None:
            values[fact.relation][rules.name(fact.subject)].append(each)
    found = (_of_relation(name, [*values[name].values()]) for name in sorted(values))
    return [
        each
        for each in found
        if each.subjects >= LEAST_SUBJECTS and each.single >= LEAST_SHARE * each.subjects
    ]


def _of_relation(relation: str, values: Sequence[Sequence[Statement]]) -> Learned:
    single = changed = 0
    for of_one in values:
        ordered = sorted(of_one, key=begin_and_value)
        if any(claim_together(one, other, RelationRule()) for one, other in pairwise(ordered)):
            continue
        single += 1
        changed += len({each.side.fact for each in ordered}) > 1
    return Learned(relation, single, len(values), changed)
