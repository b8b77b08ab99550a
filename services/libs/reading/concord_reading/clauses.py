"""Clauses of a text: their content, mood and polarity, and an index from stems to clauses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import islice, pairwise
from typing import NamedTuple

from concord_reading.lexicon import Lexicon
from concord_reading.quantities import Date, Quantity, Value, values
from concord_reading.tokens import Span, Token, content_of, has_phrase, joined

_CLOSEST = 8
"""Most clauses of the other text with which one is compared."""
_COMMONEST = 32
"""A stem in more clauses than this leads to none of them."""
_MOST_MENTIONS = 64
_NEAR = 8
"""Tokens on each side of a value that show what it measures."""
_AFTER = 4
_SHORTEST_PAST = 4
_NAMED_VALUES = frozenset({"version", "ordinal"})
"""Dimensions of values that name a thing and do not measure it."""


class Mood(Enum):
    """Whether a clause asserts its content."""

    ASSERTED = "asserted"
    QUESTION = "question"
    WISHED = "wished"
    """Also planned, supposed, conditional."""


@dataclass(frozen=True)
class Clause:
    """A stretch of a sentence that claims one thing."""

    tokens: tuple[Token, ...]
    mood: Mood
    negations: tuple[int, ...]
    """Places of the tokens that deny the whole clause."""
    words: Lexicon
    sentence: int = 0
    """Which sentence of its text it stands in, from 0."""

    @cached_property
    def content(self) -> Mapping[str, Token]:
        """The first token of each stem, by stem, without function words."""
        return content_of(self.tokens, self.words)

    @cached_property
    def values(self) -> Sequence[Value]:
        """The numbers, quantities and dates that it names."""
        return values(self.tokens, self.words)

    @cached_property
    def places(self) -> Sequence[tuple[Token, ...]]:
        """The tokens to compare with other clauses'; the tokens of one value are one place."""
        ends = {value.begin: value.end for value in self.values}
        places: list[tuple[Token, ...]] = []
        at = 0
        while at < len(self.tokens):
            end = ends.get(at, at + 1)
            word = self.tokens[at].word
            dating = word in self.words.words["dating"] and at + 1 in ends
            if at in ends or not (dating or word in self.words.words["determiner"]):
                places.append(self.tokens[at:end])
            at = end
        return places

    @cached_property
    def spelt(self) -> Sequence[str]:
        """The places as joined stems, which different spellings share."""
        return [joined(each) for each in self.places]

    @property
    def is_negated(self) -> bool:
        """Whether it denies; two negations affirm."""
        return len(self.negations) % 2 == 1

    @cached_property
    def is_denied_now(self) -> bool:
        """Whether it says that something does not hold now: "is not", "used to be"."""
        return self.is_negated != self.has("once phrases")

    @cached_property
    def particles(self) -> Set[str]:
        """Its words that name a state, such as "up" and "off"."""
        return {token.word for token in self.tokens} & self.words.words["particle"]

    @cached_property
    def is_past(self) -> bool:
        """Whether it tells of the past alone: "was", "lived"."""
        spelt = [token.word for token in self.tokens]
        if self.words.words["present be"].intersection(spelt) or self.has("once phrases"):
            return False
        return not self.words.words["past be"].isdisjoint(spelt) or any(map(self._is_past, spelt))

    def _is_past(self, word: str) -> bool:
        regular = len(word) > _SHORTEST_PAST and word.endswith("ed") and not word.endswith("eed")
        return regular and self.words.language == "en"

    @cached_property
    def is_dated(self) -> bool:
        """Whether it names a date."""
        return any(isinstance(value.what, Date) for value in self.values)

    @cached_property
    def pronoun(self) -> str:
        """The pronoun that stands for its subject; empty where a noun does."""
        for token in self.tokens:
            if token.word in self.words.words["subject pronoun"]:
                return token.word
            if token.word not in self.words.function:
                break
        return ""

    @cached_property
    def is_event(self) -> bool:
        """Whether it tells of an event at some moment: "is running", "a man running"."""
        return self.words.language == "en" and any(
            token.word.endswith("ing") and token.word != token.stem for token in self.tokens[1:]
        )

    def goes_on(self, stems: Collection[str]) -> bool:
        """Whether it says that one of `stems` is going on: "is running", "is slowly running"."""
        be = self.words.words["be"]
        spelt = [token.word for token in self.tokens if not token.word.endswith("ly")]
        going = {token.word for token in self.tokens if token.stem in stems}
        return any(
            before in be and word.endswith("ing") and word in going
            for before, word in pairwise(spelt)
        )

    def has(self, name: str) -> bool:
        """Whether it contains a word, or a phrase, of the class `name`."""
        if name.endswith("phrases"):
            return has_phrase(self.tokens, self.words, name)
        return any(token.word in self.words.words[name] for token in self.tokens)

    @property
    def span(self) -> Span:
        """Its range of characters in the text."""
        return Span(self.tokens[0].start, self.tokens[-1].end)


@dataclass(frozen=True)
class Reading:
    """A text in a language, as its clauses."""

    language: str
    clauses: tuple[Clause, ...]
    is_language_known: bool = True
    """False where its words could be of either language."""

    @cached_property
    def asserted(self) -> tuple[Clause, ...]:
        """The asserted clauses that have content, each once."""
        unique = {
            tuple(token.stem for token in clause.tokens): clause
            for clause in reversed(self.clauses)
            if clause.mood is Mood.ASSERTED and clause.content
        }
        return tuple(reversed(unique.values()))

    @cached_property
    def content(self) -> Set[str]:
        """The stems of all its clauses."""
        return {stem for clause in self.clauses for stem in clause.content}

    @cached_property
    def stems(self) -> Sequence[tuple[str, ...]]:
        """The stems of each clause in order: equal for texts of the same words."""
        return [tuple(token.stem for token in clause.tokens) for clause in self.clauses]

    @cached_property
    def sentences(self) -> Sequence[Set[str]]:
        """The stems of each sentence's content."""
        said: dict[int, set[str]] = {}
        for clause in self.clauses:
            said.setdefault(clause.sentence, set()).update(clause.content)
        return [*said.values()]

    @cached_property
    def mentions(self) -> Sequence[Mention]:
        """Up to 64 values that can change, with words that show what they measure."""
        return list(islice(_mentions(self.clauses), _MOST_MENTIONS))

    @cached_property
    def _with_stem(self) -> Mapping[str, Sequence[int]]:
        found: dict[str, list[int]] = {}
        for place, clause in enumerate(self.asserted):
            for stem in clause.content:
                found.setdefault(stem, []).append(place)
        return found

    def beside(self, clause: Clause) -> list[Clause]:
        """Return the asserted clauses that share most content with a clause of another text."""
        shared: defaultdict[int, int] = defaultdict(int)
        for stem in clause.content:
            places = self._with_stem.get(stem, ())
            if len(places) <= _COMMONEST:
                for place in places:
                    shared[place] += 1
        closest = sorted(shared, key=lambda place: (-shared[place], place))[:_CLOSEST]
        return [self.asserted[place] for place in closest]


class Mention(NamedTuple):
    """A value, and the words around it that show what it measures."""

    what: Quantity | Date
    clause: Clause
    counted: Set[str]
    """The first two words of content that follow."""
    near: Set[str]
    """Content at most eight tokens away."""
    around: Set[str]
    """Content of its clause and the one before."""


def _mentions(clauses: Iterable[Clause]) -> Iterator[Mention]:
    before: Set[str] = frozenset()
    for clause in clauses:
        content = {*_words(clause, 0, len(clause.tokens))}
        for value in clause.values:
            what, begin, end = value.what, value.begin, value.end
            if isinstance(what, Quantity) and what.dimension in _NAMED_VALUES:
                continue
            own = {token.stem for token in clause.tokens[begin:end]}
            after = _words(clause, end, end + _AFTER)
            near = _words(clause, max(0, begin - _NEAR), end + _NEAR)
            around = content | before
            yield Mention(what, clause, {*after[:2]} - own, {*near} - own, around - own)
        before = content


def _words(clause: Clause, begin: int, end: int) -> list[str]:
    stems = content_of(clause.tokens[begin:end], clause.words)
    return [stem for stem in stems if not stem[0].isdecimal()]
