"""What a sentence says: frames, one for each clause, with the words that fill them.

A frame is read from a parse (`english`) or by rules (`german`). Both give the same shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

from concord_reading.quantities import Date, Quantity
from concord_reading.tokens import Span


class Mood(Enum):
    """Whether a clause asserts its content."""

    ASSERTED = "asserted"
    ASKED = "asked"
    PLANNED = "planned"
    WISHED = "wished"
    SUPPOSED = "supposed"
    CONDITIONAL = "conditional"
    REPORTED = "reported"
    ORDERED = "ordered"


class Aspect(Enum):
    """How long what a clause tells of lasts."""

    STATE = "state"
    """It holds, or is a habit, at the time of speaking."""
    PAST_STATE = "past state"
    """It held once: "was", "used to"."""
    CHANGE = "change"
    """It has come about, and its result holds: "has moved", "joined"."""
    EVENT = "event"
    """It happened once, or goes on at a moment."""


class Kind(Enum):
    """The kind of a word."""

    NAME = "name"
    PERSON = "person"
    """I, we or you: its key is the speaker's or addressee's name, or empty for somebody unknown."""
    NOUN = "noun"
    VERB = "verb"
    ADJECTIVE = "adjective"
    ADVERB = "adverb"
    VALUE = "value"


class Role(Enum):
    """The part of a clause to which a word belongs."""

    SUBJECT = "subject"
    PREDICATE = "predicate"
    COMPLEMENT = "complement"
    """Object, or what a copula says."""
    ADJUNCT = "adjunct"
    """A phrase with a preposition, or of time."""


class Unread(Enum):
    """Why a clause gave no frame that can be compared."""

    NOT_ASSERTED = "not asserted"
    NO_SUBJECT = "no subject, or one that nothing before it names"
    NO_PREDICATE = "no predicate"
    TOO_LONG = "too long"


@dataclass(frozen=True, slots=True)
class Word:
    """A word of content, a number with its unit, a name or a person."""

    key: str
    """The stem, folded; of a name its words."""
    kind: Kind
    role: Role
    head: int = -1
    """The place of the word that it modifies; -1 for none."""
    link: str = ""
    """The preposition by which it hangs on its head; "of" also for possessors; empty for none."""
    is_definite: bool = False
    """Whether it is a name, a person, or a noun with "the", "this" or a possessor."""
    value: Quantity | Date | None = None
    start: int = 0
    end: int = 0
    lemma: str = ""
    """Of an English verb, its base form, folded."""


_NOWHERE = Span(0, 0)


@dataclass(frozen=True)
class Frame:
    """What one clause says."""

    words: tuple[Word, ...]
    """In the order of the text."""
    verb: int
    """The place of its verb, or of what a copula says, in `words`; -1 for none."""
    particle: str = ""
    is_denied: bool = False
    mood: Mood = Mood.ASSERTED
    aspect: Aspect = Aspect.STATE
    quantifier: str = ""
    """Of the subject: "all", "some", "none", "only", or empty."""
    adverbs: frozenset[str] = frozenset()
    """Adverbs and function words that limit or date the whole: "now", "always", "only"."""
    has_exception: bool = False
    """Whether it says "except", "apart from" and the like."""
    language: str = "en"
    span: Span = _NOWHERE
    unread: Unread | None = None

    @property
    def subject(self) -> Word | None:
        """The head of its subject."""
        heads = {self.verb, -1}
        return next((e for e in self.words if e.role is Role.SUBJECT and e.head in heads), None)

    @cached_property
    def things(self) -> frozenset[str]:
        """The words of the names, persons and nouns in it: frames without a common one are about
        different things."""
        kinds = (Kind.NAME, Kind.PERSON, Kind.NOUN)
        return frozenset(
            part for each in self.words if each.kind in kinds for part in each.key.split()
        )


@dataclass(frozen=True, slots=True)
class Passage:
    """A text to be read.

    `speaker` and `addressee`: whom "I" and "you" mean; empty where nobody knows.
    """

    text: str
    speaker: str = ""
    addressee: str = ""
    language: str = ""
    """Empty: found by its words."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as its frames, in order."""

    language: str
    frames: Sequence[Frame] = ()

    @property
    def asserted(self) -> list[Frame]:
        """The frames that can be compared."""
        return [each for each in self.frames if each.unread is None]


def moved(frame: Frame, by: int) -> Frame:
    """Return a frame whose places in the text are so many characters later."""
    if not by:
        return frame
    words = tuple(replace(e, start=e.start + by, end=e.end + by) for e in frame.words)
    return replace(frame, words=words, span=Span(frame.span.start + by, frame.span.end + by))


def acyclic(words: Sequence[Word]) -> tuple[Word, ...]:
    """Return words of which none hangs on itself, however far: whoever follows heads comes to an
    end."""
    found = list(words)
    for at, word in enumerate(found):
        seen, head = {at}, word.head
        while head >= 0 and head not in seen:
            seen.add(head)
            head = found[head].head
        if head >= 0:
            found[at] = replace(word, head=-1)
    return tuple(found)
