"""What a page says of characters that do not show, or change how others show (V6)."""

import unicodedata
from collections.abc import Iterable
from itertools import groupby

from concord_attestation.visible import is_hidden, visible, written

__all__ = ["hidden_notice", "is_hidden", "runs", "visible"]


def runs(content: str) -> Iterable[tuple[bool, str]]:
    """The text in pieces, each with whether all its characters are hidden; unchanged."""
    return ((hides, "".join(piece)) for hides, piece in groupby(content, is_hidden))


def hidden_notice(characters: Iterable[str]) -> str:
    """A sentence that names the written out characters."""
    named = (
        f"{written(char)} {unicodedata.name(char, 'without a name')}"
        for char in sorted(set(characters))
    )
    return (
        "Characters stand above that do not show, or change how others show; they are written "
        f"out: {', '.join(named)}."
    )
