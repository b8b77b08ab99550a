"""A small part of `make bench ARGS=governance`, whose bars hold on every change (W8, W9)."""

from collections.abc import Iterator

import pytest
from concord_testing.up_process import Spawned, spawned

from tests.bench.governance.attacking import attacked
from tests.bench.governance.correcting import agents_corrections, own_corrections
from tests.bench.governance.retelling import imported_again
from tests.bench.governance.world import material


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spawned]:
    """An untouched `concord up`."""
    with spawned(tmp_path_factory.mktemp("governance") / "data") as running:
        yield running


SOME = material(12)
"""Of both kinds, few."""


async def test_an_attacker_hides_nothing_that_a_person_said(system: Spawned) -> None:
    """W9 By any way of the list, 23 memories a question; its words and its fact stay, too."""
    persons, _, _ = await attacked(system, SOME, 23, in_text=False)

    assert (persons.asked, persons.lost, persons.unmarked) == (3, [], [])


async def test_texts_that_imitate_a_question_do_not_come_before_a_persons(system: Spawned) -> None:
    """W9 S4 Of five texts a question none has the first place, nor is HIGH unmarked."""
    persons, _, _ = await attacked(system, SOME, 5, in_text=True)

    assert (persons.lost, persons.overtaken, persons.unmarked) == ([], [], [])


async def test_equals_alter_nothing_of_one_another_where_the_space_says_so(
    system: Spawned,
) -> None:
    """W9 In a space of claims another agent's words, facts and currency stay."""
    _, agents, _ = await attacked(system, SOME, 23, in_text=False, among_equals=True)

    assert [each for each in agents.lost if "out of results" not in each] == []


async def test_honest_corrections_act_or_are_settled_by_one_word(system: Spawned) -> None:
    """W9 One's own at once; an agent's of a person stand beside it, marked, with what to ask."""
    assert (await own_corrections(system, SOME)).failed == {}
    assert (await agents_corrections(system, SOME)).failed == {}


async def test_an_old_transcript_brings_no_retired_fact_back(system: Spawned) -> None:
    """W8 Imported again, by whichever key; nor is its turn shown as current."""
    assert await imported_again(system, SOME) == ([], [])
