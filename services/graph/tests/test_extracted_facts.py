"""Facts that programs took from texts end no other value until somebody states them (M1, D13)."""

import pytest
from concord.type.v1 import type_pb2
from governed_actions import action_of
from graph_world import (
    CONSTITUTIVE,
    DAY,
    SECOND,
    START,
    Calls,
    Parties,
    World,
    fact,
    known_at,
    micros,
    refused,
    stamp,
)

OLD, TAKEN = ("Ada", "LIVES_IN", "Ulm"), ("Ada", "LIVES_IN", "Bonn")


async def taken(home: Calls) -> type_pb2.Memory:
    """A value that was stated, and a later one that was only extracted."""
    await home.declare("LIVES_IN")
    await home.put_edge(*OLD, valid_from=START - DAY)
    return await home.add("Ada moved to Bonn.", id="m", facts=[fact(*TAKEN, extracted=True)])


async def ended(home: Calls, *triple: str) -> bool:
    """Whether a value gave way to another."""
    return bool((await home.get_triple(*triple)).supersession.is_superseded)


async def test_an_extracted_fact_ends_no_value(home: Calls) -> None:
    """T2 D13 It is marked, and stands beside what was stated before; nothing gives way."""
    memory = await taken(home)
    edge = await home.get_triple(*TAKEN)
    message = type_pb2.Memory(content="Ada is in Kiel.")
    message.facts.add(subject="Ada", relation="LIVES_IN", object="Kiel", extracted=True)
    assert not (await home.add_memory(message)).HasField("gave_way")

    assert edge.extracted
    assert not (await home.get_triple(*OLD)).extracted
    assert [each.extracted for each in memory.facts] == [True]
    assert not await ended(home, *OLD)
    assert edge.supersession.predecessor_count == 0


async def test_a_stated_value_ends_an_extracted_one(live: World, home: Calls) -> None:
    """T2 D13 As it would a stated one; the memory that states it ends with it."""
    await taken(home)
    live.clock.pass_(3600 * SECOND)
    await home.put_edge("Ada", "LIVES_IN", "Kiel")

    assert await ended(home, *TAKEN)
    assert await ended(home, *OLD)
    assert (await home.get("m")).supersession.is_superseded
    assert (await home.get_triple("Ada", "LIVES_IN", "Kiel")).supersession.predecessor_count == 2


async def _by_edge(home: Calls) -> None:
    await home.put_edge(*TAKEN)


async def _by_another_memory(home: Calls) -> None:
    await home.add("She lives in Bonn now.", facts=[fact(*TAKEN)])


async def _by_the_same_words(home: Calls) -> None:
    await home.add("Ada moved to Bonn.", facts=[fact(*TAKEN)])


async def _by_an_update(home: Calls) -> None:
    memory = await home.get("m")
    memory.facts[0].extracted = False
    await home.update(memory, "facts")


@pytest.mark.parametrize(
    "confirm", [_by_edge, _by_another_memory, _by_the_same_words, _by_an_update]
)
async def test_stating_a_fact_confirms_it(live: World, home: Calls, confirm: object) -> None:
    """T2 T3 D13 From then on it ends what stood before it; what was known before stays known."""
    await taken(home) if confirm is not _by_the_same_words else await _unkeyed(home)
    live.clock.pass_(SECOND)
    before = live.clock()
    live.clock.pass_(3600 * SECOND)
    await confirm(home)  # type: ignore[operator] # one of the functions above
    edge = await home.get_triple(*TAKEN)

    assert not edge.extracted
    assert await ended(home, *OLD)
    then = await home.neighbors("Ada", as_of=known_at(before))
    assert {n.edge.target.name for n in then.neighbors} == {"Ulm", "Bonn"}


async def _unkeyed(home: Calls) -> None:
    await home.declare("LIVES_IN")
    await home.put_edge(*OLD, valid_from=START - DAY)
    await home.add("Ada moved to Bonn.", facts=[fact(*TAKEN, extracted=True)])


async def test_it_is_extracted_again_once_nobody_states_it(live: World, home: Calls) -> None:
    """M1 D13 When the memory that confirmed it is forgotten, it ends no value any more."""
    await taken(home)
    live.clock.pass_(3600 * SECOND)
    stating = await home.add("She lives in Bonn now.", facts=[fact(*TAKEN)])
    assert await ended(home, *OLD)
    await home.forget(stating)

    assert (await home.get_triple(*TAKEN)).extracted
    assert not await ended(home, *OLD)


async def test_no_extracted_fact_defines_the_agent(home: Calls, parties: Parties) -> None:
    """G4 D13 Neither with a new memory nor by promoting one, whoever consents."""
    memory = type_pb2.Memory(
        content="Ada is honest.",
        facts=[fact("Ada", "IS", "honest", extracted=True)],
        edge_type=CONSTITUTIVE,
    )
    failure = await refused(parties.apply(home, action_of("add_memory", memory=memory)))

    assert [each.field for each in failure.violations] == ["memory.facts[0].extracted"]


async def test_an_extracted_value_keeps_its_stated_time(home: Calls) -> None:
    """T2 D13 A stated one that began earlier is not ended by it, a later one ends it from there."""
    await home.declare("LIVES_IN")
    await home.add(
        "m", valid_from=stamp(START - 9 * DAY), facts=[fact(*TAKEN, extracted=True)], id="m"
    )
    await home.put_edge(*OLD, valid_from=START - DAY)
    edge = await home.get_triple(*TAKEN)

    assert micros(edge.supersession.superseded_from) == START - DAY


async def test_an_extracted_fact_goes_with_the_words_that_stated_it(home: Calls) -> None:
    """M4 D13 Stated facts stay, and so does what the update names."""
    said, other = fact("Ada", "HAS_PET", "Momo"), fact(*TAKEN, extracted=True)
    memory = await home.add("Ada moved to Bonn.", id="m", facts=[said, other])
    memory.tags.append("city")
    tagged = await home.update(memory, "tags")
    tagged.content = "Ada moved to Kiel."
    changed = await home.update(tagged, "content")
    changed.content = "Ada moved to Bonn again."
    changed.facts.append(other)
    named = await home.update(changed, "content", "facts")

    assert [each.object for each in tagged.facts] == ["Momo", "Bonn"]
    assert [each.object for each in changed.facts[:1]] == ["Momo"]
    assert [(each.object, each.extracted) for each in named.facts] == [
        ("Momo", False),
        ("Bonn", True),
    ]
