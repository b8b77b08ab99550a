"""What a check finds in whole collections of memories, and in pairs, all written by somebody who
had seen neither attributes nor rules (D3, D4, D13).

`findings/worlds`: seventeen collections of 80 to 200 memories with planted disagreements; whoever
wrote rules has read harbour_lane, parcel_ops, ember_chat and bakery. `findings/minimal.jsonl`:
pairs that look like conflicts and are none. `findings/pairs_*.jsonl`: pairs of all classes; the
rules were written beside the `dev` ones. The conversations and decision records are evaluation data
in which nothing is known to disagree.
"""

import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import UTC, datetime
from itertools import combinations, groupby
from pathlib import Path

from concord_dissonance.domain.judges.judging import judge
from concord_dissonance.domain.sides import Kind, Micros, Rules, Side, read_all
from concord_dissonance.domain.verdicts import ConflictClass, Verdict

from tests.bench.dissonance_pairs import read_rows
from tests.bench.run import Run
from tests.bench.table import Bar, Row

FOLDER = Path(__file__).parent / "findings"
MOST_TURNS = 700
"""Turns of the conversations of one set that are checked; whole conversations."""
Plants = dict[frozenset[str], str]


async def bench(run: Run) -> AsyncIterator[Row]:
    """Rows for the worlds, the conversations, the minimal pairs, and the blind pairs."""
    worlds = [(_sides(read(path)), _plants(path)) for path in sorted(world_files())]
    for row in _of_worlds(worlds):
        yield row
    for name, groups in _unplanted(run.evaluation):
        found = sum(len(list(checked(sides))) for sides in groups)
        memories = sum(map(len, groups))
        yield Row(
            f"{name}: recorded per 100 memories",
            "",
            (100 * found / memories,),
            bar=Bar(0.2),
            note=f"{found} of {memories} memories; nothing is known to disagree there",
        )
    wrong = [pair["id"] for pair in read(FOLDER / "minimal.jsonl") if _class(pair) != "none"]
    yield Row("minimal pairs: recorded", "", (len(wrong),), bar=Bar(0), note=", ".join(wrong))
    for name in ("dev", "heldout"):
        for row in _of_pairs(name, list(read(FOLDER / f"pairs_{name}.jsonl"))):
            yield row


def world_files() -> Iterator[Path]:
    """Yield the files of memories."""
    return (each for each in (FOLDER / "worlds").glob("*.jsonl") if ".gold" not in each.name)


def read(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a file."""
    return (json.loads(line) for line in path.read_text("utf-8").splitlines())


def checked(sides: Sequence[Side]) -> Iterator[tuple[Side, Side, Verdict]]:
    """Yield what a check that compares all pairs would record."""
    read_all(sides)
    for one, other in combinations(sides, 2):
        said = judge(one, other, Rules())
        if isinstance(said, Verdict) and said.conflict is not ConflictClass.NONE:
            yield one, other, said


def _of_worlds(worlds: Sequence[tuple[Sequence[Side], Plants]]) -> Iterator[Row]:
    memories = sum(len(sides) for sides, _ in worlds)
    planted = sum(len(plants) for _, plants in worlds)
    right = recorded = 0
    for sides, plants in worlds:
        for one, other, _ in checked(sides):
            recorded += 1
            right += frozenset((one.id, other.id)) in plants
    note = f"{right} of {recorded} recorded in {memories:,} memories"
    share = right / max(1, recorded)
    yield Row(
        "worlds: right of recorded", "share", (share,), bar=Bar(0.9, at_most=False), note=note
    )
    false = 100 * (recorded - right) / memories
    yield Row("worlds: false per 100 memories", "", (false,), bar=Bar(0.2))
    note = f"{right} of {planted}"
    yield Row(
        "worlds: plants found", "share", (right / planted,), bar=Bar(0.5, at_most=False), note=note
    )


def _of_pairs(name: str, pairs: Sequence[dict[str, str]]) -> Iterator[Row]:
    judged = Counter((pair["gold"], _class(pair)) for pair in pairs)
    asserted = {key: count for key, count in judged.items() if key[1] != "none"}
    right = sum(count for (gold, _), count in asserted.items() if gold != "none")
    total = sum(asserted.values())
    note = f"{right} of {total} disagree"
    share = right / max(1, total)
    yield Row(
        f"pairs, {name}: right of asserted",
        "share",
        (share,),
        bar=Bar(0.95, at_most=False),
        note=note,
    )
    for gold, least in (("contradiction", 0.60), ("evolution", 0.50), ("nuance", 0.30)):
        there = sum(count for (wanted, _), count in judged.items() if wanted == gold)
        of_kind = ", ".join(f"{said} {n}" for (wanted, said), n in judged.items() if wanted == gold)
        yield Row(
            f"pairs, {name}: {gold}s found",
            "share",
            (judged[gold, gold] / there,),
            bar=Bar(least, at_most=False),
            note=f"of {there}: {of_kind}",
        )


def _class(pair: dict[str, str]) -> str:
    said = judge(_side("first", pair["first"]), _side("second", pair["second"]), Rules())
    return said.conflict.value if isinstance(said, Verdict) else "none"


def _sides(rows: Iterator[dict[str, str]]) -> list[Side]:
    return [_side(row["id"], row) for row in rows]


def _side(side_id: str, row: object) -> Side:
    assert isinstance(row, dict)
    speaker = row.get("speaker", "")
    said = datetime.fromisoformat(row["said"]).replace(tzinfo=UTC)
    return Side(
        side_id,
        Kind.FACT,
        row["text"],
        written=Micros(int(said.timestamp()) * 1_000_000),
        sources=frozenset([speaker] if speaker else []),
    )


def _plants(path: Path) -> Plants:
    rows = read(path.with_suffix(".gold.jsonl"))
    return {frozenset((row["first"], row["second"])): row["gold"] for row in rows}


def _unplanted(data: Path) -> Iterator[tuple[str, list[list[Side]]]]:
    for name in ("locomo", "realtalk"):
        rows = read_rows(data / name / "turns.jsonl")
        groups: list[list[Side]] = []
        for _, turns in groupby(rows, key=lambda row: row["conv"]):
            if sum(map(len, groups)) < MOST_TURNS:
                groups.append([_turn(row) for row in turns])
        yield name, groups
    records = read_rows(data / "adr_moj" / "adrs.jsonl")
    yield "decision records", [[Side(row["id"], Kind.FACT, row["text"]) for row in records]]


def _turn(row: dict[str, str]) -> Side:
    said = datetime.fromisoformat(row["time"]).replace(tzinfo=UTC)
    written = Micros(int(said.timestamp()) * 1_000_000)
    return Side(
        row["dia_id"], Kind.FACT, row["text"], written=written, sources=frozenset([row["speaker"]])
    )
