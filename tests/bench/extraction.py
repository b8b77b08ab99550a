"""How much of what people note down about dialogues the facts by reading cover.

An observation is covered where a fact from one of the turns that it names has its subject, and half
of its other words of content in subject, relation and object.

`python -m tests.bench.extraction DATA FILE SEED` writes 200 sure facts of dialogues, drawn at
random, as JSON lines with their spans, for people to read.
"""

import json
import random
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from concord_dissonance.domain.extraction.by_reading import extract
from concord_dissonance.domain.extraction.candidate import TAKEN_FROM, Candidate, Said, dialogue
from concord_dissonance.domain.sides import Micros
from concord_reading.lexicon import lexicon
from concord_reading.tokens import content_of, tokens_of

from tests.bench.conversations import Record, records
from tests.bench.run import Run
from tests.bench.table import Bar, Row

HALF = 0.5
EACH = 100
"""Facts that are drawn from a collection."""
LEAST_COVERED = 0.20
Found = Mapping[tuple[str, str], Sequence[Candidate]]
"""The facts from each turn, by conversation and the turn's id."""


async def bench(run: Run) -> AsyncIterator[Row]:
    """Yields the share of observations that are covered, by all facts and by the sure ones."""
    folder = run.evaluation / "locomo"
    if not folder.is_dir():
        print(f"SKIPPED: no data at {folder}", flush=True)
        return
    observed = [*records(folder / "observations.jsonl")]
    found = _facts(folder)
    sure = {
        turn: [each for each in facts if each.confidence >= TAKEN_FROM]
        for turn, facts in found.items()
    }
    for name, facts, bar in (
        ("facts by reading", found, Bar(LEAST_COVERED, at_most=False)),
        ("those that are sure", sure, None),
    ):
        covered = sum(_is_covered(each, facts) for each in observed)
        count = Counter(each.relation for said in facts.values() for each in said)
        yield Row(
            f"observations that {name} cover",
            "share",
            (covered / len(observed),),
            bar=bar,
            note=f"{covered} of {len(observed)}; {count.total()} facts, {len(count)} relations",
        )


def _facts(folder: Path) -> Found:
    """Return the facts from the turns of dialogues."""
    dialogues: dict[str, list[Record]] = {}
    for turn in records(folder / "turns.jsonl"):
        dialogues.setdefault(turn["conv"], []).append(turn)
    found: dict[tuple[str, str], list[Candidate]] = {}
    for name, turns in dialogues.items():
        said = dialogue([Said(e["text"], e["speaker"], time=_micros(e["time"])) for e in turns])
        for fact in extract(said):
            found.setdefault((name, turns[fact.text]["dia_id"]), []).append(fact)
    return found


def drawn(data: Path, seed: int) -> Iterator[Record]:
    """Yield 100 sure facts each from both collections of dialogues, with what was said."""
    draw = random.Random(seed)
    for folder in (data / "locomo", data / "realtalk"):
        turns = {(e["conv"], e["dia_id"]): e for e in records(folder / "turns.jsonl")}
        sure = [
            (turns[place], fact)
            for place, facts in _facts(folder).items()
            for fact in facts
            if fact.confidence >= TAKEN_FROM
        ]
        for turn, fact in draw.sample(sure, EACH):
            begins, ends = (
                None if each is None else datetime.fromtimestamp(each / 1e6, UTC).isoformat()
                for each in (fact.valid_from, fact.valid_until)
            )
            yield {
                "subject": fact.subject,
                "relation": fact.relation,
                "object": fact.object,
                "time": {"said": turn["time"], "from": begins, "until": ends},
                "span": turn["text"][slice(*fact.span)],
                "speaker": turn["speaker"],
                "text": turn["text"],
            }


def _micros(time: str) -> Micros:
    return Micros(int(datetime.fromisoformat(f"{time}+00:00").timestamp() * 1_000_000))


def _is_covered(observed: Record, found: Found) -> bool:
    turns = observed["dia_id"]
    turns = [turns] if isinstance(turns, str) else turns
    wanted = _stems(observed["fact"]) - _stems(observed["speaker"])
    return any(
        observed["fact"].startswith(fact.subject)
        and len(wanted & _stems(f"{fact.subject} {fact.relation} {fact.object}"))
        >= HALF * len(wanted)
        for turn in turns
        for fact in found.get((observed["conv"], turn), ())
    )


def _stems(text: str) -> set[str]:
    words = lexicon("en")
    return {*content_of(tokens_of(text.replace("_", " "), words), words)}


if __name__ == "__main__":
    lines = drawn(Path(sys.argv[1]), int(sys.argv[3]))
    Path(sys.argv[2]).write_text("".join(f"{json.dumps(e, ensure_ascii=False)}\n" for e in lines))
