"""Splits a Markdown text into its YAML front matter and its body, and reads the former's keys."""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time

import yaml

from concord_client.importers.outcome import ItemUnreadable

_OPENS = re.compile(r"---[ \t]*\r?\n")
_CLOSES = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_MAX_CHARACTERS = 65_536


def split(text: str) -> tuple[Mapping[str, object], str]:
    """Return the front matter's keys, none where there is none, and the body below it.

    Front matter stands at the very start between two lines `---` (the second may be `...`).
    Raises ItemUnreadable, with the line, for front matter that is no YAML mapping.
    """
    opened = _OPENS.match(text)
    closed = _CLOSES.search(text, opened.end()) if opened else None
    if not opened or not closed:
        return {}, text
    return _mapping(text[opened.end() : closed.start()]), text[closed.end() :]


def _mapping(source: str) -> Mapping[str, object]:
    if len(source) > _MAX_CHARACTERS:
        raise ItemUnreadable(f"the front matter has more than {_MAX_CHARACTERS} characters")
    try:
        loaded = yaml.safe_load(source)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        reason = f"the front matter is no YAML: {error.problem or 'cannot be read'}"
        raise ItemUnreadable(reason, line + 2) from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise ItemUnreadable("the front matter is no YAML that can be read") from None
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise ItemUnreadable("the front matter is no mapping of keys to values")
    return {str(key): value for key, value in loaded.items() if value is not None}


def text_of(keys: Mapping[str, object], key: str) -> str:
    """Return a key's text or number as text, "" where it is absent."""
    value = keys.get(key, "")
    if isinstance(value, bool) or not isinstance(value, str | int | float | date):
        raise ItemUnreadable(f"{key}: a text is expected")
    text = str(value).strip()
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise ItemUnreadable(f"{key}: half of a character (a lone surrogate)")
    return text


def list_of(keys: Mapping[str, object], key: str) -> list[str]:
    """Return a key's list of texts; one text may hold several, parted by commas."""
    value = keys.get(key, [])
    if isinstance(value, list):
        items = [
            item for entry in value for item in (entry if isinstance(entry, list) else [entry])
        ]
        return [text for item in items if (text := text_of({key: item}, key))]
    return [part for piece in text_of(keys, key).split(",") if (part := piece.strip())]


def time_of(keys: Mapping[str, object], key: str) -> datetime | None:
    """Return a key's instant; a date is its midnight, a time without a zone is UTC."""
    value = keys.get(key)
    if value is None:
        return None
    if isinstance(value, str):
        value = _parsed_time(value.strip(), key)
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC)
    raise ItemUnreadable(f"{key}: a date or time is expected, such as 2026-11-21")


def _parsed_time(text: str, key: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ItemUnreadable(f"{key}: no date or time: {text[:60]!r}") from None
