"""Records that services keep in graph, changed by several at once, over the real graph."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import grpc
import pytest
from concord_chassis.call.identity import Caller
from concord_chassis.channel import records
from concord_chassis.channel.records import Body, Record, SmallRecords
from concord_graph.bootstrap import build
from concord_testing.serving import serving

SUM = ("sum", "")


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[SmallRecords]:
    """The records of an empty graph."""
    app = build(tmp_path / "graph.db")
    await app.start()
    try:
        async with serving(app.registrations, ready=app.ready) as served:
            who = Caller("one", "search", frozenset({"record:all"}), "SYSTEM")
            yield SmallRecords(served.channel(who), lambda _: ())
    finally:
        await app.close()


def one_more(bodies: Sequence[Body]) -> tuple[int, Sequence[Body | None]]:
    """Count up to three, and leave the second record as it is."""
    count = bodies[0].get("count", 0) + 1
    return (count, [{"count": count}, None]) if count <= 3 else (0, [])


async def test_changes_at_once_are_all_decided_on_what_is_stored(small: SmallRecords) -> None:
    """D11 S7 S9 No change is lost, none is made twice, and what is refused changes nothing."""
    changes = [small.change("one", [SUM, ("other", "")], one_more) for _ in range(6)]

    assert sorted(await asyncio.gather(*changes)) == [0, 0, 0, 1, 2, 3]
    stored, other = await small.get("one", SUM, ("other", ""))
    assert stored.body == {"count": 3}
    assert (other.body, other.etag) == ({}, "")


async def test_a_change_that_never_comes_first_gives_up(
    small: SmallRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D11 After so many tries, with graph's refusal."""
    tries = []

    async def between(space: str, *changed: Record) -> Sequence[str]:
        tries.append(changed)
        return await SmallRecords.put(small, space, Record(SUM, {"count": len(tries)}, "stale"))

    await small.put("one", Record(SUM, {"count": 0}))
    monkeypatch.setattr(records, "MOST_TRIES", 3)
    monkeypatch.setattr(small, "put", between)

    with pytest.raises(grpc.aio.AioRpcError) as error:
        await small.change("one", [SUM], lambda _: (1, [{"count": 1}]))
    assert records.is_changed(error.value)
    assert len(tries) == 3
