"""The words and numbers of a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from concord_concepts.normal_form import fold

from concord_reading.lexicon import Lexicon, phrases_at


class Span(NamedTuple):
    """A half-open range of characters of a text."""

    start: int
    end: int


class Token(NamedTuple):
    """A word or number as it is compared, with its range of characters in the text."""

    word: str
    """Folded."""
    stem: str
    start: int
    end: int


def content_of(tokens: Iterable[Token], words: Lexicon) -> dict[str, Token]:
    """Return the first token of each stem, by stem, without function words."""
    found: dict[str, Token] = {}
    for token in tokens:
        if token.word not in words.function:
            found.setdefault(token.stem, token)
    return found


def joined(tokens: Iterable[Token]) -> str:
    """Return the tokens' stems, joined by blanks: different spellings of a name share these."""
    return " ".join(token.stem for token in tokens)


def has_phrase(tokens: Sequence[Token], words: Lexicon, name: str) -> bool:
    """Whether the tokens contain a phrase of the class `name`."""
    phrases, spelt = words.phrases[name], [token.word for token in tokens]
    return any(word in phrases and phrases_at(phrases, spelt, at) for at, word in enumerate(spelt))


def tokens_of(text: str, words: Lexicon) -> list[Token]:
    """Return the words and numbers of a text."""
    return [
        Token(word := fold(each.group()), words.stem(word), *each.span())
        for each in _WORD.finditer(text)
    ]


_WORD = re.compile(r"\w+(?:['’]\w+)*")
