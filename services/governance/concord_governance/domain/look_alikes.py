"""Names that people take for Concord's own: other letters, cases, widths, and signs without ink."""

from __future__ import annotations

import re
from typing import Final
from unicodedata import normalize

from concord_attestation.visible import is_hidden

OWN: Final = "concord"
SERVICES: Final = frozenset({"dissonance", "gateway", "governance", "graph", "search"})
"""The principals of Concord's services."""
_COLON = re.compile("[:\u02d0\u02f8\u0589\u05c3\u0703\u1365\u2236\ua789\ufe13\ufe30\ufe55\uff1a]")
# letters that look like a Latin letter, by it; capitals before the case is folded: an eta looks
# like an n, and its capital like an H
_CAPITALS = {
    "a": "ΑАᎪ", "b": "ΒВᏴ", "c": "СϹᏟ", "d": "Ꭰ", "e": "ΕЕᎬ", "g": "ԌᏀ", "h": "ΗНҺᎻ", "i": "ΙІӀᎥ",
    "k": "ΚКᏦ", "m": "ΜМᎷ", "n": "Ν", "o": "ΟОՕ", "p": "ΡРᏢ", "r": "ᏒᎡ", "s": "ЅՏᏚ", "t": "ΤТᎢ",
    "v": "ѴᏙ", "w": "ԜᎳ", "y": "ΥҮᎩ",
}  # fmt: skip
_LETTERS = {
    "a": "αаɑᴀ4", "b": "вʙ", "c": "сϲᴄⲥ", "d": "ԁᴅ", "e": "еєεᴇ3", "g": "ɡԍɢց", "h": "һнհʜ",
    "i": "іιıɪ", "k": "кκᴋ", "l": "iӏʟ1|ǀ", "m": "мᴍ", "n": "пηոɴ", "o": "оοօᴏⲟ0", "p": "рρᴘⲣ",
    "r": "гʀ", "s": "ѕꜱ5$", "t": "тτᴛ7", "u": "υսᴜ", "v": "νѵᴠ", "w": "ԝաᴡ", "y": "уγʏ",
}  # fmt: skip


def _table(rows: dict[str, str]) -> dict[int, str]:
    return {ord(char): letter for letter, alike in rows.items() for char in alike}


_BY_CAPITAL, _BY_LETTER = _table(_CAPITALS), _table(_LETTERS)


def outline(name: str) -> str:
    """Return what people see of a name: two names of one outline look alike.

    Marks, signs, spaces and characters without ink are left out; letters of one look are one.
    """
    wide = normalize("NFKD", name).translate(_BY_CAPITAL).casefold()
    letters = wide.translate(_BY_LETTER).translate(_BY_LETTER)  # an i is an l in the second
    seen = "".join(char for char in letters if char.isalnum() and not is_hidden(char))
    return seen.replace("rn", "m").replace("vv", "w")


def is_like_a_service(name: str) -> bool:
    """Return whether a name looks like a service's, or begins with what looks like "concord:"."""
    start, *rest = _COLON.split(name, maxsplit=1)
    return outline(name) in _SERVICES or (bool(rest) and outline(start) == _OWN)


def is_like_the_system_space(name: str) -> bool:
    """Return whether a space's name looks like that of the reserved space, "concord:system"."""
    return outline(name) == _SYSTEM


_SERVICES: Final = frozenset(map(outline, SERVICES))
_OWN: Final = outline(OWN)
_SYSTEM: Final = outline(f"{OWN}system")
