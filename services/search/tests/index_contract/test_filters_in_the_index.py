"""Filters inside the index mean what `admits` says, for random memories and filters."""

import asyncio

import pytest
from concord_search.domain.errors import FilterUnsupported
from concord_search.domain.filters import MemoryFilter, Scope, Superseded, admits, matches
from concord_search.domain.instants import NEVER, AsOf
from concord_search.domain.memory import MemoryState, Origin, property_of
from concord_search.ports.index import Index, NearQuery
from concord_testing.embedders import WordEmbedder
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some
from search_lab import NOW, SPACE, START, Lab, make_index, plain_state

MODEL = WordEmbedder.model
TAGS = ("red", "green", "blue")
DOMAINS = ("", "work", "work.hr", "work.hr.pay", "workshop", "home.hr")
CONCEPTS = ("fox", "whale", "owl")
NAMES = ("Ann", "Bob", "notes.md")
PROPERTIES = (property_of("n", 1.0), property_of("n", "1.0"), property_of("n", True))
INSTANTS = tuple(NOW + at for at in (-30, -20, -10, 0, 10, 20, 30))

instant = some.sampled_from(INSTANTS)
past_instant = some.sampled_from([at for at in INSTANTS if at <= NOW])
open_instant = some.sampled_from((*INSTANTS, NEVER, NEVER))
properties = some.lists(some.sampled_from(PROPERTIES), unique=True).map(tuple)
tags = some.lists(some.sampled_from(TAGS), unique=True, max_size=2).map(tuple)
origins = some.lists(
    some.builds(
        Origin,
        speaker=some.sampled_from(NAMES),
        file=some.sampled_from(("", "notes.md")),
        trust=some.integers(1, 3),
    ),
    max_size=2,
).map(tuple)
said = some.fixed_dictionaries(
    {
        "kind": some.integers(1, 7),
        "edge_type": some.integers(1, 2),
        "importance": some.integers(1, 3),
        "origin": some.integers(0, 4),
        "words_origin": some.integers(0, 4),
        "principal": some.sampled_from(("", "ada", "helper")),
        "trust": some.integers(0, 3),
        "concepts": some.lists(some.sampled_from(CONCEPTS), unique=True).map(tuple),
        "domain": some.sampled_from(DOMAINS),
        "category": some.sampled_from(("", "x", "y")),
        "properties": properties,
        "tags": tags,
        "session_id": some.sampled_from(("", "s1", "s2")),
        "origins": origins,
        "created": past_instant,
        "valid_from": instant,
        "stated_until": open_instant,
        "superseded_from": open_instant,
        "record_from": past_instant,
    }
)
maybe_instant = some.none() | instant
plain_filter = some.builds(
    MemoryFilter,
    kinds=some.lists(some.integers(1, 7), max_size=3).map(tuple),
    tags_any=tags,
    tags_all=some.lists(some.sampled_from(TAGS), max_size=1).map(tuple),
    tags_none=some.lists(some.sampled_from(TAGS), max_size=1).map(tuple),
    domain=some.sampled_from(("", "", "", "work", "work.hr", "home")),
    concepts=some.lists(some.sampled_from(CONCEPTS), max_size=1).map(tuple),
    source=some.sampled_from(("", "", "", *NAMES)),
    min_trust=some.sampled_from((0, 0, 1, 2, 3)),
    session_id=some.sampled_from(("", "", "", "s1")),
    edge_types=some.sampled_from(((), (), (1,), (2,), (1, 2))),
    importances=some.sampled_from(((), (), (1, 2), (3,))),
    origins=some.sampled_from(((), (), (), (1, 2), (4,))),
    words_origins=some.sampled_from(((), (), (), (1, 2), (3,))),
    principal=some.sampled_from(("", "", "", "ada")),
    created_since=maybe_instant,
    created_before=some.none(),
    valid_since=some.none() | some.none() | instant,
    valid_before=some.none() | some.none() | instant,
    category=some.sampled_from(("", "", "", "x")),
    properties=some.sampled_from(((), (), (), *PROPERTIES)).map(lambda each: each and (each,)),
)
at_node = some.builds(
    MemoryFilter,
    node=some.just("fox"),
    about=some.sets(some.sampled_from(("m0", "m1", "m2", "unknown"))).map(frozenset),
)
one_part = some.one_of(
    some.builds(MemoryFilter, kinds=some.lists(some.integers(1, 7), min_size=1).map(tuple)),
    some.builds(MemoryFilter, tags_any=some.just(("red", "green"))),
    some.builds(MemoryFilter, domain=some.just("work")),
    some.builds(MemoryFilter, valid_before=instant),
    some.builds(MemoryFilter, created_before=instant, tags_none=some.just(("blue",))),
    at_node,
)
parts = some.lists(one_part, max_size=2).map(tuple)
nested_filter = some.builds(MemoryFilter, all_of=parts, any_of=parts, none_of=parts)


@given(
    each_said=some.lists(said, min_size=1, max_size=12),
    filters=some.lists(plain_filter | nested_filter | at_node, min_size=1, max_size=25),
)
@settings(
    max_examples=6,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_the_index_finds_exactly_what_is_admitted(
    tmp_path_factory: pytest.TempPathFactory,
    each_said: list[dict[str, object]],
    filters: list[MemoryFilter],
) -> None:
    """S2, T3, T4 every filter, and/or/not, in each mode, pushed into every branch."""
    states = [
        plain_state(f"m{at}", at + 1, "fox whale owl", **values)
        for at, values in enumerate(each_said)
    ]
    asyncio.run(_compare(make_index(tmp_path_factory.mktemp("index"), MODEL), states, filters))


async def _compare(index: Index, states: list[MemoryState], filters: list[MemoryFilter]) -> None:
    embedder = WordEmbedder()
    await index.open()
    try:
        await index.begin(SPACE, "e")
        lab = Lab(index, embedder)
        await lab.write(*states)
        for wanted in filters:
            for mode in Superseded:
                scope = Scope(NOW, mode, wanted)
                expected = {state.id for state in states if admits(scope, state)}
                found = await lab.ask("fox", superseded=mode, wanted=wanted)
                assert set(lab.ids(found)) == expected, (mode, wanted)
                query = NearQuery(scope, 50)
                near = await index.near(SPACE, embedder.vector("fox"), MODEL, query)
                assert {each.id for each in near} == expected
    finally:
        await index.close()


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (MemoryFilter(domain="work"), {"pay", "work"}),
        (MemoryFilter(domain="work.hr"), {"pay"}),
        (MemoryFilter(domain="wor"), set()),
        (MemoryFilter(source="Ann"), {"pay"}),
        (MemoryFilter(source="notes.md"), {"pay"}),
        (MemoryFilter(min_trust=2), {"pay", "shop"}),
        (MemoryFilter(min_trust=3), {"shop"}),
        (MemoryFilter(words_origins=(1, 4)), {"shop"}),
        (MemoryFilter(principal="ada"), {"shop"}),
        (MemoryFilter(none_of=(MemoryFilter(domain="work"),)), {"shop"}),
        (MemoryFilter(node="n", about=frozenset({"pay", "else"})), {"pay"}),
        (MemoryFilter(node="n", about=frozenset()), set()),
        (MemoryFilter(domain="work", none_of=(MemoryFilter(node="n", about=frozenset({"pay"})),)),
         {"work"}),
        (MemoryFilter(any_of=(MemoryFilter(domain="work.hr"), MemoryFilter(tags_any=("t",)))),
         {"pay", "shop"}),
    ],
)  # fmt: skip
async def test_filters_read_as_they_are_written(
    lab: Lab, wanted: MemoryFilter, expected: set[str]
) -> None:
    """S2 a domain stands for those below it, a source for speaker or file, trust for at least what
    the server established: what Ann's source claims raises nothing."""
    states = [
        plain_state(
            "pay", 1, domain="work.hr.pay", origins=(Origin("Ann", "notes.md", 3),), trust=2
        ),
        plain_state("work", 2, domain="work", origins=(Origin("Bob", "", 1),), trust=1),
        plain_state(
            "shop", 3, domain="workshop", tags=("t",), trust=3, words_origin=1, principal="ada"
        ),
    ]
    await lab.write(*states)

    found = await lab.ask("memory", wanted=wanted)

    assert set(lab.ids(found)) == expected
    assert {state.id for state in states if matches(wanted, state)} == expected


async def test_the_index_tells_writers_apart(lab: Lab) -> None:
    """W9 By numbers of its own: what one principal first wrote has one, and 0 is nobody's."""
    said = {"a": "ada", "b": "bob", "c": "ada", "d": ""}
    await lab.write(
        *(plain_state(i, at, principal=by) for at, (i, by) in enumerate(said.items(), 1))
    )

    found = await lab.ask("memory")

    ada, bob, again, nobody = (found.writers[lab.ids(found).index(each)] for each in said)
    assert (ada, nobody) == (again, 0)
    assert len({ada, bob, 0}) == 3


async def test_a_node_is_never_ignored(lab: Lab) -> None:
    """S2 The index does not know nodes: without the items there, it refuses."""
    await lab.write(plain_state("a", 1))

    with pytest.raises(FilterUnsupported):
        await lab.ask("memory", wanted=MemoryFilter(any_of=(MemoryFilter(node="n"),)))


async def test_a_node_of_then_finds_the_state_of_then(lab: Lab) -> None:
    """S2 T3 At a record time the items at a node are found in the state that they had."""
    await lab.write(plain_state("a", 1, "fox"), plain_state("b", 2, "fox"))
    await lab.write(plain_state("a", 3, "whale"))
    wanted = MemoryFilter(node="n", about=frozenset({"a"}))

    then = await lab.ask("fox", wanted=wanted, as_of=AsOf(record=START + 2_500_000))
    now = await lab.ask("fox", wanted=wanted)

    assert (lab.ids(then), then.seqs.tolist()) == (["a"], [1])
    assert (lab.ids(now), now.seqs.tolist()) == (["a"], [3])
