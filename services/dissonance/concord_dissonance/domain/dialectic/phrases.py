"""Phrases that qualify a claim, e.g. by region or time: data in `lexicon/`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cached_property

from concord_concepts.normal_form import fold
from concord_reading.lexicon import LANGUAGES, lexicon, read_classes

from concord_dissonance.domain.sides import Micros

_DATE = (
    r"(?P<iso>\d{4}-\d\d-\d\d)|(?P<dotted>\d{1,2}\.\d{1,2}\.\d{4})"
    r"|(?:(?P<day>\d{1,2})\.?\s+)?(?:(?P<month>[^\W\d_]+)\s+)?(?P<year>(?:1[89]|20)\d\d)\b"
)
_UP_TO = (
    r"(?:\s+(?:the|an?|einem|einer|eine|einen))?(?:\s+(?!(?i:{ends}))(?:[^\s,.;]|(?<=\d)[.,](?=\d))+){{1,5}}?"
    r"(?:,|(?=[.;])|$|(?=\s+(?i:{ends})))"
)
"""At most five words, up to an ending word or a pause."""


_UP_TO_VERB = r"\s+(?:[a-zäöüß]+\s+){0,3}[A-ZÄÖÜ][\w-]+(?=\s+[a-zäöüß]{2,}\s)"
"""Up to a German noun and the verb behind it: a phrase at the begin of a sentence."""
_VERB_FIRST = r"^(?:Ist|Sind|Hat|Haben|Wird|Werden|Liegt|Liegen|Besteht|Bestehen|Fehlt)\s[^,.;?]+,"
"""A German condition without "wenn": "Ist das Haus bewohnt, gilt …"."""
_ABBREVIATED = 2
"""A name of so many letters or fewer is written in capitals: "US", "UK"."""


_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "nicht")


class Phrases:
    """The phrases of some languages together."""

    def __init__(self, *languages: str) -> None:
        self._languages = languages

    def supposes(self, text: str) -> bool:
        """Whether a text only supposes, asks or wishes."""
        return text.rstrip().endswith("?") or self.has("speculation", text)

    def is_partial(self, text: str) -> bool:
        """Whether a text claims something of some cases only."""
        return self.has("partial", text)

    def is_past(self, text: str) -> bool:
        """Whether a text speaks of the past."""
        return self.has("past", text)

    def is_legal(self, text: str) -> bool:
        """Whether a text speaks of law."""
        return self.has("legal", text)

    def is_of_method(self, text: str) -> bool:
        """Whether a text says how something was found out."""
        return self.has("method", text)

    def methods(self, text: str) -> frozenset[str]:
        """Return the words of a text that say how something was found out."""
        found = self._patterns["method"].finditer(text)
        return frozenset(each.group().casefold() for each in found)

    def negated(self, stem: str) -> frozenset[str]:
        """Return a stem with each negating prefix: "unsafe" for "safe"."""
        return frozenset(f"{prefix}{stem}" for prefix in _PREFIXES)

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
        """Return a region's first name, folded: "bavaria" for "Bayern" and "Freistaat Bayern"."""
        folded = name.casefold().strip()
        plain = re.sub(rf"^(?:{self._patterns['before region'].pattern}\s+)+", "", folded)
        return self._region_of.get(folded) or self._region_of.get(plain, folded)

    def is_state(self, region: str) -> bool:
        """Whether a region, by its first name, is one of Germany's Länder."""
        return region in self._classes["parts of germany"]

    def are_apart(self, one: str, other: str) -> bool:
        """Whether neither of two regions, by their first names, is known to lie in the other."""
        return one not in self._around(other) and other not in self._around(one)

    def _around(self, region: str) -> list[str]:
        """Return a region and those around it."""
        found = [region]
        while found[-1] in self._whole_of:
            found.append(self._whole_of[found[-1]])
        return found

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

    def version(self, text: str) -> tuple[int, ...] | None:
        """Return the first version from, of or up to which a text claims something."""
        found = self._versions.search(text)
        return tuple(map(int, found["number"].split("."))) if found else None

    def without_times(self, text: str) -> str:
        """Return a text without the times and versions that it claims something for."""
        return self._times.sub(" ", self._versions.sub(" ", text))

    def begins(self, text: str) -> bool:
        """Whether a text says from when, or that something holds now."""
        found = (self._times.search(text), self._versions.search(text))
        at = any(each and not each["before"] for each in found)
        dated = self.has("since", text) and (at or not self.ends(text))
        return dated or self.has("now", text)

    def ends(self, text: str) -> bool:
        """Whether a text says until when, or that something held once."""
        found = (self._times.search(text), self._versions.search(text))
        return any(each and each["before"] for each in found) or self.is_past(text)

    def without(self, name: str, text: str) -> str:
        """Return a text without the phrases of a class."""
        return self._patterns[name].sub(" ", text)

    def without_attribution(self, text: str) -> str:
        """Return a text without the author that it names for its claim."""
        return self._attributions.sub(" ", text)

    def circumstances(self, text: str) -> frozenset[str]:
        """Return the circumstances that a text names, in its words; "at 5 bar" is a value.

        "Without exception" is none.
        """
        text = self._patterns["unconditional"].sub(" ", text)
        found = (
            each.group().strip(" ,").casefold()
            for each in self._circumstances.finditer(text)
            if not self._is_said(each)
        )
        return frozenset(found)

    def _is_said(self, found: re.Match[str]) -> bool:
        """Whether a phrase is all that its clause says of its subject: "the key is with Ann"."""
        before, after = found.string[: found.start()], found.string[found.end() :]
        last = before.split()[-1:]
        is_last = re.match(r"[\s.;]*$|\s+(?:and|und)\b", after) is not None
        return is_last and bool(last) and self.has("is", last[0])

    def without_circumstances(self, text: str) -> str:
        """Return a text without the circumstances that it names."""
        return self._circumstances.sub(lambda e: e.group() if self._is_said(e) else " ", text)

    def in_one_word(self, text: str) -> str:
        """Return a text with each word of a list of synonyms replaced by the list's first."""

        def one_word(found: re.Match[str]) -> str:
            is_name = found.start() > 0 and _is_name(found.group())  # the month of May
            return found.group() if is_name else self._one_word[found.group().casefold()]

        return self._synonyms.sub(one_word, text)

    def has(self, name: str, text: str) -> bool:
        """Whether a text has a phrase of a class."""
        return self._patterns[name].search(text) is not None

    def after(self, name: str, text: str) -> int:
        """Return the place behind the first phrase of a class in a text; -1: it has none."""
        found = self._patterns[name].search(text)
        return found.end() if found else -1

    def begins_with(self, name: str, word: str) -> bool:
        """Whether a folded word begins with a phrase of a class: an inflected form."""
        return word.startswith(tuple(self._classes[name]))

    def within(self, name: str, text: str) -> bool:
        """Whether a text has a phrase of a class, also as a part of a compound."""
        folded = fold(text)
        return any(each in folded for each in self._classes[name])

    @cached_property
    def _classes(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for language in self._languages:
            for name, body in read_classes(f"dialectic.{language}.txt", __package__):
                phrases = body.replace("\n", " ").split(",")
                found.setdefault(name, []).extend(each.strip() for each in phrases)
        for name, regions in read_classes("regions.txt", __package__):
            found[name] = [each.strip() for each in regions.replace("\n", " ").split(",")]
        return found

    @cached_property
    def _region_of(self) -> Mapping[str, str]:
        return _first_names(self._classes["region"])

    @cached_property
    def _whole_of(self) -> Mapping[str, str]:
        return {
            part: name.removeprefix("parts of ")
            for name, parts in self._classes.items()
            if name.startswith("parts of ")
            for part in parts
        }

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
        rule = self._patterns["rule"].pattern  # "the 2009 guideline"
        edition = rf"(?P<edition>(?:1[89]|20)\d\d)(?=\s+{rule})"
        return re.compile(rf"{led}|\b(?:{plain}|{edition})", re.IGNORECASE)

    @cached_property
    def _versions(self) -> re.Pattern[str]:
        at, before, version = (
            self._patterns[name].pattern for name in ("time", "before time", "version")
        )
        number = r"(?P<number>\d+(?:\.\d+)*)"
        led = rf"(?:(?:(?P<before>{before})|{at})\s+)?\b(?:{version}\s+|v\.?\s?){number}\b,?"
        return re.compile(led, re.IGNORECASE)

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
        bound = "|".join(self._patterns[name].pattern for name in ("at least", "at most"))
        value = rf"(?:\s+(?:{bound}))?\s+(?:[\d€$£]|(?i:{_any_of(numbers).pattern}))"
        days = [word for e in LANGUAGES for word in (*lexicon(e).months, *lexicon(e).weekdays)]
        day = rf"(?:\d+\.?\s+)?(?i:{_any_of(days).pattern})"
        season = (
            rf"(?i:from|between|vom|von|zwischen)\s+{day}\s+"
            rf"(?i:to|until|till|and|bis|bis zum|und)\s+{day},?"
        )
        return re.compile(
            rf"{season}|(?i:{condition})[^,.;]*,?|{_VERB_FIRST}|^(?i:{at}){_UP_TO_VERB}"
            rf"|(?:^(?i:{at})|(?i:{at})(?!{value})){_UP_TO.format(ends=ends)}"
        )


PHRASES = Phrases(*LANGUAGES)
"""All phrases; their files are read when they are first needed."""
PHRASES_OF = {language: Phrases(language) for language in LANGUAGES}
"""Those of one language: "was" is past in English, and "an" leads to a circumstance in German."""


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
    if year := found["plain"] or found["first"] or found["edition"]:
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
