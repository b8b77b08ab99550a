"""Ranking by the integrative formula, inside the engine (spec S6, G7)."""

from dataclasses import replace
from math import exp, log
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from concord.type.v1 import type_pb2
from concord_search.domain.filters import Edges, MemoryFilter, Scope, Superseded
from concord_search.domain.instants import DAY
from concord_search.ports.index import NearQuery, Place, Question
from concord_testing.embedders import ready
from search_lab import NOW, SPACE, Lab, OpenLab, plain_state

CONSTITUTIVE = type_pb2.EDGE_TYPE_CONSTITUTIVE
OPEN = MemoryFilter()


class Found(NamedTuple):
    """One found item."""

    item_id: str
    is_edge: bool
    place: Place


async def weigh(
    lab: Lab,
    text: str,
    weight: float = 2.0,
    *,
    wanted: MemoryFilter = OPEN,
    edges: Edges = Edges.CONSTITUTIVE,
) -> list[Found]:
    """Asks as the use case does; the items come back by their ids."""
    scope = Scope(NOW, Superseded.EXCLUDE, wanted, edges=edges)
    question = Question(ready(lab.embedder.vector(text)), text, scope, lab.embedder.model)
    weighed = await lab.index.weigh(SPACE, question, ready(weight))
    items = weighed.candidates.items
    return [
        Found(
            lab.index.id_of(SPACE, item), bool(weighed.candidates.is_edge[row]), weighed.place(row)
        )
        for row, item in enumerate(items)
    ]


@pytest.mark.parametrize("seed", range(8))
async def test_at_equal_text_relevance_what_is_constitutive_comes_first(
    lab: Lab, seed: int
) -> None:
    """S6 Whatever ages and counts, at every weight within its bounds, among 0 to 30 others."""
    chance = Random(seed)

    def access() -> dict[str, int]:
        return {
            "access_count": int(10 ** chance.uniform(0, 4)) - 1,
            "last_access": NOW - int(chance.uniform(0, 3_000) * DAY),
            "importance": chance.choice([1, 2, 3]),
        }

    same = [plain_state(f"m{n}", n + 1, "honesty matters most", **access()) for n in range(5)]
    chance.shuffle(same)
    same[0] = replace(same[0], edge_type=CONSTITUTIVE)
    others = chance.randint(0, 30)
    fill = [plain_state(f"o{n}", 50 + n, f"honesty and number {n}") for n in range(others)]
    await lab.write(*same, *fill)

    found = await weigh(lab, "honesty matters", chance.uniform(1.5, 5.0))

    ids = [each.item_id for each in found]
    assert next(each for each in ids if each.startswith("m")) == same[0].id
    assert len(found) == 5 + others
    for each in found:
        assert 0.0 <= each.place.text_relevance <= 1.0


async def test_the_engine_counts_as_the_formula_does(lab: Lab) -> None:
    """S6 G7 exp(-d/S) with S = 100 (1 + ln(1 + reads)), at least 200 for high importance; 1 for
    what is constitutive, whose factor is the weight."""
    said = {
        "old": {"last_access": NOW - 100 * DAY},
        "read": {"last_access": NOW - 100 * DAY, "access_count": 10},
        "high": {"last_access": NOW - 100 * DAY, "importance": 3},
        "future": {"last_access": NOW + 100 * DAY},
        "value": {"last_access": NOW - 9_000 * DAY, "edge_type": CONSTITUTIVE},
    }
    text = "a value to hold"
    await lab.write(
        *(plain_state(i, at + 1, text, **each) for at, (i, each) in enumerate(said.items()))
    )

    found = {each.item_id: each for each in await weigh(lab, text, 3.0)}

    assert found["value"].place.factor == 3.0
    expected = {
        "old": exp(-1),
        "read": exp(-1 / (1 + log(11))),
        "high": exp(-0.5),
        "future": 1.0,
        "value": 1.0,
    }
    for item_id, recency in expected.items():
        assert found[item_id].place.recency == pytest.approx(recency)
        # the engine's own score, divided by C and R, is the same text relevance for each
        assert found[item_id].place.text_relevance == pytest.approx(
            found["future"].place.text_relevance, rel=1e-5
        )


async def test_a_value_is_a_candidate_behind_any_number_of_better_texts(lab: Lab) -> None:
    """S6 The weight is applied to all that is constitutive, not to a list that was cut before."""
    fill = [
        plain_state(f"m{n}", n + 1, "honesty now " + " ".join(f"w{n}x{i}" for i in range(n // 8)))
        for n in range(250)
    ]
    text = "honesty now " + " ".join(f"v{i}" for i in range(40))
    await lab.write(*fill, plain_state("value", 300, text, edge_type=CONSTITUTIVE))

    found = await weigh(lab, "honesty now", 5.0)

    near = await lab.ask("honesty now")
    assert "value" not in lab.ids(near)
    assert "value" in [each.item_id for each in found]


async def test_constitutive_edges_are_found_as_sentences_by_this_query_alone(lab: Lab) -> None:
    """S6 A space whose constitutive facts are edges only; no other search meets an edge."""
    edge = plain_state(
        "edge", 1, "Ada VALUES honesty", edge_type=CONSTITUTIVE, kind=0, is_edge=True
    )
    await lab.write(edge, plain_state("note", 2, "Ada wrote about honesty"))

    found = await weigh(lab, "does Ada value honesty")
    query = NearQuery(Scope(NOW, Superseded.EXCLUDE, OPEN), 10)
    vector, model = lab.embedder.vector("honesty"), lab.embedder.model
    near = await lab.index.near(SPACE, vector, model, query)
    state = (await lab.index.states())[SPACE]

    assert [each.is_edge for each in found] == [True, False]
    for mode in Superseded:
        assert lab.ids(await lab.ask("Ada values honesty", superseded=mode)) == ["note"]
    assert [each.id for each in near] == ["note"]
    assert len(await weigh(lab, "honesty", edges=Edges.NONE)) == 1
    assert state.memories == 1
    assert list(await lab.index.held(SPACE)) == [("note", 2)]


async def test_other_edges_are_found_where_all_are_asked_for(lab: Lab) -> None:
    """S6 S11 Not by the integrative formula; no memories to count or to compare with graph."""
    descriptive = type_pb2.EDGE_TYPE_DESCRIPTIVE
    edge = plain_state("edge", 1, "Ada likes honesty", edge_type=descriptive, kind=0, is_edge=True)
    await lab.write(edge, plain_state("note", 2, "Ada wrote about honesty"))

    kinds = {each: len(await weigh(lab, "honesty", edges=each)) for each in Edges}

    assert kinds == {Edges.NONE: 1, Edges.CONSTITUTIVE: 1, Edges.ALL: 2}
    assert (await lab.index.states())[SPACE].memories == 1
    assert list(await lab.index.held(SPACE)) == [("note", 2)]


async def test_filters_restrict_values_too(lab: Lab) -> None:
    """S2 S6 A filter is never ignored."""
    await lab.write(
        plain_state("value", 1, "honesty", edge_type=CONSTITUTIVE, tags=("a",)),
        plain_state("note", 2, "honesty", tags=("b",)),
    )

    tagged = await weigh(lab, "honesty", wanted=MemoryFilter(tags_any=("b",)))
    descriptive = await weigh(lab, "honesty", wanted=MemoryFilter(edge_types=(1,)))

    for found in (tagged, descriptive):
        assert [each.item_id for each in found] == ["note"]


async def test_nothing_is_found_where_nothing_is(lab: Lab) -> None:
    """S6 S2 An empty space, and a space without a part."""
    vector, scope = ready(lab.embedder.vector("x")), Scope(NOW, Superseded.EXCLUDE, OPEN)
    question = Question(vector, "x", scope, lab.embedder.model)

    assert await weigh(lab, "honesty") == []
    assert len((await lab.index.weigh("nowhere", question, ready(2.0))).candidates) == 0


async def test_edges_are_back_after_a_restart(tmp_path: Path, open_lab: OpenLab) -> None:
    """S10 Columns know an edge when they are read again."""
    first = await open_lab(tmp_path / "i")
    edge = plain_state(
        "edge", 1, "Ada VALUES honesty", edge_type=CONSTITUTIVE, kind=0, is_edge=True
    )
    await first.write(edge, plain_state("note", 2, "Ada wrote about honesty"))
    await first.index.close()

    again = await open_lab(tmp_path / "i")

    assert (await again.index.states())[SPACE].memories == 1
    assert [each.is_edge for each in await weigh(again, "Ada honesty")].count(True) == 1
