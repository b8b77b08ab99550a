"""Reads CSV: rows are turns if there are columns for speaker and text, else memories."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from concord.type.v1 import type_pb2

from concord_client.facts import fact_of
from concord_client.importers.chat.records import (
    CONVERSATIONS,
    SESSIONS,
    SPEAKERS,
    TEXTS,
    TIMES,
    named,
    time_of,
    turn_of,
)
from concord_client.importers.chat.turns import Sessions
from concord_client.importers.contract import fits
from concord_client.importers.dates import is_month_first
from concord_client.importers.front_matter import LINEAGE_KEYS, linked_id, list_of
from concord_client.importers.jsonl import memory_of
from concord_client.importers.note_keys import MOST_FACTS
from concord_client.importers.outcome import (
    MAX_ITEM_BYTES,
    Defect,
    Draft,
    ItemUnreadable,
    LeftOut,
    Outcome,
    Remark,
    at_place,
)
from concord_client.importers.spelling import contract_name
from concord_client.importers.text_file import read_sheet

SUFFIXES = (".csv", ".tsv")
_CONTENT = ("content", *TEXTS, "memory", "note", "notes", "fact")
_LISTS = ("tags", "concepts", "surfaces_when")
_CHAT = frozenset([*SPEAKERS, *TEXTS, *TIMES, *SESSIONS, *CONVERSATIONS])
_ENUMS = {
    "kind": type_pb2.MemoryKind.DESCRIPTOR,
    "importance": type_pb2.Importance.DESCRIPTOR,
    "edge_type": type_pb2.EdgeType.DESCRIPTOR,
}
_TEXTS = ("id", "external_id", "domain", "category", "session_id")
_PERIOD = ("valid_from", "valid_until")
_OWN = frozenset([*_LISTS, *_ENUMS, *_TEXTS, *_PERIOD, "facts", *LINEAGE_KEYS])
_MEMORY = frozenset([*_CONTENT, *TIMES, *SESSIONS, *_OWN])
COLUMNS = _CHAT | _MEMORY
"""The names of columns that find a field."""
_DELIMITERS = ",;\t|"
_NONE = "\x1f"
"""The delimiter of a table with one column: a sign that no text has."""
_DATED = (*TIMES, *_PERIOD)
_SEPARATOR = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
_JUDGED = 100
"""The rows by which a delimiter is chosen."""
_MOST_UNREADABLE = 100
"""The lines of a file that are read past; after them the rest is one error."""

csv.field_size_limit(MAX_ITEM_BYTES)


def read_csv(path: Path, session: str = "") -> Iterator[Outcome]:
    """Yield one outcome per row, in order. The first row names the columns.

    With a column for the speaker and one for the text, rows are turns, of `session` (default: the
    file's name) if they name none. Else they are memories. Their content is the column content,
    text, body, message, memory, note or fact; without such a column it is the whole row, as lines
    "column: value". Columns with the names of a memory's fields fill these, lists are split at ";"
    or ",", facts ("SUBJECT|RELATION|OBJECT") at ";"; a date or time becomes valid_from; other
    columns become properties. Delimiters: comma, semicolon, tab, bar. Quotes are doubled or
    escaped. A column without a value is left out, and a cell with other words than its field's is
    a property. A first line `sep=;` names the delimiter; another encoding than UTF-8 is said.
    """
    try:
        text, encoding = read_sheet(path)
    except ItemUnreadable as unreadable:
        yield Defect(str(path), unreadable.line, unreadable.reason)
        return
    if encoding:
        yield Remark(str(path), f"read as {encoding}: it is not UTF-8")
    yield from _Table(path, session or path.stem, text).outcomes()


class _Table:
    """One file being read."""

    def __init__(self, path: Path, session: str, text: str) -> None:
        self._file, self._session, self._text = str(path), session, text
        self._sessions = Sessions()
        self._written: dict[str, str] = {}
        """The columns' names as the header writes them."""

    def outcomes(self) -> Iterator[Outcome]:
        stated = _SEPARATOR.match(self._text)
        above = 1 if stated else 0  # Excel's line, which names the delimiter
        text = self._text[stated.end() :] if stated else self._text
        header, rows = list[str](), list[tuple[int, list[str]]]()
        for line, read_row in _numbered(*_dialect(text, stated[1] if stated else "")):
            if isinstance(read_row, _Unreadable):
                yield Defect(self._file, above + line, read_row.reason, text=read_row.text)
                if not header:
                    return
            elif not header:
                header = read_row
            elif any(cell.strip() for cell in read_row):
                rows.append((above + line, read_row))
        fields = {_field(each) for each in header}
        is_chat = not fields.isdisjoint(SPEAKERS) and not fields.isdisjoint(TEXTS)
        columns = _columns(header, _CHAT if is_chat else _MEMORY)
        records = [(at, row, _record(columns, row)) for at, row in rows]
        self._written = dict(zip(columns, header, strict=True))
        for name in columns:
            if name not in COLUMNS and not any(record.get(name) for _, _, record in records):
                yield LeftOut("column without a value", name, self._file, 1)
        month_first = is_month_first(
            str(record[name]) for _, _, record in records for name in _DATED if name in record
        )
        for at, row, record in records:
            yield from self._of_row(at, row, record, is_chat=is_chat, month_first=month_first)

    def _of_row(
        self,
        line: int,
        row: Sequence[str],
        record: dict[str, object],
        *,
        is_chat: bool,
        month_first: bool,
    ) -> Iterator[Outcome]:
        left: list[LeftOut] = []
        try:
            if len(row) > len(record):
                raise ItemUnreadable(f"more cells than the {len(record)} columns")
            said = {name: cell for name, cell in record.items() if cell}
            if is_chat:
                turn = turn_of(_dated(said, month_first=month_first), self._session, left)
                memories = [self._sessions.memory(turn, left)] if turn else []
            else:
                own = _memory(said, self._written, month_first=month_first)
                memories = [memory_of(own, left)]
        except ItemUnreadable as unreadable:
            cells = zip_longest(record, row, fillvalue="")
            text = "\n".join(f"{name}: {cell}" for name, cell in cells)
            yield Defect(self._file, line, unreadable.reason, text=text)
            return
        yield from at_place(left, self._file, line)
        for memory in memories:
            yield Draft(memory, self._file, line)


def _dialect(text: str, stated: str) -> tuple[str, str, bool]:
    """The text, its delimiter, and whether blanks follow it; quotes escaped by "\\" are doubled.

    The delimiter is the one by which most of the first rows have as many cells as the header; of
    equals the one that makes most columns.
    """
    variants = [text, text.replace('\\"', '""')] if '\\"' in text else [text]
    first = next(iter(text.splitlines()), "")
    found = [stated] if stated else [each for each in _DELIMITERS if each in first] or [_NONE]
    dialects = [(v, mark, blanks) for v in variants for mark in found for blanks in (False, True)]
    return max(dialects, key=lambda dialect: _fit(*dialect))


def _fit(text: str, delimiter: str, blanks: bool) -> tuple[int, int]:
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows += islice(_rows(text, delimiter, blanks), _JUDGED)
    columns = len(rows[0]) if rows else 0
    return sum(len(row) == columns for row in rows), columns


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """A line that begins no row of CSV, or with all lines after it the last of too many."""

    reason: str
    text: str


def _numbered(
    text: str, delimiter: str, blanks: bool
) -> Iterator[tuple[int, list[str] | _Unreadable]]:
    """Rows with the number of their first line. A line that begins none costs itself alone."""
    lines = list(StringIO(text, newline=""))
    at = unreadable = 0
    while at < len(lines):
        rest = "".join(lines[at:])
        reader, begun = _rows(rest, delimiter, blanks), 0
        try:
            for row in reader:
                yield at + begun + 1, row
                begun = reader.line_num
            return
        except csv.Error as error:
            at += begun
            unreadable += 1
            is_last = not at or unreadable == _MOST_UNREADABLE
            why = f"the row that begins here is no CSV: {error}"
            yield at + 1, _Unreadable(why, "".join(lines[at:]) if is_last else lines[at])
            if is_last:
                return
            at += 1


def _rows(text: str, delimiter: str, blanks: bool) -> Any:
    lines = StringIO(text, newline="")
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=blanks, strict=True)


def _columns(header: Sequence[str], known: frozenset[str]) -> list[str]:
    """The columns' names, each once: those of fields as these are called, others as written."""
    names: list[str] = []
    for number, written in enumerate(header, 1):
        field = _field(written)
        name = field if field in known else written.strip() or f"column {number}"
        names.append(f"{written.strip()} ({number})" if name in names else name)
    return names


def _field(name: str) -> str:
    """A column's name in the form of field names: "Valid from" is valid_from."""
    return re.sub(r"[\s-]+", "_", name.strip()).casefold()


def _record(columns: list[str], row: list[str]) -> dict[str, object]:
    return {name: cell.strip() for name, cell in zip(columns, row, strict=False)}


def _dated(record: Mapping[str, object], *, month_first: bool) -> dict[str, object]:
    """The record with its time in ISO 8601."""
    found = dict(record)
    name = named(found, TIMES)
    with suppress(ItemUnreadable):
        if time := time_of(found.get(name), month_first=month_first):
            found[name] = time.isoformat()
    return found


def _memory(
    record: Mapping[str, object], written: Mapping[str, str], *, month_first: bool
) -> dict[str, object]:
    """A row as a memory's JSON; a cell that its field cannot hold goes under the column's name."""
    found = dict(record)
    content = next((str(found.pop(name)) for name in _CONTENT if name in found), "")
    whole = "\n".join(f"{written.get(name) or name}: {value}" for name, value in record.items())
    begun = next((each for each in TIMES if _is_time(found.get(each), month_first)), "")
    if begun and "valid_from" not in found:
        found["valid_from"] = found.pop(begun)
    session = next((name for name in SESSIONS if name in found), "")
    own: dict[str, object] = {}
    others: dict[str, object] = {}
    for name, cell in found.items():
        field = "session_id" if name == session else name
        value = _value(field, str(cell), month_first=month_first) if field in _OWN else None
        if value is None:
            label = written.get(name, "").strip() if name in _MEMORY else name
            others[label or name] = cell
        else:
            own[field] = value
    return own | {"content": content or whole, "properties": others}


def _value(field: str, cell: str, *, month_first: bool) -> object:
    """A cell as its field's JSON; None if the field cannot hold it."""
    value: object = cell
    with suppress(ItemUnreadable, ValueError):
        if field in _LISTS:
            parts = [part.strip().removeprefix("#") for part in re.split(r"[;,]", cell)]
            value = [part for part in parts if part]
            return value if fits(field, value) else None
        if field in _ENUMS:
            return contract_name(_ENUMS[field], cell)
        if field in _PERIOD:
            time = time_of(cell, month_first=month_first)
            return time.isoformat() if time else None
        if field == "facts":
            facts = [fact_of(part) for part in cell.split(";") if part.strip()]
            return (
                [
                    {"subject": each.subject, "relation": each.relation, "object": each.object}
                    for each in facts
                ]
                if len(facts) <= MOST_FACTS
                else None
            )
        if field in LINEAGE_KEYS:
            ids = [linked_id(each) for each in list_of({field: cell}, field)]
            return None if None in ids else cell
        return cell if fits(field, [cell]) else None
    return None


def _is_time(value: object, month_first: bool) -> bool:
    with suppress(ItemUnreadable):
        return time_of(value, month_first=month_first) is not None
    return False
