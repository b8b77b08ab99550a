"""Takes the facts that the sentences of texts state, by their frames (D13).

A frame gives one fact or none. Its subject must be a name, a noun, or whom a pronoun means; its
relation is the attribute that it names, else its verb; its object are the words that follow, as
they are written, with "my" and "your" resolved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from concord_reading.frame import Frame, Kind, Passage
from concord_reading.language import DEFAULT_LANGUAGE, language_of
from concord_reading.reader import parser, reader

from concord_dissonance.domain.extraction.candidate import Candidate, Said
from concord_dissonance.domain.extraction.names import Names
from concord_dissonance.domain.extraction.predicate import Predicate


def extract(said: Sequence[Said]) -> list[Candidate]:
    """Return the facts that texts state, in order, each once a text."""
    found: dict[tuple[int, str, str, str], Candidate] = {}
    for at, reading in enumerate(reader().read_all(map(_passage, said))):
        for each in _of_text(at, said[at], reading.frames):
            found.setdefault((at, each.subject, each.relation, each.object), each)
    return [*found.values()]


def can_read(said: Said) -> bool:
    """Whether a text can be read: English needs its parser."""
    return parser() is not None or language_of(said.text) != DEFAULT_LANGUAGE


def _passage(said: Said) -> Passage:
    return Passage(said.text, said.speaker, said.addressee)


def _of_text(at: int, said: Said, frames: Sequence[Frame]) -> Iterator[Candidate]:
    names = Names(said)
    for frame in frames:
        subject = names.subject_of(frame)
        if subject is None or frame.verb < 0:
            continue
        verb = frame.words[frame.verb]
        if verb.kind is not Kind.VERB or subject.end > verb.start:
            continue
        fact = Predicate(names, frame, frames, subject).fact(at)
        if fact is not None:
            yield fact
