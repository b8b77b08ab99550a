"""Suggestions that find no place wait, over restarts too, and come up as places fall free (T6)."""

import asyncio
import json
from collections.abc import Sequence

import pytest
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import record_pb2, record_pb2_grpc, space_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from concord_dissonance.clients.graph import waiting_client
from concord_dissonance.clients.graph.waiting_client import WaitingClient
from concord_dissonance.usecases import follow
from concord_dissonance.usecases.suggestions import MOST_WAITING
from dissonance_over_graph import Space, dissonant, waiting
from governed_world import AGENT, DAY, Party, World, eventually
from writing import to_erase

NAMES = ("Apollo", "Vega", "Lyra", "Orion", "Cygnus", "Hydra", "Draco")
BUDGET = "The budget of the {} project is 40,000 euros a year."


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A follower that gathers for no time, and looks again soon."""
    monkeypatch.setattr(follow, "QUIET", 0.01)
    monkeypatch.setattr(follow, "AGAIN", 0.1)


async def write(space: Space, *names: str) -> list[type_pb2.Memory]:
    """Write a budget of each project and a small edit of it; return the edits, then the others."""
    edits, former = [], []
    for name in names:
        former.append(await space.add(BUDGET.format(name), id=f"old-{name}"))
        raised = BUDGET.format(name).replace("40", "45")
        edits.append(await space.add(raised, id=f"new-{name}"))
    return [*edits, *former]


def named(proposals: Sequence[proposal_pb2.Proposal]) -> set[str]:
    """Return the projects that proposals are about."""
    newer = [each.action.add_lineage.newer_id for each in proposals]
    return {each.removeprefix("new-") for each in newer}


async def decided(party: Party, wanted: int) -> set[str]:
    """Approve or reject what waits, until so many projects were proposed; return these."""
    seen: set[str] = set()

    def is_new(there: Sequence[proposal_pb2.Proposal]) -> bool:
        return not named(there) <= seen

    while len(seen) < wanted:
        there = await eventually(lambda: waiting(party), is_new)
        assert len(there) <= MOST_WAITING
        seen |= named(there)
        for number, proposal in enumerate(there):
            if number % 2:
                await party.reject(proposal, AGENT)
            else:
                await party.decide(proposal)
    return seen


async def five(party: Party) -> set[str]:
    """Return the projects of the first five suggestions."""
    there = await eventually(lambda: waiting(party), lambda each: len(each) == MOST_WAITING)
    return named(there)


async def kept(live: World) -> list[str]:
    """Return the memories that graph's record names."""
    who = Caller("one", "dissonance", frozenset({"record:all"}), "SYSTEM")
    records = record_pb2_grpc.RecordServiceStub(live.graph.channel(who))
    names = [record_pb2.RecordName(kind="waiting_suggestions")]
    (found,) = (await records.GetRecords(record_pb2.GetRecordsRequest(names=names))).records
    return list(json.loads(found.body)["ids"])


async def test_what_finds_no_place_comes_up_after_a_restart(live: World, party: Party) -> None:
    """T6 Seven at once, of two spaces: five are shown in each, and the others once these are
    approved or rejected; none twice."""
    other = live.party("two")
    await other.enrol()
    async with dissonant(live) as works:
        for name in ("one", "two"):
            space = works.space(name)
            found = await space.amendments(*await write(space, *NAMES))
            assert len([each for each in found if not each.proposal_number]) == 2
        shown = [await five(each) for each in (party, other)]
    async with dissonant(live):
        seen = [await decided(each, len(NAMES)) for each in (party, other)]

        assert [len(each) for each in shown] == [MOST_WAITING, MOST_WAITING]
        assert seen == [{*NAMES}, {*NAMES}]
        assert not await waiting(party)


async def test_they_come_up_as_others_expire(live: World, party: Party) -> None:
    """T6 V4 When no request id of before is known any more, what expired does not come back."""
    async with dissonant(live) as works:
        await works.space().amendments(*await write(works.space(), *NAMES))
        first = await five(party)
        live.clock.now += 8 * DAY
        await eventually(lambda: waiting(party), lambda each: named(each) == {*NAMES} - first)
        live.clock.now += 8 * DAY
        await asyncio.sleep(0.5)

        assert not await waiting(party)


async def test_what_was_erased_waits_no_longer(live: World, party: Party) -> None:
    """T6 M4 Nor does what its former memory was erased of; the last one comes up."""
    async with dissonant(live) as works:
        space = works.space()
        there = {each.id: each for each in await write(space, *NAMES, "Lepus")}
        await space.amendments(*there.values())
        shown = await five(party)
        newer, former, last = [name for name in (*NAMES, "Lepus") if name not in shown]
        await space.memories.EraseMemory(to_erase(there[f"new-{newer}"]))
        await space.memories.EraseMemory(to_erase(there[f"old-{former}"]))
        seen = await decided(party, MOST_WAITING + 1)

        assert seen == shown | {last}
        assert not await waiting(party)


async def test_without_the_record_the_later_ones_are_lost(
    live: World, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T6 The guard: nothing but the record in graph keeps them."""

    async def forget(*_: object) -> int:
        return 0

    monkeypatch.setattr(WaitingClient, "change", forget)
    async with dissonant(live) as works:
        space = works.space()
        await write(space, *NAMES)
        await five(party)
        newest = await space.spaces.ListOperations(space_pb2.ListOperationsRequest(page_size=1))
        await eventually(works.position, lambda at: at >= newest.operations[0].seq)
        for proposal in await waiting(party):
            await party.reject(proposal, AGENT)
    async with dissonant(live):
        await asyncio.sleep(1)

        assert not await waiting(party)


async def test_a_full_record_keeps_the_earliest(
    live: World, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T6 So many wait at most; the log says how many do not."""
    monkeypatch.setattr(waiting_client, "MOST_KEPT", 1)
    async with dissonant(live, follow=False) as works:
        space = works.space()
        await space.amendments(*await write(space, *NAMES))
        await space.amendments(await space.add(BUDGET.format("Vega").replace("40", "48")))

    assert len(await waiting(party)) == MOST_WAITING
    assert await kept(live) == ["new-Hydra"]
