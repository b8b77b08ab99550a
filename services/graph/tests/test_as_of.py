"""Asking for another instant, on either axis, gives what a replay would."""

from concord.graph.v1 import memory_pb2, relation_pb2
from concord.type.v1 import type_pb2
from graph_world import (
    DAY,
    NOT_FOUND,
    SECOND,
    START,
    SUPERSEDES,
    Calls,
    World,
    by_id,
    known_at,
    micros,
    stamp,
    valid_at,
)


async def shown(home: Calls, start: str, as_of: type_pb2.AsOf | None = None) -> set[str]:
    """Return the targets around a node at an instant; paths must agree with neighbours."""
    reply = await home.neighbors(start, as_of=as_of)
    found = {n.edge.target.name for n in reply.neighbors}
    for target in found:
        assert (await home.paths(start, target, as_of=as_of, max_depth=1)).paths
    return found


async def test_valid_time(home: Calls) -> None:
    """T3 T4 The interval filter runs before the supersession filter; ends are exclusive."""
    await home.put_edge("a", "IN", "old", valid_from=START - 9 * DAY, valid_until=START - 5 * DAY)
    await home.put_edge("a", "IN", "new", valid_from=START - 5 * DAY)

    assert await shown(home, "a", valid_at(START - 10 * DAY)) == set()
    assert await shown(home, "a", valid_at(START - 9 * DAY)) == {"old"}
    assert await shown(home, "a", valid_at(START - 5 * DAY - 1)) == {"old"}
    assert await shown(home, "a", valid_at(START - 5 * DAY)) == {"new"}
    assert await shown(home, "a") == {"new"}


async def test_before_a_take_over_the_older_one_is_current(home: Calls) -> None:
    """T2 T3 Its supersession is told for the instant asked about."""
    old = await home.put_edge("a", "IN", "b", valid_from=START - 9 * DAY)
    await home.put_edge("a", "IN", "b", valid_from=START - DAY)
    (neighbor,) = (await home.neighbors("a", as_of=valid_at(START - 2 * DAY))).neighbors

    assert neighbor.edge.id == old.id
    assert not neighbor.edge.supersession.is_superseded
    assert list(neighbor.edge.supersession.head_ids) == [old.id]


async def test_a_request_is_known_from_one_instant_on(home: Calls) -> None:
    """T3 T1 Who asks what was known when a memory came sees what came with it, or none of it."""
    old = await home.add("Tea is served at four.")
    new = await home.add(f"Tea is served at five.\n\nSupersedes: [[memory:{old.id}]]")
    when = micros(new.create_time)

    for known, heads in ((when - 1, [old.id]), (when, [new.id])):
        seen = await home.memory.GetMemory(
            memory_pb2.GetMemoryRequest(id=old.id, as_of=known_at(known))
        )
        assert seen.memory.supersession.is_superseded == (known >= when)
        assert list(seen.memory.supersession.head_ids) == heads
    told = [change for change in await home.changes() if change.seq > 1]
    assert {micros(change.record_time) for change in told} == {when}


async def test_an_edge_and_the_ends_that_it_made_are_known_at_once(home: Calls) -> None:
    """T3 G2 At no instant is there an end without its edge."""
    edge = await home.put_edge("Ada", "LIVES_IN", "Oslo")
    times = {micros(change.record_time) for change in await home.changes()}

    assert times == {micros(edge.create_time)}
    assert await shown(home, "Ada", known_at(micros(edge.create_time))) == {"Oslo"}


async def test_what_a_batch_says_comes_one_after_the_other(home: Calls) -> None:
    """T3 T2 Of a functional relation the later item of a batch is the one that holds."""
    await home.relation.DeclareRelation(
        relation_pb2.DeclareRelationRequest(request_id="r", name="LIVES_IN", functional=True)
    )
    facts = [type_pb2.Fact(subject="Ada", relation="LIVES_IN", object=p) for p in ("Bonn", "Oslo")]
    memories = [type_pb2.Memory(content=f"Ada: {f.object}", facts=[f]) for f in facts]
    reply = await home.batch(memories)
    first, second = [
        (await home.memory.GetMemory(memory_pb2.GetMemoryRequest(id=r.memory_id))).memory
        for r in reply.results
    ]

    assert micros(first.create_time) < micros(second.create_time)
    assert await shown(home, "Ada") == {"Oslo"}
    assert await shown(home, "Ada", known_at(micros(first.create_time))) == {"Bonn"}


async def test_record_time_replays_what_was_known(live: World, home: Calls) -> None:
    """T3 Every state that the space was in is answerable from its history afterwards."""
    snapshots: list[tuple[int, set[str]]] = []

    async def remember() -> None:
        snapshots.append(
            (micros((await home.get_node("tick")).modify_time), await shown(home, "a"))
        )
        live.clock.pass_(SECOND)

    async def tick(number: int) -> None:
        await home.put_node("tick", label=f"T{number}")
        await remember()

    await home.put_node("a")
    await tick(0)
    b = await home.put_edge("a", "R", "b")
    await tick(1)
    c = await home.put_edge("a", "R", "c")
    await tick(2)
    record = (await home.relate(SUPERSEDES, c.id, b.id)).edge
    await tick(3)
    b = await home.get_edge(b.id)
    b.valid_until.CopyFrom(stamp(START + 365 * DAY))
    await home.update_edge(b, "valid_until")
    await home.delete_edge(record)
    await tick(4)
    await home.delete_edge(c)
    await tick(5)
    a = await home.get_node("a")
    a.name = "renamed"
    await home.update_node(a, "name")

    for time, wanted in snapshots:
        assert await shown(home, "a", known_at(time)) == wanted, time
    assert [wanted for _, wanted in snapshots] == [
        set(),
        {"b"},
        {"b", "c"},
        {"c"},
        {"b", "c"},
        {"b"},
    ]
    assert await shown(home, "renamed") == {"b"}
    assert (await home.neighbors("a")).status == NOT_FOUND
    assert (await home.neighbors("renamed", as_of=known_at(snapshots[0][0]))).status == NOT_FOUND


async def test_what_was_deleted_is_still_answerable_then(live: World, home: Calls) -> None:
    """T3 Node, edge and forgotten memory, by name and by id."""
    edge = await home.put_edge("a", "R", "b")
    memory = await home.add("m", id="m")
    about = await home.put_edge(by_id("m"), "ABOUT", "a")
    then = micros(about.create_time)
    live.clock.pass_(DAY)
    await home.forget(memory)
    await home.delete_node(await home.get_node("a"), cascade=True)
    as_of = known_at(then)

    assert (await home.neighbors("a")).status == NOT_FOUND
    for start in (type_pb2.EdgeEnd(name="a"), by_id(edge.source.id)):
        reply = await home.neighbors(start, as_of=as_of)
        assert {n.edge.id for n in reply.neighbors} == {edge.id, about.id}
        assert {n.edge.target.name for n in reply.neighbors} == {"a", "b"}
    assert len((await home.neighbors(by_id("m"), as_of=as_of)).neighbors) == 1


async def test_heads_as_known_then(live: World, home: Calls) -> None:
    """T3 A chain that grew later ends, then, where it ended."""
    edges = [await home.put_edge("a", f"R{n}", "b") for n in range(3)]
    await home.relate(SUPERSEDES, edges[1].id, edges[0].id)
    then = micros((await home.put_node("tick")).create_time)
    live.clock.pass_(DAY)
    await home.relate(SUPERSEDES, edges[2].id, edges[1].id)
    reply = await home.neighbors("a", as_of=known_at(then), include_superseded=True)
    heads = {n.edge.id: list(n.edge.supersession.head_ids) for n in reply.neighbors}

    assert heads[edges[0].id] == [edges[1].id]
    assert list((await home.get_edge(edges[0].id)).supersession.head_ids) == [edges[2].id]


async def test_the_future_counts_as_now_on_the_record_axis(home: Calls) -> None:
    """T3 What will be recorded is not known."""
    await home.put_edge("a", "R", "b")

    assert await shown(home, "a", known_at(START + 999 * DAY)) == {"b"}
    assert await shown(home, "a", valid_at(START + 999 * DAY)) == {"b"}
