"""How right a synthesis without a model is: contradiction, region and strategy (D8).

The inputs of `findings/dialectic.jsonl` and their gold are somebody else's. All of them are for
development: the odd ones always were, and the even ones since issue 32 was first measured with
them. `dialectic_own.jsonl` has the rules' author's gold. `dialectic_heldout.jsonl` is by somebody
who read neither rules nor code; no rule is written from what it misses. A strategy of null is an
unresolved contradiction; SYNTHESIS without a contradiction unites parts of one answer.
"""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from concord_dissonance.domain.dialectic.contradictions import Clash, compare_all, pairs_of
from concord_dissonance.domain.dialectic.extraction import extract
from concord_dissonance.domain.dialectic.phrases import PHRASES
from concord_dissonance.domain.dialectic.questions import asked
from concord_dissonance.domain.dialectic.resolutions import Strategy, resolve
from concord_dissonance.domain.dialectic.scoped import Scoped
from concord_dissonance.domain.dialectic.synthesis import Conclusions
from concord_dissonance.domain.dialectic.theses import Claim, Source
from concord_dissonance.domain.sides import Rules

from tests.bench.run import Run
from tests.bench.table import Bar, Row

FOLDER = Path(__file__).parent / "findings"
INPUTS, OWN_INPUTS = FOLDER / "dialectic.jsonl", FOLDER / "dialectic_own.jsonl"
HELD_OUT = FOLDER / "dialectic_heldout.jsonl"
UNION = PHRASES.region("EU")
"""Its law holds everywhere, which the inputs name no region for."""


class Said(TypedDict):
    """A statement of an input."""

    text: str
    legal_basis: str | None
    region: str | None


class Input(TypedDict):
    """A question with statements, and what a synthesis should find."""

    id: str
    question: str
    statements: list[Said]
    gold_contradiction: bool
    gold_region: str | None
    gold_strategy: str | None


@dataclass(frozen=True)
class Outcome:
    """What a synthesis finds, or should find."""

    contradicts: bool
    regions: frozenset[str]
    strategy: str | None


async def bench(run: Run) -> AsyncIterator[Row]:
    """Yields the share of right inputs, also of each half, of the own and of the held-out ones."""
    del run
    inputs = read(INPUTS)
    for name, chosen in (("odd", inputs[::2]), ("even", inputs[1::2])):
        yield _row(f"dialectic: {name} inputs right", chosen)
    yield _row("dialectic: inputs right", inputs, Bar(26 / 30, at_most=False))
    yield _row("dialectic: own inputs right", read(OWN_INPUTS))
    yield _row("dialectic: held-out inputs right", read(HELD_OUT))


def read(path: Path) -> list[Input]:
    """Returns the inputs of a file, in their order."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def found(each: Input) -> Outcome:
    """Returns what a synthesis of an input finds."""
    question = asked(each["question"])
    theses = [
        Scoped(thesis, question)
        for agent, said in enumerate(each["statements"])
        for thesis in extract(Source(str(agent), [_claim(said)])).theses
    ]
    clashes = compare_all(theses, pairs_of(theses), Rules())
    concluded = Conclusions(
        [thesis.thesis for thesis in theses],
        contradictions=[resolve(clash, theses) for clash in clashes if isinstance(clash, Clash)],
    )
    regions = (region for at in concluded.kept for region in theses[at].regions)
    return Outcome(
        bool(concluded.contradictions),
        frozenset(regions) - {UNION},
        "+".join(strategy.name for strategy in concluded.strategies) or None,
    )


def gold(each: Input) -> Outcome:
    """Returns what a synthesis of an input should find."""
    regions = (each["gold_region"] or "").split("/")
    named = frozenset(PHRASES.region(region.strip()) for region in regions if region)
    return Outcome(each["gold_contradiction"], named, each["gold_strategy"])


def wrong(each: Input) -> Iterator[str]:
    """Yields what a synthesis of an input misses."""
    got, wanted = found(each), gold(each)
    if got.contradicts != wanted.contradicts:
        yield "contradiction"
    if got.regions != wanted.regions:
        yield "region"
    is_scored = wanted.contradicts or wanted.strategy == Strategy.SYNTHESIS.name
    if is_scored and got.strategy != wanted.strategy:
        yield "strategy"


def _claim(said: Said) -> Claim:
    basis = said["legal_basis"]
    return Claim(said["text"], legal_basis=(basis,) if basis else (), region=said["region"] or "")


def _row(what: str, inputs: list[Input], bar: Bar | None = None) -> Row:
    missed = [[*wrong(each)] for each in inputs]
    right = missed.count([])
    parts = ("contradiction", "region", "strategy")
    counts = ", ".join(f"{part} {sum(part in each for each in missed)}" for part in parts)
    note = f"{right} of {len(inputs)}; wrong: {counts}"
    return Row(what, "share", (right / len(inputs),), bar=bar, note=note)
