"""Reads a text into clauses: what it says, of which polarity, and whether it asserts it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import pairwise, zip_longest
from typing import NamedTuple
from unicodedata import category

from concord_concepts.normal_form import fold

from concord_dissonance.domain.lexicon import LANGUAGES, Lexicon, lexicon, phrases_at
from concord_dissonance.domain.verdicts import Span

_TOKEN = re.compile(
    r"(?P<number>\d{4}-\d\d-\d\d(?!\d)|\d+(?:[.,:/]\d+)*)"
    r"|(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)*)"
    r"|(?P<sign>[%€$£~°])"
    r"|(?P<end>[.!?]+(?=[\s\"”“'’)]|$)|[;\n])"
    r"|(?P<pause>[,:()–—]|(?<=\s)-+(?=\s))"
)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED = re.compile(r"[\"“„«][^\"“”„«»\n]*[\"”“»]|^>.*$", re.MULTILINE)
_QUOTED_NAME = 3
"""Words of the longest quotation that is read as a name."""
_CLOSEST = 8
"""Clauses of the other text that one is compared with."""
_COMMONEST = 32
"""Clauses that a stem may stand in and still find them."""
_NEGATED = re.compile(r"(.+)(n't)")


class Mood(Enum):
    """Whether a clause claims what it says."""

    ASSERTED = "asserted"
    QUESTION = "question"
    WISHED = "wished"
    """Also planned, supposed, conditional."""


class Token(NamedTuple):
    """A word or number as it is compared, and where it stands in the text."""

    word: str
    """Folded."""
    stem: str
    start: int
    end: int


@dataclass(frozen=True)
class Clause:
    """A stretch of a sentence that claims one thing."""

    tokens: tuple[Token, ...]
    mood: Mood
    negations: tuple[int, ...]
    """Places of the tokens that deny the whole clause."""
    words: Lexicon

    @cached_property
    def content(self) -> Mapping[str, Token]:
        """By stem, the first of the tokens that say what it is about."""
        return content_of(self.tokens, self.words)

    @property
    def is_negated(self) -> bool:
        """Whether it denies; two negations affirm."""
        return len(self.negations) % 2 == 1

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
        """Whether it tells what goes on at some moment: "is running", "a man running"."""
        return self.words.language == "en" and any(
            token.word.endswith("ing") and token.word != token.stem for token in self.tokens
        )

    def goes_on(self, stems: Collection[str]) -> bool:
        """Whether it says that one of these goes on: "is running", "is slowly running"."""
        be = self.words.words["be"]
        spelt = [token.word for token in self.tokens if not token.word.endswith("ly")]
        going = {token.word for token in self.tokens if token.stem in stems}
        return any(
            before in be and word.endswith("ing") and word in going
            for before, word in pairwise(spelt)
        )

    def has(self, name: str) -> bool:
        """Whether a word, or phrase, of a class stands in it."""
        if name.endswith("phrases"):
            return _has(self.tokens, self.words, name)
        return any(token.word in self.words.words[name] for token in self.tokens)

    @property
    def span(self) -> Span:
        """Where it stands."""
        return Span(self.tokens[0].start, self.tokens[-1].end)


@dataclass(frozen=True)
class Reading:
    """A text, read."""

    language: str
    clauses: tuple[Clause, ...]

    @cached_property
    def asserted(self) -> tuple[Clause, ...]:
        """The clauses that are claimed and about something, each once."""
        unique = {
            tuple(token.stem for token in clause.tokens): clause
            for clause in reversed(self.clauses)
            if clause.mood is Mood.ASSERTED and clause.content
        }
        return tuple(reversed(unique.values()))

    @cached_property
    def _with_stem(self) -> Mapping[str, Sequence[int]]:
        found: dict[str, list[int]] = {}
        for place, clause in enumerate(self.asserted):
            for stem in clause.content:
                found.setdefault(stem, []).append(place)
        return found

    def beside(self, clause: Clause) -> list[Clause]:
        """Return the asserted clauses that share most content with one of another text."""
        shared: Counter[int] = Counter()
        for stem in clause.content:
            places = self._with_stem.get(stem, ())
            if len(places) <= _COMMONEST:
                shared.update(places)
        closest = sorted(shared, key=lambda place: (-shared[place], place))[:_CLOSEST]
        return [self.asserted[place] for place in closest]


def content_of(tokens: Iterable[Token], words: Lexicon) -> dict[str, Token]:
    """Return, by stem, the first of the tokens that say what something is about."""
    found: dict[str, Token] = {}
    for token in tokens:
        if token.word not in words.function:
            found.setdefault(token.stem, token)
    return found


def read(text: str) -> Reading:
    """Read a text of any length; its cost is linear in that."""
    visible, places = _visible(text)
    visible = _QUOTED.sub(_blanked_quotation, _CODE.sub(_blanked, visible))
    found = list(_TOKEN.finditer(visible))
    words = [fold(each.group()) for each in found if each.lastgroup == "word"]
    language = _language(words)
    sentences = _sentences(found, lexicon(language), places)
    clauses = [
        clause
        for sentence, end in sentences
        for clause in _clauses(sentence, end, lexicon(language))
    ]
    return Reading(language, tuple(clauses))


def _visible(text: str) -> tuple[str, Sequence[int]]:
    """Return the text without characters that do not show, and where each stood."""
    if text.isascii() or not any(category(each) == "Cf" for each in text):
        return text, range(len(text) + 1)
    places = [at for at, each in enumerate(text) if category(each) != "Cf"]
    return "".join(text[at] for at in places), [*places, len(text)]


def _blanked(found: re.Match[str]) -> str:
    return " " * len(found.group())


def _blanked_quotation(found: re.Match[str]) -> str:
    """Leave names in quotation marks; what somebody else said is not asserted."""
    return found.group() if len(found.group().split()) <= _QUOTED_NAME else _blanked(found)


def _language(words: Sequence[str]) -> str:
    """Return the language with more function words; English when they are equal."""
    counts = {
        language: sum(word in function for word in words)
        for language, function in LANGUAGES.items()
    }
    return max(counts, key=lambda each: counts[each])


def _sentences(
    found: Sequence[re.Match[str]], words: Lexicon, places: Sequence[int]
) -> Iterator[tuple[list[Token], str]]:
    """Yield the tokens of each sentence, pauses as tokens without a stem, and how it ends."""
    sentence: list[Token] = []
    for each in found:
        start, end = places[each.start()], places[each.end() - 1] + 1
        if each.lastgroup == "end":
            yield sentence, each.group()
            sentence = []
        elif each.lastgroup == "pause":
            sentence.append(Token(each.group(), "", start, end))
        elif each.lastgroup == "word":
            sentence.extend(_words(each.group(), start, end, words))
        else:
            sentence.append(Token(each.group(), each.group(), start, end))
    yield sentence, ""


def _words(written: str, start: int, end: int, words: Lexicon) -> Iterator[Token]:
    """Yield a word, or the two that an apostrophe joins."""
    word = fold(written).replace("’", "'")
    negated = _NEGATED.fullmatch(word)
    first, second = negated.groups() if negated else (word, "")
    if not negated and "'" in word:
        first, _, second = word.partition("'")
        second = f"'{second}"
    yield Token(first, words.stem(first), start, end)
    if second and second != "'s":
        yield Token(second, second, start, end)


def _clauses(sentence: Sequence[Token], end: str, words: Lexicon) -> Iterator[Clause]:
    parts = [part for part in _parts(sentence, words) if part]
    asks = [_asks(part, words) for part in parts]
    whole = "?" in end and not any(asks)
    questioned = False
    for part, asking in zip(parts, asks, strict=True):
        questioned = questioned or asking
        mood = Mood.QUESTION if whole or questioned else Mood.ASSERTED
        if mood is Mood.ASSERTED and _has(part, words, "unasserted phrases"):
            mood = Mood.WISHED
        yield Clause(tuple(part), mood, tuple(_negations(part, words)), words)


def _parts(sentence: Sequence[Token], words: Lexicon) -> Iterator[list[Token]]:
    """Cut a sentence where a pause or a joint is followed by what begins a clause."""
    joints, openers = words.words["joint"], words.words["opener"]
    part: list[Token] = []
    for token, following in zip_longest(sentence, sentence[1:]):
        joins, pauses = token.word in joints, not token.stem
        opens = following is not None and following.word in openers | joints
        if ((joins or pauses) and opens) or (joins and token.word in openers) or token.word in "()":
            yield part
            part = []
        if not pauses and not (joins and not part and token.word not in openers):
            part.append(token)
    yield part


def _asks(part: Sequence[Token], words: Lexicon) -> bool:
    """Whether a part begins as a question does: "can you", "how do I"."""
    if len(part) < 2 or part[0].word not in words.words["question"]:
        return False
    second = part[1].word
    first_is_auxiliary = part[0].word in words.words["auxiliary"]
    return second in words.words["pronoun"] if first_is_auxiliary else True


def _has(part: Sequence[Token], words: Lexicon, name: str) -> bool:
    spelt = [token.word for token in part]
    return any(phrases_at(words.phrases[name], spelt, at) for at in range(len(spelt)))


def _negations(part: Sequence[Token], words: Lexicon) -> Iterator[int]:
    """Yield where a part is denied; "with no" and "not only" deny no whole clause."""
    spelt = [token.word for token in part]
    skip = 0
    for at, word in enumerate(spelt):
        skip = max(skip, at + phrases_at(words.phrases["no negation phrases"], spelt, at))
        local = at > 0 and spelt[at - 1] in words.words["local prepositions"]
        if at >= skip and word in words.words["negation"] and not local:
            yield at
