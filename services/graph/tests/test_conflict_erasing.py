"""What is erased of a conflict with a side of it (M4)."""

import pytest
from concord.graph.v1 import conflict_pb2 as pb
from concord.graph.v1 import feed_pb2
from conflict_world import (
    CONFIRM,
    CONTRADICTION,
    DISMISS,
    finding,
    get,
    record,
    recorded,
    resolve,
    review,
)
from graph_world import Calls, World, fact, known_at, micros, reason

ERASED = "ERROR_REASON_ITEM_ERASED"


async def test_the_words_of_a_review_go_with_a_side(home: Calls, live: World) -> None:
    """M4 Context, resolution and places go from every revision; who, when and what stay."""
    one, other = await home.add("Tea is purple"), await home.add("Tea is cold")
    kept = await recorded(home, one, other, first_spans=[pb.Span(start=7, end=13)])
    live.clock.pass_(1_000_000)
    confirmed = (await review(home, kept, CONFIRM, "Tea is never purple")).conflict
    live.clock.pass_(1_000_000)
    await resolve(home, confirmed, CONTRADICTION, one.id, "Not a purple one")
    live.clock.pass_(1_000_000)
    await home.erase(one)
    now = await get(home, kept.id)
    then = await get(home, kept.id, as_of=known_at(micros(confirmed.modify_time)))
    side = next(s for s in (now.first, now.second) if s.id == one.id)

    assert (now.resolution.superseded_id, now.resolution.context) == (one.id, "")
    assert (then.state, then.context, list(then.first.spans)) == (confirmed.state, "", [])
    assert (side.statement, side.is_deleted, list(side.spans)) == ("", True, [])
    assert now.etag != kept.etag


async def test_what_is_left_of_an_erased_conflict_is_final(home: Calls) -> None:
    """M4 Nothing comes after an erased revision, and other conflicts of the pair's rest stay."""
    one, other, third = [await home.add(word) for word in "abc"]
    kept = await recorded(home, one, other)
    beside = await recorded(home, other, third)
    await home.erase(one)
    left = await get(home, kept.id)

    assert await reason(review(home, left, CONFIRM)) == ERASED
    assert (await review(home, beside, DISMISS, "no")).conflict.context == "no"
    (again,) = await record(home, finding(one, other))
    assert again.outcome == pb.FINDING_OUTCOME_STALE


async def test_a_fact_that_is_erased_takes_its_conflicts_words_along(home: Calls) -> None:
    """M4 M1 A side may be an edge that only the erased memory stated."""
    said = await home.add("Ada hides gold", facts=[fact("Ada", "HIDES", "gold")])
    edge = await home.get_triple("Ada", "HIDES", "gold")
    other = await home.put_edge("Ada", "HIDES", "silver")
    kept = await review(home, await recorded(home, edge, other), CONFIRM, "Gold or silver")
    await home.erase(said)
    left = await get(home, kept.conflict.id)
    events = [each for each in await home.changes() if each.item_id == left.id]

    assert left.context == ""
    assert events[-1].type == feed_pb2.CHANGE_TYPE_ERASED


@pytest.mark.parametrize("forgotten", [False, True])
async def test_a_conflict_survives_what_is_only_forgotten(home: Calls, *, forgotten: bool) -> None:
    """M4 Forgetting is soft: the words stay until somebody erases."""
    one, other = await home.add("a"), await home.add("b")
    kept = (await review(home, await recorded(home, one, other), CONFIRM, "Not both")).conflict
    if forgotten:
        await home.forget(one)

    assert (await get(home, kept.id)).context == "Not both"
