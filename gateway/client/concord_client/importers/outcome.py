"""The outcome of reading one item of an import: a draft, a defect, or what was left out.

No importer drops a word silently (spec W8): each character of a file that is not blank is in a
memory, in the text of a `Defect` or `LeftOut`, or markup of the file's form.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from unicodedata import is_normalized, normalize

from concord.type.v1.type_pb2 import Memory

MAX_CONTENT = 20_000
"""Characters of a memory's content, counted after Unicode NFC."""

MAX_ITEM_BYTES = 1 << 20
"""Bytes of one item: a line of JSON Lines or a Markdown file."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory to add, and the place where it was read."""

    memory: Memory
    file: str
    """Path as it was given, or relative to the imported folder, with slashes."""
    line: int
    """First line of the item, from 1; 0 if only `part` locates it."""
    part: str = ""
    """The part of the file, if a line number does not locate the item."""

    @property
    def place(self) -> str:
        """The file and line, or the file and part, for people."""
        return _place(self.file, self.line, self.part)


@dataclass(frozen=True, slots=True)
class Defect:
    """The reason why an item cannot be added, and the place where it was read."""

    file: str
    line: int
    """From 1; 0 if the whole file cannot be read, or if only `part` locates the item."""
    reason: str
    part: str = ""
    """The part of the file, if a line number does not locate the item."""
    text: str = ""
    """The item as it stands in the file; empty if the file cannot be read."""

    @property
    def place(self) -> str:
        """The file and line, or the file and part, for people."""
        return _place(self.file, self.line, self.part)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of a file that an import leaves out although nothing is wrong with it."""

    kind: str
    """A noun in the singular, such as "notice of the messenger"."""
    text: str
    """The part as it stands in the file; empty for a file that is not read."""
    file: str = ""
    line: int = 0
    part: str = ""

    @property
    def place(self) -> str:
        """The file and line, or the file and part, for people."""
        return _place(self.file, self.line, self.part)


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that people should know about how a file was read."""

    file: str
    text: str


Outcome = Draft | Defect | LeftOut | Remark


def at_place(
    left: Iterable[LeftOut], file: str, line: int = 0, part: str = ""
) -> Iterator[LeftOut]:
    """The parts that the reader of one item left out, with the item's place."""
    for each in left:
        yield LeftOut(each.kind, each.text, file, line, part)


def as_text(value: object) -> str:
    """A value of a file as text, for `LeftOut` and `Defect`: a text as it is, others as JSON."""
    try:
        text = (
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        )
    except (TypeError, ValueError):  # of YAML: keys that are no texts, a list that holds itself
        text = repr(value)
    return text.encode("utf-8", "backslashreplace").decode()


def _place(file: str, line: int, part: str) -> str:
    if part:
        return f"{file}, {part}"
    return f"{file}:{line}" if line else file


class ItemUnreadable(ValueError):
    """An item is no memory; `line` counts from the item's first line, 1."""

    def __init__(self, reason: str, line: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


def check_content(content: str) -> None:
    """Raise ItemUnreadable unless a memory may have this content."""
    if not content.strip():
        raise ItemUnreadable("the content is empty")
    length = len(content if is_normalized("NFC", content) else normalize("NFC", content))
    if length > MAX_CONTENT:
        raise ItemUnreadable(f"the content has {length} characters, at most {MAX_CONTENT}")
