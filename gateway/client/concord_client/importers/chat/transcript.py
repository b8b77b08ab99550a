"""Reads a transcript in any of the known forms."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from concord_client.importers.chat.conversations import Conversation, conversations, is_conversation
from concord_client.importers.chat.plain import lines_of, paragraphs
from concord_client.importers.chat.records import Record, turn_of
from concord_client.importers.chat.turns import Sessions, Turn
from concord_client.importers.document import read_value, united
from concord_client.importers.outcome import (
    Defect,
    Draft,
    ItemUnreadable,
    LeftOut,
    Outcome,
    as_text,
    at_place,
)
from concord_client.importers.text_file import read_text

NOTHING: Mapping[str, object] = {}
LINES_SUFFIXES = (".jsonl", ".ndjson")


def read_chat(path: Path, session: str = "") -> Iterator[Outcome]:
    """Yields one outcome per turn, in order; a turn that cannot be read stops no other.

    What a turn left out comes before it. The fields of a turn's record that are none of its own
    become properties; those of a conversation become `conversation` of its first turn.

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

    def outcomes(self, text: str) -> Iterator[Outcome]:
        start = text.lstrip()[:1]
        if self._suffix == ".json":
            return self._of_document(text)
        if self._suffix in LINES_SUFFIXES or (start == "{" and _is_json(_first_line(text))):
            return self._of_lines(text)
        if start in ("{", "[") and _is_json(text):
            return self._of_document(text)
        return self._of_plain(text)

    def _of_lines(self, text: str) -> Iterator[Outcome]:
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            try:
                value = read_value(line)
            except ItemUnreadable as unreadable:
                yield Defect(self._file, number, unreadable.reason, text=line)
                continue
            if isinstance(value, dict) and not is_conversation(value):
                yield from self._of_message(value, self._session, number)
            else:
                yield from self._of_value(value, f"{self._session}/{number}", number)

    def _of_document(self, text: str) -> Iterator[Outcome]:
        try:
            value = read_value(text)
        except ItemUnreadable as unreadable:
            yield Defect(self._file, unreadable.line, unreadable.reason, text=text)
            return
        yield from self._of_value(value, self._session, 0)

    def _of_value(self, value: object, session: str, line: int) -> Iterator[Outcome]:
        left: list[LeftOut] = []
        try:
            found = _unfolded(value, session, left)
        except ItemUnreadable as unreadable:
            yield Defect(self._file, line or 1, unreadable.reason, text=as_text(value))
            return
        yield from at_place(left, self._file, line)
        for number, talk in enumerate(found, 1):
            yield from self._of_conversation(talk, number, line)

    def _of_conversation(self, talk: Conversation, number: int, line: int) -> Iterator[Outcome]:
        beside = {"conversation": dict(talk.beside)} if talk.beside else {}
        where = f"line {line}, " if line else ""
        where += f"conversation {number}"
        if talk.flaw:
            yield Defect(self._file, 0, talk.flaw, where, as_text(talk.messages[0]))
            return
        for at, message in enumerate(talk.messages, 1):
            part = f"{where}, message {at}"
            if not isinstance(message, dict):
                why = "no message: an object is expected"
                yield Defect(self._file, 0, why, part, as_text(message))
                continue
            for outcome in self._of_message(message, talk.session, 0, part, beside):
                beside = {} if isinstance(outcome, Draft) else beside
                yield outcome
        for name, value in beside.get("conversation", {}).items():
            kind = "field of a conversation without turns"
            yield LeftOut(kind, f"{as_text(name)}: {as_text(value)}", self._file, line, where)

    def _of_plain(self, text: str) -> Iterator[Outcome]:
        for paragraph in paragraphs(lines_of(text)):
            left: list[LeftOut] = []
            try:
                turn = paragraph.turn(self._session, left)
                drafts = [self._sessions.memory(turn, left)] if turn else []
            except ItemUnreadable as unreadable:
                line, why = paragraph.line, unreadable.reason
                yield Defect(self._file, line, why, text=paragraph.written)
                continue
            yield from at_place(left, self._file, paragraph.line)
            for memory in drafts:
                yield Draft(memory, self._file, paragraph.line)

    def _of_message(
        self,
        record: Record,
        session: str,
        line: int,
        part: str = "",
        beside: Mapping[str, object] = NOTHING,
    ) -> Iterator[Outcome]:
        left: list[LeftOut] = []
        try:
            turn = _turn(record, session, left)
            if turn and beside:
                turn = replace(turn, beside=united(turn.beside, beside))
            drafts = [self._sessions.memory(turn, left)] if turn else []
        except ItemUnreadable as unreadable:
            yield Defect(self._file, line, unreadable.reason, part, as_text(record))
            return
        yield from at_place(left, self._file, line, part)
        for memory in drafts:
            yield Draft(memory, self._file, line, part)


def _turn(record: Record, session: str, left: list[LeftOut]) -> Turn | None:
    try:
        return turn_of(record, session, left)
    except RecursionError:
        raise ItemUnreadable("the JSON is nested too deeply") from None


def _unfolded(value: object, session: str, left: list[LeftOut]) -> list[Conversation]:
    try:
        return list(conversations(value, session, left))
    except RecursionError:
        raise ItemUnreadable("the JSON is nested too deeply") from None


def _first_line(text: str) -> str:
    return text.lstrip().split("\n", 1)[0]


def _is_json(text: str) -> bool:
    try:
        read_value(text)
    except ItemUnreadable:
        return False
    return True
