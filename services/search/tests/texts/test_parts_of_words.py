"""Compounds are found by their parts, where the space does not know a part as a word (S11)."""

from dataclasses import replace
from pathlib import Path

import pytest
from concord_search.adapters.bm25 import Bm25
from concord_search.ports.index import Batch
from search_lab import NOW, SPACE, Lab, OpenLab, plain_state

PUMP = plain_state("pump", 1, "Die Wärmepumpe im Keller brummt")
RENT = plain_state("rent", 2, "Der Mietvertrag nennt 900 Euro")
HALL = plain_state("hall", 3, "Im Flur liegt ein Teppich aus Marseille")


@pytest.fixture
async def german(open_lab: OpenLab, tmp_path: Path) -> Lab:
    """Three memories, two of them with compounds."""
    lab = await open_lab(tmp_path / "german")
    await lab.write(PUMP, RENT, HALL)
    return lab


async def held(lab: Lab, query: str) -> dict[str, float]:
    """The memories that hold a word of the query, each with its score by words."""
    found = await lab.ask(query)
    holds = found.holds.sum(axis=1).tolist()
    rows = zip(lab.ids(found), holds, found.lexical.tolist(), strict=True)
    return {item: score for item, holds, score in rows if holds or score}


@pytest.mark.parametrize(
    ("asked", "finds"),
    [
        *(("Pumpe", "pump"), ("Wo ist die Pumpe?", "pump"), ("Wärme", "pump")),
        *(("Waerme", "pump"), ("Miete", "rent"), ("Vertrag", "rent"), ("Verträge", "")),
        *(("Pump", "pump"), ("Epumpe", "pump"), ("rag", ""), ("Keller", "pump")),
        ("mevert", ""),  # neither begin nor end
        ("illness", ""),  # its stem is that of "ille"
    ],
)
async def test_a_part_finds_its_compound(german: Lab, asked: str, finds: str) -> None:
    """S11 Its begin or its end, of four letters or more, by both spellings of an umlaut."""
    found = await held(german, asked)

    assert [*found] == ([finds] if finds else [])
    assert all(score > 0 for score in found.values())


async def test_a_word_that_is_known_is_no_part(german: Lab) -> None:
    """S11 Where some text has the word itself, compounds do not count as it."""
    await german.write(plain_state("well", 4, "Eine Pumpe steht am Brunnen"))

    assert [*await held(german, "Pumpe")] == ["well"]


async def test_parts_are_no_length(german: Lab) -> None:
    """S1 A text is as long as its words are many, also where only something else of it changes."""
    words = len(Bm25().of_document(PUMP.content).indices)
    before = await german.ask("Pumpe")
    changed = replace(PUMP, seq=4, domain="home")
    await german.index.apply(SPACE, Batch(4, NOW, states=[(changed, None)]))
    after = await german.ask("Pumpe")

    lengths = [int(each.lengths[german.ids(each).index("pump")]) for each in (before, after)]
    assert lengths == [words, words]
    assert after.seqs[german.ids(after).index("pump")] == 4
