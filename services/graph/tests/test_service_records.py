"""What other services keep in graph: positions and spend."""

import asyncio

from concord.graph.v1 import record_pb2
from graph_world import DAY, SCOPES, Calls, World, reason

Spend = record_pb2.ModelSpend


async def add(
    calls: Calls, spend: Spend, limit: Spend | None = None
) -> record_pb2.AddModelSpendResponse:
    """Add to what models cost today."""
    return await calls.record.AddModelSpend(
        record_pb2.AddModelSpendRequest(spend=spend, limit=limit)
    )


async def test_a_position_is_stored_for_who_knows_the_last(live: World, home: Calls) -> None:
    """D1 Of two that judged at once, one is told to read again; another space has its own."""
    none = await home.record.GetJudgedPosition(record_pb2.GetJudgedPositionRequest())
    position = record_pb2.JudgedPosition(token="t1", judge_version="lexical 1")
    first = record_pb2.PutJudgedPositionRequest(position=position)
    etag = (await home.record.PutJudgedPosition(first)).etag
    stored = await home.record.GetJudgedPosition(record_pb2.GetJudgedPositionRequest())

    assert (none.position, none.etag) == (record_pb2.JudgedPosition(), "")
    assert (stored.position, stored.etag) == (position, etag)
    assert await reason(home.record.PutJudgedPosition(first)) == "ERROR_REASON_ETAG_MISMATCH"
    second = record_pb2.PutJudgedPositionRequest(position=position, etag=etag)
    assert (await home.record.PutJudgedPosition(second)).etag != etag
    assert await reason(home.record.PutJudgedPosition(second)) == "ERROR_REASON_ETAG_MISMATCH"
    other = live.calls("other")
    assert not (await other.record.GetJudgedPosition(record_pb2.GetJudgedPositionRequest())).etag


async def test_each_kind_of_position_is_kept_apart(home: Calls) -> None:
    """D7 What follows single changes has another position than the checks of the space."""
    position = record_pb2.JudgedPosition(token="t1")
    triggers = record_pb2.POSITION_KIND_TRIGGERS
    put = record_pb2.PutJudgedPositionRequest(position=position, kind=triggers)
    await home.record.PutJudgedPosition(put)
    ask = record_pb2.GetJudgedPositionRequest

    assert (await home.record.GetJudgedPosition(ask(kind=triggers))).position == position
    assert not (await home.record.GetJudgedPosition(ask())).etag


async def test_spend_is_checked_and_added_at_once(home: Calls) -> None:
    """D11 However many ask at once, no sum passes its limit; a refused one adds nothing."""
    limit = Spend(calls=3, tokens=1000, micros=50)
    asked = [add(home, Spend(calls=1, tokens=10, micros=10), limit) for _ in range(5)]
    replies = await asyncio.gather(*asked)

    assert sum(reply.added for reply in replies) == 3
    over = await add(home, Spend(micros=21), limit)
    assert (over.added, over.total) == (False, Spend(calls=3, tokens=30, micros=30))
    back = await add(home, Spend(tokens=-5, micros=-99))
    assert (back.added, back.total) == (True, Spend(calls=3, tokens=25, micros=0))


async def test_a_day_begins_with_nothing_spent(live: World, home: Calls) -> None:
    """D11 A day of graph's clock, in UTC."""
    await add(home, Spend(calls=1))
    live.clock.pass_(DAY)

    assert (await add(home, Spend())).total == Spend()


async def test_no_key_reads_or_writes_records(live: World) -> None:
    """W7 Their permission is no scope's."""
    plain = live.calls(scopes=SCOPES - {"record:all"})

    assert await reason(add(plain, Spend(calls=1))) == "ERROR_REASON_PERMISSION_MISSING"


async def test_triggers_are_listed_of_live_memories_alone(live: World, home: Calls) -> None:
    """S9 By id, with what is forgotten and what another space has left out."""
    kept = await home.add("Pin it.", surfaces_when=["file:*.toml", "lint"])
    gone = await home.add("Forget it.", surfaces_when=["lint"])
    await home.add("No trigger.")
    await home.forget(gone)
    await live.calls("other").add("Elsewhere.", surfaces_when=["lint"])

    found = (await home.record.ListTriggers(record_pb2.ListTriggersRequest())).memories

    assert [(each.memory_id, list(each.surfaces_when)) for each in found] == [
        (kept.id, ["file:*.toml", "lint"])
    ]


async def test_a_suggestion_is_claimed_once_a_session(live: World, home: Calls) -> None:
    """S9 However many ask at once, no two replies of a session hold the same memory."""
    request = record_pb2.ClaimSuggestionsRequest(
        session_id="s", memory_ids=[f"m{n}" for n in range(6)], limit=2
    )
    claims = [home.record.ClaimSuggestions(request) for _ in range(4)]
    taken = [list(reply.memory_ids) for reply in await asyncio.gather(*claims)]

    assert sorted(each for some in taken for each in some) == [f"m{n}" for n in range(6)]
    assert taken.count([]) == 1
    other = await live.calls("other").record.ClaimSuggestions(request)
    assert other.memory_ids == ["m0", "m1"]


async def test_votes_are_counted_once_and_the_weight_moves_for_who_knows_them(
    live: World, home: Calls
) -> None:
    """S7 One vote a principal and query; a query waits 30 days; a move begins the count anew."""
    query = record_pb2.RankedQuery(
        id="ffffffff-q", text="who", constitutive_weight=2, constitutive_first=True
    )
    await home.record.PutRankedQuery(record_pb2.PutRankedQueryRequest(query=query))
    vote = record_pb2.AddFeedbackRequest(
        query_id=query.id, principal="ada", helpfulness=record_pb2.HELPFULNESS_HELPFUL
    )
    await asyncio.gather(*(home.record.AddFeedback(vote) for _ in range(3)))
    counted = (await home.record.AddFeedback(vote)).calibration

    assert counted.new_vote_count == 1
    assert [(each.principal, each.helpful, each.unhelpful) for each in counted.counts] == [
        ("ada", 1, 0)
    ]
    move = record_pb2.WeightMove(principal="search", old_weight=2, new_weight=2.25, evidence="e")
    stale = record_pb2.MoveWeightRequest(move=move, etag="stale")
    assert await reason(home.record.MoveWeight(stale)) == "ERROR_REASON_ETAG_MISMATCH"
    moved = record_pb2.MoveWeightRequest(move=move, etag=counted.etag)
    after = (await home.record.MoveWeight(moved)).calibration
    assert (after.constitutive_weight, after.new_vote_count) == (2.25, 0)
    assert [(each.old_weight, each.new_weight) for each in after.moves] == [(2, 2.25)]
    elsewhere = await live.calls("other").record.GetCalibration(record_pb2.GetCalibrationRequest())
    assert elsewhere.calibration == record_pb2.Calibration()


async def test_a_query_nobody_voted_on_is_forgotten_after_thirty_days(
    live: World, home: Calls
) -> None:
    """S7 Ids sort by time; the next query takes the old ones away."""
    millis = live.clock() // 1_000
    old, new = (
        f"{f'{at:012x}'[:8]}-{f'{at:012x}'[8:]}-7000-8000-000000000000"
        for at in (millis, millis + 31 * DAY // 1_000)
    )
    vote = record_pb2.AddFeedbackRequest(query_id=old, principal="ada")
    for query_id, days in ((old, 31), (new, 0)):
        query = record_pb2.RankedQuery(id=query_id, text="who", constitutive_weight=2)
        await home.record.PutRankedQuery(record_pb2.PutRankedQueryRequest(query=query))
        live.clock.pass_(days * DAY)

    assert await reason(home.record.AddFeedback(vote)) == "ERROR_REASON_ITEM_NOT_FOUND"
    vote.query_id = new
    await home.record.AddFeedback(vote)


async def test_a_spend_that_is_sent_again_is_added_once(home: Calls) -> None:
    """D11 A call whose reply was lost costs once, also the one that reached the limit."""
    limit = Spend(calls=2, tokens=20, micros=0)
    request = record_pb2.AddModelSpendRequest(
        spend=Spend(calls=2, tokens=20), limit=limit, spend_id="s1"
    )
    first = await home.record.AddModelSpend(request)
    again = await home.record.AddModelSpend(request)

    assert first.added
    assert again == first
    request.spend_id = "s2"
    assert not (await home.record.AddModelSpend(request)).added
