"""The formula by which the engine itself ranks an integrative search (spec S6, G7).

    ief = text relevance · C · R
    text relevance = sum over branches of max(0, (score - low) / width), scaled to [0, 1]
    C = the constitutive weight for constitutive items, else 1
    R = exp(-days since the last read / S); 1 for constitutive items
    S = 100 · (1 + ln(1 + reads)), at least 200 for high importance

A transport translates these terms into its own types; they mean the same as Qdrant's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from concord_search.adapters.qdrant import payload
from concord_search.adapters.qdrant.filters import MatchAny
from concord_search.adapters.qdrant.keys import SpaceKey
from concord_search.domain.instants import DAY, Micros
from concord_search.domain.memory import CONSTITUTIVE
from concord_search.domain.recency import BASE, FLOORS


@dataclass(frozen=True, slots=True)
class Score:
    """The score that a branch gave the point; `absent` if the branch did not find it."""

    branch: int
    absent: float


@dataclass(frozen=True, slots=True)
class Field:
    """A number of the payload."""

    name: str


@dataclass(frozen=True, slots=True)
class Is:
    """1 where a condition holds, else 0."""

    condition: MatchAny


@dataclass(frozen=True, slots=True)
class Sum:
    """The terms added up."""

    terms: tuple["Term", ...]


@dataclass(frozen=True, slots=True)
class Product:
    """The terms multiplied."""

    terms: tuple["Term", ...]


@dataclass(frozen=True, slots=True)
class Largest:
    """The largest of the terms."""

    terms: tuple["Term", ...]


@dataclass(frozen=True, slots=True)
class Quotient:
    """One term divided by another, which is not 0."""

    over: "Term"
    under: "Term"


@dataclass(frozen=True, slots=True)
class Exp:
    """e to the power of a term."""

    term: "Term"


@dataclass(frozen=True, slots=True)
class Ln:
    """The natural logarithm of a term."""

    term: "Term"


Term = float | Score | Field | Is | Sum | Product | Largest | Quotient | Exp | Ln


def integrative(
    scales: Sequence[tuple[float, float]], best: float, weight: float, now: Micros, key: SpaceKey
) -> Term:
    """The whole formula.

    `scales` are each branch's low and width, `best` is the largest sum of their parts, `weight`
    the constitutive weight.
    """
    constitutive = Is(_facet(key, "edge_type", CONSTITUTIVE))
    # No less than the number of branches: a poor best candidate stays poor.
    text = Product((Sum(tuple(map(_part, range(len(scales)), scales))), 1 / max(len(scales), best)))
    weighing = Sum((1.0, Product((weight - 1, constitutive))))
    recency = Largest((constitutive, _recency(now, key)))
    return Product((text, weighing, recency))


def _part(branch: int, scale: tuple[float, float]) -> Term:
    low, width = scale
    return Largest((0.0, Product((Sum((Score(branch, low), -low)), 1 / width))))


def _recency(now: Micros, key: SpaceKey) -> Term:
    age = Largest((0.0, Product((Sum((float(now), Product((-1.0, Field("la"))))), 1 / DAY))))
    reads = Product((BASE, Sum((1.0, Ln(Sum((1.0, Field("ac"))))))))
    floors = (
        Product((floor, Is(_facet(key, "importance", level)))) for level, floor in FLOORS.items()
    )
    return Exp(Product((-1.0, Quotient(age, Largest((reads, *floors))))))


def _facet(key: SpaceKey, name: str, value: int) -> MatchAny:
    return MatchAny(payload.FACETS, (key.number(name, str(value)),))
