"""Small records that other services keep in graph."""

import asyncio
import json
from collections.abc import Sequence

import pytest
from concord.graph.v1 import memory_pb2, record_pb2
from concord_chassis.call.identity import Caller
from concord_chassis.channel import records
from concord_chassis.channel.records import Body, Record, SmallRecords
from graph_world import Calls, World, reason

RecordName = record_pb2.RecordName
MISMATCH = "ERROR_REASON_ETAG_MISMATCH"
SUM = ("sum", "")


@pytest.fixture
def small(live: World) -> SmallRecords:
    """The records of a space, as its services change them."""
    who = Caller("home", "search", frozenset({"record:all"}), "SYSTEM")
    return SmallRecords(live.server.channel(who), lambda _: ())


def put(kind: str, key: str, body: object, etag: str = "") -> record_pb2.PutRecordsRequest:
    """The request that stores one record."""
    name = RecordName(kind=kind, key=key)
    record = record_pb2.Record(name=name, body=json.dumps(body), etag=etag)
    return record_pb2.PutRecordsRequest(records=[record])


async def got(calls: Calls, *names: tuple[str, str]) -> list[tuple[object, str]]:
    """The bodies and etags of records; None and an empty etag where there is none."""
    asked = [RecordName(kind=kind, key=key) for kind, key in names]
    reply = await calls.record.GetRecords(record_pb2.GetRecordsRequest(names=asked))
    assert [each.name for each in reply.records] == asked
    return [(json.loads(each.body or "null"), each.etag) for each in reply.records]


async def test_a_record_is_stored_for_who_knows_the_last(live: World, home: Calls) -> None:
    """D1 Of two that read at once, one is told to read again; another space has its own."""
    none = await got(home, ("position", ""))
    (first,) = (await home.record.PutRecords(put("position", "", {"token": "t1"}))).etags

    assert none == [(None, "")]
    assert await got(home, ("position", "")) == [({"token": "t1"}, first)]
    assert await reason(home.record.PutRecords(put("position", "", {"token": "t2"}))) == MISMATCH
    following = put("position", "", {"token": "t2"}, first)
    (second,) = (await home.record.PutRecords(following)).etags
    assert second != first
    assert await reason(home.record.PutRecords(following)) == MISMATCH
    assert await got(live.calls("other"), ("position", "")) == [(None, "")]


async def test_each_kind_and_key_is_kept_apart(home: Calls) -> None:
    """D7 A kind has one record without a key, and one for each key."""
    for kind, key in (("b", ""), ("b", "x"), ("b_c", "")):
        await home.record.PutRecords(put(kind, key, [kind, key]))

    found = await got(home, ("b", ""), ("b_c", ""), ("b", "x"), ("b", "y"), ("b_c", "x"))
    assert [body for body, _ in found] == [["b", ""], ["b_c", ""], ["b", "x"], None, None]


async def test_records_are_stored_all_or_none(home: Calls) -> None:
    """S7 Also those that are put as they were: a change of one of them stops the others."""
    (etag,) = (await home.record.PutRecords(put("query", "q", {"text": "secret"}))).etags
    both = put("vote", "q/ada", {"text": "secret"})
    both.MergeFrom(put("query", "q", {"text": "secret"}, etag))
    await home.record.PutRecords(put("query", "q", {"text": ""}, etag))

    assert await reason(home.record.PutRecords(both)) == MISMATCH
    assert await got(home, ("vote", "q/ada")) == [(None, "")]


async def test_records_of_before_a_key_are_dropped_with_a_put(live: World, home: Calls) -> None:
    """S7 Of one kind, in one space; the record without a key stays."""
    other = live.calls("other")
    for kind, key in (("query", ""), ("query", "1"), ("query", "3"), ("vote", "1")):
        for calls in (home, other):
            await calls.record.PutRecords(put(kind, key, [kind, key]))
    request = put("query", "2", 2)
    request.drop_before.CopyFrom(RecordName(kind="query", key="3"))
    await home.record.PutRecords(request)

    names = [("query", ""), ("query", "1"), ("query", "2"), ("query", "3"), ("vote", "1")]
    left = [body is not None for body, _ in await got(home, *names)]
    assert left == [True, False, True, True, True]
    assert (await got(other, ("query", "1")))[0][0] == ["query", "1"]


def one_more(bodies: Sequence[Body]) -> tuple[int, Sequence[Body | None]]:
    """Count up to three, and leave the second record as it is."""
    count = bodies[0].get("count", 0) + 1
    return (count, [{"count": count}, None]) if count <= 3 else (0, [])


async def test_changes_at_once_are_all_decided_on_what_is_stored(small: SmallRecords) -> None:
    """D11 S7 S9 No change is lost, none is made twice, and what is refused changes nothing."""
    changes = [small.change("home", [SUM, ("other", "")], one_more) for _ in range(6)]

    assert sorted(await asyncio.gather(*changes)) == [0, 0, 0, 1, 2, 3]
    stored, other = await small.get("home", SUM, ("other", ""))
    assert (stored.body, other.body, other.etag) == ({"count": 3}, {}, "")


async def test_a_change_that_never_comes_first_gives_up(
    small: SmallRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D11 After so many tries, with graph's refusal."""
    tries = []

    def too_late(bodies: Sequence[Body]) -> tuple[None, Sequence[Body]]:
        tries.append(bodies)
        return None, [{"count": 1}]

    async def stale(*_: object) -> list[Record]:
        return [Record(SUM, {}, "stale")]

    monkeypatch.setattr(records, "MOST_TRIES", 3)
    monkeypatch.setattr(small, "get", stale)

    assert await reason(small.change("home", [SUM], too_late)) == MISMATCH
    assert len(tries) == 3


async def test_triggers_are_listed_of_live_memories_alone(live: World, home: Calls) -> None:
    """S9 By id, with what is forgotten and what another space has left out."""
    kept = await home.add("Pin it.", surfaces_when=["file:*.toml", "lint"])
    gone = await home.add("Forget it.", surfaces_when=["lint"])
    await home.add("No trigger.")
    await home.forget(gone)
    await live.calls("other").add("Elsewhere.", surfaces_when=["lint"])

    found = (await home.memory.ListTriggers(memory_pb2.ListTriggersRequest())).memories

    assert [(each.memory_id, list(each.surfaces_when)) for each in found] == [
        (kept.id, ["file:*.toml", "lint"])
    ]
