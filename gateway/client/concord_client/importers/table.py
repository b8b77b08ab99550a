"""Reads CSV: rows are turns if there are columns for speaker and text, else memories."""

import csv
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from concord_client.facts import fact_of
from concord_client.importers.chat.records import (
    SESSIONS,
    SPEAKERS,
    TEXTS,
    TIMES,
    time_of,
    turn_of,
)
from concord_client.importers.chat.turns import Sessions
from concord_client.importers.dates import is_month_first
from concord_client.importers.jsonl import memory_of
from concord_client.importers.outcome import MAX_ITEM_BYTES, Defect, Draft, ItemUnreadable
from concord_client.importers.text_file import read_text

SUFFIXES = (".csv", ".tsv")
_CONTENT = (*TEXTS, "memory", "note", "notes", "fact")
_LISTS = ("tags", "concepts", "surfaces_when")
_SAMPLE = 64 * 1024

csv.field_size_limit(MAX_ITEM_BYTES)


def read_csv(path: Path, session: str = "") -> Iterator[Draft | Defect]:
    """Yield one outcome per row, in order. The first row names the columns.

    With a column for the speaker and one for the text, rows are turns, of `session` (default: the
    file's name) if they name none. Else they are memories. Their content is the column content,
    text, body, message, memory, note or fact; without such a column it is the whole row, as lines
    "column: value". Columns with the names of a memory's fields fill these, lists are split at ";"
    or ",", facts ("SUBJECT|RELATION|OBJECT") at ";"; a date or time becomes valid_from; other
    columns become properties. Delimiters: comma, semicolon, tab, bar.
    """
    try:
        text = read_text(path)
    except ItemUnreadable as unreadable:
        yield Defect(str(path), unreadable.line, unreadable.reason)
        return
    yield from _Table(path, session or path.stem, text).outcomes()


class _Table:
    """One file being read."""

    def __init__(self, path: Path, session: str, text: str) -> None:
        self._file, self._session = str(path), session
        dialect: type[csv.Dialect] | csv.Dialect = csv.excel
        with suppress(csv.Error):
            dialect = csv.Sniffer().sniff(text[:_SAMPLE].partition("\n")[0], ",;\t|")
        self._rows = csv.reader(text.splitlines(keepends=True), dialect, strict=True)
        self._sessions = Sessions()

    def outcomes(self) -> Iterator[Draft | Defect]:
        line = 0
        try:
            columns = [_column(each) for each in next(self._rows, [])]
            rows, line = [], self._rows.line_num
            for row in self._rows:
                if any(cell.strip() for cell in row):
                    rows.append((line + 1, row))
                line = self._rows.line_num
        except csv.Error as error:
            yield Defect(self._file, line + 1, f"the row that begins here is no CSV: {error}")
            return
        records = [(at, _record(columns, row), len(row) > len(columns)) for at, row in rows]
        month_first = is_month_first(
            str(record[name]) for _, record, _ in records for name in TIMES if name in record
        )
        is_chat = any(each in columns for each in SPEAKERS) and any(
            each in columns for each in TEXTS
        )
        for at, record, is_too_long in records:
            try:
                if is_too_long:
                    raise ItemUnreadable(f"more cells than the {len(columns)} columns")
                dated = _dated(record, month_first=month_first)
                yield from self._drafts(dated, at, is_chat=is_chat)
            except ItemUnreadable as unreadable:
                yield Defect(self._file, at, unreadable.reason)

    def _drafts(self, record: Mapping[str, object], line: int, *, is_chat: bool) -> Iterator[Draft]:
        if not is_chat:
            yield Draft(memory_of(_memory(record)), self._file, line)
        elif turn := turn_of(record, self._session):
            yield Draft(self._sessions.memory(turn), self._file, line)


def _column(name: str) -> str:
    """A column's name in the form of field names: "Valid from" is valid_from."""
    return re.sub(r"[\s-]+", "_", name.strip()).casefold()


def _record(columns: list[str], row: list[str]) -> dict[str, object]:
    return {
        name: cell.strip()
        for name, cell in zip(columns, row, strict=False)
        if name and cell.strip()
    }


def _dated(record: Mapping[str, object], *, month_first: bool) -> dict[str, object]:
    """The record with its times in ISO 8601; values that are no time stay as they are."""
    found = dict(record)
    for name in TIMES:
        with suppress(ItemUnreadable):
            if time := time_of(found.get(name), month_first=month_first):
                found[name] = time.isoformat()
    return found


def _memory(record: Mapping[str, object]) -> dict[str, object]:
    """A row as a memory's JSON."""
    found = dict(record)
    content = next((str(found.pop(name)) for name in _CONTENT if name in found), "")
    found["content"] = content or "\n".join(f"{name}: {value}" for name, value in record.items())
    for name in _LISTS:
        if name in found:
            parts = re.split(r"[;,]", str(found[name]))
            found[name] = [part.strip().removeprefix("#") for part in parts if part.strip()]
    if "facts" in found:
        found["facts"] = [_fact(part) for part in str(found["facts"]).split(";") if part.strip()]
    begun = next((found.pop(name) for name in TIMES if _is_time(found.get(name))), None)
    if begun:
        found.setdefault("valid_from", begun)
    for name in ("valid_from", "valid_until"):
        if name in found and (time := time_of(found[name])):
            found[name] = time.isoformat()
    session = next((found.pop(name) for name in SESSIONS if name in found), None)
    return found if session is None else found | {"session_id": session}


def _fact(stated: str) -> dict[str, str]:
    try:
        fact = fact_of(stated)
    except ValueError as error:
        raise ItemUnreadable(f"facts: {error}") from None
    return {"subject": fact.subject, "relation": fact.relation, "object": fact.object}


def _is_time(value: object) -> bool:
    with suppress(ItemUnreadable):
        return time_of(value) is not None
    return False
