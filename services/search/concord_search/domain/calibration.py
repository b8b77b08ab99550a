"""How votes move the constitutive weight (spec S7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

LOWEST, HIGHEST = 1.5, 5.0
STEP = 0.25
"""The most by which one move changes the weight."""

NEW_VOTES = 50
"""So many votes since the last move let the weight move by itself."""

ENOUGH = 10.0
"""A rate of fewer votes does not count."""

MARGIN = 0.10
"""By so much the rates of the two kinds of replies must differ, in [0, 1]."""

_Z = 1.96


@dataclass(frozen=True, slots=True)
class Votes:
    """The votes of one principal at one weight, for one kind of first result."""

    principal: str
    weight: float
    constitutive_first: bool
    helpful: float
    unhelpful: float

    @property
    def total(self) -> float:
        """The number of votes."""
        return self.helpful + self.unhelpful


@dataclass(frozen=True, slots=True)
class Proposal:
    """The proposed weight, and the evidence for it in words."""

    weight: float
    evidence: str


def proposed(current: float, votes: Sequence[Votes], *, by_hand: bool = False) -> Proposal:
    """The weight that the votes propose, at most `STEP` from the current one.

    If several weights have enough votes, it moves towards the most helpful one. Otherwise it moves
    up if replies that began with a value helped more often than others, and down if less often.
    `by_hand`: somebody asked for the move, so the votes of a single principal count, too.
    """
    counted = capped(votes, by_hand=by_hand)
    if not sum(each.total for each in counted):
        return Proposal(current, "no votes that count")
    rates = {
        weight: (helpful, total)
        for weight in {each.weight for each in counted}
        for helpful, total in [_sum([each for each in counted if each.weight == weight])]
        if total >= ENOUGH
    }
    if len(rates) > 1:
        best = max(sorted(rates), key=lambda weight: wilson_low(*rates[weight]))
        said = ", ".join(f"{w:.2f} helped {_of(*rates[w])}" for w in sorted(rates))
        return Proposal(_towards(current, best), f"by weight: {said}")
    return _by_kind(current, counted)


def _by_kind(current: float, votes: Sequence[Votes]) -> Proposal:
    value_first = _sum([each for each in votes if each.constitutive_first])
    others = _sum([each for each in votes if not each.constitutive_first])
    said = f"constitutive-first replies helped {_of(*value_first)}, others {_of(*others)}"
    if min(value_first[1], others[1]) < ENOUGH:
        return Proposal(current, f"{said}: fewer than ten of a kind")
    difference = value_first[0] / value_first[1] - others[0] / others[1]
    if abs(difference) < MARGIN - 1e-9:
        return Proposal(current, f"{said}: less than ten points apart")
    return Proposal(_towards(current, HIGHEST if difference > 0 else LOWEST), said)


def capped(votes: Sequence[Votes], *, by_hand: bool = False) -> list[Votes]:
    """The votes, weighted so that no principal's count for more than half of all.

    The votes of a single principal count for nothing, unless somebody asked `by_hand`.
    """
    totals: dict[str, float] = {}
    for each in votes:
        totals[each.principal] = totals.get(each.principal, 0.0) + each.total
    if by_hand and len(totals) == 1:
        return list(votes)
    everything = sum(totals.values())
    shares = {
        who: min(1.0, (everything - total) / total) if total else 0.0
        for who, total in totals.items()
    }
    return [
        Votes(
            each.principal,
            each.weight,
            each.constitutive_first,
            each.helpful * shares[each.principal],
            each.unhelpful * shares[each.principal],
        )
        for each in votes
    ]


def wilson_low(helpful: float, total: float) -> float:
    """The lower end of the 95 % Wilson interval of a rate, in [0, 1]."""
    rate, z2 = helpful / total, _Z * _Z
    middle = rate + z2 / (2 * total)
    spread = _Z * sqrt(rate * (1 - rate) / total + z2 / (4 * total * total))
    return max(0.0, (middle - spread) / (1 + z2 / total))


def _towards(current: float, target: float) -> float:
    moved = current + max(-STEP, min(STEP, target - current))
    return max(LOWEST, min(HIGHEST, moved))


def _sum(votes: Sequence[Votes]) -> tuple[float, float]:
    return sum(each.helpful for each in votes), sum(each.total for each in votes)


def _of(helpful: float, total: float) -> str:
    return f"{helpful:g} of {total:g}"
