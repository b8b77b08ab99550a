"""The health of a memory, wherever it is read (spec S8)."""

from concord.graph.v1 import conflict_pb2 as pb
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from concord_graph.domain.open_conflicts import MOST_OPEN
from conflict_world import CONFIRM, finding, record, recorded, review
from graph_world import DAY, Calls, World

AT_RISK, STALE = type_pb2.HEALTH_STATUS_AT_RISK, type_pb2.HEALTH_STATUS_STALE
ORPHAN, HEALTHY = type_pb2.HEALTH_STATUS_ORPHAN, type_pb2.HEALTH_STATUS_HEALTHY
FACT = type_pb2.Fact(subject="tea", relation="IS", object="hot")


async def health(calls: Calls, memory_id: str) -> type_pb2.Health:
    """Return a memory's health, read without a trace."""
    request = memory_pb2.GetMemoryRequest(id=memory_id, peek=True)
    return (await calls.memory.GetMemory(request)).memory.health


async def test_a_memory_is_connected_by_a_fact_or_by_a_link_to_what_is_there(home: Calls) -> None:
    """S8 A ghost, and a memory that was forgotten, connect nothing; both ends of a link count."""
    alone = await home.add("Nothing to do with anything.")
    stated = await home.add("Tea is hot.", facts=[FACT])
    to_ghost = await home.add("See [[memory:nobody]].")
    linked = await home.add(f"See [[memory:{alone.id}]].")

    assert (await health(home, stated.id)).status == HEALTHY
    assert (await health(home, to_ghost.id)).status == ORPHAN
    assert (await health(home, linked.id)).status == HEALTHY
    assert (await health(home, alone.id)).status == HEALTHY
    await home.forget(linked)
    left = await health(home, alone.id)
    assert left.status == ORPHAN
    assert list(left.reasons) == ["no fact, link or lineage connects it"]


async def test_of_several_the_first_status_counts_and_every_reason_is_told(
    live: World, home: Calls
) -> None:
    """S8 At risk, then stale, then orphan; 90 days unread are not yet long."""
    old = await home.add("Tea is cold.")
    live.clock.pass_(90 * DAY)
    assert (await health(home, old.id)).status == ORPHAN
    live.clock.pass_(DAY)
    assert list((await health(home, old.id)).reasons) == [
        "unread for 91 days", "no fact, link or lineage connects it",
    ]  # fmt: skip
    await home.add(f"Tea is warm. Supersedes: [[memory:{old.id}]]")

    found = await health(home, old.id)

    assert found.status == AT_RISK
    assert list(found.reasons) == ["superseded", "unread for 91 days"]


async def test_what_was_merely_found_in_texts_puts_no_memory_at_risk(home: Calls) -> None:
    """S8 D5 Typed facts' findings do, and so does what somebody confirmed or wrote."""
    one, other = [await home.add(text, facts=[FACT]) for text in ("Tea is hot.", "Tea is cold.")]
    found = await recorded(home, one, other)
    assert found.is_text_finding
    assert (await health(home, one.id)).status == HEALTHY
    typed = await recorded(home, one, await home.add("Tea is ice."), judge=pb.JUDGE_STRUCTURAL)

    assert not typed.is_text_finding
    assert list((await health(home, one.id)).reasons) == ["an open conflict"]
    assert (await health(home, other.id)).status == HEALTHY
    confirmed = (await review(home, found, CONFIRM)).conflict
    assert not confirmed.is_text_finding
    assert list((await health(home, one.id)).reasons) == ["2 open conflicts"]
    assert (await health(home, other.id)).status == AT_RISK
    wrote = await home.add(f"No tea. Contradicts: [[memory:{other.id}]]", facts=[FACT])
    assert (await health(home, wrote.id)).status == AT_RISK


async def test_newer_findings_of_text_do_not_crowd_out_a_risk(home: Calls) -> None:
    """S8 More than twenty conflicts are not shown, but each is counted."""
    one, *others = [await home.add(f"Tea {number}.") for number in range(MOST_OPEN + 2)]
    first, *rest = others
    await record(home, finding(one, first, judge=pb.JUDGE_STRUCTURAL))
    await record(home, *(finding(one, each) for each in rest))

    assert len((await home.get(one.id)).conflict_ids) == MOST_OPEN
    assert "an open conflict" in (await health(home, one.id)).reasons


async def test_a_list_shows_the_health_of_each(live: World, home: Calls) -> None:
    """S8 In bulk, in another space too."""
    await home.add("Tea is hot.", facts=[FACT])
    await home.add("Alone.")
    await live.calls("other").add("Elsewhere.")

    found = (await home.memory.ListMemories(memory_pb2.ListMemoriesRequest())).memories

    assert {each.content: each.health.status for each in found} == {
        "Tea is hot.": HEALTHY, "Alone.": ORPHAN,
    }  # fmt: skip
