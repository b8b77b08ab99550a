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
