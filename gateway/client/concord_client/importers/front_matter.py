"""Splits a Markdown text into YAML front matter and body, and reads the front matter's keys."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

import yaml

from concord_client.importers.dates import instant_of
from concord_client.importers.outcome import ItemUnreadable, LeftOut

# A line that is blank after the opening one makes it a horizontal rule, as in Pandoc.
_OPENS = re.compile(r"---[ \t]*\r?\n(?![ \t]*\r?\n)")
_CLOSES = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_MOST_WORDS = 3
"""Words of a key; what has more before its colon is prose between two horizontal rules."""
NO_VALUE = "key without a value"
COMMENT = "comment in front matter"
DOUBLED = "value of a key that stands twice"
_MAX_CHARACTERS = 65_536
_TARGET = re.compile(
    r"(?:\[\[)?(?:memory:)?([^\[\]|#,\s]+)(?:[#|][^\[\]]*)?(?:\]\])?", re.IGNORECASE
)
LINEAGE_KEYS = ("supersedes", "deprecates", "amends", "contradicts")
"""Keys that name other memories, and become lineage to these."""
LABEL = "label of a lineage link"
_OF_JSON = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false")


@dataclass(frozen=True)
class Written:
    """A number, date, yes or no of YAML, with its text: `0001` is 1, but may also be an id."""

    value: object
    text: str

    def __str__(self) -> str:
        """As it was written."""
        return self.text

    @property
    def plain(self) -> object:
        """The value if JSON spells it so; else the text, as for `0001`, `yes` or `2026-11-21`."""
        return self.value if _OF_JSON.fullmatch(self.text) else self.text


class _Loader(yaml.SafeLoader):
    """Loads single values as `Written`, and keeps the values of keys that stand twice."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.doubled: list[str] = []
        self._source = source

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        last = {key.value: at for at, (key, _) in enumerate(node.value)
                if isinstance(key, yaml.ScalarNode)}  # fmt: skip
        for at, (key, value) in enumerate(node.value):
            if isinstance(key, yaml.ScalarNode) and last[key.value] != at:
                self.doubled.append(self._source[key.start_mark.index : value.end_mark.index])
        return super().construct_mapping(node, deep)


def _written(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> Written:
    construct = yaml.SafeLoader.yaml_constructors[node.tag]
    try:
        value = construct(loader, node)
    except ValueError:  # such as 2026-02-30, which stays a text
        value = node.value
    return Written(value, node.value)


for _tag in ("int", "float", "timestamp", "bool"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", _written)


@dataclass(frozen=True)
class FrontMatter:
    """The keys of a note, the body below them, and what of the front matter is in neither."""

    keys: Mapping[str, object]
    body: str
    left: Sequence[LeftOut] = ()


def split(text: str) -> FrontMatter:
    """Split a note into its front matter, without keys if there is none, and its body.

    Front matter is at the very start, between two lines `---` (the second may be `...`), and a YAML
    mapping whose keys have few words. Else the first line is a horizontal rule, and all is body.
    Raises ItemUnreadable, with the line, for front matter that cannot be read.
    """
    opened = _OPENS.match(text)
    closed = _CLOSES.search(text, opened.end()) if opened else None
    if not opened or not closed:
        return FrontMatter({}, text)
    source, body = text[opened.end() : closed.start()], text[closed.end() :]
    left: list[LeftOut] = []
    keys = _mapping(source, left)
    is_empty = not keys and source.strip() and all(each.kind == COMMENT for each in left)
    is_prose = any(len(key.split()) > _MOST_WORDS for key in keys or ())
    if keys is None or is_prose or (is_empty and not closed[0].startswith(".")):
        return FrontMatter({}, text)
    return FrontMatter(keys, body, left)


def _mapping(source: str, left: list[LeftOut]) -> Mapping[str, object] | None:
    """The keys; None if the source is no mapping. Comments and the like go to `left`."""
    if len(source) > _MAX_CHARACTERS:
        raise ItemUnreadable(f"the front matter has more than {_MAX_CHARACTERS} characters")
    loader = _Loader(source)
    try:
        loaded = loader.get_single_data()
        comments = _comments(source)
    except yaml.MarkedYAMLError as error:
        if "{{" in source:
            raise ItemUnreadable("a template: its front matter holds {{…}}") from None
        line = error.problem_mark.line if error.problem_mark else 0
        reason = f"the front matter is no YAML: {error.problem or 'cannot be read'}"
        raise ItemUnreadable(reason, line + 2) from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise ItemUnreadable("the front matter is no YAML that can be read") from None
    finally:
        loader.dispose()
    if loaded is None:
        left += (LeftOut(COMMENT, comment) for comment in comments)
        return {}
    if not isinstance(loaded, dict):
        return None
    left += (LeftOut(COMMENT, comment) for comment in comments)
    left += (LeftOut(DOUBLED, pair) for pair in loader.doubled)
    left += (LeftOut(NO_VALUE, str(key)) for key, value in loaded.items() if value is None)
    return {str(key): value for key, value in loaded.items() if value is not None}


def _comments(source: str) -> list[str]:
    """The text between YAML's tokens that is not blank."""
    found, end = [], 0
    for token in yaml.scan(source):
        found.append(source[end : token.start_mark.index])
        end = max(end, token.end_mark.index)
    return [text.strip() for text in found if text.strip()]


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


def label_of(entry: str) -> str:
    """The heading or label of a link in an entry: that of `[[a#x|b]]` is x|b; "" without one."""
    return re.split(r"[#|]", entry, maxsplit=1)[1].strip("] ") if re.search("[#|]", entry) else ""


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
