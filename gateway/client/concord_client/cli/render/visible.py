"""Characters that do not show, or change how others show, written out as \\uXXXX (V6).

A signer must see the text to be signed: a direction override makes a terminal show its words
reversed, and a zero-width space makes two names look alike.
"""

import unicodedata
from collections.abc import Iterable
from itertools import groupby

from concord_hook.visible import is_hidden, visible, written

__all__ = ["hidden_notice", "in_json", "is_hidden", "runs", "visible"]


def in_json(line: str) -> str:
    """The same JSON with every hidden character as JSON's own escape."""
    if line.isascii():
        return line
    return "".join(_in_utf16(char) if is_hidden(char) else char for char in line)


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


def _in_utf16(char: str) -> str:
    raw = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{raw[at : at + 2].hex()}" for at in range(0, len(raw), 2))
