"""Whether the older statement is among the ten candidates of the newer one (D3).

Every statement is a memory without facts; vectors are the default model's. A pair reaches a judge
when either is a candidate of the other: that share stands in the note.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from concord_dissonance.domain.candidates import NEAR, Near, nearest_each
from concord_dissonance.domain.sides import Kind, Side
from concord_dissonance.domain.statements import Statement
from concord_search.adapters.minilm.embedder import MiniLm
from concord_search.ports import Vectors

from tests.bench.dissonance_pairs import read_rows
from tests.bench.run import Run
from tests.bench.table import Bar, Row

Pair = tuple[frozenset[str], frozenset[str]]
"""The ids of the older statement and of the newer: of a chat several turns may say it."""


@dataclass(frozen=True)
class Corpus:
    """The statements of one space by id, and its labelled pairs."""

    texts: dict[str, str]
    pairs: Sequence[Pair]


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
            yield measured(name, least, corpora, vectors)
    finally:
        await model.close()


def measured(name: str, least: float, corpora: Sequence[Corpus], vectors: Sequence[Vectors]) -> Row:
    """How many of a set's pairs are found."""
    hits = reached = count = judged = statements = 0
    for corpus, rows in zip(corpora, vectors, strict=True):
        near = nearest_each(_memories(corpus), _similar(list(corpus.texts), rows))
        judged += len({frozenset((one, other)) for one, them in near.items() for other in them})
        statements += len(corpus.texts)
        for older, newer in corpus.pairs:
            forward = any(not older.isdisjoint(near[each]) for each in newer)
            hits += forward
            reached += forward or any(not newer.isdisjoint(near[each]) for each in older)
            count += 1
    return Row(
        f"candidates@10, {name}",
        "",
        (hits / count,),
        bar=Bar(least, at_most=False),
        note=f"of {count} pairs; {reached / count:.3f} reach a judge, among"
        f" {judged / statements:.1f} pairs a statement",
    )


def _memories(corpus: Corpus) -> list[Statement]:
    return [
        Statement(Side(id=text_id, kind=Kind.FACT, text=text, revision=0), "")
        for text_id, text in corpus.texts.items()
    ]


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
        (frozenset({str(old["seq"])}), frozenset({str(new["seq"])}))
        for place, new in enumerate(rows)
        for old in rows[:place]
        if (old["subject"], old["relation"]) == (new["subject"], new["relation"])
        and old["object"] != new["object"]
    ]
    return Corpus({str(row["seq"]): row["text"] for row in rows}, pairs)


def _chats(folder: Path) -> Iterator[Corpus]:
    turns = read_rows(folder / "beam" / "turns.jsonl")
    pairs = read_rows(folder / "beam" / "pairs.jsonl")
    for chat in sorted({turn["chat"] for turn in turns}):
        # What the other side of the chat explains is no statement of anybody's.
        said = [turn for turn in turns if turn["chat"] == chat and turn["role"] == "user"]
        texts = {str(turn["id"]): turn["text"] for turn in said}
        labelled = [
            (_ids(pair["first"], texts), _ids(pair["second"], texts))
            for pair in pairs
            if pair["chat"] == chat
        ]
        yield Corpus(texts, labelled)


def _ids(turns: Sequence[dict[str, object]], texts: dict[str, str]) -> frozenset[str]:
    return frozenset(str(turn["id"]) for turn in turns) & texts.keys()


def _decisions(folder: Path) -> Corpus:
    rows = read_rows(folder / "adr_moj" / "adrs.jsonl")
    pairs = read_rows(folder / "adr_moj" / "pairs.jsonl")
    return Corpus(
        {row["id"]: f"{row['title']}\n{row['text']}" for row in rows},
        [(frozenset({pair["old"]}), frozenset({pair["new"]})) for pair in pairs],
    )


def _numbered(folder: Path, series: str) -> Corpus:
    rows = read_rows(folder / "supersession" / f"{series}_nodes.jsonl")
    texts = {row["id"]: f"{row['title']}\n{row['text']}"[:20_000] for row in rows}
    edges = read_rows(folder / "supersession" / "edges.jsonl")
    pairs = [
        (frozenset({edge["old"]}), frozenset({edge["new"]}))
        for edge in edges
        if edge["relation"] == "SUPERSEDES" and {edge["old"], edge["new"]} <= texts.keys()
    ]
    return Corpus(texts, pairs)
