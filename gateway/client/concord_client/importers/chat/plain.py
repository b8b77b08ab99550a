"""Reads plain text: lines "Speaker: text", each with a "[time]" or "time - " before it or none."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from concord_client.importers.chat.records import time_of
from concord_client.importers.chat.turns import Turn, role_of
from concord_client.importers.dates import is_month_first
from concord_client.importers.outcome import ItemUnreadable

_DATE = r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"
_CLOCK = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[AaPp]\.?[Mm]\b\.?)?"
_DASHED = rf"{_DATE}[T,]?\s*{_CLOCK}"
_IN_NAME = r"[\w.'’()@+\-\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]"
# A speaker is up to five words without punctuation: "Note that this matters: ..." is none.
_LINE = re.compile(
    rf"(?:\[(?P<time>[^\]\n]{{1,64}})\]\s*|(?P<dashed>{_DASHED})\s+[-–]\s+)?"
    rf"(?P<speaker>(?:~\s?|\+)?[^\W_]{_IN_NAME}{{0,63}}(?:\s{_IN_NAME}{{1,63}}){{0,4}}):"
    r"(?:[ \t]+(?P<text>.*))?"
)
_SURE_TIME = rf"(?:{_DATE}|\d{{1,2}}:\d{{2}})"
_STAMPS = {"[": re.compile(rf"\[\s*{_SURE_TIME}"), "-": re.compile(_DASHED)}
"""How a line with a time begins, by the form of the transcript's first turn."""
_DAMAGED_STAMP = re.compile(rf"[\[(]?[^:\[\]]{{0,16}}?{_SURE_TIME}")
_FARTHEST_SPEAKER = 120
_OF_MESSENGER = re.compile(rf"{_DATE},\s*{_CLOCK}\s+[-–]\s+[^:]*")
"""What a messenger says itself, such as who came and left: a time, and nobody who speaks."""
_MARK = re.compile(r"^\u200e|(?<=: )\u200e", re.MULTILINE)
"""What messengers put before names and what they say themselves; nobody sees it."""
_LEFT_OUT = re.compile(
    r"<(?:Media omitted|Medien ausgeschlossen|(?:attached|Anhang): [^<>]*)>"
    r"|(?:image|video|audio|sticker|document|GIF|Contact card) omitted"
)
"""What messengers write in the place of a picture or recording that is not in the export."""

NO_SPEAKER = 'no "Speaker: text"'
NO_TIME = (
    'no "[time]", which the other turns have: give it one, '
    "or indent it where it goes on with the turn above"
)


@dataclass(slots=True)
class Paragraph:
    """A turn's lines, as they are collected."""

    line: int
    """The first, from 1."""
    speaker: str
    time: str
    lines: list[str]
    flaw: str = ""
    """Why it is no turn."""
    month_first: bool = False

    def turn(self, session: str) -> Turn | None:
        """The turn; None for what a messenger says itself. Raises `ItemUnreadable`."""
        text = "\n".join(self.lines)
        if (self.flaw and _OF_MESSENGER.match(text)) or _LEFT_OUT.fullmatch(text.strip()):
            return None
        if self.flaw:
            raise ItemUnreadable(self.flaw)
        time = time_of(self.time or None, month_first=self.month_first)
        return Turn(session, self.speaker, text, time, role_of(self.speaker))


def lines_of(text: str) -> list[str]:
    """The lines of a transcript, without the invisible marks of messengers."""
    return _MARK.sub("", text.replace("\r\n", "\n")).split("\n")


def paragraphs(lines: Sequence[str]) -> Iterator[Paragraph]:
    """The turns of a transcript; a line without a speaker goes on with the turn above.

    Where the first turn states a time, so does every other: then a line such as "Note: ..."
    without one is no speaker's. But one that begins with the name of somebody who speaks in the
    same transcript, or with a damaged time, may be another's words: it has a flaw, rather than
    that they are put into the mouth above. So has each line before the first turn.
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


class _Reader:
    """Finds the lines that begin a turn, in the form that the first turn has."""

    def __init__(self, lines: Sequence[str]) -> None:
        found = [each for line in lines if (each := _LINE.fullmatch(line))]
        stamped = [each for each in found if each["time"] or each["dashed"]]
        timed = bool(stamped) and found[0] is stamped[0]
        self._speakers = {each["speaker"].casefold() for each in stamped} if timed else set()
        self._stamp = _STAMPS["[" if stamped[0]["time"] else "-"] if timed else None
        self._month_first = is_month_first(map(_time, stamped))

    def begun(self, number: int, line: str) -> Paragraph | None:
        """The turn that `line` begins, maybe with a flaw; None where it goes on with another."""
        found = _LINE.fullmatch(line)
        time = _time(found) if found else ""
        if found and (time or not self._stamp):
            begun = Paragraph(number, found["speaker"], time, [found["text"] or ""])
            begun.month_first = self._month_first
            return begun
        if not self._stamp:
            return None
        if found and found["speaker"].casefold() in self._speakers:
            return Paragraph(number, found["speaker"], "", [line], NO_TIME)
        if self._stamp.match(line) or self._names_a_speaker_after_a_time(line):
            return Paragraph(number, "", "", [line], NO_SPEAKER)
        return None

    def _names_a_speaker_after_a_time(self, line: str) -> bool:
        """Whether it is a turn's first line with damage in its time, such as half a bracket."""
        start = _DAMAGED_STAMP.match(line)
        if not start:
            return False
        rest = line[start.end() : _FARTHEST_SPEAKER].casefold()
        return any(f" {speaker}:" in rest for speaker in self._speakers)


def _time(found: re.Match[str]) -> str:
    return found["time"] or (found["dashed"] or "").replace(",", "")
