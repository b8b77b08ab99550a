"""The verb that takes the facts from texts, and what it returns: plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from concord.dissonance.v1 import dissonance_pb2

from concord_client.verbs.arguments import stamp
from concord_client.verbs.read_reply import name_of, time_of
from concord_client.verbs.steps import Step
from concord_client.verbs.things import Fact


@dataclass(frozen=True, slots=True)
class Text:
    """A text, or a turn of a dialogue: whom "I" means, and what "yesterday" is counted from."""

    text: str
    speaker: str = ""
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact that a text states: `quote` are its words, from `start` to `end` in it.

    `text`: which of the texts, from 0. `sure`: it may be taken without being looked at. `arm`:
    READING or MODEL. A time that is not stated is None.
    """

    fact: Fact
    quote: str
    text: int
    start: int
    end: int
    valid_from: datetime | None
    valid_until: datetime | None
    confidence: float
    sure: bool
    arm: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """The facts that texts state. `outcome`: the contract's `ExtractionOutcome` by name."""

    outcome: str
    candidates: tuple[Candidate, ...]
    texts_left: int = 0


def extract(texts: Sequence[Text], *, rules_only: bool = False) -> Step[Extraction]:
    """The facts that 1 to 256 texts state. Nothing is stored: `add` those that you want.

    `rules_only`: no model is asked.
    """
    said = [
        dissonance_pb2.SaidText(text=each.text, speaker=each.speaker, time=stamp(each.time))
        for each in texts
    ]
    return Step(dissonance_pb2.ExtractFactsRequest(texts=said, rules_only=rules_only), _read)


def _read(reply: dissonance_pb2.ExtractFactsResponse) -> Extraction:
    return Extraction(
        name_of(dissonance_pb2.ExtractionOutcome, reply.outcome),
        tuple(map(_candidate, reply.candidates)),
        reply.counts.texts_left,
    )


def _candidate(read: dissonance_pb2.FactCandidate) -> Candidate:
    return Candidate(
        Fact(read.fact.subject, read.fact.relation, read.fact.object),
        read.quote,
        read.text,
        read.span.start,
        read.span.end,
        time_of(read, "valid_from"),
        time_of(read, "valid_until"),
        read.confidence,
        read.sure,
        name_of(dissonance_pb2.ExtractionArm, read.arm),
    )
