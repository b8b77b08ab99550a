"""Times that a text names, in English and German: when they are, or that nobody can tell.

A phrase becomes a half-open window ("last week", "since 2023", "between May and July"), a window
beside a thing that has to be found first ("two days after the offer"), or is returned undated:
none is dropped. What the words leave open is the past: "in March" is the last one that has begun,
unless something is planned. See services/decisions/0102.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice

from concord_reading.calendar_grammar import Calendar
from concord_reading.periods import Period, Recurring
from concord_reading.time_reader import TimeReader
from concord_reading.time_window import Micros, Relation, Window, datetime_of
from concord_reading.time_words import time_words, words_in
from concord_reading.tokens import Span

__all__ = ["Micros", "Relation", "Window", "phrases_away", "stated", "window", "windows"]

LANGUAGES = ("en", "de")
MOST = 20
"""So many phrases of a text are returned at most."""
MOST_CHARACTERS = 4_000
"""A text is read no further."""


def windows(text: str, today: Micros, language: str = "") -> list[Window]:
    """Return the times that a text names, in its order; `language`: "en", "de" or unknown."""
    words, now = words_in(text[:MOST_CHARACTERS]), datetime_of(today)
    read = [
        [*islice(TimeReader(text, words, time_words(each), now).found(), MOST)]
        for each in ((language,) if language else LANGUAGES)
    ]
    return max(read, key=_worth)


def window(text: str, today: Micros, language: str = "") -> Window | None:
    """Return the time by which to look for what a text asks: dated, else beside a thing, else of
    the past, else undated; None: it names none."""
    found = windows(text, today, language)
    return max(
        found, key=lambda each: (each.is_dated, bool(each.anchor), each.of_past), default=None
    )


def stated(text: str, said: Micros | None) -> list[Window]:
    """Return the windows that a statement names, and how long something took ("4 years") undated;
    `said`: the time of the text, by which "yesterday" is read; None: unknown."""
    found = windows(text, said or 0)
    dated = [each for each in found if each.is_dated and (each.fixed or said is not None)]
    return dated + [each for each in found if not each.is_dated and each.is_counted]


def phrases_away(
    text: str, span: Span, language: str, now: datetime
) -> Iterator[tuple[Period, Span]]:
    """Yield the phrases of the table in a part of a text ("last week"), by the text's own time."""
    words = [each for each in words_in(text) if span.start <= each.start and each.end <= span.end]
    calendar = Calendar(words, time_words(language), now)
    at = 0
    while at < len(words):
        found = calendar.from_table(at)
        if found is not None and not isinstance(found[0], Recurring):
            yield found[0], Span(words[at].start, words[found[1] - 1].end)
        at = found[1] if found is not None else at + 1


def _worth(found: Sequence[Window]) -> tuple[int, int]:
    """Return how many characters a reading of a text gives a meaning, and how many it names."""
    lengths = [each.span.end - each.span.start for each in found]
    meant = (each.is_dated or bool(each.anchor) or each.of_past for each in found)
    return sum(n for n, is_meant in zip(lengths, meant, strict=True) if is_meant), sum(lengths)


def _rank(window: Window) -> tuple[bool, bool, bool]:
    return window.is_dated, bool(window.anchor), window.of_past
