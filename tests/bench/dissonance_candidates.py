"""Whether the older statement is among the ten candidates of the newer one (D3).

Every statement is a memory without facts, stated to hold from when it was said or dated; vectors
are the default model's. The note says how many are found where nobody states a time, and how many
reach a judge: when either is a candidate of the other.
"""

import calendar
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from concord_dissonance.domain.candidates import nearest_each
from concord_dissonance.domain.nearness import NEAR, Near
from concord_dissonance.domain.sides import Kind, Micros, Side
from concord_dissonance.domain.sketch import sketch
from concord_dissonance.domain.statements import Statement
from concord_search.adapters.minilm.embedder import MiniLm
from concord_search.ports.embedder import Vectors

from tests.bench.dissonance_pairs import read_rows
from tests.bench.run import Run
from tests.bench.table import Bar, Row

UNMEASURED = ", unclean"
"""Pairs of turns that the set itself does not vouch for: the topic is not in both."""
Pair = tuple[frozenset[str], frozenset[str]]
"""The ids of the older statement and of the newer: of a chat several turns may say it."""


@dataclass(frozen=True)
class Corpus:
    """The statements of one space by id with when they were said, and its labelled pairs by name.

    Only the order of the times counts.
    """

    texts: dict[str, str]
    times: dict[str, int]
    pairs: Sequence[tuple[str, Pair]]


async def bench(run: Run) -> AsyncIterator[Row]:
    """A row for each set."""
    if not run.evaluation.is_dir():
        print(f"SKIPPED: no data at {run.evaluation}", flush=True)
        return
    model = MiniLm()
    await model.open()
    try:
        for name, least, corpora in sets(run.evaluation):
            vectors = [await model.embed(list(each.texts.values())) for each in corpora]
            for row in measured(name, least, corpora, vectors):
                yield row
    finally:
        await model.close()


def measured(
    name: str, least: float, corpora: Sequence[Corpus], vectors: Sequence[Vectors]
) -> Iterator[Row]:
    """How many of a set's pairs are found, by what they are called."""
    found: dict[str, list[tuple[bool, bool, bool]]] = {}
    judged = statements = 0
    for corpus, rows in zip(corpora, vectors, strict=True):
        similar = _similar(list(corpus.texts), rows)
        timed, undated = _memories(corpus, corpus.times), _memories(corpus, {})
        sketches = {each.id: sketch(each.side, b"") for each in timed}
        near = nearest_each(timed, sketches, similar)
        untimed = nearest_each(undated, sketches, similar)
        judged += len({frozenset((one, other)) for one, them in near.items() for other in them})
        statements += len(corpus.texts)
        for called, (older, newer) in corpus.pairs:
            hit, back = _is_found(near, older, newer), _is_found(near, newer, older)
            without = _is_found(untimed, older, newer)
            found.setdefault(called, []).append((hit, hit or back, without))
    for called, pairs in sorted(found.items()):
        hits, reached, without = (sum(each) / len(pairs) for each in zip(*pairs, strict=True))
        yield Row(
            f"candidates@10, {name}{called}",
            "",
            (hits,),
            bar=None if called.startswith(UNMEASURED) else Bar(least, at_most=False),
            note=f"of {len(pairs)} pairs; {without:.3f} without times; {reached:.3f} reach a judge,"
            f" among {judged / statements:.1f} pairs a statement",
        )


def _is_found(near: dict[str, list[str]], older: frozenset[str], newer: frozenset[str]) -> bool:
    return any(not older.isdisjoint(near[each]) for each in newer)


def _memories(corpus: Corpus, times: dict[str, int]) -> list[Statement]:
    return [
        Statement(Side(text_id, Kind.FACT, text, valid_from=_time(times.get(text_id))), "")
        for text_id, text in corpus.texts.items()
    ]


def _time(stated: int | None) -> Micros | None:
    return None if stated is None else Micros(stated)


def _similar(ids: Sequence[str], vectors: Vectors) -> Near:
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1.0)
    best = np.argsort(-cosines, axis=1, kind="stable")[:, :NEAR]
    return {
        text_id: [(ids[other], float(cosines[row, other])) for other in best[row]]
        for row, text_id in enumerate(ids)
    }


def sets(folder: Path) -> Iterator[tuple[str, float, Sequence[Corpus]]]:
    """Each set with its bar, one corpus for each space that it makes."""
    yield "factconsolidation", 1.0, [_facts(folder)]
    yield "BEAM", 0.85, list(_chats(folder))
    yield "adr_moj", 13 / 16, [_decisions(folder)]
    yield "PEP/XEP supersessions", 0.80, [_numbered(folder, each) for each in ("pep", "xep")]


def _facts(folder: Path) -> Corpus:
    rows = read_rows(folder / "factconsolidation" / "facts.jsonl")
    pairs = [
        ("", (frozenset({str(old["seq"])}), frozenset({str(new["seq"])})))
        for place, new in enumerate(rows)
        for old in rows[:place]
        if (old["subject"], old["relation"]) == (new["subject"], new["relation"])
        and old["object"] != new["object"]
    ]
    times = {str(row["seq"]): row["seq"] for row in rows}
    return Corpus({str(row["seq"]): row["text"] for row in rows}, times, pairs)


def _chats(folder: Path) -> Iterator[Corpus]:
    turns = read_rows(folder / "beam" / "turns.jsonl")
    pairs = read_rows(folder / "beam" / "pairs.jsonl")
    for chat in sorted({turn["chat"] for turn in turns}):
        # What the other side of the chat explains is no statement of anybody's.
        said = [turn for turn in turns if turn["chat"] == chat and turn["role"] == "user"]
        texts = {str(turn["id"]): turn["text"] for turn in said}
        labelled = []
        for pair in pairs:
            if pair["chat"] == chat:
                ends = _ids(pair["first"], texts), _ids(pair["second"], texts)
                older, newer = ends if pair["second_after_first"] else ends[::-1]
                labelled.append((_called(pair), (older, newer)))
        yield Corpus(texts, {str(turn["id"]): turn["id"] for turn in said}, labelled)


def _called(pair: dict[str, object]) -> str:
    return f" {str(pair['label']).lower()}s" if pair["clean"] else UNMEASURED


def _ids(turns: Sequence[dict[str, object]], texts: dict[str, str]) -> frozenset[str]:
    return frozenset(str(turn["id"]) for turn in turns) & texts.keys()


def _decisions(folder: Path) -> Corpus:
    rows = read_rows(folder / "adr_moj" / "adrs.jsonl")
    pairs = read_rows(folder / "adr_moj" / "pairs.jsonl")
    return Corpus(
        {row["id"]: f"{row['title']}\n{row['text']}" for row in rows},
        {row["id"]: _date(row["date"]) for row in rows},
        [("", (frozenset({pair["old"]}), frozenset({pair["new"]}))) for pair in pairs],
    )


def _numbered(folder: Path, series: str) -> Corpus:
    rows = read_rows(folder / "supersession" / f"{series}_nodes.jsonl")
    texts = {row["id"]: f"{row['title']}\n{row['text']}"[:20_000] for row in rows}
    edges = read_rows(folder / "supersession" / "edges.jsonl")
    pairs = [
        ("", (frozenset({edge["old"]}), frozenset({edge["new"]})))
        for edge in edges
        if edge["relation"] == "SUPERSEDES" and {edge["old"], edge["new"]} <= texts.keys()
    ]
    return Corpus(texts, {row["id"]: _date(row["date"]) for row in rows}, pairs)


def _date(written: str) -> int:
    """Return the second of "2000-06-13" or "13-Jun-2000"."""
    form = "%Y-%m-%d" if written[:4].isdecimal() else "%d-%b-%Y"
    return calendar.timegm(time.strptime(written, form))
