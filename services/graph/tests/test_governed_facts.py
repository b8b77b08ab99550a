"""Memories that state facts, changed by both principals: rehearsed, applied and undone (V8, M1)."""

from __future__ import annotations

from pathlib import Path

from concord.graph.v1 import governed_pb2
from concord.type.v1 import type_pb2
from governed_actions import Action, Applied, action_of, reverting
from graph_world import (
    CONSTITUTIVE,
    DAY,
    DESCRIPTIVE,
    SCOPES,
    START,
    Calls,
    Clock,
    Parties,
    World,
    fact,
    stamp,
    world,
)
from paging import pages
from transfers import export_of, restored


async def previewed(calls: Calls, action: Action) -> dict[str, str]:
    """Return the etags of what a change would touch that is there already."""
    request = governed_pb2.PreviewChangeRequest(action=action)
    items = (await calls.governed.PreviewChange(request)).items
    return {item.id: item.etag for item in items if item.etag}


async def agreed(calls: Calls, parties: Parties, action: Action) -> Applied:
    """Rehearse a change, and apply it as rehearsed; a rehearsal leaves nothing."""
    before = await calls.export()
    etags = await previewed(calls, action)
    assert await calls.export() == before
    return await parties.apply(calls, action, etags)


def adding(*facts: type_pb2.Fact) -> Action:
    """Return the action that adds what defines the agent, with facts."""
    memory = type_pb2.Memory(
        id="who", content="I keep promises.", facts=facts, edge_type=CONSTITUTIVE
    )
    return action_of("add_memory", memory=memory)


def stating(memory: type_pb2.Memory, *facts: type_pb2.Fact) -> Action:
    """Return the action that lets a memory state other facts."""
    changed = type_pb2.Memory(id=memory.id, etag=memory.etag, facts=facts)
    return action_of("update_memory", "facts", memory=changed)


async def test_facts_agreed_to_are_undone_as_they_were_made(home: Calls, parties: Parties) -> None:
    """V8 M1 G5 Adding promotes an edge that somebody states; undone, the export is as it was."""
    await home.add("Ada is careful.", id="d", facts=[fact("Me", "IS", "careful")])
    before = await home.export()
    action = adding(fact("Me", "IS", "careful"), fact("Me", "KEEPS", "promises"))

    done = await agreed(home, parties, action)
    made = await home.get_triple("Me", "KEEPS", "promises")
    promoted = await home.get_triple("Me", "IS", "careful")
    assert made.edge_type == promoted.edge_type == CONSTITUTIVE
    assert (list(made.sources), list(promoted.sources)) == (["who"], ["d", "who"])
    await agreed(home, parties, reverting(done))

    assert await home.export() == before
    assert (await home.get_triple("Me", "IS", "careful")).edge_type == DESCRIPTIVE


async def test_other_facts_agreed_to_are_undone(home: Calls, parties: Parties) -> None:
    """V8 M1 The memory states again what it did; it can be changed afterwards."""
    await agreed(home, parties, adding(fact("Me", "KEEPS", "promises"), fact("Me", "IS", "x")))
    before = await home.export()
    action = stating(await home.get("who"), fact("Me", "KEEPS", "calm"))
    done = await agreed(home, parties, action)
    assert [f.object for f in (await home.get("who")).facts] == ["calm"]

    await agreed(home, parties, reverting(done))

    assert await home.export() == before
    assert list((await home.get_triple("Me", "KEEPS", "promises")).sources) == ["who"]
    await agreed(home, parties, stating(await home.get("who"), fact("Me", "IS", "x")))
    assert [f.object for f in (await home.get("who")).facts] == ["x"]


async def test_what_others_state_outlives_an_undone_memory(home: Calls, parties: Parties) -> None:
    """V8 M1 A fact that another memory states since is then an edge of that one alone."""
    done = await agreed(home, parties, adding(fact("Me", "KEEPS", "promises")))
    await home.add("Too.", id="d", facts=[fact("Me", "KEEPS", "promises")])

    await agreed(home, parties, reverting(done))

    edge = await home.get_triple("Me", "KEEPS", "promises")
    assert (list(edge.sources), edge.edge_type) == (["d"], DESCRIPTIVE)
    assert (await home.get_node("Me")).name == "Me"
    await home.forget(await home.get("d"))
    assert not (await home.neighbors("Me")).neighbors


async def test_undone_facts_move(tmp_path: Path) -> None:
    """G15 V8 M1 A full export of what was undone makes the same space again."""
    clock = Clock()
    async with world(tmp_path / "a.db", clock=clock) as here:
        parties, calls = here.parties(), here.calls()
        await parties.enrol(calls)
        await agreed(calls, parties, adding(fact("Me", "KEEPS", "promises")))
        action = stating(await calls.get("who"), fact("Me", "KEEPS", "calm"))
        done = await agreed(calls, parties, action)
        await calls.add("Too.", id="d", facts=[fact("Me", "KEEPS", "calm")])
        await agreed(calls, parties, reverting(done))
        lines, state = await export_of(calls), await calls.export()
        assert list((await calls.get_triple("Me", "KEEPS", "calm")).sources) == ["d"]
    async with world(tmp_path / "b.db", clock=clock) as there:
        copy = there.calls()
        await restored(copy, lines, parties)
        assert (await export_of(copy))[1:] == lines[1:]
        assert await copy.export() == state


async def test_digests_tell_of_what_holds_at_another_time(
    live: World, home: Calls, parties: Parties
) -> None:
    """A2 A constitutive memory that has not begun, and one that has ended, are compared with the
    log like any other, page by page: it tells of them, too."""
    spans = {"ended": (START - 2 * DAY, START - DAY), "now": (START - DAY, 0)}
    spans["later"] = (START + DAY, START + 2 * DAY)
    for name, (begins, ends) in spans.items():
        action = adding()
        memory = action.add_memory.memory
        memory.id, memory.content = name, f"I keep promises: {name}."
        memory.valid_from.CopyFrom(stamp(begins))
        if ends:
            memory.valid_until.CopyFrom(stamp(ends))
        await parties.apply(home, action)
    asking = live.calls(scopes=SCOPES | {"audit:read"})
    request = governed_pb2.GetConstitutiveDigestsRequest(page_size=2)
    found = await pages(asking.governed.GetConstitutiveDigests, request)

    items = [item for page in found for item in page.items]
    told = {item.id: item.digest for item in items if item.kind == type_pb2.ITEM_KIND_MEMORY}
    assert sorted(told) == sorted(spans)
    assert len(set(told.values())) == len(spans)
