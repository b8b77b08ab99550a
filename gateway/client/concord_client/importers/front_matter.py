"""Splits a Markdown text into YAML front matter and body, and reads the front matter's keys."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

import yaml

from concord_client.importers.dates import instant_of
from concord_client.importers.outcome import ItemUnreadable, LeftOut, as_text

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


class _NoYAML(Exception):
    """A text is no YAML."""


_Read = Callable[[str, list[LeftOut]], Mapping[str, object] | None]
_KEY = re.compile(r"^([^\s:#'\"\[\]{}|>&*!%@`-][^:\n]*):(?=\s|$)", re.MULTILINE)
"""The beginning of a key and its value, in front matter that is no YAML as a whole."""
_DEEP = re.compile(r"(?:[\[{][ \t\n]*){50}")
_FLOW = re.compile(r"\[(?!\[).*\]")
_LINK = re.compile(r"\[\[[^\[\]\n]+\]\]")
_PAGE = re.compile(r"(?:[\w-]+::(?:[ \t].*|)(?:\n|\Z))+")
"""A page's properties in Logseq: `tags:: a, [[b]]`."""
_TOML = re.compile(r"\+\+\+[ \t]*\r?\n((?:.*\n)*?)\+\+\+[ \t]*(?:\r?\n|\Z)")
_TOML_TEXT = re.compile(r'"""(?:.|\n)*?"""|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')
_TOML_COMMENT = re.compile(r"#.*")


class _Loader(yaml.SafeLoader):
    """Loads single values as `Written`, and keeps the values of keys that stand twice."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.doubled: list[str] = []
        self.source = source

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        last = {key.value: at for at, (key, _) in enumerate(node.value)
                if isinstance(key, yaml.ScalarNode)}  # fmt: skip
        for at, (key, value) in enumerate(node.value):
            if isinstance(key, yaml.ScalarNode) and last[key.value] != at:
                self.doubled.append(self.source[key.start_mark.index : value.end_mark.index])
        return super().construct_mapping(node, deep)


def _written(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> Written:
    construct = yaml.SafeLoader.yaml_constructors[node.tag]
    try:
        value = construct(loader, node)
    except ValueError:  # such as 2026-02-30, which stays a text
        value = node.value
    return Written(value, node.value)


def _sequence(loader: _Loader, node: yaml.SequenceNode) -> Any:
    """A list; or the text of a link that is not quoted, which YAML takes for a list in a list."""
    written = loader.source[node.start_mark.index : node.end_mark.index]
    if _LINK.fullmatch(written):
        return written
    return loader.construct_sequence(node, deep=True)


_Loader.add_constructor("tag:yaml.org,2002:seq", _sequence)
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

    Front matter is at the very start: YAML between two lines `---` (the second may be `...`), whose
    keys have few words, TOML between two lines `+++`, or Logseq's lines `key:: value`. Else the
    first line is a horizontal rule, and all is body. Of YAML that is not quite some, each key
    counts for itself: a value that cannot be read is kept as it is written. A second block right
    after the first adds its keys.
    """
    if toml := _TOML.match(text):
        return _of_toml(toml[1], text[toml.end() :], text)
    if page := _PAGE.match(text):
        return _of_page(page[0], text[page.end() :])
    found = _block(text, _tolerant)
    if found is None:
        return FrontMatter({}, text)
    after = found.body.lstrip("\n")
    second = _block(after, _strict) if found.keys else None
    if second is None or not second.keys:
        return found
    doubled = [
        LeftOut(DOUBLED, f"{key}: {as_text(value)}")
        for key, value in second.keys.items()
        if key in found.keys
    ]
    keys = {**second.keys, **found.keys}
    return FrontMatter(keys, second.body, [*found.left, *second.left, *doubled])


def _block(text: str, read: _Read) -> FrontMatter | None:
    """The YAML block at the start of a text; None if there is none."""
    opened = _OPENS.match(text)
    closed = _CLOSES.search(text, opened.end()) if opened else None
    if not opened or not closed:
        return None
    source, body = text[opened.end() : closed.start()], text[closed.end() :]
    if len(source) > _MAX_CHARACTERS:
        return FrontMatter({}, body, [LeftOut("front matter that is too long", source)])
    left: list[LeftOut] = []
    keys = read(source, left)
    is_empty = not keys and source.strip() and all(each.kind == COMMENT for each in left)
    is_prose = any(len(key.split()) > _MOST_WORDS for key in keys or ())
    if keys is None or is_prose or (is_empty and not closed[0].startswith(".")):
        return None
    return FrontMatter(keys, body, left)


def _tolerant(source: str, left: list[LeftOut]) -> Mapping[str, object] | None:
    """The keys of a mapping that is YAML, or nearly; None if the source is none."""
    with suppress(_NoYAML):
        return _mapping(source, left)
    entries = _KEY.split(source)
    if len(entries) == 1:
        return None
    if entries[0].strip():
        left.append(LeftOut("line of front matter that is no key", entries[0].strip()))
    found: dict[str, object] = {}
    for named, value in zip(entries[1::2], entries[2::2], strict=True):
        key = named.rstrip()
        if key in found:
            left.append(LeftOut(DOUBLED, f"{key}:{value}".strip()))
        else:
            found |= _entry(key, value, left)
    return found


def _strict(source: str, left: list[LeftOut]) -> Mapping[str, object] | None:
    try:
        return _mapping(source, left)
    except _NoYAML:
        return None


def _entry(key: str, value: str, left: list[LeftOut]) -> Mapping[str, object]:
    """One key with its value, as it is written if it is no YAML."""
    try:
        return _mapping(f"{key}:{value}", left) or {}
    except _NoYAML:
        pass
    items = [line.strip() for line in value.strip("\n").split("\n") if line.strip()]
    if items and all(item == "-" or item.startswith("- ") for item in items):
        return {key: [item[1:].strip() for item in items if item != "-"]}
    if len(items) == 1 and _FLOW.fullmatch(items[0]):
        return {key: [item.strip() for item in items[0][1:-1].split(",") if item.strip()]}
    return {key: "\n".join(items)}


def _mapping(source: str, left: list[LeftOut]) -> Mapping[str, object] | None:
    """The keys of a YAML mapping; None if the source is none. Comments and the like go to `left`.

    Raises `_NoYAML`.
    """
    if _DEEP.search(source):  # it would take seconds to find out that no property can hold it
        raise _NoYAML
    try:
        loader = _Loader(source)
        loaded = loader.get_single_data()
        comments = _comments(source)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        raise _NoYAML from None
    if loaded is not None and not isinstance(loaded, dict):
        return None
    loaded = loaded or {}
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


def _of_page(source: str, body: str) -> FrontMatter:
    left: list[LeftOut] = []
    keys: dict[str, object] = {}
    for line in source.splitlines():
        key, _, value = line.partition("::")
        key = "aliases" if key == "alias" else key
        if not value.strip():
            left.append(LeftOut(NO_VALUE, key))
        elif key in keys:
            left.append(LeftOut(DOUBLED, line))
        else:
            keys[key] = value.strip()
    return FrontMatter(keys, body, left)


def _of_toml(source: str, body: str, text: str) -> FrontMatter:
    try:
        loaded = tomllib.loads(source)
    except (ValueError, RecursionError):
        return FrontMatter({}, text)
    comments = _TOML_COMMENT.findall(_TOML_TEXT.sub("", source))
    return FrontMatter(_as_written(loaded), body, [LeftOut(COMMENT, each) for each in comments])


def _as_written(value: Any) -> Any:
    """TOML's values with its dates and times as YAML's."""
    if isinstance(value, dict):
        return {key: _as_written(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_as_written(each) for each in value]
    is_other = isinstance(value, date | time | int | float)
    return Written(value, json.dumps(value, default=str).strip('"')) if is_other else value


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
        return [text for item in items if item is not None and (text := text_of({key: item}, key))]
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
