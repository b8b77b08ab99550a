"""Reads a transcript in any of the known forms."""

import json
from collections.abc import Iterator
from pathlib import Path

from concord_client.importers.chat.conversations import Conversation, conversations, is_conversation
from concord_client.importers.chat.plain import lines_of, paragraphs
from concord_client.importers.chat.records import Record, turn_of
from concord_client.importers.chat.turns import Sessions, Turn
from concord_client.importers.outcome import Defect, Draft, ItemUnreadable
from concord_client.importers.text_file import read_text

LINES_SUFFIXES = (".jsonl", ".ndjson")


def read_chat(path: Path, session: str = "") -> Iterator[Draft | Defect]:
    """Yields one outcome per turn, in order; a turn that cannot be read stops no other.

    Forms: JSON Lines of turns or of conversations; a JSON document with a list of messages or of
    conversations; plain text "[time] Speaker: text" or "time - Speaker: text". `session`: that of
    turns that name none, by default the file's name without its suffix.
    """
    try:
        text = read_text(path)
    except ItemUnreadable as unreadable:
        yield Defect(str(path), unreadable.line, unreadable.reason)
        return
    yield from _Transcript(path, session or path.stem).outcomes(text)


class _Transcript:
    """One file being read."""

    def __init__(self, path: Path, session: str) -> None:
        self._file = str(path)
        self._suffix = path.suffix.lower()
        self._session = session
        self._sessions = Sessions()

    def outcomes(self, text: str) -> Iterator[Draft | Defect]:
        start = text.lstrip()[:1]
        if self._suffix == ".json":
            return self._of_document(text)
        if self._suffix in LINES_SUFFIXES or (start == "{" and _is_json(_first_line(text))):
            return self._of_lines(text)
        if start in ("{", "[") and _is_json(text):
            return self._of_document(text)
        return self._of_plain(text)

    def _of_lines(self, text: str) -> Iterator[Draft | Defect]:
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            try:
                value = _parsed(line)
                if isinstance(value, dict) and not is_conversation(value):
                    yield from self._drafts(_turn(value, self._session), number)
                else:
                    yield from self._of_value(value, f"{self._session}/{number}", number)
            except ItemUnreadable as unreadable:
                yield Defect(self._file, number, unreadable.reason)

    def _of_document(self, text: str) -> Iterator[Draft | Defect]:
        try:
            yield from self._of_value(_parsed(text), self._session, 0)
        except ItemUnreadable as unreadable:
            yield Defect(self._file, unreadable.line, unreadable.reason)

    def _of_value(self, value: object, session: str, line: int) -> Iterator[Draft | Defect]:
        for number, talk in enumerate(_unfolded(value, session), 1):
            for at, message in enumerate(talk.messages, 1):
                part = f"line {line}, " if line else ""
                part += f"conversation {number}, message {at}"
                try:
                    if not isinstance(message, dict):
                        raise ItemUnreadable("no message: an object is expected")
                    yield from self._drafts(_turn(message, talk.session), 0, part)
                except ItemUnreadable as unreadable:
                    yield Defect(self._file, 0, unreadable.reason, part)

    def _of_plain(self, text: str) -> Iterator[Draft | Defect]:
        for paragraph in paragraphs(lines_of(text)):
            try:
                yield from self._drafts(paragraph.turn(self._session), paragraph.line)
            except ItemUnreadable as unreadable:
                yield Defect(self._file, paragraph.line, unreadable.reason)

    def _drafts(self, turn: Turn | None, line: int, part: str = "") -> Iterator[Draft]:
        if turn is not None:
            yield Draft(self._sessions.memory(turn), self._file, line, part)


def _turn(record: Record, session: str) -> Turn | None:
    try:
        return turn_of(record, session)
    except RecursionError:
        raise ItemUnreadable("the JSON is nested too deeply") from None


def _unfolded(value: object, session: str) -> list[Conversation]:
    try:
        return list(conversations(value, session))
    except RecursionError:
        raise ItemUnreadable("the JSON is nested too deeply") from None


def _first_line(text: str) -> str:
    return text.lstrip().split("\n", 1)[0]


def _is_json(text: str) -> bool:
    try:
        _parsed(text)
    except ItemUnreadable:
        return False
    return True


def _parsed(text: str) -> object:
    """The JSON value of `text`. Raises `ItemUnreadable` with the line."""
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise ItemUnreadable(
            f"not JSON: {error.msg}, at column {error.colno}", error.lineno
        ) from None
    except RecursionError:
        raise ItemUnreadable("the JSON is nested too deeply") from None
    except ValueError:  # a number of more digits than Python reads
        raise ItemUnreadable("not JSON that can be read") from None
    return value
