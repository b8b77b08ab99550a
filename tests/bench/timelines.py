"""Public sets of facts that change, as facts to state and questions with one right answer.

Times are integer microseconds since 1970 UTC, intervals half-open. A question is about an instant
at which the set's own dates leave one answer; the others are counted as left out.
"""

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from unicodedata import normalize

DAY = 86_400_000_000
EARLIEST, LATEST = -(10**17), 10**17
"""Before and after every date of a set."""
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_DATED = re.compile(r"(.*) from (\w{3}), (\d{1,4}) to (\w{3}), (\d{1,4})\.")
_ASKED = re.compile(r" in (\w{3}), (\d{1,4})\?$")

Slot = tuple[str, str]
"""A subject and a relation."""


@dataclass(frozen=True)
class Stated:
    """A text and its fact, which holds from `since`, and until `until` where that is known."""

    text: str
    slot: Slot
    value: str
    since: int
    until: int | None = None


@dataclass(frozen=True)
class Asked:
    """Which values a slot has at an instant; None = now."""

    slot: Slot
    at: int | None
    values: frozenset[str]


@dataclass(frozen=True)
class Timelines:
    """Facts in the order of the set, what is asked, and how many instants have no one answer."""

    facts: Sequence[Stated]
    questions: Sequence[Asked]
    functional: bool = True
    left_out: Mapping[str, int] = field(default_factory=dict)

    def shuffled(self, seed: int) -> "Timelines":
        """The same facts in another order."""
        facts = list(self.facts)
        random.Random(seed).shuffle(facts)
        return replace(self, facts=facts)

    def about_now(self) -> "Timelines":
        """The same, asked only what holds now."""
        return replace(self, questions=[each for each in self.questions if each.at is None])

    def part(self, most: int) -> "Timelines":
        """The first slots, with all of their facts, that have `most` questions or a few more."""
        kept: dict[Slot, list[Asked]] = {}
        for each in self.questions:
            if each.slot in kept or sum(map(len, kept.values())) < most:
                kept.setdefault(each.slot, []).append(each)
        facts = [fact for fact in self.facts if fact.slot in kept]
        return replace(self, facts=facts, questions=[q for own in kept.values() for q in own])


@dataclass(frozen=True)
class Value:
    """A value with the first and last instant at which it may have begun, and may have ended."""

    name: str
    begins: tuple[int, int]
    ends: tuple[int, int]


def numbered(folder: Path) -> Timelines:
    """Facts with numbers: a later one replaces those of its slot; a number = a day."""
    rows = sorted(_lines(folder / "facts.jsonl"), key=lambda row: int(row["seq"]))
    start = _moment(2020, 1, 1)
    facts = [
        Stated(
            row["text"],
            (_plain(row["subject"]), row["relation"]),
            _plain(row["object"]),
            start + row["seq"] * DAY,
        )
        for row in rows
    ]
    return Timelines(facts, [q for own in by_slot(facts).values() for q in replacing(own)])


def replacing(facts: Sequence[Stated]) -> Iterator[Asked]:
    """What to ask of a slot whose facts replace one another: at their ends, and now."""
    ordered = sorted(facts, key=lambda fact: fact.since)
    for fact, after in pairwise(ordered):
        for at in (fact.since, after.since - 1):
            yield Asked(fact.slot, at, frozenset([fact.value]))
    last = ordered[-1]
    yield Asked(last.slot, last.since, frozenset([last.value]))
    yield Asked(last.slot, None, frozenset([last.value]))


def dated(folder: Path, now: int) -> Timelines:
    """Values of slots with a beginning and an end, each a day, a month, a year or not known."""
    facts: list[Stated] = []
    questions: list[Asked] = []
    left_out: Counter[str] = Counter()
    for row in _lines(folder / "timelines.jsonl"):
        slot = (_plain(row["entity"]), row["property"])
        values = [_value(each) for each in row["timeline"]]
        facts += [
            Stated(
                f"{slot[1]} of {slot[0]}: {value.name}, {told['start']} to {told['end']}",
                slot,
                value.name,
                value.begins[0],
                None if value.ends[1] == LATEST else value.ends[1],
            )
            for value, told in zip(values, row["timeline"], strict=True)
            if value.begins[0] != EARLIEST
        ]
        for each in of_values(slot, values, now):
            if isinstance(each, Asked):
                questions.append(each)
            else:
                left_out[each] += 1
        left_out["values without a beginning"] += sum(v.begins[0] == EARLIEST for v in values)
    return Timelines(facts, questions, left_out=left_out)


def of_values(slot: Slot, values: Sequence[Value], now: int) -> Iterator[Asked | str]:
    """What to ask at the ends of each stretch between dates; why not, where there is no one answer.

    A stretch after values that overlapped has none either: of a relation that holds one value at a
    time, the later one replaced the other. Stretches in which nobody says anything are not asked.
    """
    dates = {date for each in values for date in (*each.begins, *each.ends)}
    cuts = sorted({max(min(date, now + 1), EARLIEST) for date in dates})
    for start, end in pairwise(cuts):
        may = [v for v in values if v.begins[0] <= start < v.ends[1]]
        begun = [v for v in values if v.begins[0] <= start]
        if not may:
            continue
        if len(may) > 1 or not may[0].begins[1] <= start < may[0].ends[0]:
            yield "stretches with partial or overlapping dates"
        elif any(each.begins[0] >= may[0].begins[0] for each in begun if each is not may[0]):
            yield "stretches after overlapping dates"
        else:
            answer = frozenset([may[0].name])
            yield Asked(slot, start, answer)
            yield Asked(slot, None if end == now + 1 else end - 1, answer)


def monthly(folder: Path) -> Timelines:
    """Questions about a month, each with its own facts, which hold from one month into another."""
    facts: list[Stated] = []
    questions: list[Asked] = []
    left_out = 0
    for number, row in enumerate(_lines(folder / "l2.jsonl")):
        slot = (f"question {number}", "holds")
        told = [found.groups() for text in row["facts"] if (found := _DATED.fullmatch(text))]
        month = _ASKED.search(row["question"])
        around = _around([sentence for sentence, *_ in told], row["answer"])
        if month is None or around is None or len(told) < len(row["facts"]):
            left_out += 1
            continue
        before, after = around
        for sentence, month_from, year_from, month_to, year_to in told:
            value = _plain(sentence[before : len(sentence) - after])
            since = _month(month_from, year_from)[0]
            facts.append(
                Stated(f"{number}: {sentence}", slot, value, since, _month(month_to, year_to)[1])
            )
        at = sum(_month(*month.groups())) // 2
        questions.append(Asked(slot, at, frozenset(map(_plain, row["answer"]))))
    return Timelines(
        facts, questions, functional=False, left_out={"questions not understood": left_out}
    )


def by_slot(facts: Sequence[Stated]) -> Mapping[Slot, list[Stated]]:
    """The facts of each slot."""
    found: dict[Slot, list[Stated]] = defaultdict(list)
    for fact in facts:
        found[fact.slot].append(fact)
    return found


def _around(sentences: Sequence[str], answers: Sequence[str]) -> tuple[int, int] | None:
    """How much stands before and after the value in all sentences, which one answer shows."""
    for answer in answers:
        for sentence in sentences:
            before, found, after = sentence.partition(answer)
            if found and all(s.startswith(before) and s.endswith(after) for s in sentences):
                return len(before), len(after)
    return None


def _value(told: Mapping[str, Any]) -> Value:
    begins = _span(told["start"]) if told["start"] else (EARLIEST, LATEST)
    if begins[1] - begins[0] == DAY:
        begins = (begins[0], begins[0])  # a whole date says when a day begins
    unknown = (EARLIEST, LATEST) if not told["start"] else (LATEST, LATEST)
    return Value(_plain(told["value"]), begins, _span(told["end"]) if told["end"] else unknown)


def _span(date: str) -> tuple[int, int]:
    """The first instant of a day, month or year, and the first one after it."""
    year, month, day = (int(part) for part in date.split("-"))
    if not month:
        return _moment(year, 1, 1), _moment(year + 1, 1, 1)
    if not day:
        return _month(_MONTHS[month - 1], str(year))
    start = _moment(year, month, day)
    return start, start + DAY


def _month(name: str, year: str) -> tuple[int, int]:
    month = _MONTHS.index(name) + 1
    after = (int(year) + month // 12, month % 12 + 1)
    return _moment(int(year), month, 1), _moment(*after, 1)


def _moment(year: int, month: int, day: int) -> int:
    return int(datetime(year, month, day, tzinfo=UTC).timestamp()) * 1_000_000


def _plain(name: str) -> str:
    return normalize("NFC", name)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
