"""Words and numbers as they stand in a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from concord_dissonance.domain.language.lexicon import Lexicon, phrases_at


class Token(NamedTuple):
    """A word or number as it is compared, and where it stands in the text."""

    word: str
    """Folded."""
    stem: str
    start: int
    end: int


def content_of(tokens: Iterable[Token], words: Lexicon) -> dict[str, Token]:
    """Return, by stem, the first of the tokens that say what something is about."""
    found: dict[str, Token] = {}
    for token in tokens:
        if token.word not in words.function:
            found.setdefault(token.stem, token)
    return found


def joined(tokens: Iterable[Token]) -> str:
    """Return their stems with blanks between: what two spellings of a name share."""
    return " ".join(token.stem for token in tokens)


def has_phrase(tokens: Sequence[Token], words: Lexicon, name: str) -> bool:
    """Whether a phrase of a class stands among them."""
    phrases, spelt = words.phrases[name], [token.word for token in tokens]
    return any(word in phrases and phrases_at(phrases, spelt, at) for at, word in enumerate(spelt))
