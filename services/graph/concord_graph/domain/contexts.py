"""Contexts: edges whose properties name more participants than their two ends (G11)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from concord_graph.domain.errors import FieldInvalid
from concord_graph.domain.items import Properties

MOST_PARTICIPANTS = 50
MOST_NAME_CHARACTERS = 512
MOST_TYPE_CHARACTERS = 128
VALENCES = ("positive", "neutral", "negative")


def context_of(properties: Properties, field: str) -> Properties:
    """Return an edge's properties with a context's ones normalized; a null removes its key.

    `participants`: 1 to 50 node names, kept once each and as NFC; `context_type`: a word or two;
    `emotional_valence`: a number in [-1, 1], or "positive", "neutral" or "negative".

    Raises:
        FieldInvalid: a property has another shape; `field` is the prefix of its path.
    """
    checked: dict[str, Any] = dict(properties)
    for key, read in _READERS.items():
        if checked.get(key) is not None:
            checked[key] = read(checked[key], f"{field}.{key}")
    return checked


def _participants(value: Any, field: str) -> list[str]:
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_PARTICIPANTS:
        raise FieldInvalid(field, f"must be a list of 1 to {MOST_PARTICIPANTS} names")
    names = [
        _text(name, f"{field}[{place}]", MOST_NAME_CHARACTERS) for place, name in enumerate(value)
    ]
    return list(dict.fromkeys(names))


def _context_type(value: Any, field: str) -> str:
    return _text(value, field, MOST_TYPE_CHARACTERS)


def _valence(value: Any, field: str) -> Any:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if value in VALENCES or (is_number and -1 <= value <= 1):
        return value
    words = ", ".join(map(repr, VALENCES))
    raise FieldInvalid(field, f"must be a number from -1 to 1, or one of {words}")


def _text(value: Any, field: str, most: int) -> str:
    name = unicodedata.normalize("NFC", value) if isinstance(value, str) else ""
    if not name.strip() or len(name) > most:
        raise FieldInvalid(field, f"must be a text of 1 to {most} characters, not blank")
    return name


_READERS: Mapping[str, Callable[[Any, str], Any]] = {
    "participants": _participants,
    "context_type": _context_type,
    "emotional_valence": _valence,
}
