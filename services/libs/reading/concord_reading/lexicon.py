"""The words that judging needs, by language: data in `lexicon/`, written from general knowledge.

In a file, `#` begins a comment and `[class]` a class of words. Words are separated by blanks;
exclusive sets, and classes whose name ends in "phrases", are separated by commas.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from concord_concepts.normal_form import fold, singular
from concord_concepts.stop_words import ENGLISH, GERMAN

Phrase = tuple[str, ...]
LANGUAGES = {"en": ENGLISH, "de": GERMAN}
"""The stop words of each language that is read."""
_SHORTEST_STEM = 3
_VOWELS = frozenset("aeiouyäöü")
_ENDINGS = {
    "en": ("ing", "ed", "ly", "e"),
    "de": ("ungen", "ung", "test", "tet", "ten", "est", "en", "er", "em", "es", "te", "st",
           "e", "n", "t"),
}  # fmt: skip


@dataclass(frozen=True)
class Lexicon:
    """The words of one language; `stem` returns their stems."""

    language: str
    words: Mapping[str, frozenset[str]]
    """The words by class, folded."""
    phrases: Mapping[str, Mapping[str, tuple[Phrase, ...]]]
    """The phrases by class, then by their first word."""
    numbers: Mapping[str, int]
    ordinals: Mapping[str, int]
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    scales: Mapping[str, float]
    """The numbers of words such as "million"."""
    function: frozenset[str]
    """Words without content, such as articles and auxiliaries."""
    irregular: Mapping[str, str]
    synonyms: Mapping[str, str]
    """The one stem that replaces the stems of its synonyms, by each of these."""

    def has(self, stem: str, name: str) -> bool:
        """Whether a stem is one of the words of a class."""
        return stem in _stems(self.language, name)

    def stem(self, word: str) -> str:
        """Return the stem of a folded word, which its forms and its synonyms share."""
        stem = self.root(word)
        return self.synonyms.get(stem, stem)

    def root(self, word: str) -> str:
        """Return the stem of a folded word, which its forms share."""
        return _stem(self.irregular.get(word, word), self.language)

    def has_phrase(self, name: str, spelt: Sequence[str]) -> bool:
        """Whether folded words contain a phrase of a class."""
        return any(phrases_at(self.phrases[name], spelt, at) for at in range(len(spelt)))

    def negations(self, spelt: Sequence[str]) -> Iterator[int]:
        """Yield the places of the words that deny a clause; "with no" and "not only" do not."""
        skip = 0
        for at, word in enumerate(spelt):
            skip = max(skip, at + phrases_at(self.phrases["no negation phrases"], spelt, at))
            is_local = at > 0 and spelt[at - 1] in self.words["local prepositions"]
            if at >= skip and word in self.words["negation"] and not is_local:
                yield at

    def quantifier(self, spelt: Collection[str]) -> str:
        """Return "all", "some", "none", "most" or "only", as folded words say; else empty."""
        names = ("none", "only", "all", "most", "some")
        found = (e for e in names if not self.words[f"quantifier {e}"].isdisjoint(spelt))
        return next(found, "")


def phrases_at(phrases: Mapping[str, Sequence[Phrase]], words: Sequence[str], at: int) -> int:
    """Return the number of words of the longest phrase that begins at a place; 0: none does."""
    return max(
        (len(p) for p in phrases.get(words[at], ()) if tuple(words[at : at + len(p)]) == p),
        default=0,
    )


@cache
def lexicon(language: str) -> Lexicon:
    """Return the words of "en" or "de"."""
    classes = dict(read_classes(f"{language}.txt"))
    words = {
        name: frozenset(body.split())
        for name, body in classes.items()
        if not name.endswith("phrases")
    }
    irregular = dict(pair.split("/") for pair in classes["irregular"].split())
    plain = Lexicon(
        language,
        words,
        {n: _by_first(b.split(",")) for n, b in classes.items() if n.endswith("phrases")},
        _numbers(classes["numbers"].split(), classes["tens"].split()),
        _numbers(classes["ordinals"].split(), classes["ordinal tens"].split()),
        _places(classes["months"].split()) | _places(classes["months short"].split()),
        _places(classes["weekdays"].split()) | _places(classes["weekdays often"].split()),
        {
            word: 1000.0**power
            for line in classes["scale"].splitlines()
            for word, power in [(line.split()[0], int(line.split()[1]))]
        },
        LANGUAGES[language].union(*(words[name] for name in _FUNCTION)),
        irregular,
        {},
    )
    lines = dict(read_classes(f"synonyms.{language}.txt"))["synonyms"].splitlines()
    synonyms: dict[str, str] = {}
    for line in lines:
        first, *others = map(plain.root, line.split())
        synonyms.update(dict.fromkeys(others, synonyms.get(first, first)))
    return Lexicon(**{**plain.__dict__, "synonyms": synonyms})


@cache
def _stems(language: str, name: str) -> frozenset[str]:
    words = lexicon(language)
    return frozenset(map(words.stem, words.words[name]))


def read_classes(name: str, package: str = __package__) -> Iterator[tuple[str, str]]:
    """Yield the classes of a file of `lexicon/` in a package: name and body, folded."""
    for block in "\n".join(read_lines(name, package)).split("[")[1:]:
        title, _, body = block.partition("]\n")
        yield title, body.strip()


def read_lines(name: str, package: str = __package__) -> list[str]:
    """Return the lines of a file of `lexicon/` that are no comments, folded."""
    text = resources.files(package).joinpath("lexicon", name).read_text("utf-8")
    return [fold(line) for line in text.splitlines() if not line.startswith("#")]


_FUNCTION = (
    "negation",
    "determiner",
    "auxiliary",
    "pronoun",
    "joint",
    "polarity item",
    "former",
)


def _by_first(phrases: Iterable[str]) -> dict[str, tuple[Phrase, ...]]:
    found: dict[str, tuple[Phrase, ...]] = {}
    for phrase in phrases:
        words = tuple(phrase.replace("n't", " n't").split())
        found[words[0]] = (*found.get(words[0], ()), words)
    return found


def _places(words: Sequence[str]) -> dict[str, int]:
    """Return the place of each word, from 1; other words for the same are joined by "/"."""
    return {word: place for place, some in enumerate(words, 1) for word in some.split("/")}


def _numbers(units: Sequence[str], tens: Sequence[str]) -> dict[str, int]:
    """Return numbers by their words: units from 0, tens from 10."""
    found = {word: number for number, word in enumerate(units)}
    return {word: 10 * number for number, word in enumerate(tens, 1)} | found


@cache
def _stem(word: str, language: str) -> str:
    word = singular(word) if language == "en" else word
    for ending in _ENDINGS[language]:
        root = word[: -len(ending)]
        if word.endswith(ending) and len(root) >= _SHORTEST_STEM and _VOWELS & {*root}:
            word = root
            break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "slz":
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") and len(word) > _SHORTEST_STEM else word


def noun_key(word: str) -> str:
    """Return a form that the cases and numbers of a German noun share, by and large."""
    word = word.translate(_WITHOUT_UMLAUT)
    for ending in ("innen", "in"):
        if word.endswith(ending) and len(word) - len(ending) > _SHORTEST_NOUN:
            word = word[: -len(ending)]
    for ending in ("en", "er", "es", "n", "e", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_NOUN:
            return word[: -len(ending)]
    return word


_WITHOUT_UMLAUT = str.maketrans("äöü", "aou")
_SHORTEST_NOUN = 4
"""Letters that are left of a noun at least."""
