"""Phrases that qualify a claim, e.g. by region or time: data in `language/lexicon/`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cached_property

from concord_reading.lexicon import LANGUAGES, lexicon, read_classes

from concord_dissonance.domain.sides import Micros

_DATE = (
    r"(?P<iso>\d{4}-\d\d-\d\d)|(?P<dotted>\d{1,2}\.\d{1,2}\.\d{4})"
    r"|(?:(?P<day>\d{1,2})\.?\s+)?(?:(?P<month>[^\W\d_]+)\s+)?(?P<year>(?:1[89]|20)\d\d)\b"
)
_UP_TO = r"(?:\s+(?!(?i:{ends}))[^\s,.;]+){{1,5}}?(?:,|(?=[.;])|$|(?=\s+(?i:{ends})))"
"""At most five words, up to an ending word or a pause."""


_ABBREVIATED = 2
"""A name of so many letters or fewer is written in capitals: "US", "UK"."""


class Phrases:
    """The phrases of all languages together: a claim's words match those of its own language."""

    def supposes(self, text: str) -> bool:
        """Whether a text only supposes, asks or wishes."""
        return text.rstrip().endswith("?") or self._has("speculation", text)

    def is_partial(self, text: str) -> bool:
        """Whether a text claims something of some cases only."""
        return self._has("partial", text)

    def is_past(self, text: str) -> bool:
        """Whether a text speaks of the past."""
        return self._has("past", text)

    def is_legal(self, text: str) -> bool:
        """Whether a text speaks of law."""
        return self._has("legal", text)

    def is_of_method(self, text: str) -> bool:
        """Whether a text says how something was found out."""
        return self._has("method", text)

    def perspective(self, text: str) -> str:
        """Return the point of view that a text names, in up to three words; else empty."""
        found = self._patterns["perspective"].search(text)
        if found is None:
            return ""
        after = text[found.end() :].split()
        return " ".join(after[:3]).casefold()

    def regions(self, text: str) -> frozenset[str]:
        """Return the regions that a text names, each by its first name."""
        return frozenset(map(self.region, self.regions_as_written(text)))

    def regions_as_written(self, text: str) -> list[str]:
        """Return the regions that a text names, in its own words."""
        found = (each["region"] for each in self._of_regions.finditer(text))
        return [each for each in found if _is_name(each)]

    def region(self, name: str) -> str:
        """Return a region's first name, folded: "bavaria" for "Bayern"."""
        return self._region_of.get(name.casefold(), name.casefold())

    def without_regions(self, text: str) -> str:
        """Return a text without the regions, and the words that lead to them."""
        return self._of_regions.sub(lambda e: " " if _is_name(e["region"]) else e.group(), text)

    def time(self, text: str) -> Micros | None:
        """Return the first time from, at or until which a text claims something."""
        found = self._times.search(text)
        if found is None:
            return None
        year, month, day = _date(found)
        begin = Micros(int(datetime(year, month, day, tzinfo=UTC).timestamp() * 1_000_000))
        return Micros(begin - 1) if found["before"] else begin

    def without_times(self, text: str) -> str:
        """Return a text without the times that it claims something for."""
        return self._times.sub(" ", text)

    def without_now_and_then(self, text: str) -> str:
        """Return a text without the words that say that it holds now, or held once."""
        return self._patterns["now and then"].sub(" ", text)

    def without_attribution(self, text: str) -> str:
        """Return a text without the author that it names for its claim."""
        return self._attributions.sub(" ", text)

    def circumstances(self, text: str) -> frozenset[str]:
        """Return the circumstances that a text names, in its words; "at 5 bar" is a value."""
        found = (each.group().strip(" ,").casefold() for each in self._circumstances.finditer(text))
        return frozenset(found)

    def without_circumstances(self, text: str) -> str:
        """Return a text without the circumstances that it names."""
        return self._circumstances.sub(" ", text)

    def in_one_word(self, text: str) -> str:
        """Return a text with each word of a list of synonyms replaced by the list's first."""

        def one_word(found: re.Match[str]) -> str:
            is_name = found.start() > 0 and _is_name(found.group())  # the month of May
            return found.group() if is_name else self._one_word[found.group().casefold()]

        return self._synonyms.sub(one_word, text)

    def _has(self, name: str, text: str) -> bool:
        return self._patterns[name].search(text) is not None

    @cached_property
    def _classes(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for language in LANGUAGES:
            for name, body in read_classes(f"dialectic.{language}.txt", __package__):
                phrases = body.replace("\n", " ").split(",")
                found.setdefault(name, []).extend(each.strip() for each in phrases)
        ((name, regions),) = read_classes("regions.txt", __package__)
        found[name] = [each.strip() for each in regions.replace("\n", " ").split(",")]
        return found

    @cached_property
    def _region_of(self) -> Mapping[str, str]:
        return _first_names(self._classes["region"])

    @cached_property
    def _one_word(self) -> Mapping[str, str]:
        return _first_names(self._classes["synonyms"])

    @cached_property
    def _synonyms(self) -> re.Pattern[str]:
        return _any_of(list(self._one_word))

    @cached_property
    def _patterns(self) -> Mapping[str, re.Pattern[str]]:
        return {name: _any_of(phrases) for name, phrases in self._classes.items()}

    @cached_property
    def _of_regions(self) -> re.Pattern[str]:
        before, region = self._patterns["before region"].pattern, _any_of([*self._region_of])
        return re.compile(rf"(?:{before}\s+){{0,3}}(?P<region>{region.pattern}),?", re.IGNORECASE)

    @cached_property
    def _times(self) -> re.Pattern[str]:
        at, before, past = (
            self._patterns[name].pattern for name in ("time", "before time", "past")
        )
        # "betrug 2019 300 Euro", "2019 betrug": a year is none of the claim's values
        plain = rf"(?P<plain>(?:1[89]|20)\d\d)(?=\s+\d)|^(?P<first>(?:1[89]|20)\d\d)(?=\s+{past})"
        led = rf"(?:(?P<before>{before})|{at})\s+(?:{_DATE}),?"
        return re.compile(rf"{led}|\b(?:{plain})", re.IGNORECASE)

    @cached_property
    def _attributions(self) -> re.Pattern[str]:
        at, ends = (self._patterns[name].pattern for name in ("attribution", "ends circumstance"))
        return re.compile(rf"(?i:{at}){_UP_TO.format(ends=ends)}")

    @cached_property
    def _circumstances(self) -> re.Pattern[str]:
        at, condition, ends = (
            self._patterns[name].pattern
            for name in ("circumstance", "condition", "ends circumstance")
        )
        numbers = [word for each in LANGUAGES for word, n in lexicon(each).numbers.items() if n > 1]
        value = rf"\s+(?:[\d€$£]|(?i:{_any_of(numbers).pattern}))"
        return re.compile(
            rf"(?i:{condition})[^,.;]*,?|(?i:{at})(?!{value}){_UP_TO.format(ends=ends)}"
        )


PHRASES = Phrases()
"""All phrases; their files are read when they are first needed."""


def _first_names(entries: Iterable[str]) -> Mapping[str, str]:
    """Return, by each name of "a/b/c", the first one."""
    names = [entry.split("/") for entry in entries]
    return {each: first for first, *others in names for each in (first, *others)}


def _is_name(written: str) -> bool:
    """Whether words are written as a name is: "US", not "us"."""
    return written[0].isupper() and (len(written) > _ABBREVIATED or written.isupper())


def _any_of(phrases: list[str]) -> re.Pattern[str]:
    longest_first = sorted(phrases, key=len, reverse=True)
    # Folding has made "ss" of "ß".
    either = (re.escape(each).replace("ss", "(?:ss|ß)") for each in longest_first)
    return re.compile(rf"\b(?:{'|'.join(either)})\b", re.IGNORECASE)


def _date(found: re.Match[str]) -> tuple[int, int, int]:
    """Return year, month and day; January and the first where the text names none."""
    if year := found["plain"] or found["first"]:
        return int(year), 1, 1
    if found["iso"]:
        year, month, day = map(int, found["iso"].split("-"))
    elif found["dotted"]:
        day, month, year = map(int, found["dotted"].split("."))
    else:
        months = {name: n for each in LANGUAGES for name, n in lexicon(each).months.items()}
        year, day = int(found["year"]), int(found["day"] or 1)
        month = months.get((found["month"] or "").casefold(), 1)
    return max(year, 1), min(max(month, 1), 12), min(max(day, 1), 28)
