"""A state of a memory, or of an edge as a sentence, as the index needs it."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from concord_search.domain.instants import NEVER, Micros
from concord_search.domain.stated import Triple

CONSTITUTIVE = 2
"""The contract's number of the edge type."""
_IMPORT = 4
"""The contract's number of the origin of what was imported."""
_TURN = 7
"""The contract's number of the memory kind of turns."""


class Talk(IntEnum):
    """Whose turn a memory is: one among people, the user's in a chat with an assistant, or another
    turn of such a chat. The index stores the numbers: never renumber them."""

    NONE = 0
    OF_PEOPLE = 1
    OF_ASSISTANT = 2
    OF_USER = 3


_TALK = {0: Talk.OF_PEOPLE, 1: Talk.OF_USER, 5: Talk.OF_PEOPLE}
"""By the contract's role numbers; 0, 1 and 5 are UNSPECIFIED, USER and PERSON."""


VERIFIED = 3
"""The trust of what a person said, or both principals agreed to."""


@dataclass(frozen=True, slots=True)
class Origin:
    """One source of a memory. `trust` is what its writer claims: 1 (doubtful) to 3 (verified)."""

    speaker: str
    file: str
    trust: int


@dataclass(frozen=True, slots=True)
class MemoryState:
    """A memory's state from one change to the next.

    `kind`, `edge_type`, `importance`, `role` and both origins are the contract's enum values; times
    are microseconds. `valid_from`: the effective one; `stated_until` and `superseded_from` are
    `NEVER` when open. `predecessors`: the number of live items that it replaces; `heads`: the ids
    of its chain's heads; `properties`: those with a plain value, as `property_of` writes them;
    `facts`: the typed ones that it states.
    """

    id: str
    seq: int
    content: str
    kind: int
    edge_type: int
    importance: int
    concepts: tuple[str, ...]
    domain: str
    category: str
    tags: tuple[str, ...]
    session_id: str
    origins: tuple[Origin, ...]
    record_from: Micros
    created: Micros
    valid_from: Micros
    stated_until: Micros
    superseded_from: Micros
    predecessors: int
    heads: tuple[str, ...]
    access_count: int
    last_access: Micros
    forgotten: bool
    properties: tuple[str, ...] = ()
    is_edge: bool = False
    """Whether it is an edge: its content is a sentence, and it has no kind."""
    role: int = 0
    origin: int = 0
    words_origin: int = 0
    principal: str = ""
    """Who first wrote it down; empty of a graph that says nothing."""
    trust: int = 0
    """What the server established: 1 (doubtful) to 3 (verified); 0 of a graph that says nothing."""
    facts: tuple[Triple, ...] = ()
    amendments: tuple[str, ...] = ()
    """The ids of what amends it."""
    claimed_by: tuple[str, ...] = ()
    """The ids of what claims to take its place, or amend it: nobody has accepted that."""
    claims_on: tuple[str, ...] = ()
    """The ids of what it claims to take the place of, or to amend."""

    @property
    def held_until(self) -> Micros:
        """When it ceases to hold: at its stated end, or when a successor begins."""
        return min(self.stated_until, max(self.valid_from, self.superseded_from))

    @property
    def said(self) -> Micros | None:
        """When its text was said, by which its "yesterday" is read; None: not known."""
        is_dated = self.valid_from != self.created or self.origin != _IMPORT
        return self.valid_from if is_dated else None

    @property
    def talk(self) -> Talk:
        """Whose turn it is, by its role."""
        if self.kind != _TURN:
            return Talk.NONE
        return _TALK.get(self.role, Talk.OF_ASSISTANT)

    @property
    def speaker(self) -> str:
        """The speaker's name; empty if no source names one."""
        return next((origin.speaker for origin in self.origins if origin.speaker), "")

    @property
    def words(self) -> str:
        """The indexed words: its content, its speaker if the content does not name them, and the
        subjects and objects of its facts that the content does not name."""
        known = self.speaker.casefold() in self.content.casefold()
        said = self.content if known else f"{self.speaker}: {self.content}"
        there = set(re.findall(r"\w+", said.casefold()))
        stated = (
            word
            for subject, _, target in self.facts
            for word in re.findall(r"\w+", f"{subject} {target}")
        )
        more = dict.fromkeys(word for word in stated if word.casefold() not in there)
        return "\n".join([said, " ".join(more)]) if more else said

    @property
    def indexed(self) -> str:
        """All that its vectors are made of: its words, and its facts."""
        return "\n".join([self.words, *map(" ".join, self.facts)])

    @property
    def is_head(self) -> bool:
        """Whether it is the head of a chain: it replaces others, and nothing replaces it."""
        return self.predecessors > 0 and self.superseded_from == NEVER

    def shared(self, concepts: Sequence[str]) -> list[str]:
        """Its concepts that are among those of a query, in its own order."""
        return [each for each in self.concepts if each in concepts]

    def current_at(self, instant: Micros) -> bool:
        """Whether it held at an instant: by its stated valid time, and not superseded."""
        return self.valid_from <= instant < min(self.stated_until, self.superseded_from)

    def superseded_at(self, instant: Micros) -> bool:
        """Whether a live successor's valid time has begun at an instant (spec T2)."""
        return self.superseded_from <= instant


@dataclass(frozen=True, slots=True)
class Touch:
    """New access data of a memory, which was read."""

    id: str
    access_count: int
    last_access: Micros


@dataclass(frozen=True, slots=True)
class Ending:
    """The change with which a memory was forgotten."""

    id: str
    seq: int
    record_time: Micros


@dataclass(frozen=True, slots=True, order=True)
class Parked:
    """A change that could not be applied and was set aside; in the order of the feed."""

    seq: int
    item_id: str
    reason: str


def property_of(name: str, value: str | float | bool) -> str:
    """A property as one text, equal only for equal values: "1", 1.0 and true differ."""
    return json.dumps([name, value])


def parent_domain(domain: str) -> str:
    """The dotted parent of a domain; empty for one without a dot."""
    return domain.rpartition(".")[0]


def domain_and_above(domain: str) -> Sequence[str]:
    """A domain and every domain above it: "a.b.c" gives "a.b.c", "a.b", "a"."""
    found = []
    while domain:
        found.append(domain)
        domain = parent_domain(domain)
    return found
