"""Pairs of the public sets that the judges of dissonance are measured on.

What each set holds and how it is scored stands in the README beside the data. Facts without a date
are of the day of their number after 2020-01-01.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from concord_dissonance.domain.sides import (
    Kind,
    Micros,
    RelationRule,
    Rules,
    Side,
    TemporalClass,
    TypedFact,
)
from concord_dissonance.domain.verdicts import ConflictClass

DAY = 24 * 3600 * 10**6
START = 50 * 365 * DAY
YEAR = 365 * DAY
STATE = RelationRule(functional=True, temporal_class=TemporalClass.STATE)
SET_VALUED = RelationRule(functional=False, temporal_class=TemporalClass.STATE)
MASKED = re.compile(r"\b(?:never|not)\b|\b(?:have|has|had|do|does|did|is|was)n['’]t\b", re.I)
RANDOM_PAIRS = 300
"""Of each chat: turns of one person that nobody said disagree."""


@dataclass(frozen=True)
class Labelled:
    """A pair and what it is; `wanted` None says only that it is no contradiction."""

    first: Side
    second: Side
    wanted: ConflictClass | None


@dataclass(frozen=True)
class PairSet:
    """The pairs of a set."""

    name: str
    pairs: list[Labelled]
    rules: Rules = Rules()  # noqa: RUF009 - frozen, and empty


def texts(folder: Path) -> Iterator[PairSet]:
    """Sentence pairs with labels; those of `REFUTES` and `contradiction` contradict."""
    sets = {
        "sick": ("sick/train", "premise", "hypothesis"),
        "breaking_nli": ("breaking_nli/sample", "premise", "hypothesis"),
        "cad_snli": ("cad_snli/train", "premise", "hypothesis"),
        "decode": ("decode/sample", "a", "b"),
        "fever_symmetric": ("fever_symmetric/dev", "claim", "evidence"),
    }
    for name, (file, first, second) in sets.items():
        rows = read_rows(folder / f"{file}.jsonl")
        yield PairSet(name, [_sentences(row[first], row[second], row["label"]) for row in rows])


def _sentences(first: str, second: str, label: str) -> Labelled:
    contradicts = label in ("contradiction", "REFUTES")
    wanted = ConflictClass.CONTRADICTION if contradicts else None
    return Labelled(_text("1", first), _text("2", second), wanted)


def turns(folder: Path, *, masked: bool = False) -> PairSet:
    """The clean pairs of turns of one person, of which one came later."""
    pairs = []
    for row in read_rows(folder / "beam" / "pairs.jsonl"):
        if row["clean"]:
            later = 1 if row["second_after_first"] else -1
            first = _turns("1", row["first"], 10 * DAY, masked=masked)
            second = _turns("2", row["second"], (10 + later) * DAY, masked=masked)
            pairs.append(Labelled(first, second, ConflictClass[row["label"]]))
    return PairSet("beam, cues masked" if masked else "beam", pairs)


def random_turns(folder: Path) -> PairSet:
    """Pairs of one person's turns in one chat, drawn at random: next to none disagree."""
    chats: dict[str, list[Any]] = {}
    for row in read_rows(folder / "beam" / "turns.jsonl"):
        if row["role"] == "user":
            chats.setdefault(row["chat"], []).append(row)
    draw = random.Random(1)
    pairs = []
    for said in chats.values():
        for _ in range(RANDOM_PAIRS):
            one, other = sorted(draw.sample(range(len(said)), 2))
            first = _turns(str(one), [said[one]], one * DAY)
            second = _turns(str(other), [said[other]], other * DAY)
            pairs.append(Labelled(first, second, None))
    return PairSet("beam, pairs at random", pairs)


def _turns(side_id: str, said: list[Any], time: int, *, masked: bool = False) -> Side:
    text = "\n".join(each["text"] for each in said)
    text = MASKED.sub(" ", text) if masked else text
    source = frozenset({"user"})
    return Side(side_id, Kind.FACT, text, valid_from=Micros(START + time), sources=source)


def _text(side_id: str, text: str) -> Side:
    return Side(side_id, Kind.FACT, text)


def facts(folder: Path) -> Iterator[tuple[PairSet, PairSet]]:
    """Sets of typed facts, each with declarations and without."""
    for read in (_numbered, _dated, _of_years):
        name, found = read(folder)
        rules = Rules(dict.fromkeys({_relation(each) for each in found}, STATE))
        if read is _of_years:
            rules = Rules(_by_share(folder))
        yield PairSet(name, found, rules), PairSet(f"{name}, undeclared", found)


def _relation(pair: Labelled) -> str:
    return pair.first.fact.relation if pair.first.fact else ""


def _numbered(folder: Path) -> tuple[str, list[Labelled]]:
    """Every two facts of one subject, and as many of one relation of two subjects."""
    rows = read_rows(folder / "factconsolidation" / "facts.jsonl")
    sides = [
        _fact(row["seq"], _triple(row, "subject", "relation", "object"), START + row["seq"] * DAY)
        for row in rows
    ]
    return "factconsolidation", _pairs(sides)


def _dated(folder: Path) -> tuple[str, list[Labelled]]:
    """Values of a slot; those whose time is not known to the day or that overlap stay."""
    sides = []
    for slot in read_rows(folder / "dyknow" / "timelines.jsonl"):
        for number, value in enumerate(slot["timeline"]):
            begin, end = (_micros(value[each]) for each in ("start", "end"))
            name = f"{slot['id']}/{number}"
            fact = TypedFact(slot["entity"], slot["property"], value["value"])
            sides.append(_fact(name, fact, begin, end))
    return "dyknow", _pairs(sides)


def _of_years(folder: Path) -> tuple[str, list[Labelled]]:
    """Values of one subject and predicate; one that begins later is an evolution where the file
    says that the predicate holds one value at a time, else nothing."""
    rules = _by_share(folder)
    sides = []
    for number, row in enumerate(read_rows(folder / "wikidata12k" / "facts.jsonl")):
        begin = None if row["start"] is None else row["start"] * YEAR
        end = None if row["end"] is None else (row["end"] + 1) * YEAR
        sides.append(_fact(number, _triple(row, "s", "p_label", "o"), begin, end))
    wanted = []
    for pair in _pairs(sides):
        holds_one = rules.get(_relation(pair), SET_VALUED).functional
        wanted.append(pair if holds_one else Labelled(pair.first, pair.second, None))
    return "wikidata12k", wanted


def _by_share(folder: Path) -> Mapping[str, RelationRule]:
    """Declare functional what the file saw coexist in at most one of a hundred."""
    found = json.loads((folder / "wikidata12k" / "predicate_functionality.json").read_text())
    return {
        predicate: STATE if counts.get("COEXIST", 0) <= 0.01 * sum(counts.values()) else SET_VALUED
        for predicate, counts in found.items()
    }


def is_coexisting(pair: Labelled, rules: Rules) -> bool:
    """Whether two values of a relation that holds many hold at one time, as stated of both."""
    if rules.of(_relation(pair)).functional is not False:
        return False
    one, other = sorted((pair.first, pair.second), key=lambda side: side.valid_from or 0)
    if one.valid_from is None or other.valid_from is None:
        return False
    return one.valid_until is None or one.valid_until > other.valid_from + YEAR


def _pairs(sides: list[Side]) -> list[Labelled]:
    """Return the pairs of each slot with what they are, and pairs of neighbouring subjects."""
    slots: dict[tuple[str, str], list[Side]] = {}
    for side in sides:
        if side.fact:
            slots.setdefault((side.fact.relation, side.fact.subject), []).append(side)
    ordered = sorted(slots.items(), key=lambda slot: slot[0])
    found = [
        Labelled(one, other, _wanted(one, other))
        for _, slot in ordered
        for one, other in combinations(slot, 2)
    ]
    apart = [
        Labelled(one[0], other[0], None)
        for ((relation, _), one), ((also, _), other) in pairwise(ordered)
        if relation == also
    ]
    return found + apart


def _wanted(one: Side, other: Side) -> ConflictClass | None:
    if one.fact and other.fact and one.fact.object == other.fact.object:
        return None
    same = one.valid_from == other.valid_from
    return ConflictClass.CONTRADICTION if same else ConflictClass.EVOLUTION


def _triple(row: Mapping[str, str], *names: str) -> TypedFact:
    return TypedFact(*(row[name] for name in names))


def _fact(name: object, fact: TypedFact, begin: int | None, end: int | None = None) -> Side:
    return Side(
        str(name),
        Kind.EDGE,
        fact=fact,
        valid_from=None if begin is None else Micros(begin),
        valid_until=None if end is None else Micros(end),
    )


def _micros(date: str | None) -> int | None:
    """Return the first instant of a date whose month or day may be 00; None for none."""
    if not date:
        return None
    year, month, day = (int(part) for part in date.split("-"))
    return year * YEAR + max(month - 1, 0) * 31 * DAY + max(day - 1, 0) * DAY


def read_rows(path: Path) -> list[Any]:
    """Return the rows of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
