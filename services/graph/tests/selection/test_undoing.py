"""Undoing what a principal did since a time (W9)."""

from claim_world import ada, helper
from graph_world import DAY, Calls, World, fact, stamp
from undo_world import by_principal, left, look, undo, undone


async def test_what_an_agent_did_since_a_time_is_as_it_was_before(live: World, home: Calls) -> None:
    """W9 New memories, edges, nodes and facts go; changed, forgotten and superseded ones come back,
    and the export of the space is as it was then."""
    agent, person = helper(live), ada(live)
    old = await agent.add("Tea is at four.", facts=[fact("tea", "AT", "four")])
    other = await agent.add("Cake is on Friday.", facts=[fact("cake", "ON", "Friday")])
    edge = await agent.put_edge("cat", "SITS_ON", "mat", weight=0.5)
    node = await agent.put_node("dog", label="Animal")
    await person.add("I like tea.", facts=[fact("tea", "KIND", "drink")])
    before = await home.export()
    live.clock.pass_(DAY)
    since = stamp(live.clock.now)
    newer = await agent.add(
        f"Tea is at six.\n\nSupersedes: [[memory:{old.id}]]", facts=[fact("tea", "AT", "six")]
    )
    await agent.forget(await agent.get(other.id))
    old_now = await agent.get(old.id)
    old_now.content = "Tea is at five."
    await agent.update(old_now, "content")
    edge.weight = 0.9
    await agent.update_edge(edge, "weight")
    await agent.put_edge("bird", "SITS_ON", "tree")
    node.name = "hound"
    await agent.update_node(node, "name")
    await agent.hold("A note.")
    assert await home.export() != before

    seen = await look(person, by_principal("helper", since))
    assert await home.export() != before
    summary = await undo(person, by_principal("helper", since))

    assert await home.export() == before
    assert left(summary) == {}
    assert undone(seen)[newer.id] == 0
    assert undone(seen)[old.id] == 1
