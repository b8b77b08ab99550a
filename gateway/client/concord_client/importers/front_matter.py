"""Splits a Markdown text into YAML front matter and body, and reads the front matter's keys."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

import yaml

from concord_client.importers.dates import instant_of
from concord_client.importers.outcome import ItemUnreadable

_OPENS = re.compile(r"---[ \t]*\r?\n")
_CLOSES = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_MAX_CHARACTERS = 65_536
_TARGET = re.compile(
    r"(?:\[\[)?(?:memory:)?([^\[\]|#,\s]+)(?:[#|][^\[\]]*)?(?:\]\])?", re.IGNORECASE
)
LINEAGE_KEYS = ("supersedes", "deprecates", "amends", "contradicts")
"""Keys that name other memories, and become lineage to these."""
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Written:
    """A number or date of YAML, with its text in the file: `0001` is 1, but may also be an id."""

    value: object
    text: str

    def __str__(self) -> str:
        """As it was written."""
        return self.text

    @property
    def plain(self) -> object:
        """The number if JSON would spell it so; else the text, as for `0001` or `2026-11-21`."""
        return self.value if _NUMBER.fullmatch(self.text) else self.text


class _Loader(yaml.SafeLoader):
    """Loads numbers and dates as `Written`."""


def _written(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> Written:
    construct = yaml.SafeLoader.yaml_constructors[node.tag]
    try:
        value = construct(loader, node)
    except ValueError:  # such as 2026-02-30, which stays a text
        value = node.value
    return Written(value, node.value)


for _tag in ("int", "float", "timestamp"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", _written)


def split(text: str) -> tuple[Mapping[str, object], str]:
    """Return the front matter's keys, empty without front matter, and the body below it.

    Front matter is at the very start, between two lines `---` (the second may be `...`). Raises
    ItemUnreadable, with the line, for front matter that is no YAML mapping.
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
        loaded = yaml.load(source, _Loader)
    except yaml.MarkedYAMLError as error:
        if "{{" in source:
            raise ItemUnreadable("a template: its front matter holds {{…}}") from None
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
    """Return a key's text or number as text, "" without the key. Raises ItemUnreadable."""
    value = keys.get(key, "")
    if not isinstance(value, str | Written):
        raise ItemUnreadable(f"{key}: a text is expected")
    text = str(value).strip()
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise ItemUnreadable(f"{key}: half of a character (a lone surrogate)")
    return text


def list_of(keys: Mapping[str, object], key: str) -> list[str]:
    """Return a key's list of texts; a single text is split at commas. Raises ItemUnreadable."""
    value = keys.get(key, [])
    if isinstance(value, list):
        items = [
            item for entry in value for item in (entry if isinstance(entry, list) else [entry])
        ]
        return [text for item in items if (text := text_of({key: item}, key))]
    return [part for piece in text_of(keys, key).split(",") if (part := piece.strip())]


def linked_id(entry: str) -> str | None:
    """Return the memory id that an entry is or links to; None if it has none."""
    named = _TARGET.fullmatch(entry)
    return named and named[1]


def time_of(keys: Mapping[str, object], key: str) -> datetime | None:
    """Return a key's time, a date at midnight, without a zone in UTC; None without the key.

    Raises ItemUnreadable.
    """
    given = keys.get(key)
    if given is None:
        return None
    value = given.value if isinstance(given, Written) else given
    if isinstance(value, str):
        value = _parsed_time(value.strip(), key)
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC)
    raise ItemUnreadable(f"{key}: a date or time is expected, such as 2026-11-21")


def _parsed_time(text: str, key: str) -> datetime:
    found = instant_of(text)
    if found is None:
        raise ItemUnreadable(f"{key}: no date or time: {text[:60]!r}")
    return found
