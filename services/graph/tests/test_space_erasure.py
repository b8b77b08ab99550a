"""Erasing what a deleted space holds: what graph itself demands, what goes, and what stays (W7)."""

from hashlib import sha256

import pytest
from concord.graph.v1 import episode_pb2, feed_pb2, graph_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord_client.trust import signing
from concord_graph.usecases.governed import space_erasure
from concord_testing import signed
from graph_world import Calls, Parties, World, reason, refused

DELETED = "ERROR_REASON_SPACE_DELETED"


async def erase(calls: Calls, space: str = "home", statement: bytes = b"") -> int:
    """Erase a space step by step; return in how many."""
    request = feed_pb2.EraseSpaceRequest(space=space, statement=statement)
    for step in range(1, 100):
        if (await calls.feed.EraseSpace(request)).complete:
            return step
    raise AssertionError("it never ends")


async def furnish(calls: Calls) -> list[str]:
    """Put things of every kind into a space; return its memories' ids."""
    first = await calls.add("Zorblax lives in plingtown.", tags=["hobnob"])
    first.content = "Zorblax left. See [[memory:nowhere]]"
    first = await calls.update(first, "content")
    heir = await calls.add(f"Wibble came. Supersedes: [[memory:{first.id}]]", id="heir")
    gone = await calls.add("Soon forgotten")
    await calls.memory.ForgetMemory(
        memory_pb2.ForgetMemoryRequest(request_id=calls.request_id(), id=gone.id, etag=gone.etag)
    )
    edge = type_pb2.Edge(
        source=type_pb2.EdgeEnd(name="Zorblax"),
        relation="QUUXES",
        target=type_pb2.EdgeEnd(name="Frobnitz"),
    )
    edge.properties["participants"] = ["Snarfle"]
    await calls.graph.UpsertEdge(
        graph_pb2.UpsertEdgeRequest(request_id=calls.request_id(), edge=edge)
    )
    await calls.episode.AddEpisode(
        episode_pb2.AddEpisodeRequest(request_id=calls.request_id(), query="Yarble", reward=1)
    )
    return [first.id, heir.id, gone.id]


async def everything(calls: Calls) -> str:
    """Return all that a space's lists and exports say."""
    lists = (
        calls.graph.ListNodes(graph_pb2.ListNodesRequest()),
        calls.graph.ListEdges(graph_pb2.ListEdgesRequest()),
        calls.memory.ListMemories(memory_pb2.ListMemoriesRequest(include_superseded=True)),
        calls.episode.ListEpisodes(episode_pb2.ListEpisodesRequest()),
    )
    said = [str(await each) for each in lists]
    return "".join([*said, *await calls.export()])


async def test_all_goes_in_steps_and_each_memory_leaves_a_receipt(
    live: World, home: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W7 M4 Nothing of the space is read any more; the other space is as it was."""
    monkeypatch.setattr(space_erasure, "MEMORIES_A_STEP", 2)
    monkeypatch.setattr(space_erasure, "ROWS_A_STEP", 3)
    other = live.calls("other")
    ids = await furnish(home)
    await furnish(other)
    kept = await everything(other)
    before = await home.heads()

    assert await erase(home) > 3

    for word in ("Zorblax", "Wibble", "forgotten", "Frobnitz", "Snarfle", "Yarble", "hobnob"):
        assert word not in await everything(home)
    for memory_id in ids:
        receipt = await home.memory.GetEraseReceipt(
            memory_pb2.GetEraseReceiptRequest(memory_id=memory_id)
        )
        assert receipt.receipt.memory_id == memory_id
    assert await everything(other) == kept
    after = await home.heads()
    assert (after["other"], after["home"]) == (before["other"], before["home"] + len(ids))
    assert await erase(home) == 1


async def test_from_the_first_step_on_nothing_is_written(home: Calls) -> None:
    """W7 Whatever credential is left, a deleted space takes no write, and no enrolment secret."""
    await home.add("Zorblax")
    await home.feed.EraseSpace(feed_pb2.EraseSpaceRequest(space="home"))

    assert await reason(home.add("Wibble")) == DELETED
    register = feed_pb2.RegisterSpaceRequest(space="home", enrolment_digest="0" * 64)
    assert await reason(home.feed.RegisterSpace(register)) == DELETED


async def test_a_registered_secret_takes_the_place_of_the_configured_one(
    live: World, home: Calls
) -> None:
    """W7 V5 The newest registered digest counts until the genesis, and none after it."""
    parties = Parties("home", live.clock)
    for secret, has_genesis in (("first", False), ("second", False), ("third", True)):
        if has_genesis:
            for wrong in ("first", "one-time-secret"):
                assert await reason(parties.enrol(home, wrong)) == (
                    "ERROR_REASON_ENROLMENT_SECRET_INVALID"
                )
            await parties.enrol(home, "second")
        digest = sha256(secret.encode()).hexdigest()
        request = feed_pb2.RegisterSpaceRequest(space="home", enrolment_digest=digest)
        for _ in range(2):
            reply = await home.feed.RegisterSpace(request)
            assert reply.has_genesis == has_genesis


async def test_graph_demands_both_signatures_itself(live: World, home: Calls) -> None:
    """W7 V2 No server's key deletes a space with a genesis; with both signatures all of it goes."""
    parties = Parties("home", live.clock)
    digest = await parties.enrol(home)
    wrong = signing.Signer("anna", signing.generate_key())

    def deletion(human: signing.Signer) -> bytes:
        return signed.sign_deletion(
            space="home",
            agent=parties.agent,
            human=human,
            genesis_digest=digest,
            expire_time=parties.expiry(),
        )

    for statement, check in (
        (b"", "missing"),
        (deletion(wrong), "signature"),
    ):
        request = feed_pb2.EraseSpaceRequest(space="home", statement=statement)
        failure = await refused(home.feed.EraseSpace(request))
        assert failure.metadata["check"] == check
    await home.add("A refused deletion deletes nothing")

    await furnish(home)
    await erase(home, statement=deletion(parties.human))
    assert "Zorblax" not in await everything(home)
