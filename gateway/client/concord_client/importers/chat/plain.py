"""Reads plain text: lines "Speaker: text", with or without a "[time]" or "time - " before."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from concord_client.importers.chat.records import NOTICE, time_of
from concord_client.importers.chat.turns import DIRECTIONS, MARKS, Turn, role_of
from concord_client.importers.dates import CLOCK, DATE, is_month_first
from concord_client.importers.outcome import ItemUnreadable, LeftOut

_DASHED = rf"{DATE}[T,،]?\s*{CLOCK}"
_IN_NAME = r"[\w.'’()@+&\-\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]"
# Without a sure time before it, a speaker's name has up to five words without commas and the like.
_LINE = re.compile(
    r"(?:\[(?P<time>[^\]\n]{1,64})\]\s*)?"
    rf"(?P<speaker>(?:~\s?|\+)?[^\W_]{_IN_NAME}{{0,63}}(?:\s{_IN_NAME}{{1,63}}){{0,4}}):"
    r"(?:[ \t]+(?P<text>.*))?"
)
_SURE_TIME = rf"(?:{DATE}|\d{{1,2}}:\d{{2}})"
_STAMPS = {"[": re.compile(rf"\[\s*{_SURE_TIME}"), "-": re.compile(_DASHED)}
"""Patterns of a line that begins with a time, by the form of the transcript's first turn."""
_DAMAGED_STAMP = re.compile(rf"[\[(]?[^:\[\]]{{0,16}}?{_SURE_TIME}")
_FARTHEST_SPEAKER = 120
# After a sure time, all that stands before the first ": " is the name: people and groups have names
# with commas, "&" and emoji.
_STAMPED = re.compile(
    rf"(?:\[(?P<time>\s*{_SURE_TIME}[^\]\n]{{0,53}})\]\s*|(?P<dashed>{_DASHED})\s+[-–]\s+)"
    r"(?P<speaker>\S(?:(?!:\s).){0,99}?):(?:\s+(?P<text>.*))?"
)
_OWN_MARK = "\u200e"
_MOST_WORDS = 10
"""Words of a name; with more before its first colon, a line is a sentence of the messenger's."""
_QUOTES = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"))
_OF_MESSENGER = re.compile(rf"{DATE}[,،]?\s*{CLOCK}\s+[-–]\s+")
"""A messenger's own notice, such as who joined or left: it has a time, but no speaker."""
_LEFT_OUT = re.compile(
    r"<(?:Media omitted|Medien ausgeschlossen|(?:attached|Anhang): [^<>]*)>"
    r"|(?:image|video|audio|sticker|document|GIF|Contact card) omitted"
)
"""The text that messengers write instead of a picture or recording that is not exported."""

_DELETED = re.compile(
    r"(?:You deleted this message|This message was deleted"
    r"|Diese Nachricht wurde gelöscht|Du hast diese Nachricht gelöscht"
    r"|(?:Se eliminó|Eliminaste) este mensaje"
    r"|Ce message a été supprimé|Vous avez supprimé ce message"
    r"|Questo messaggio è stato eliminato|Hai eliminato questo messaggio"
    r"|Mensagem apagada|(?:Esta mensagem foi apagada|Você apagou esta mensagem))\.?",
    re.IGNORECASE,
)
NO_SPEAKER = 'no "Speaker: text"'
NO_TIME = (
    'no "[time]", which the other turns have: give it one, '
    "or indent it where it goes on with the turn above"
)


@dataclass(slots=True)
class Paragraph:
    """The collected lines of a turn."""

    line: int
    """The number of the first line, from 1."""
    speaker: str
    time: str
    lines: list[str]
    flaw: str = ""
    """The reason why the lines are no turn; empty if they are one."""
    month_first: bool = False
    is_marked: bool = False
    """Whether its text begins with the invisible mark of what a messenger itself writes."""

    @property
    def written(self) -> str:
        """The lines with the time and the speaker."""
        text = "\n".join(self.lines)
        return text if self.flaw else f"[{self.time}] {self.speaker}: {text}"

    def turn(self, session: str, left: list[LeftOut]) -> Turn | None:
        """The turn; None for a messenger's own notice, which goes to `left`.

        Raises `ItemUnreadable`.
        """
        text = "\n".join(self.lines)
        is_notice = (
            bool(self.flaw == NO_SPEAKER and _OF_MESSENGER.match(MARKS.sub("", text)))
            or bool(_DELETED.fullmatch(MARKS.sub("", text).strip()))
            or (self.is_marked and not re.search(r"[:<]|\S\s*\n\s*\S", text))
        )
        is_picture = _LEFT_OUT.fullmatch(MARKS.sub("", text).strip())
        if is_notice or is_picture:
            kind = "picture or recording that was not exported" if is_picture else NOTICE
            left.append(LeftOut(kind, self.written))
            return None
        if self.flaw:
            raise ItemUnreadable(self.flaw)
        time = time_of(self.time or None, month_first=self.month_first)
        return Turn(session, self.speaker, text, time, role_of(self.speaker))


def lines_of(text: str) -> list[str]:
    """The lines of a transcript."""
    return text.replace("\r\n", "\n").split("\n")


def paragraphs(lines: Sequence[str]) -> Iterator[Paragraph]:
    """The turns of a transcript; a line without a speaker continues the turn above.

    If the first turn has a time, all turns need one: a line such as "Note: ..." without a time
    then continues the turn above. But a line that begins with a known speaker of the transcript or
    with a damaged time may be another person's: it gets a flaw, so that nobody is quoted wrongly.
    Each line before the first turn gets a flaw, too.
    """
    reader = _Reader(lines)
    current: Paragraph | None = None
    begins = False
    for number, line in enumerate(lines, 1):
        begun = reader.begun(number, line)
        begins = begins or begun is not None
        if begun is None and not begins and line.strip():
            begun = Paragraph(number, "", "", [line], NO_SPEAKER)
        if begun and current:
            yield current
        if begun:
            current = begun
        elif current:
            current.lines.append(line)
    if current:
        yield current


@dataclass(frozen=True, slots=True)
class _Start:
    """What a line that begins a turn says."""

    speaker: str
    time: str
    text: str
    is_dashed: bool
    is_marked: bool


def _start_of(line: str) -> _Start | None:
    """The beginning of a turn in a line, without the invisible marks around its time and name."""
    bare = MARKS.sub("", line)
    found = _STAMPED.fullmatch(bare)
    if not found or not _may_be_a_name(found["speaker"]):
        found = _LINE.fullmatch(bare)
    if not found:
        return None
    text = found["text"] or ""
    is_marked = False
    if bare != line:  # marks within the text belong to it
        after = _after(line, len(bare) - len(text))
        is_marked, text = after.startswith(_OWN_MARK), after.lstrip(DIRECTIONS)
    dashed = found.groupdict().get("dashed")
    time = found["time"] or (dashed or "").replace(",", "").replace("،", "")
    return _Start(found["speaker"], time.strip(), text, bool(dashed), is_marked)


def _after(line: str, count: int) -> str:
    """The line after its first `count` characters that are no marks."""
    for at, character in enumerate(line):
        if not count:
            return line[at:]
        count -= not MARKS.match(character)
    return ""


def _may_be_a_name(text: str) -> bool:
    is_open = any(
        text.count(first) % 2 if first == last else text.count(first) > text.count(last)
        for first, last in _QUOTES
    )
    return len(text.split()) <= _MOST_WORDS and not is_open


class _Reader:
    """Finds the lines that begin a turn, in the form of the first turn."""

    def __init__(self, lines: Sequence[str]) -> None:
        found = [each for line in lines if (each := _start_of(line))]
        stamped = [each for each in found if each.time]
        timed = bool(stamped) and found[0] is stamped[0]
        self._speakers = {each.speaker.casefold() for each in stamped} if timed else set()
        self._stamp = _STAMPS["-" if stamped[0].is_dashed else "["] if timed else None
        self._month_first = is_month_first(each.time for each in stamped)

    def begun(self, number: int, line: str) -> Paragraph | None:
        """The turn that `line` begins, maybe with a flaw; None if it continues the turn above."""
        found = _start_of(line)
        if found and (found.time or not self._stamp):
            begun = Paragraph(number, found.speaker, found.time, [found.text])
            begun.month_first, begun.is_marked = self._month_first, found.is_marked
            return begun
        if not self._stamp:
            return None
        if found and found.speaker.casefold() in self._speakers:
            return Paragraph(number, found.speaker, "", [line], NO_TIME)
        bare = MARKS.sub("", line)
        if self._stamp.match(bare) or self._names_a_speaker_after_a_time(bare):
            return Paragraph(number, "", "", [line], NO_SPEAKER)
        return None

    def _names_a_speaker_after_a_time(self, line: str) -> bool:
        """Whether a turn's first line has a damaged time, such as one with half a bracket."""
        start = _DAMAGED_STAMP.match(line)
        if not start:
            return False
        rest = line[start.end() : _FARTHEST_SPEAKER].casefold()
        return any(f" {speaker}:" in rest for speaker in self._speakers)
