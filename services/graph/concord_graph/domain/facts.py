"""The facts that memories state, and the content of an edge that only facts make (M1).

Such an edge joins all of its facts, in whatever order they came: it has the largest weight, the
latest end, and of two values of one property the greater, by JSON text. It is extracted if all of
them are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Properties = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fact:
    """That a subject stands in a relation to an object; names of nodes.

    `extracted`: a program took it from the text, and nobody stated or confirmed it.
    """

    subject: str
    relation: str
    object: str
    weight: float = 1.0
    properties: Properties = field(default_factory=dict)
    extracted: bool = False

    @property
    def triple(self) -> tuple[str, str, str]:
        """Subject, relation and object; two facts of a memory with one triple are the same."""
        return self.subject, self.relation, self.object


@dataclass(frozen=True, slots=True)
class Support:
    """The edges of a memory's facts, in the facts' order, from a record time (µs) on."""

    memory_id: str
    edges: tuple[str, ...]
    record_from: int


@dataclass(frozen=True, slots=True)
class StatedContent:
    """The content that facts give to their edge; `until` (µs): None = open."""

    weight: float
    properties: Properties
    until: int | None
    extracted: bool = False

    def joined(self, other: StatedContent) -> StatedContent:
        """Return both joined; the order makes no difference."""
        open_ended = self.until is None or other.until is None
        return StatedContent(
            weight=max(self.weight, other.weight),
            properties=_joined(self.properties, other.properties),
            until=None if open_ended else max(self.until or 0, other.until or 0),
            extracted=self.extracted and other.extracted,
        )


def distinct(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Return the facts, each triple once, as it was first stated."""
    firsts: dict[tuple[str, str, str], Fact] = {}
    for fact in facts:
        firsts.setdefault(fact.triple, fact)
    return tuple(firsts.values())


def _joined(one: Properties, other: Properties) -> dict[str, Any]:
    return {
        key: max((p[key] for p in (one, other) if key in p), key=_text)
        for key in sorted({*one, *other})
    }


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
