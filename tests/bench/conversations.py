"""Conversations of the evaluation data: turns, and questions with the turns that answer them.

Beside them the plain facts that were drawn from turns.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from concord.type.v1.type_pb2 import (
    MEMORY_KIND_FACT,
    MEMORY_KIND_TURN,
    TURN_ROLE_PERSON,
    TURN_ROLE_UNSPECIFIED,
    MemoryKind,
    TurnRole,
)

Record = dict[str, Any]  # a line of JSON, whose fields the data's README names
TURNS = "turns.jsonl"


@dataclass(frozen=True)
class Turn:
    """One turn, or fact drawn from it, with the text that is indexed.

    `key` is unique in the collection. `since`: from when it is stated to hold, in microseconds;
    None: since it is written.
    """

    key: str
    conversation: str
    session: str
    speaker: str
    text: str
    role: TurnRole.ValueType = TURN_ROLE_PERSON
    kind: MemoryKind.ValueType = MEMORY_KIND_TURN
    since: int | None = None
    day: str = ""
    """When it was said, as an ISO date; empty where the data has no such date."""


@dataclass(frozen=True)
class Question:
    """A question that some turns answer: their keys."""

    conversation: str
    category: str
    text: str
    evidence: frozenset[str]


@dataclass(frozen=True)
class Collection:
    """A set of conversations."""

    turns: Sequence[Turn]
    questions: Sequence[Question]

    @property
    def conversations(self) -> Mapping[str, Sequence[Turn]]:
        """The turns by conversation."""
        found: dict[str, list[Turn]] = defaultdict(list)
        for turn in self.turns:
            found[turn.conversation].append(turn)
        return found

    def today(self, conversation: str) -> int | None:
        """A conversation's end, by which its questions are read, in microseconds; None: unknown."""
        days = [each.day for each in self.turns if each.conversation == conversation and each.day]
        if not days:
            return None
        end = datetime.fromisoformat(max(days)).replace(tzinfo=UTC)
        return int(end.timestamp()) * 1_000_000


def people(folder: Path) -> Collection:
    """Dialogues between two friends, in sessions: those of locomo, or of realtalk."""
    turns = [
        Turn(
            key=f"{line['conv']}/{line['dia_id']}",
            conversation=line["conv"],
            session=line["session"],
            speaker=line["speaker"],
            text=_text(line["speaker"], line["time"][:10], line["text"], line["image_caption"]),
            day=line["time"][:10],
        )
        for line in records(folder / TURNS)
    ]
    questions = [
        Question(
            conversation=line["conv"],
            category=line["category_name"],
            text=line["question"],
            evidence=frozenset(f"{line['conv']}/{each}" for each in line["evidence"]),
        )
        for line in records(folder / "questions.jsonl")
        if line["evidence"]
    ]
    return Collection(turns, questions)


def plain_facts(folder: Path) -> Collection:
    """The facts drawn from the dialogues of locomo, each with its speaker and its session's time.

    Those drawn from a turn with evidence answer a question; questions without one are left out.
    """
    times = {(line["conv"], line["session"]): line["time"] for line in records(folder / TURNS)}
    facts: list[Turn] = []
    drawn: dict[str, set[str]] = defaultdict(set)
    for number, line in enumerate(records(folder / "observations.jsonl")):
        when = datetime.fromisoformat(times[line["conv"], line["session"]]).replace(tzinfo=UTC)
        fact = Turn(
            key=f"{line['conv']}/fact-{number}",
            conversation=line["conv"],
            session="",
            speaker=line["speaker"],
            text=line["fact"],
            role=TURN_ROLE_UNSPECIFIED,
            kind=MEMORY_KIND_FACT,
            since=int(when.timestamp()) * 1_000_000,
        )
        facts.append(fact)
        turns = line["dia_id"]
        for turn in [turns] if isinstance(turns, str) else turns:
            drawn[f"{line['conv']}/{turn}"].add(fact.key)
    questions = (
        replace(each, evidence=frozenset().union(*(drawn[turn] for turn in each.evidence)))
        for each in people(folder).questions
    )
    return Collection(facts, [each for each in questions if each.evidence])


def beam(folder: Path) -> Collection:
    """The chats with an assistant."""
    turns = [
        Turn(
            key=f"{line['chat']}/{line['id']}",
            conversation=line["chat"],
            session=str(line["batch"]),
            speaker=line["role"],
            text=_text(line["role"], line["time_anchor"], line["text"], None),
            role=TurnRole.Value(f"TURN_ROLE_{line['role'].upper()}"),
            day=_iso(line["time_anchor"]),
        )
        for line in records(folder / TURNS)
    ]
    questions = [
        Question(
            conversation=line["chat"],
            category=line["type"],
            text=line["question"],
            evidence=frozenset(f"{line['chat']}/{each}" for each in line["gold_ids"]),
        )
        for line in records(folder / "questions.jsonl")
        if line["gold_ids"]
    ]
    return Collection(turns, questions)


def _iso(anchor: str | None) -> str:
    """The ISO date of "April-05-2024"."""
    return datetime.strptime(anchor, "%B-%d-%Y").date().isoformat() if anchor else ""  # noqa: DTZ007


def _text(speaker: str, date: str | None, text: str, caption: str | None) -> str:
    """`speaker (date): text [caption]`, without what the turn has not."""
    dated = f"{speaker} ({date})" if date else speaker
    return f"{dated}: {text} [{caption}]" if caption else f"{dated}: {text}"


def records(path: Path) -> Iterator[Record]:
    """The lines of a file of the data."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
