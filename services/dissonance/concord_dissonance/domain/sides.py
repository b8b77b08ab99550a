"""The two sides of a pair that is judged, and what is declared about relations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import NewType

from concord_dissonance.domain.language.clauses import Reading
from concord_dissonance.domain.language.reading import read
from concord_dissonance.domain.language.tokens import joined

Micros = NewType("Micros", int)
"""Microseconds since 1970-01-01 UTC."""


class Kind(Enum):
    """What a side is: an edge, or a memory of a kind (M1)."""

    EDGE = "edge"
    FACT = "fact"
    PLAN = "plan"
    JOURNAL = "journal"
    INSIGHT = "insight"
    OBSERVATION = "observation"
    REFLECTION = "reflection"
    TURN = "turn"


class TemporalClass(Enum):
    """What a later value of a relation means (D4)."""

    STATE = "state"
    """A later value is an evolution."""
    EVENT = "event"
    """Many values; never a conflict."""
    ETERNAL = "eternal"
    """Two values contradict, whenever they were stated."""


@dataclass(frozen=True, slots=True)
class TypedFact:
    """A triple by the ids or names of its ends; equal strings are the same thing."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True)
class Side:
    """One item as it is judged."""

    id: str
    revision: int
    kind: Kind
    text: str = ""
    """The statement, up to 20,000 characters; empty for an edge that states none."""
    fact: TypedFact | None = None
    valid_from: Micros | None = None
    """As stated; None where nobody stated it."""
    valid_until: Micros | None = None
    """As stated, exclusive; None for open."""
    written: Micros = Micros(0)
    """When Concord recorded it first."""
    sources: frozenset[str] = frozenset()
    """Who said it."""
    concepts: frozenset[str] = frozenset()
    domain: str = ""
    scope: Mapping[str, str] = field(default_factory=dict)
    """For which `region`, `version` or `environment` it holds, where its properties say so."""
    is_constitutive: bool = False
    supersedes: frozenset[str] = frozenset()
    """Ids of items that it replaces by its own word."""

    @cached_property
    def reading(self) -> Reading:
        """Its text, read once however often it is judged."""
        return read(self.text, plans=self.kind is Kind.PLAN)

    def read_in(self, language: str) -> Reading:
        """Its text, in a language that its words may be of, "en" or "de"; read once, too."""
        if language not in self._readings:
            plans = self.kind is Kind.PLAN
            self._readings[language] = read(self.text, plans=plans, language=language)
        return self._readings[language]

    @cached_property
    def _readings(self) -> dict[str, Reading]:
        return {self.reading.language: self.reading}


@dataclass(frozen=True, slots=True)
class RelationRule:
    """What is declared about a relation; None is undeclared, and is never assumed."""

    functional: bool | None = None
    """Whether a subject has one value at a time."""
    temporal_class: TemporalClass | None = None
    transitive: bool = False
    """Whether it contains: a part of a part is a part."""
    exclusive: tuple[frozenset[str], ...] = ()
    """Sets of values of which a subject has one at most."""


@dataclass(frozen=True)
class Rules:
    """What a space declares."""

    relations: Mapping[str, RelationRule] = field(default_factory=dict)
    containers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By the name of a thing, what contains it, however far up a transitive relation."""

    names: Mapping[str, str] = field(default_factory=dict)
    """The one name of each thing that has several, by each of them."""

    def name(self, name: str) -> str:
        """Return the one name of a thing."""
        return self.names.get(name, name)

    def names_of(self, name: str) -> frozenset[str]:
        """Return all names of a thing."""
        return frozenset(n for n, one in self.names.items() if one == self.name(name)) | {name}

    @cached_property
    def names_by_stems(self) -> Mapping[str, str]:
        """The names as texts spell them."""
        return {stems_of_name(name): stems_of_name(one) for name, one in self.names.items()}

    def of(self, relation: str) -> RelationRule:
        """Return what is declared about a relation; of an unknown one nothing is."""
        return self.relations.get(relation, RelationRule())

    @cached_property
    def containers_by_stems(self) -> Mapping[str, frozenset[str]]:
        """The containers as texts spell them."""
        return {
            stems_of_name(name): frozenset(map(stems_of_name, around))
            for name, around in self.containers.items()
        }

    @cached_property
    def exclusive_stems(self) -> Sequence[frozenset[str]]:
        """The exclusive sets of all relations, as texts spell them."""
        return [
            frozenset(map(stems_of_name, values))
            for rule in self.relations.values()
            for values in rule.exclusive
        ]


def stems_of_name(name: str) -> str:
    """Return a name as two texts share it, however they inflect it."""
    return joined(token for clause in read(name).clauses for token in clause.tokens)
