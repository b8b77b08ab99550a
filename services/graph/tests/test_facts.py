"""What memories state: edges that come, are shared and go with them, and end as they end."""

from concord.graph.v1 import feed_pb2, memory_pb2
from concord.type.v1 import type_pb2
from governed_actions import action_of
from graph_world import (
    CONSTITUTIVE,
    DAY,
    DESCRIPTIVE,
    NOT_FOUND,
    PROTECTED,
    START,
    Calls,
    Parties,
    World,
    edge_of,
    fact,
    known_at,
    micros,
    reason,
    refused,
    stamp,
)
from transfers import export_of, import_into

STANDING = feed_pb2.CHANGE_TYPE_STANDING_CHANGED


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


async def test_what_no_fact_can_say(home: Calls) -> None:
    """M1 G4 The field is named, and the memory is not kept."""
    for stated, field in (
        (fact("Ada", "SUPERSEDES", "x"), "relation"),
        (fact("Ada", "concord:principal", "x"), "relation"),
        (fact("concord:space", "R", "x"), "subject"),
        (fact("x", "R", "concord:space"), "object"),
    ):
        failure = await refused(home.add("x", id="m", facts=[stated]))

        assert failure.reason == "ERROR_REASON_RESERVED_NAME"
        assert [each.field for each in failure.violations] == [f"memory.facts[0].{field}"]
    assert await home.listed() == []


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


async def test_those_told_see_the_whole_of_it(home: Calls) -> None:
    """T2 The state at the event of a memory whose facts ended names the memory that follows."""
    await home.declare("IN")
    await home.add("old", id="old", facts=[fact("a", "IN", "x")], valid_from=stamp(START - DAY))
    await home.add("new", id="new", facts=[fact("a", "IN", "y")], valid_from=stamp(START))
    (event,) = [c for c in await home.changes() if c.type == STANDING and c.item_id == "old"]
    (state,) = await home.states(("old", event.seq))

    assert state.memory.supersession.is_superseded
    assert list(state.memory.supersession.head_ids) == ["new"]


async def test_facts_of_a_constitutive_memory_are_constitutive(
    home: Calls, parties: Parties
) -> None:
    """M1 G5 Made with consent only, and then nobody's alone."""
    stated = [fact("Me", "VALUES", "Honesty")]
    alone = home.add("I value honesty.", edge_type=CONSTITUTIVE, facts=stated)
    assert await reason(alone) == PROTECTED
    memory = type_pb2.Memory(
        id="creed", content="I value honesty.", edge_type=CONSTITUTIVE, facts=stated
    )
    creed = (await parties.apply(home, action_of("add_memory", memory=memory))).memory
    edge = await home.get_triple("Me", "VALUES", "Honesty")

    assert edge.edge_type == CONSTITUTIVE
    assert list(edge.sources) == ["creed"]
    assert await reason(home.delete_edge(edge)) == PROTECTED
    forget = action_of("forget_memory", id="creed", etag=creed.etag)
    await parties.apply(home, forget, {"creed": creed.etag})
    stays = await home.get_edge(edge.id)
    assert (stays.etag, stays.edge_type, list(stays.sources)) == (edge.etag, CONSTITUTIVE, [])


async def test_a_descriptive_memory_only_supports_a_constitutive_edge(
    live: World, home: Calls, parties: Parties
) -> None:
    """M1 G4 It gains and loses a source and changes nothing: facts are no way around consent."""
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
    home: Calls, parties: Parties
) -> None:
    """M1 G5 V6 The principals must have consented to the very edge that becomes constitutive."""
    plain = await home.put_edge("Me", "VALUES", "Honesty")
    memory = type_pb2.Memory(
        content="I value honesty.",
        edge_type=CONSTITUTIVE,
        facts=[fact("Me", "VALUES", "Honesty")],
    )
    action = action_of("add_memory", memory=memory)

    assert await reason(parties.apply(home, action, {})) == "ERROR_REASON_GRANT_INVALID"
    await parties.apply(home, action)
    assert (await home.get_edge(plain.id)).edge_type == CONSTITUTIVE


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


async def test_a_copy_goes_on_as_the_original(live: World) -> None:
    """M1 T2 M4 G15 In a copy, facts that are forgotten, restored and erased take their edges."""
    home, copy = live.calls("home"), live.calls("copy")
    await home.declare("LED_BY")
    await home.add("Ada leads.", id="a", facts=[fact("Acme", "LED_BY", "Ada")])
    await home.add("Ada leads, too.", id="b", facts=[fact("Acme", "LED_BY", "Ada")])
    await import_into(copy, await export_of(home))
    told = []
    for calls in (home, copy):
        edge = await calls.get_triple("Acme", "LED_BY", "Ada")
        gone = await calls.forget(await calls.get("a"))
        sources = [list((await calls.get_edge(edge.id)).sources)]
        await calls.forget(await calls.get("b"))
        counts = [len((await calls.neighbors("Acme")).neighbors)]
        await calls.restore(gone)
        live.clock.pass_(DAY)
        await calls.add("Bob leads.", id="c", facts=[fact("Acme", "LED_BY", "Bob")])
        over = (await calls.get("a")).supersession
        await calls.erase(await calls.get("a"))
        counts.append(len((await calls.neighbors("Acme", include_superseded=True)).neighbors))
        told.append((edge.id, sources, counts, over.is_superseded, list(over.head_ids)))

    assert told[0] == told[1]
    assert told[0][1:] == ([["b"]], [0, 1], True, ["c"])
