"""Finds loaded phrases in a proposer's note (V3): data in `lexicon/`, one file a language.

A file's line `= name: a, b` names alternatives, used as `{name}`. `[class weight]` begins a class,
whose lines hold phrases, separated by commas. In a phrase `a/b` are alternatives of one word, `x*`
is any word that begins with x, `x?` may be missing, `..` stands for up to four words, and `^` for
the beginning of a sentence. An umlaut also matches its spelling with two letters.

A sentence is loaded if one of its phrases weighs `LOADED`. It is also loaded if it addresses the
reader or mentions the answer (a class whose name begins with "target"), and the heaviest phrases of
its classes together weigh `LOADED`. Phrases of the class "innocent" are skipped. Those of "source"
have negative weights: a sentence with a date, a place in a text or a speaker is data, unless it
addresses the reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from concord_governance.domain.spelling import plain

LANGUAGES = ("en", "de")
LOADED = 3

_SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\s+[-–—]+\s+")
_QUOTED = re.compile(r"[\"“„«»][^\"“”„«»]{1,200}[\"“”«»]")
_SKIPPED = "0"
_LONGEST_GAP = 4
_LONGEST_QUOTATION = 6
"""Words that all quotations of a text have together, beyond which they are its author's own."""
_ANSWER = "target answer"
_STEM = 3
"""How many first letters of a stem are its key in the index; no stem is shorter."""


@dataclass(frozen=True, slots=True)
class _Token:
    """One place of a phrase: it matches words, stems or runs of words; a gap matches any words."""

    words: frozenset[str] = frozenset()
    stems: tuple[str, ...] = ()
    runs: tuple[tuple[str, ...], ...] = ()
    optional: bool = False
    gap: bool = False

    def ends(self, words: Sequence[str], at: int) -> Iterator[int]:
        """Yield each index after a match that begins at `at`, the nearest first."""
        if self.optional or self.gap:
            yield at
        if self.gap:
            yield from range(at + 1, min(at + _LONGEST_GAP, len(words)) + 1)
        elif at < len(words):
            if words[at] in self.words or words[at].startswith(self.stems):
                yield at + 1
            for run in self.runs:
                if tuple(words[at : at + len(run)]) == run:
                    yield at + len(run)


@dataclass(frozen=True, slots=True)
class _Phrase:
    kind: str
    weight: int
    tokens: tuple[_Token, ...]
    first: bool
    """It matches only at the beginning of a sentence."""

    def end(self, words: Sequence[str], at: int, token: int = 0) -> int:
        """Return the index after the match that begins at `at`; 0: there is no match."""
        if token == len(self.tokens):
            return at
        for end in self.tokens[token].ends(words, at):
            if found := self.end(words, end, token + 1):
                return found
        return 0


class _Lexicon:
    """The phrases of a language, indexed by their possible first words."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._starts: dict[str, list[_Phrase]] = {}
        named: dict[str, _Token] = {}
        kind, weight = "", 0
        for line in lines:
            if line.startswith("= "):
                name, _, alternatives = line[2:].partition(":")
                named[name] = _token([each.strip() for each in alternatives.split(",")], {})
            elif line.startswith("["):
                kind, _, number = line.strip("[]").rpartition(" ")
                weight = int(number)
            elif line and not line.startswith("#"):
                for text in line.split(","):
                    self._add(kind, weight, text.split(), named)

    def _add(
        self, kind: str, weight: int, parts: Sequence[str], named: Mapping[str, _Token]
    ) -> None:
        first = parts[:1] == ["^"]
        tokens = tuple(_place(part, named) for part in parts[first:])
        phrase = _Phrase(kind, weight, tokens, first)
        for token in tokens:
            starts = {*token.words, *(run[0] for run in token.runs)}
            for start in starts | {f"{stem[:_STEM]}*" for stem in token.stems}:
                self._starts.setdefault(start, []).append(phrase)
            if not token.optional:
                break

    def found(
        self, words: Sequence[str], *, innocent: bool = False
    ) -> Iterator[tuple[_Phrase, int, int]]:
        """Yield the phrases in a sentence, with their first index and the index after them."""
        for at, word in enumerate(words):
            for start in (word, f"{word[:_STEM]}*"):
                for phrase in self._starts.get(start, ()):
                    if (phrase.kind == "innocent") != innocent or (phrase.first and at):
                        continue
                    if end := phrase.end(words, at):
                        yield phrase, at, end

    def loaded(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the loaded phrases of a sentence, none within another; none if it is not loaded."""
        left = list(words)
        for _, begin, end in self.found(words, innocent=True):
            left[begin:end] = [_SKIPPED] * (end - begin)
        heaviest: dict[str, int] = {}
        longest: dict[int, int] = {}
        for phrase, begin, end in self.found(left):
            known = heaviest.get(phrase.kind, phrase.weight)
            heaviest[phrase.kind] = max(known, phrase.weight)
            if not phrase.kind.startswith(("target", "source")):
                longest[begin] = max(longest.get(begin, end), end)
        addressed = any(kind.startswith("target") for kind in heaviest)
        source = min(heaviest.values(), default=0)
        alone = max(heaviest.values(), default=0) + min(source, 0)
        if alone >= LOADED or (addressed and sum(heaviest.values()) >= LOADED):
            past = 0
            for begin, end in sorted(longest.items()):
                if end > past:
                    yield " ".join(words[begin:end])
                    past = end


def loaded_phrases(text: str) -> list[str]:
    """Return a text's loaded phrases, as `plain` spells them, each once."""
    found: dict[str, None] = {}
    quoted = sum(len(_words(each)) for each in _QUOTED.findall(text))
    # Many short quotations may be one speech in pieces.
    own = text if quoted > _LONGEST_QUOTATION else _QUOTED.sub(_without_data, text)
    for sentence in _SENTENCE.split(own):
        words = _words(sentence)
        for language in LANGUAGES:
            found.update(dict.fromkeys(_lexicon(language).loaded(words)))
    return list(found)


def _without_data(quoted: re.Match[str]) -> str:
    """Blank a quotation that does not mention the answer: a title, a name, a remark."""
    words = _words(quoted.group())
    answer = any(
        phrase.kind == _ANSWER
        for language in LANGUAGES
        for phrase, _, _ in _lexicon(language).found(words)
    )
    return quoted.group() if answer else f" {_SKIPPED} "


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+|[§%!]", plain(text))


@cache
def _lexicon(language: str) -> _Lexicon:
    data = resources.files(__package__).joinpath("lexicon", f"{language}.txt")
    return _Lexicon(data.read_text("utf-8").splitlines())


def _place(part: str, named: Mapping[str, _Token]) -> _Token:
    if part == "..":
        return _Token(gap=True)
    return _token(part.removesuffix("?").split("/"), named, optional=part.endswith("?"))


def _token(
    alternatives: Sequence[str], named: Mapping[str, _Token], *, optional: bool = False
) -> _Token:
    """Return the place that matches any of `alternatives`: a word, a stem, a run or a name each."""
    words: set[str] = set()
    stems: list[str] = []
    runs: list[tuple[str, ...]] = []
    for alternative in alternatives:
        if alternative.startswith("{"):
            token = named[alternative[1:-1]]
            words |= token.words
            stems += token.stems
            runs += token.runs
        else:
            for spelt in _spellings(alternative):
                run = tuple(re.findall(r"[^\W_]+\*?|[§%!]", spelt))
                if len(run) > 1:
                    runs.append(run)
                elif run[0].endswith("*"):
                    stems.append(run[0][:-1])
                else:
                    words.add(run[0])
    return _Token(frozenset(words), tuple(stems), tuple(runs), optional)


@cache
def _spellings(text: str) -> tuple[str, ...]:
    """Return a text's normalized spellings, with umlauts as one letter and as two."""
    if text.isascii():
        return (text,)
    return plain(text), plain(re.sub("([äöü])", r"\1e", text))
