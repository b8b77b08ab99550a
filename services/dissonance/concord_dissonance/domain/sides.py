"""The two sides of a judged pair, and the rules that a space declares."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import NewType

from concord_reading import frame
from concord_reading.language import language_of
from concord_reading.lexicon import lexicon
from concord_reading.prose import prose
from concord_reading.reader import reader
from concord_reading.tokens import tokens_of

Micros = NewType("Micros", int)
"""Microseconds since 1970-01-01 UTC."""


class Kind(Enum):
    """The kind of a side: an edge, or a memory's kind (M1)."""

    EDGE = "edge"
    FACT = "fact"
    PLAN = "plan"
    JOURNAL = "journal"
    INSIGHT = "insight"
    OBSERVATION = "observation"
    REFLECTION = "reflection"
    TURN = "turn"


class TemporalClass(Enum):
    """The meaning of a later value of a relation (D4)."""

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
    """The speakers or files that stated it."""
    speakers: frozenset[str] = frozenset()
    """Those of its sources that are no files."""
    concepts: frozenset[str] = frozenset()
    domain: str = ""
    scope: Mapping[str, str] = field(default_factory=dict)
    """The `region`, `version` and `environment` for which it holds, if its properties name them."""
    is_constitutive: bool = False

    @cached_property
    def prose(self) -> str:
        """Its text of the same length, with all that is no sentence blanked."""
        return prose(self.text)

    @property
    def passage(self) -> frame.Passage:
        """Its text as it is read: "I" means its speaker, if it has one."""
        speaker = next(iter(self.sources)) if len(self.sources) == 1 else ""
        return frame.Passage(self.text, speaker)

    @cached_property
    def frames(self) -> frame.Reading:
        """What its text says."""
        return reader().read(self.passage)


def leave_unread(side: Side) -> None:
    """Take a side to say nothing that can be compared, whether it was read or not."""
    side.__dict__["frames"] = frame.Reading("")


def read_all(sides: Iterable[Side]) -> None:
    """Read the texts of many sides at once, which takes half of the time of one by one."""
    asked = [each for each in sides if each.text and "frames" not in each.__dict__]
    for side, found in zip(asked, reader().read_all(e.passage for e in asked), strict=True):
        side.__dict__["frames"] = found


@dataclass(frozen=True, slots=True)
class RelationRule:
    """The declarations about a relation. None: undeclared; nothing is ever assumed."""

    functional: bool | None = None
    """Whether a subject has one value at a time."""
    temporal_class: TemporalClass | None = None
    transitive: bool = False
    """Whether its edges lead to containers: a part of a part is a part."""
    exclusive: tuple[frozenset[str], ...] = ()
    """Sets of values; a subject has at most one value of each set at a time."""


@dataclass(frozen=True)
class Rules:
    """The declarations of a space."""

    relations: Mapping[str, RelationRule] = field(default_factory=dict)
    containers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The direct and indirect containers of a thing by transitive relations, by its name."""

    names: Mapping[str, str] = field(default_factory=dict)
    """The main name of each thing that has several names, by each of them."""

    def name(self, name: str) -> str:
        """Return the main name of a thing."""
        return self.names.get(name, name)

    def names_of(self, name: str) -> frozenset[str]:
        """Return all names of a thing."""
        return frozenset(n for n, one in self.names.items() if one == self.name(name)) | {name}

    @cached_property
    def names_by_stems(self) -> Mapping[str, str]:
        """The main names by each name, all as joined stems."""
        return {stems_of_name(name): stems_of_name(one) for name, one in self.names.items()}

    def of(self, relation: str) -> RelationRule:
        """Return the declarations about a relation; an unknown relation has none."""
        return self.relations.get(relation, RelationRule())

    @cached_property
    def containers_by_stems(self) -> Mapping[str, frozenset[str]]:
        """The containers by name, all as joined stems."""
        return {
            stems_of_name(name): frozenset(map(stems_of_name, around))
            for name, around in self.containers.items()
        }

    @cached_property
    def exclusive_stems(self) -> Sequence[frozenset[str]]:
        """The exclusive sets of all relations, as joined stems."""
        return [
            frozenset(map(stems_of_name, values))
            for rule in self.relations.values()
            for values in rule.exclusive
        ]


def stems_of_name(name: str) -> str:
    """Return the joined stems of a name, which its inflected forms share."""
    return " ".join(token.stem for token in tokens_of(name, lexicon(language_of(name))))
