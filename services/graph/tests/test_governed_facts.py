"""Memories that state facts, changed by both principals: rehearsed, applied and undone (V8, M1)."""

from __future__ import annotations

from pathlib import Path

import pytest
from concord.graph.v1 import governed_pb2
from concord.type.v1 import type_pb2
from google.protobuf.field_mask_pb2 import FieldMask
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
from transfers import export_of, restored

MAY_REHEARSE = SCOPES | {"governed:read"}


@pytest.fixture
def home(live: World) -> Calls:
    """Calls that may rehearse, too."""
    return live.calls(scopes=MAY_REHEARSE)


async def previewed(calls: Calls, action: governed_pb2.GovernedAction) -> dict[str, str]:
    """Return the etags of what a change would touch that is there already."""
    request = governed_pb2.PreviewChangeRequest(action=action)
    items = (await calls.governed.PreviewChange(request)).items
    return {item.id: item.etag for item in items if item.etag}


async def agreed(
    calls: Calls, parties: Parties, action: governed_pb2.GovernedAction
) -> governed_pb2.ApplyGovernedChangeResponse:
    """Rehearse a change, and apply it as rehearsed; a rehearsal leaves nothing."""
    before = await calls.export()
    etags = await previewed(calls, action)
    assert await calls.export() == before
    return await parties.apply(calls, action, etags)


async def undone(
    calls: Calls, parties: Parties, done: governed_pb2.ApplyGovernedChangeResponse
) -> None:
    """Undo what a change did."""
    action = governed_pb2.GovernedAction()
    action.revert_items.request_id = calls.request_id()
    for effect in done.effects:
        action.revert_items.items.add(
            id=effect.id, revision=effect.before_revision, expected_revision=effect.after_revision
        )
    await agreed(calls, parties, action)


def adding(calls: Calls, *facts: type_pb2.Fact) -> governed_pb2.GovernedAction:
    """Return the action that adds what defines the agent, with facts."""
    action = governed_pb2.GovernedAction()
    action.add_memory.request_id = calls.request_id()
    memory = type_pb2.Memory(
        id="who", content="I keep promises.", facts=facts, edge_type=CONSTITUTIVE
    )
    action.add_memory.memory.CopyFrom(memory)
    return action


def stating(
    calls: Calls, memory: type_pb2.Memory, *facts: type_pb2.Fact
) -> governed_pb2.GovernedAction:
    """Return the action that lets a memory state other facts."""
    action = governed_pb2.GovernedAction()
    changed = type_pb2.Memory(id=memory.id, etag=memory.etag, facts=facts)
    action.update_memory.request_id = calls.request_id()
    action.update_memory.memory.CopyFrom(changed)
    action.update_memory.update_mask.CopyFrom(FieldMask(paths=["facts"]))
    return action


async def test_facts_agreed_to_are_undone_as_they_were_made(live: World, home: Calls) -> None:
    """V8 M1 G5 Adding promotes an edge that somebody states; undone, the export is as it was."""
    parties = live.parties()
    await parties.enrol(home)
    await home.add("Ada is careful.", id="d", facts=[fact("Me", "IS", "careful")])
    before = await home.export()
    action = adding(home, fact("Me", "IS", "careful"), fact("Me", "KEEPS", "promises"))

    done = await agreed(home, parties, action)
    made = await home.get_triple("Me", "KEEPS", "promises")
    promoted = await home.get_triple("Me", "IS", "careful")
    assert made.edge_type == promoted.edge_type == CONSTITUTIVE
    assert (list(made.sources), list(promoted.sources)) == (["who"], ["d", "who"])
    await undone(home, parties, done)

    assert await home.export() == before
    assert (await home.get_triple("Me", "IS", "careful")).edge_type == DESCRIPTIVE


async def test_other_facts_agreed_to_are_undone(live: World, home: Calls) -> None:
    """V8 M1 The memory states again what it did; it can be changed afterwards."""
    parties = live.parties()
    await parties.enrol(home)
    await agreed(
        home, parties, adding(home, fact("Me", "KEEPS", "promises"), fact("Me", "IS", "x"))
    )
    before = await home.export()
    action = stating(home, await home.get("who"), fact("Me", "KEEPS", "calm"))
    done = await agreed(home, parties, action)
    assert [f.object for f in (await home.get("who")).facts] == ["calm"]

    await undone(home, parties, done)

    assert await home.export() == before
    assert list((await home.get_triple("Me", "KEEPS", "promises")).sources) == ["who"]
    await agreed(home, parties, stating(home, await home.get("who"), fact("Me", "IS", "x")))
    assert [f.object for f in (await home.get("who")).facts] == ["x"]


async def test_what_others_state_outlives_an_undone_memory(live: World, home: Calls) -> None:
    """V8 M1 A fact that another memory states since is then an edge of that one alone."""
    parties = live.parties()
    await parties.enrol(home)
    done = await agreed(home, parties, adding(home, fact("Me", "KEEPS", "promises")))
    await home.add("Too.", id="d", facts=[fact("Me", "KEEPS", "promises")])

    await undone(home, parties, done)

    edge = await home.get_triple("Me", "KEEPS", "promises")
    assert (list(edge.sources), edge.edge_type) == (["d"], DESCRIPTIVE)
    assert (await home.get_node("Me")).name == "Me"
    await home.forget(await home.get("d"))
    assert not (await home.neighbors("Me")).neighbors


async def test_undone_facts_move(tmp_path: Path) -> None:
    """G15 V8 M1 A full export of what was undone makes the same space again."""
    clock = Clock()
    async with world(tmp_path / "a.db", clock=clock) as here:
        parties, calls = here.parties(), here.calls(scopes=MAY_REHEARSE)
        await parties.enrol(calls)
        await agreed(calls, parties, adding(calls, fact("Me", "KEEPS", "promises")))
        action = stating(calls, await calls.get("who"), fact("Me", "KEEPS", "calm"))
        done = await agreed(calls, parties, action)
        await calls.add("Too.", id="d", facts=[fact("Me", "KEEPS", "calm")])
        await undone(calls, parties, done)
        lines, state = await export_of(calls), await calls.export()
        assert list((await calls.get_triple("Me", "KEEPS", "calm")).sources) == ["d"]
    async with world(tmp_path / "b.db", clock=clock) as there:
        copy = there.calls()
        await restored(copy, lines, parties)
        assert (await export_of(copy))[1:] == lines[1:]
        assert await copy.export() == state


async def test_digests_tell_of_what_holds_at_another_time(live: World, home: Calls) -> None:
    """A2 A constitutive memory that has not begun, and one that has ended, are compared with the
    log like any other, page by page: it tells of them, too."""
    parties = live.parties()
    await parties.enrol(home)
    spans = {"ended": (START - 2 * DAY, START - DAY), "now": (START - DAY, 0)}
    spans["later"] = (START + DAY, START + 2 * DAY)
    for name, (begins, ends) in spans.items():
        action = adding(home)
        memory = action.add_memory.memory
        memory.id, memory.content = name, f"I keep promises: {name}."
        memory.valid_from.CopyFrom(stamp(begins))
        if ends:
            memory.valid_until.CopyFrom(stamp(ends))
        await parties.apply(home, action)
    asking = live.calls(scopes=SCOPES | {"audit:read"})
    request = governed_pb2.GetConstitutiveDigestsRequest(page_size=2)
    found: list[governed_pb2.ConstitutiveItem] = []
    while not found or request.page_token:
        page = await asking.governed.GetConstitutiveDigests(request)
        found += page.items
        request.page_token = page.next_page_token

    told = {item.id: item.digest for item in found if item.kind == type_pb2.ITEM_KIND_MEMORY}
    assert sorted(told) == sorted(spans)
    assert len(set(told.values())) == len(spans)
