"""Reads plain text: lines "Speaker: text", each with a "[time]" before it or none."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from concord_client.importers.chat.records import time_of
from concord_client.importers.chat.turns import Turn
from concord_client.importers.outcome import ItemUnreadable

# A speaker is up to five words without punctuation: "Note that this matters: ..." is none.
_LINE = re.compile(
    r"(?:\[(?P<time>[^\]\n]{1,64})\]\s*)?"
    r"(?P<speaker>[^\W_][\w.'’()@+-]{0,63}(?: [\w.'’()@+-]{1,63}){0,4}):(?:[ \t]+(?P<text>.*))?"
)


@dataclass(slots=True)
class Paragraph:
    """A turn's lines, as they are collected."""

    line: int
    """The first, from 1."""
    speaker: str
    time: str
    lines: list[str]

    def turn(self, session: str) -> Turn:
        """The turn. Raises `ItemUnreadable` where its time is none."""
        return Turn(session, self.speaker, "\n".join(self.lines), time_of(self.time or None))


def paragraphs(lines: Iterable[str]) -> Iterator[Paragraph]:
    """The turns of a transcript; a line without a speaker goes on with the turn above.

    Where the first turn states a time, so does every other: then a line such as "Note: ..."
    without one is no speaker's. What stands before the first turn has the speaker "".
    """
    current: Paragraph | None = None
    timed: bool | None = None
    for number, line in enumerate(lines, 1):
        found = _LINE.fullmatch(line)
        if found and timed and not found["time"]:
            found = None
        if found:
            if current:
                yield current
            timed = bool(found["time"]) if timed is None else timed
            current = Paragraph(
                number, found["speaker"], found["time"] or "", [found["text"] or ""]
            )
        elif current:
            current.lines.append(line)
        elif line.strip():
            current = Paragraph(number, "", "", [line])
    if current:
        yield current


def demand_speaker(paragraph: Paragraph) -> None:
    """Raises `ItemUnreadable` for lines that nobody is said to have said."""
    if not paragraph.speaker:
        raise ItemUnreadable('no "Speaker: text"')
