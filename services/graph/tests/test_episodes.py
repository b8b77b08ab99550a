"""Episodes: what was tried, how it went, what to learn (M2), and how they are listed (G13)."""

from collections.abc import Sequence

import grpc
import pytest
from concord.graph.v1 import episode_pb2
from concord.type.v1 import type_pb2
from graph_world import (
    FOUND,
    NOT_FOUND,
    SECOND,
    START,
    Calls,
    World,
    micros,
    reason,
    refused,
    stamp,
)


async def add(
    home: Calls,
    query: str,
    reward: float = 0.5,
    *,
    reflection: str = "",
    session_id: str = "",
    memory_ids: Sequence[str] = (),
) -> episode_pb2.Episode:
    """Add an episode."""
    request = episode_pb2.AddEpisodeRequest(
        request_id=home.request_id(),
        query=query,
        reward=reward,
        reflection=reflection,
        session_id=session_id,
        memory_ids=memory_ids,
    )
    return (await home.episode.AddEpisode(request)).episode


async def listed(home: Calls, **fields: object) -> episode_pb2.ListEpisodesResponse:
    """List episodes."""
    return await home.episode.ListEpisodes(episode_pb2.ListEpisodesRequest(**fields))  # type: ignore[arg-type]


def queries(reply: episode_pb2.ListEpisodesResponse) -> list[str]:
    """Return what the episodes of a page were about."""
    return [episode.query for episode in reply.episodes]


async def test_an_episode_is_read_back_as_it_was_kept(home: Calls) -> None:
    """M2 Query, reward, reflection, session and links; G13 a write is seen by the next read."""
    memory = await home.add("A memory")
    (turn,) = await home.append("s", ("Ada", "Try it"))
    kept = await add(
        home,
        "How to swim",
        -1,
        reflection="Breathe",
        session_id="s",
        memory_ids=[memory.id, turn.id],
    )
    reply = await listed(home)

    assert (reply.status, reply.total_count) == (FOUND, 1)
    assert list(reply.episodes) == [kept]
    assert (kept.query, kept.reward, kept.reflection) == ("How to swim", -1, "Breathe")
    assert list(kept.memory_ids) == [memory.id, turn.id]
    assert turn.create_time.ToMicroseconds() < micros(kept.create_time) < START + SECOND


async def test_a_reward_of_zero_is_a_reward(home: Calls) -> None:
    """M2 The reward is stated, and 0 is a statement; none is not."""
    kept = await add(home, "Tried", 0)
    without = episode_pb2.AddEpisodeRequest(request_id="x", query="Tried")
    failure = await refused(home.episode.AddEpisode(without))

    assert kept.reward == 0
    assert [each.field for each in failure.violations] == ["reward"]


@pytest.mark.parametrize("reward", [1.0001, -1.5, float("nan"), float("inf")])
async def test_rewards_are_within_their_range(home: Calls, reward: float) -> None:
    """M2 [-1, 1] and nothing else."""
    assert await reason(add(home, "Tried", reward)) == "ERROR_REASON_FIELD_INVALID"


async def test_links_name_memories_that_exist(live: World, home: Calls) -> None:
    """M2 G13 An unknown id, a node's, and one of another space are the same refusal."""
    node = await home.put_node("Ada")
    elsewhere = await live.calls("other").add("theirs")
    for memory_id in ("nowhere", node.id, elsewhere.id):
        failure = await refused(add(home, "Tried", memory_ids=[memory_id]))

        assert failure.code == grpc.StatusCode.NOT_FOUND
        assert failure.metadata["item_id"] == memory_id
    assert (await listed(home)).total_count == 0


async def test_the_newest_come_first(live: World, home: Calls) -> None:
    """M2 Also when the clock stands still or steps back."""
    for number in range(3):
        await add(home, f"e{number}")
        live.clock.pass_(-5)

    assert queries(await listed(home)) == ["e2", "e1", "e0"]


async def test_pages_by_token_and_by_skip(home: Calls) -> None:
    """M2 Pages of 1 to 100, with the total on each; skip leaves out the newest."""
    for number in range(5):
        await add(home, f"e{number}")
    first = await listed(home, page_size=2)
    second = await listed(home, page_size=2, page_token=first.next_page_token)
    third = await listed(home, page_size=2, page_token=second.next_page_token)
    skipped = await listed(home, page_size=2, skip=3)
    on = await listed(home, page_size=1, skip=3)
    rest = await listed(home, page_size=1, skip=3, page_token=on.next_page_token)
    beyond = await listed(home, skip=9)

    assert [queries(page) for page in (first, second, third)] == [
        ["e4", "e3"],
        ["e2", "e1"],
        ["e0"],
    ]
    assert not third.next_page_token
    assert queries(skipped) == ["e1", "e0"]
    assert (queries(on), queries(rest)) == (["e1"], ["e0"])
    assert {page.total_count for page in (first, second, third, skipped, beyond)} == {5}
    assert (beyond.status, queries(beyond)) == (FOUND, [])


async def test_fifty_is_the_size_of_a_page(home: Calls) -> None:
    """M2 When none is stated."""
    for number in range(51):
        await add(home, f"e{number}")
    reply = await listed(home)

    assert (len(reply.episodes), reply.total_count) == (50, 51)
    assert queries(await listed(home, page_token=reply.next_page_token)) == ["e0"]


async def test_since_and_session_choose(live: World, home: Calls) -> None:
    """M2 Since is inclusive; both together must match."""
    await add(home, "early", session_id="s")
    live.clock.pass_(1000)
    late = await add(home, "late", session_id="t")
    await add(home, "later", session_id="s")

    assert queries(await listed(home, since=late.create_time)) == ["later", "late"]
    assert queries(await listed(home, session_id="s")) == ["later", "early"]
    assert queries(await listed(home, session_id="s", since=late.create_time)) == ["later"]


async def test_that_there_are_none_is_an_answer(live: World, home: Calls) -> None:
    """G13 Nothing at all, nothing since, nothing in a session, or only in another space."""
    empty = await listed(home)
    await add(home, "one", session_id="s")
    await add(live.calls("other"), "theirs", session_id="t")
    late = await listed(home, since=stamp(START + 10**9))
    elsewhere = await listed(home, session_id="t")

    for reply in (empty, late, elsewhere):
        assert (reply.status, reply.total_count, queries(reply)) == (NOT_FOUND, 0, [])


async def test_episodes_as_they_were_known(live: World, home: Calls) -> None:
    """T3 As of a record or a valid time, only what was kept by then, and its count."""
    await add(home, "one")
    then = live.clock.now + 50
    live.clock.pass_(100)
    await add(home, "two")
    for axis in ("record_time", "valid_time"):
        reply = await listed(home, as_of=type_pb2.AsOf(**{axis: stamp(then)}))

        assert (queries(reply), reply.total_count) == (["one"], 1)
    before = await listed(home, as_of=type_pb2.AsOf(record_time=stamp(START - 1)))
    assert before.status == NOT_FOUND


async def test_an_episode_is_no_item(home: Calls) -> None:
    """M2 No edge ends at it, and no memory is found under its id."""
    kept = await add(home, "one")
    start = type_pb2.EdgeEnd(id=kept.id)

    assert (await home.neighbors(start)).status == NOT_FOUND
    edge = type_pb2.Edge(source=start, relation="ABOUT", target=type_pb2.EdgeEnd(name="Ada"))
    assert await reason(home.upsert(edge)) == "ERROR_REASON_ITEM_NOT_FOUND"
