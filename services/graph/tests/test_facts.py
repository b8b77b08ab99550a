"""What memories state: edges that come, are shared and go with them, and end as they end."""

import itertools

import pytest
from concord.graph.v1 import feed_pb2, governed_pb2, memory_pb2
from concord.type.v1 import type_pb2
from graph_world import (
    CONSTITUTIVE,
    DAY,
    DESCRIPTIVE,
    NOT_FOUND,
    PROTECTED,
    SECOND,
    START,
    Calls,
    World,
    edge_of,
    fact,
    micros,
    reason,
    refused,
    stamp,
)

STANDING = feed_pb2.CHANGE_TYPE_STANDING_CHANGED


def known_at(time: int) -> type_pb2.AsOf:
    """Ask what was known then to hold now."""
    return type_pb2.AsOf(record_time=stamp(time))


async def told(home: Calls, after: int) -> list[str]:
    """Return whose supersession was told to have changed, after a sequence number."""
    return [c.item_id for c in await home.changes(after=after) if c.type == STANDING]


async def head(home: Calls) -> int:
    """Return the newest sequence number."""
    return (await home.changes())[-1].seq


async def there(home: Calls, *triple: str) -> bool:
    """Return whether an edge of the triple is there."""
    reply = await home.neighbors(triple[0], include_superseded=True)
    return reply.status != NOT_FOUND and triple in {
        (n.edge.source.name, n.edge.relation, n.edge.target.name) for n in reply.neighbors
    }


async def test_a_fact_is_an_edge_that_lists_its_memory(home: Calls) -> None:
    """M1 The edge is made with the memory, its nodes too; the memory shows what it states."""
    stated = [
        fact("Ada", "WORKS_AT", "Acme", weight=0.5, properties={"role": "engineer"}),
        fact("Ada", "LIVES_IN", "Ulm"),
    ]
    memory = await home.add("Ada is an engineer at Acme.", id="m", facts=[*stated, stated[0]])
    edge = await home.get_triple("Ada", "WORKS_AT", "Acme")
    stated[1].weight = 1.0

    assert list(memory.facts) == list((await home.get("m")).facts) == stated
    assert list(edge.sources) == ["m"]
    assert (edge.weight, edge.properties["role"], edge.edge_type) == (0.5, "engineer", DESCRIPTIVE)
    assert not edge.HasField("valid_from")
    assert (await home.get_node("Acme")).label == "Entity"
    assert list((await home.get_triple("Ada", "LIVES_IN", "Ulm")).sources) == ["m"]
    (neighbor, _) = (await home.neighbors("Ada")).neighbors
    assert list(neighbor.edge.sources) == ["m"]


@pytest.mark.parametrize(
    ("stated", "field", "why"),
    [
        (fact("Ada", "SUPERSEDES", "x"), "memory.facts[0].relation", "RESERVED_NAME"),
        (fact("Ada", "concord:principal", "x"), "memory.facts[0].relation", "RESERVED_NAME"),
        (fact("concord:space", "R", "x"), "memory.facts[0].subject", "RESERVED_NAME"),
        (fact("x", "R", "concord:space"), "memory.facts[0].object", "RESERVED_NAME"),
        (fact("", "R", "x"), "memory.facts[0].subject", "FIELD_INVALID"),
        (fact("x", "R", "y", weight=1.5), "memory.facts[0].weight", "FIELD_INVALID"),
    ],
)
async def test_what_no_fact_can_say(
    home: Calls, stated: type_pb2.Fact, field: str, why: str
) -> None:
    """M1 G4 The field is named, and the memory is not kept."""
    failure = await refused(home.add("x", id="m", facts=[stated]))

    assert failure.reason == f"ERROR_REASON_{why}"
    assert [violation.field for violation in failure.violations] == [field]
    assert await home.listed() == []


async def test_at_most_ten_facts(home: Calls) -> None:
    """M1 0 to 10 triples."""
    many = [fact("Ada", "KNOWS", f"p{n}") for n in range(11)]

    assert await reason(home.add("x", facts=many)) == "ERROR_REASON_FIELD_INVALID"
    assert len((await home.add("x", facts=many[1:])).facts) == 10


async def test_an_edge_lives_as_long_as_somebody_states_it(home: Calls) -> None:
    """M1 M4 Support is counted: the last one forgotten takes the edge along, and brings it back."""
    one = await home.add("one", id="one", facts=[fact("Ada", "KNOWS", "Bob")])
    two = await home.add("two", id="two", facts=[fact("Ada", "KNOWS", "Bob")])
    edge = await home.get_triple("Ada", "KNOWS", "Bob")
    assert list(edge.sources) == ["one", "two"]
    await home.forget(one)
    assert list((await home.get_edge(edge.id)).sources) == ["two"]
    two = await home.forget(two)
    assert not await there(home, "Ada", "KNOWS", "Bob")
    await home.restore(two)
    back = await home.get_triple("Ada", "KNOWS", "Bob")

    assert back.id == edge.id
    assert list(back.sources) == ["two"]


async def test_an_edge_that_a_caller_wrote_stays(home: Calls) -> None:
    """M1 Whether the caller came first or the memory; the caller's words are kept."""
    first = await home.put_edge("Ada", "KNOWS", "Bob", weight=0.3)
    memory = await home.add(
        "m", facts=[fact("Ada", "KNOWS", "Bob", weight=0.9), fact("Ada", "LIKES", "tea")]
    )
    await home.put_edge("Ada", "LIKES", "tea")
    await home.forget(memory)
    known = await home.get_triple("Ada", "KNOWS", "Bob")

    assert (known.id, known.weight, list(known.sources)) == (first.id, 0.3, [])
    assert await there(home, "Ada", "LIKES", "tea")


async def test_an_update_moves_support(home: Calls) -> None:
    """M1 M4 What is no longer stated goes, what is stated comes, the rest keeps its edge."""
    memory = await home.add("m", id="m", facts=[fact("a", "R", "x"), fact("a", "R", "y")])
    kept = await home.get_triple("a", "R", "y")
    del memory.facts[0]
    memory.facts.append(fact("a", "R", "z"))
    memory = await home.update(memory, "facts")

    assert not await there(home, "a", "R", "x")
    assert (await home.get_triple("a", "R", "y")).id == kept.id
    assert await there(home, "a", "R", "z")
    memory.tags.append("t")
    memory = await home.update(memory, "tags")
    assert (await home.get_triple("a", "R", "y")).etag == kept.etag
    memory.valid_from.CopyFrom(stamp(START - DAY))
    await home.update(memory, "valid_from")
    moved = await home.get_triple("a", "R", "y")
    assert micros(moved.valid_from) == START - DAY
    assert not (await home.get_edge(moved.id)).supersession.predecessor_count


async def test_what_several_say_of_one_edge(home: Calls) -> None:
    """M1 The largest weight, the latest end, every property; less when one of them goes."""
    when = {"valid_from": stamp(START - 9 * DAY)}
    first = await home.add(
        "one",
        facts=[fact("a", "R", "b", weight=0.4, properties={"p": 1.0, "q": "x"})],
        valid_until=stamp(START + 5 * DAY),
        **when,
    )
    second = await home.add(
        "two",
        facts=[fact("a", "R", "b", weight=0.6, properties={"p": 2.0})],
        valid_until=stamp(START + 3 * DAY),
        **when,
    )
    both = await home.get_triple("a", "R", "b")
    await home.forget(first)
    one = await home.get_triple("a", "R", "b")

    assert both.id == one.id
    assert (both.weight, dict(both.properties)) == (0.6, {"p": 2.0, "q": "x"})
    assert micros(both.valid_until) == START + 5 * DAY
    assert (one.weight, dict(one.properties)) == (0.6, {"p": 2.0})
    assert micros(one.valid_until) == START + 3 * DAY
    second.facts[0].weight = 0.1
    await home.update(second, "facts")
    assert (await home.get_triple("a", "R", "b")).weight == 0.1


async def test_a_stated_edge_is_not_taken_away(home: Calls) -> None:
    """M1 A memory must not say what the graph does not: neither delete, move nor cascade."""
    memory = await home.add("m", facts=[fact("a", "R", "b")])
    edge = await home.get_triple("a", "R", "b")

    assert await reason(home.delete_edge(edge)) == "ERROR_REASON_ITEM_STATE"
    edge.target.CopyFrom(type_pb2.EdgeEnd(name="c"))
    assert await reason(home.update_edge(edge, "target")) == "ERROR_REASON_ITEM_STATE"
    node = await home.get_node("b")
    assert await reason(home.delete_node(node, cascade=True)) == "ERROR_REASON_ITEM_STATE"
    await home.forget(memory)
    assert await home.delete_node(await home.get_node("b"), cascade=True) == 0


async def test_a_memory_whose_facts_have_ended_is_superseded(home: Calls) -> None:
    """T2 M1 By the memory that states the next value; in lists, by its head, and back again."""
    await home.declare("LIVES_IN")
    old = await home.add(
        "Ada lives in Ulm.",
        id="old",
        facts=[fact("Ada", "LIVES_IN", "Ulm")],
        valid_from=stamp(START - 9 * DAY),
    )
    seq = await head(home)
    new = await home.add(
        "Ada moved to Bonn.",
        id="new",
        facts=[fact("Ada", "LIVES_IN", "Bonn")],
        valid_from=stamp(START - 5 * DAY),
    )
    supersession = (await home.get("old")).supersession

    assert not old.supersession.is_superseded
    assert await told(home, seq) == [(await home.get_triple("Ada", "LIVES_IN", "Ulm")).id, "old"]
    assert supersession.is_superseded
    assert micros(supersession.superseded_from) == START - 5 * DAY
    assert micros(supersession.effective_valid_until) == START - 5 * DAY
    assert list(supersession.head_ids) == ["new"]
    assert (await home.get("new")).supersession.predecessor_count == 1
    assert await home.listed() == ["new"]
    then = type_pb2.AsOf(valid_time=stamp(START - 6 * DAY))
    assert await home.listed(as_of=then) == ["old"]
    seq = await head(home)
    await home.forget(new)
    assert "old" in await told(home, seq)
    assert await home.listed() == ["old"]
    assert not (await home.get("old")).supersession.is_superseded


async def test_those_told_see_the_whole_of_it(home: Calls) -> None:
    """T2 The state at the event of a memory whose facts ended names the memory that follows."""
    await home.declare("IN")
    await home.add("old", id="old", facts=[fact("a", "IN", "x")], valid_from=stamp(START - DAY))
    await home.add("new", id="new", facts=[fact("a", "IN", "y")], valid_from=stamp(START))
    (event,) = [c for c in await home.changes() if c.type == STANDING and c.item_id == "old"]
    (state,) = await home.states(("old", event.seq))

    assert state.memory.supersession.is_superseded
    assert list(state.memory.supersession.head_ids) == ["new"]


async def test_a_late_import_is_born_superseded(home: Calls) -> None:
    """T2 Its first state says so: what arrives late and was replaced is never current."""
    await home.declare("IN")
    await home.add("new", id="new", facts=[fact("a", "IN", "y")], valid_from=stamp(START))
    old = await home.add(
        "old", id="old", facts=[fact("a", "IN", "x")], valid_from=stamp(START - DAY)
    )
    (created,) = [c for c in await home.changes() if c.item_id == "old"]
    (state,) = await home.states(("old", created.seq))

    assert old.supersession.is_superseded
    assert state.memory.supersession.is_superseded
    assert list(state.memory.supersession.head_ids) == ["new"]


async def test_all_of_its_facts_must_have_ended(home: Calls) -> None:
    """T2 One that still holds keeps the memory current; then every follower is a head."""
    await home.declare("IN")
    await home.declare("AT")
    await home.add(
        "both",
        id="both",
        facts=[fact("a", "IN", "x"), fact("a", "AT", "p")],
        valid_from=stamp(START - 9 * DAY),
    )
    await home.add("in", id="in", facts=[fact("a", "IN", "y")], valid_from=stamp(START - 5 * DAY))
    assert not (await home.get("both")).supersession.is_superseded
    await home.add("at", id="at", facts=[fact("a", "AT", "q")], valid_from=stamp(START - 3 * DAY))
    supersession = (await home.get("both")).supersession

    assert micros(supersession.superseded_from) == START - 3 * DAY
    assert list(supersession.head_ids) == ["at", "in"]


async def test_a_fact_may_end_by_itself(live: World, home: Calls) -> None:
    """T2 At its stated end; nobody follows, so nobody is its head."""
    memory = await home.add(
        "m",
        id="m",
        facts=[fact("a", "IN", "x")],
        valid_from=stamp(START - DAY),
        valid_until=stamp(START + DAY),
    )
    assert not memory.supersession.is_superseded
    live.clock.pass_(DAY)
    supersession = (await home.get("m")).supersession

    assert supersession.is_superseded
    assert micros(supersession.effective_valid_until) == START + DAY
    assert list(supersession.head_ids) == []


async def test_the_same_value_told_by_several(home: Calls) -> None:
    """T2 M1 All that state a value end with it, and follow to all that state the next."""
    await home.declare("IN")
    for name, target, day in (("a1", "x", 9), ("a2", "x", 9), ("b1", "y", 5), ("b2", "y", 5)):
        await home.add(
            name, id=name, facts=[fact("s", "IN", target)], valid_from=stamp(START - day * DAY)
        )

    for name in ("a1", "a2"):
        assert list((await home.get(name)).supersession.head_ids) == ["b1", "b2"]
    assert sorted(await home.listed()) == ["b1", "b2"]


async def test_what_was_stated_when(live: World, home: Calls) -> None:
    """T3 M1 As of a record time: the facts, sources and supersession of then."""
    await home.declare("IN")
    memory = await home.add(
        "m", id="m", facts=[fact("a", "IN", "x")], valid_from=stamp(START - 9 * DAY)
    )
    edge = await home.get_triple("a", "IN", "x")
    instants = [micros((await home.put_node("tick")).modify_time)]
    live.clock.pass_(SECOND)
    other = await home.add(
        "o", id="o", facts=[fact("a", "IN", "y")], valid_from=stamp(START - 5 * DAY)
    )
    instants.append(micros(other.modify_time))
    live.clock.pass_(SECOND)
    del memory.facts[:]
    await home.update(memory, "facts")

    async def then(instant: int) -> tuple[bool, list[str], list[str]]:
        known = known_at(instant)
        found = (await home.neighbors("a", as_of=known, include_superseded=True)).neighbors
        sources = [s for n in found if n.edge.id == edge.id for s in n.edge.sources]
        listed = await home.listed(as_of=known)
        return bool(sources), sources, sorted(listed)

    assert await then(instants[0]) == (True, ["m"], ["m"])
    assert await then(instants[1]) == (True, ["m"], ["o"])
    assert sorted(await home.listed()) == ["m", "o"]


@pytest.mark.parametrize("stated_times", [True, False])
async def test_import_order_does_not_matter(live: World, stated_times: bool) -> None:
    """M1 T2 Every permutation of a chain of five gives the same state, and the same values."""
    towns = ["Ulm", "Bonn", "Kiel", "Rome", "Oslo"]
    states, current = set(), set()
    for number, order in enumerate(itertools.permutations(range(5))):
        if number % 7:
            continue  # every seventh, to be quick
        home = live.calls(f"space-{number}")
        await home.declare("LIVES_IN")
        for place in order:
            before = f" Supersedes: [[memory:m{place - 1}]]" if place else ""
            memory = type_pb2.Memory(
                id=f"m{place}",
                content=f"Ada lives in {towns[place]}.{before}",
                facts=[fact("Ada", "LIVES_IN", towns[place]), fact("Ada", "KNOWS", "Bob")],
            )
            if stated_times:
                memory.valid_from.CopyFrom(stamp(START - (9 - place) * DAY))
            await home.add_memory(memory)
        states.add("\n".join(await home.export()))
        reply = await home.neighbors("Ada", filter={"relations": ["LIVES_IN"]})
        current.add((*(n.edge.target.name for n in reply.neighbors), *await home.listed()))

    assert len(states) == 1
    if stated_times:
        assert current == {("Oslo", "m4")}


async def test_facts_of_a_constitutive_memory_are_constitutive(live: World, home: Calls) -> None:
    """M1 G5 Made with consent only, and then nobody's alone."""
    parties = live.parties()
    await parties.enrol(home)
    stated = [fact("Me", "VALUES", "Honesty")]
    alone = home.add("I value honesty.", edge_type=CONSTITUTIVE, facts=stated)
    assert await reason(alone) == PROTECTED
    action = governed_pb2.GovernedAction()
    action.add_memory.request_id = "creed"
    action.add_memory.memory.CopyFrom(
        type_pb2.Memory(
            id="creed", content="I value honesty.", edge_type=CONSTITUTIVE, facts=stated
        )
    )
    creed = (await parties.apply(home, action)).memory
    edge = await home.get_triple("Me", "VALUES", "Honesty")

    assert edge.edge_type == CONSTITUTIVE
    assert list(edge.sources) == ["creed"]
    assert await reason(home.delete_edge(edge)) == PROTECTED
    forget = governed_pb2.GovernedAction()
    forget.forget_memory.request_id = "forget"
    forget.forget_memory.id = "creed"
    forget.forget_memory.etag = creed.etag
    await parties.apply(home, forget, {"creed": creed.etag})
    stays = await home.get_edge(edge.id)
    assert (stays.etag, stays.edge_type, list(stays.sources)) == (edge.etag, CONSTITUTIVE, [])


async def test_a_descriptive_memory_only_supports_a_constitutive_edge(
    live: World, home: Calls
) -> None:
    """M1 G4 It gains and loses a source and changes nothing: facts are no way around consent."""
    parties = live.parties()
    await parties.enrol(home)
    edge = await parties.constitutive_edge(home, "Me", "VALUES", "Honesty")
    stated = fact("Me", "VALUES", "Honesty", weight=0.1, properties={"why": "spite"})
    memory = await home.add(
        "m", id="m", facts=[stated], valid_from=stamp(START - DAY), valid_until=stamp(START + DAY)
    )
    shown = await home.get_edge(edge.id)

    assert list(shown.sources) == ["m"]
    assert (shown.etag, shown.weight, dict(shown.properties)) == (edge.etag, edge.weight, {})
    live.clock.pass_(2 * DAY)
    memory = await home.forget(memory)
    await home.restore(memory)
    await home.forget(await home.get("m"))
    after = await home.get_edge(edge.id)
    assert (after.etag, list(after.sources)) == (edge.etag, [])
    assert not after.supersession.is_superseded


async def test_a_constitutive_memory_promotes_what_it_states_with_consent_to_that_edge(
    live: World, home: Calls
) -> None:
    """M1 G5 V6 The principals must have consented to the very edge that becomes constitutive."""
    parties = live.parties()
    await parties.enrol(home)
    plain = await home.put_edge("Me", "VALUES", "Honesty")
    action = governed_pb2.GovernedAction()
    action.add_memory.request_id = "creed"
    action.add_memory.memory.CopyFrom(
        type_pb2.Memory(
            content="I value honesty.",
            edge_type=CONSTITUTIVE,
            facts=[fact("Me", "VALUES", "Honesty")],
        )
    )

    assert await reason(parties.apply(home, action, {})) == "ERROR_REASON_GRANT_INVALID"
    await parties.apply(home, action)
    assert (await home.get_edge(plain.id)).edge_type == CONSTITUTIVE


async def test_a_constitutive_memory_does_not_end_with_its_facts(live: World, home: Calls) -> None:
    """G4 T2 Nothing in time hides what defines the agent."""
    parties = live.parties()
    await parties.enrol(home)
    await home.declare("VALUES")
    plain = await home.add(
        "core", id="core", facts=[fact("Me", "VALUES", "Thrift")], valid_from=stamp(START - DAY)
    )
    edge = await home.get_triple("Me", "VALUES", "Thrift")
    action = governed_pb2.GovernedAction()
    action.update_memory.request_id = "promote"
    action.update_memory.memory.CopyFrom(plain)
    action.update_memory.memory.edge_type = CONSTITUTIVE
    action.update_memory.update_mask.paths.append("edge_type")
    assert await reason(parties.apply(home, action, {"core": plain.etag})) == (
        "ERROR_REASON_GRANT_INVALID"
    )
    await parties.apply(home, action)
    await home.put_edge("Me", "VALUES", "Money", valid_from=START)

    assert (await home.get_edge(edge.id)).edge_type == CONSTITUTIVE
    assert not (await home.get("core")).supersession.is_superseded


async def test_a_batch_states_facts_too(home: Calls) -> None:
    """M1 M6 All of it or nothing, and each memory that ends is told once."""
    await home.declare("IN")
    memories = [
        type_pb2.Memory(
            id=f"m{n}",
            content=f"m{n}",
            facts=[fact("a", "IN", f"t{n}")],
            valid_from=stamp(START - (9 - n) * DAY),
        )
        for n in range(5)
    ]
    reserved = type_pb2.Memory(content="x", facts=[fact("a", "AMENDS", "b")])
    reply = await home.batch([*memories, reserved])
    assert [(error.index, error.reason) for error in reply.errors] == [
        (5, "ERROR_REASON_RESERVED_NAME")
    ]
    assert await home.listed() == []
    seq = await head(home)
    await home.batch(memories)
    ended = [item_id for item_id in await told(home, seq) if item_id.startswith("m")]
    assert sorted(ended) == ["m0", "m1", "m2", "m3"]
    again = await home.batch(memories)

    assert [result.outcome for result in again.results] == [2] * 5
    assert await home.listed() == ["m4"]


async def test_a_fact_says_again_what_a_caller_said(live: World, home: Calls) -> None:
    """G2 M1 Without a stated time the current edge of the triple is meant."""
    await home.declare("IN")
    first = await home.put_edge("a", "IN", "x", valid_from=START - 9 * DAY)
    memory = await home.add("m", id="m", facts=[fact("a", "IN", "x")])
    assert list((await home.get_edge(first.id)).sources) == ["m"]
    live.clock.pass_(DAY)
    await home.upsert(edge_of("a", "IN", "y"))
    memory.valid_until.CopyFrom(stamp(START + 99 * DAY))
    await home.update(memory, "valid_until")
    assert list((await home.get_edge(first.id)).sources) == ["m"]
    await home.add("again", id="again", facts=[fact("a", "IN", "x")])
    value = [n.edge for n in (await home.neighbors("a")).neighbors]

    assert [(e.target.name, list(e.sources)) for e in value] == [("x", ["again"])]


async def test_erasing_a_memory_erases_what_only_it_states(home: Calls) -> None:
    """M4 M1 Its facts go with it; those that another memory or a caller states stay."""
    stated = [fact("Ada", "OWES", "Bob"), fact("Ada", "KNOWS", "Bob"), fact("Ada", "LIKES", "tea")]
    memory = await home.add("m", id="m", facts=stated)
    other = await home.add("o", id="o", facts=stated[1:2])
    await home.put_edge("Ada", "LIKES", "tea")
    alone = await home.get_triple("Ada", "OWES", "Bob")
    await home.erase(memory)
    reply = await home.neighbors("Ada", include_superseded=True)
    left = {n.edge.relation: list(n.edge.sources) for n in reply.neighbors}

    assert left == {"KNOWS": [other.id], "LIKES": []}
    erased = await home.memory.GetMemory(memory_pb2.GetMemoryRequest(id="m", peek=True))
    assert list(erased.memory.facts) == []
    assert "OWES" not in repr(await home.export())
    lost = known_at(micros(alone.create_time) + 1)
    then = await home.neighbors("Ada", as_of=lost, include_superseded=True)
    assert "OWES" not in {n.edge.relation for n in then.neighbors}
