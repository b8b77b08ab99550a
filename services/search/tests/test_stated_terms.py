"""Stated facts as terms: a relation's words count where the fact's subject or object is asked."""

from pathlib import Path

import numpy as np
import pytest
from concord_search.adapters.bm25 import Bm25
from concord_search.adapters.qdrant import stated_terms
from concord_search.adapters.qdrant.columns import Columns
from concord_search.domain.candidates import Ints
from concord_search.domain.memory import MemoryState, Origin
from search_lab import Lab, OpenLab, plain_state

COTTAGE = plain_state("bram", 1, "The old cottage", facts=(("Bram Vos", "LIVES_IN", "Texel"),))
TURKU = plain_state("mira", 2, "Mira moved to Turku")
SEATS = plain_state("seats", 3, "Mira likes aisle seats")


@pytest.fixture
async def stating(open_lab: OpenLab, tmp_path: Path) -> Lab:
    """Three memories, of which one states a fact."""
    lab = await open_lab(tmp_path / "stating")
    await lab.write(COTTAGE, TURKU, SEATS)
    return lab


async def held(lab: Lab, query: str, item: str = "bram") -> tuple[bool, float]:
    """Whether a memory holds the query's heaviest term, and its score by words."""
    found = await lab.ask(query)
    row = lab.ids(found).index(item)
    return bool(found.holds[row, found.term_weights.argmax()]), float(found.lexical[row])


@pytest.mark.parametrize(
    "query", ["Where does Mira live?", "where does mira live", "Wo wohnt Mira?", "Mira's home"]
)
async def test_the_home_of_another_holds_no_word(stating: Lab, query: str) -> None:
    """S11 Neither for ranking nor for the engine."""
    assert await held(stating, query) == (False, 0.0)


@pytest.mark.parametrize(
    "query",
    [
        *("Where does Bram live?", "Wo wohnt Vos?", "Bram's home", "Who lives in Texel?"),
        *("what is home?", "Where do I live?", "Wo ist denn das Zuhause?", "Zorba's home"),
    ],
)
async def test_whoever_is_asked_or_nobody_known(stating: Lab, query: str) -> None:
    """S11 Its subject, or its object, or none that the space knows."""
    found = await stating.ask(query)
    row = stating.ids(found).index("bram")
    share = float(found.holds[row] @ found.term_weights / found.term_weights.sum())

    assert share == (1.0 if "Zorba" not in query else pytest.approx(0.5, abs=0.1))
    assert found.lexical[row] > 0


async def test_a_relation_counts_once_however_many_names_are_asked(stating: Lab) -> None:
    """S11 As one word does."""
    one, both = [await held(stating, query) for query in ("Bram's home", "home of Bram Vos")]

    assert one[0]
    assert both[0]
    assert both[1] - one[1] == pytest.approx(1.6, abs=0.1)  # the other name's own weight


async def test_what_is_stated_in_the_first_person_is_the_speakers(lab: Lab) -> None:
    """S11 First person → the speaker's name."""
    said = {"facts": (("I", "LIVES_IN", "Texel"),), "origins": (Origin("Bram Vos", "", 2),)}
    await lab.write(plain_state("bram", 1, "My old cottage", **said), TURKU, SEATS)

    assert (await held(lab, "Bram's home"))[0]
    assert await held(lab, "Mira's home") == (False, 0.0)


async def test_a_relation_without_other_names_is_found_by_its_own(lab: Lab) -> None:
    """S11 Each word of it."""
    table = plain_state("table", 1, "The oak one", facts=(("Ada", "SERVES_TABLE", "nine"),))
    await lab.write(table, TURKU, SEATS)

    assert (await held(lab, "What does Ada serve?", "table"))[0]
    assert await held(lab, "What does Mira serve?", "table") == (False, 0.0)


async def test_other_facts_of_the_same_text_are_indexed_anew(stating: Lab) -> None:
    """S11 Though the words are the same, the vector must not be taken over."""
    works = plain_state("bram", 4, "The old cottage", facts=(("Bram Vos", "WORKS_AT", "Texel"),))
    assert works.words == COTTAGE.words
    assert await stating.index.unembedded("default", [works, again(COTTAGE)]) == [True, False]


def again(state: MemoryState) -> MemoryState:
    """The same memory, after a change of something else."""
    return plain_state(state.id, 5, state.content, facts=state.facts)


class Full(Columns):
    """Columns that hold every term."""

    def documents(self, terms: Ints) -> Ints:
        return np.ones_like(terms)


def test_of_long_queries_and_facts_a_part_is_paired() -> None:
    """S11 Each term with each other one: not of a whole book."""
    terms = np.arange(1, 2_000, dtype=np.int64)
    long = ("Ada", "KNOWS", " ".join(f"w{number}" for number in range(400)))

    asked = stated_terms.asked(Bm25(), "", terms, Full())
    stating = stated_terms.with_facts(Bm25(), "word", [long], "")

    assert len(asked.numbers) == stated_terms.MOST_TERMS * (stated_terms.MOST_TERMS - 1)
    assert len(stating.indices) == 2 + stated_terms.MOST_NAMES
    assert not len(stated_terms.asked(Bm25(), "", terms[:0], Full()).numbers)
