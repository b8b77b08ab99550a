"""The words, numbers and signs of a text, by sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from concord_concepts.normal_form import fold

from concord_reading.lexicon import Lexicon

_INVISIBLE = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
_LETTERS = rf"[^\W\d_](?:[^\W\d_]|[{_INVISIBLE}])*"
_TOKEN = re.compile(
    r"(?P<number>\d{4}-\d\d-\d\d(?!\d)|\d+(?:[.,:/]\d+)*"
    r"(?:\.(?=\s(?i:jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez)))?)"
    rf"|(?P<joined>(?<=[^\W\d_])(?i:n?)['’]{_LETTERS})"
    rf"|(?P<word>{_LETTERS}?(?=(?i:n['’]t)(?!\w))|{_LETTERS})"
    r"|(?P<sign>[%€$£~°])"
    r"|(?P<end>[.!?]+(?=[\s\"”“’)]|$)|[;\n])"
    r"|(?P<pause>[,:()–—]|(?<=\s)-+(?=\s))"
)


class Span(NamedTuple):
    """A half-open range of characters of a text."""

    start: int
    end: int


class Token(NamedTuple):
    """A word, number or sign as it is compared, with its range of characters in the text."""

    word: str
    """Folded."""
    stem: str
    """Empty for a pause, such as a comma."""
    start: int
    end: int


def tokens_of(text: str, words: Lexicon) -> list[Token]:
    """Return the words, numbers and signs of a text."""
    return [each for sentence, _ in sentences_of(text, words) for each in sentence if each.stem]


def sentences_of(text: str, words: Lexicon) -> Iterator[tuple[list[Token], str]]:
    """Yield the tokens of each sentence, with its pauses, and the mark that ends it.

    What an apostrophe joins to a word is a token of its own; the one of a possessor is left out.
    """
    sentence: list[Token] = []
    for found in _TOKEN.finditer(text):
        kind, word = found.lastgroup, found.group()
        if kind in ("word", "joined"):
            word = fold(re.sub(f"[{_INVISIBLE}]", "", word)).replace("’", "'")
        elif kind == "number":
            word = word.rstrip(".")
        if kind == "end":
            yield sentence, word
            sentence = []
        elif word != "'s":
            stem = words.stem(word) if kind == "word" else "" if kind == "pause" else word
            sentence.append(Token(word, stem, *found.span()))
    yield sentence, ""


def content_of(tokens: Iterable[Token], words: Lexicon) -> dict[str, Token]:
    """Return the first token of each stem, by stem, without function words and pauses."""
    found: dict[str, Token] = {}
    for token in tokens:
        if token.stem and token.word not in words.function:
            found.setdefault(token.stem, token)
    return found
