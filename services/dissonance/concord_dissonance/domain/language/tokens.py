"""The words and numbers of a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from concord_dissonance.domain.language.lexicon import Lexicon, phrases_at


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
