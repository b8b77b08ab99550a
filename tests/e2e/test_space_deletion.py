"""Deleting a space: who may, what goes for ever, and what stays (W7)."""

import json
from pathlib import Path
from typing import Any

import pytest
from access_world import OPERATING, STATUS, AccessClient, caller_of
from concord.governance.v1 import access_pb2
from concord.graph.v1 import (
    episode_pb2,
    feed_pb2,
    feed_pb2_grpc,
    memory_pb2,
    space_pb2,
    working_memory_pb2,
)
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from concord_client.trust import signing
from concord_testing import signed
from governed_world import (
    Keys,
    Party,
    World,
    edge_action,
    eventually,
    reason_of,
    refused,
    request_id,
    world,
)
from writing import to_add, to_upsert_node

GOVERNANCE = Caller("", "governance", frozenset({"feed:all"}), "SYSTEM")
SEARCH_WORDS = ("Zanzibar", "Quokka", "Bergamot", "Marzipan", "Tulip")


def deletion(party: Party, genesis_digest: str, **changed: Any) -> bytes:
    """Sign that a party's space is to be deleted; `changed` replaces what it says."""
    said: dict[str, Any] = {
        "space": party.space,
        "agent": party.agent,
        "human": party.human,
        "genesis_digest": genesis_digest,
        "expire_time": party.time(1),
    }
    return signed.sign_deletion(**(said | changed))


async def delete(
    ops: AccessClient, space: str, statement: bytes = b"", typed: str = ""
) -> access_pb2.Space:
    """Delete a space."""
    request = access_pb2.DeleteSpaceRequest(
        request_id=request_id(), space=space, typed_name=typed or space, statement=statement
    )
    return (await ops.stub.DeleteSpace(request)).space


async def fill(party: Party) -> str:
    """Put words of each kind into a space; return the id of a memory."""
    memory = type_pb2.Memory(content="We met in Zanzibar")
    added = await party.memory.AddMemory(to_add(memory))
    node = type_pb2.Node(name="Quokka", label="Animal")
    node.properties["colour"] = "Bergamot"
    await party.graph.UpsertNode(to_upsert_node(node))
    edge = edge_action("Quokka", "EATS", "Marzipan", edge_type=type_pb2.EDGE_TYPE_DESCRIPTIVE)
    await party.graph.UpsertEdge(edge.upsert_edge)
    await party.episode.AddEpisode(
        episode_pb2.AddEpisodeRequest(request_id=request_id(), query="Plant a Tulip", reward=1)
    )
    await party.working_memory.PutWorkingMemory(
        working_memory_pb2.PutWorkingMemoryRequest(request_id=request_id(), content="A Tulip")
    )
    return added.memory.id


async def test_a_space_without_a_genesis_goes_when_its_name_is_typed(
    live: World, ops: AccessClient
) -> None:
    """W7 M4 Its keys are revoked, its memories leave receipts, and its name is never used again."""
    party, key = live.party("team"), await ops.key("team")
    memory_id = await fill(party)
    before = live.clock.now

    failure = await refused(delete(ops, "team", typed="taem"))
    assert [each.field for each in failure.violations] == ["typed_name"]
    assert (await caller_of(live, key.secret)).status == STATUS.KEY_STATUS_ACTIVE

    gone = await delete(ops, "team")
    assert gone.erased
    assert gone.delete_time.ToMicroseconds() >= before
    assert (await caller_of(live, key.secret)).status == STATUS.KEY_STATUS_REVOKED
    receipt = await party.memory.GetEraseReceipt(
        memory_pb2.GetEraseReceiptRequest(memory_id=memory_id)
    )
    assert receipt.receipt.memory_id == memory_id
    counts = await party.space_service.CountByType(space_pb2.CountByTypeRequest())
    assert counts.status == type_pb2.LOOKUP_STATUS_NOT_FOUND
    assert reason_of(await refused(ops.space("team")))[0] == "ITEM_EXISTS"
    assert reason_of(await refused(delete(ops, "team")))[0] == "SPACE_DELETED"
    assert reason_of(await refused(delete(ops, "nowhere")))[0] == "ITEM_NOT_FOUND"
    assert reason_of(await refused(delete(ops, "concord:system")))[0] == "ITEM_NOT_FOUND"


async def test_nothing_is_written_in_a_deleted_space(live: World, ops: AccessClient) -> None:
    """W7 A token that was minted before writes no more, and governance registers nothing there."""
    party = live.party("team")
    await delete(ops, "team")

    assert reason_of(await refused(fill(party)))[0] == "SPACE_DELETED"
    feed = feed_pb2_grpc.ChangeFeedServiceStub(live.graph.channel(GOVERNANCE))
    register = feed_pb2.RegisterSpaceRequest(space="team", enrolment_digest="0" * 64)
    assert reason_of(await refused(feed.RegisterSpace(register)))[0] == "SPACE_DELETED"
    scopes = [access_pb2.KEY_SCOPE_READ, access_pb2.KEY_SCOPE_WRITE]
    assert reason_of(await refused(ops.key("team", scopes=scopes)))[0] == "KEY_REFUSED"
    assert (await ops.key("team")).key.scopes == [access_pb2.KEY_SCOPE_READ]


async def test_a_space_with_a_genesis_takes_both_signatures(live: World) -> None:
    """W7 V2 Each check of the statement refuses; both slots' keys over this very genesis do not."""
    ops, party = AccessClient(live, OPERATING), live.party("team")
    secret = (await ops.space("team")).enrolment_secret
    digest = await party.enrol(secret)
    other = signing.Signer("ada", signing.generate_key())
    for statement, check in (
        (b"", "missing"),
        (b"{}", "envelope"),
        (deletion(party, digest, space="else"), "space"),
        (deletion(party, "0" * 64), "genesis"),
        (deletion(party, digest, expire_time=party.time(0)), "expiry"),
        (deletion(party, digest, human=other), "signature"),
        (deletion(party, digest, agent=other), "signature"),
    ):
        assert reason_of(await refused(delete(ops, "team", statement))) == (
            *("DELETION_INVALID", check),
        )
    assert reason_of(await refused(_erase(live, "team", b"")))[1] == "missing"
    expired = deletion(party, digest, human=other)
    assert reason_of(await refused(_erase(live, "team", expired)))[1] == "signature"
    await fill(party)

    assert (await delete(ops, "team", deletion(party, digest))).erased


async def _erase(live: World, space: str, statement: bytes) -> feed_pb2.EraseSpaceResponse:
    """Ask graph itself, as whoever has governance's token."""
    feed = feed_pb2_grpc.ChangeFeedServiceStub(live.graph.channel(GOVERNANCE))
    return await feed.EraseSpace(feed_pb2.EraseSpaceRequest(space=space, statement=statement))


async def test_a_statement_where_none_is_asked_for_deletes_nothing(
    live: World, ops: AccessClient
) -> None:
    """W7 A1 With the statement of another space the operator means another space than the one that
    is named: a space without a genesis stays, and the refusal is on record."""
    other = live.party("other")
    digest = await other.enrol((await ops.space("other")).enrolment_secret)

    failure = await refused(delete(ops, "team", deletion(other, digest)))

    assert [each.field for each in failure.violations] == ["statement"]
    assert {each.name for each in (await _listed(ops)).spaces} == {"other", "team"}
    assert [told[:2] for told in await ops.told()][-1] == ("SPACE_DELETE", True)


async def _listed(ops: AccessClient) -> access_pb2.ListSpacesResponse:
    return await ops.stub.ListSpaces(access_pb2.ListSpacesRequest())


async def test_log_and_genesis_stay(live: World) -> None:
    """W7 A2 What both agreed to goes too; the log tells all of it still, and verifies."""
    ops, party = AccessClient(live, OPERATING), live.party("team")
    digest = await party.enrol((await ops.space("team")).enrolment_secret)
    await party.decide(await party.propose(edge_action()))
    pending = await party.propose(edge_action("agent", "VALUES", "Bergamot"))
    log = await party.export_log()
    statement = deletion(party, digest)
    await delete(ops, "team", statement)

    assert all("concord:" in line for line in await party.state())
    assert await party.edge("agent", "VALUES", "honesty") is None
    assert (await party.export_log())[1:] == log[1:]
    assert (await party.verified(genesis_digest=digest)).executed == 1
    assert b"Bergamot" not in (await party.get(pending)).canonical
    told = await ops.told()
    action, blocked, who, said = told[-1]
    assert (action, blocked, who) == ("SPACE_DELETE", False, "ops")
    assert said == {
        "space": "team",
        "revoked_keys": 0,
        "statement": json.loads(statement),
        "operator": True,
    }
    system = Party(
        "concord:system",
        live.governance.channel(OPERATING),
        live.graph.channel(OPERATING),
        live.clock,
    )
    assert (await system.verified()).entries == len(told)


async def test_another_space_stays_as_it_is(live: World, ops: AccessClient) -> None:
    """W7 G13 What is deleted is one space: the other has all of its words and its keys."""
    party, other = live.party("team"), live.party("other")
    await ops.space("other")
    key = await ops.key("other")
    for each in (party, other):
        await fill(each)
    state = await other.state()

    await delete(ops, "team")

    assert await other.state() == state
    assert (await caller_of(live, key.secret)).status == STATUS.KEY_STATUS_ACTIVE
    episodes = await other.episode.ListEpisodes(episode_pb2.ListEpisodesRequest())
    assert [each.query for each in episodes.episodes] == ["Plant a Tulip"]


def in_files(folder: Path) -> bytes:
    """Return all that stands in the stores' files."""
    return b"".join(path.read_bytes() for path in folder.rglob("*.db*"))


async def test_no_word_is_left_in_any_file(tmp_path: Path) -> None:
    """W7 M4 A byte search of the stores finds nothing that the deleted space said."""
    known = Keys()
    async with world(tmp_path, keys=known) as live:
        ops, party = AccessClient(live, OPERATING), live.party("team")
        await ops.space("team")
        memory_id = await fill(party)
        proposed = edge_action(
            "Quokka", "LIKES", "Bergamot", edge_type=type_pb2.EDGE_TYPE_DESCRIPTIVE
        )
        await party.propose(proposed)
        await delete(ops, "team")

        async def complete() -> bool:
            asked = memory_pb2.GetEraseReceiptRequest(memory_id=memory_id)
            return (await party.memory.GetEraseReceipt(asked)).receipt.HasField("complete_time")

        await eventually(complete, bool)
    held = in_files(tmp_path)
    assert [word for word in SEARCH_WORDS if word.encode() in held] == []


async def test_an_erasing_goes_on_after_a_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W7 A deletion that graph had not carried out when all stopped is carried out at the start."""
    known = Keys()
    with monkeypatch.context() as stopped:
        stopped.setattr("concord_governance.usecases.spaces.ERASED_SECONDS", 0.0)
        stopped.setattr("concord_governance.usecases.spaces.ERASE_AGAIN_SECONDS", 60.0)
        stopped.setattr(
            "concord_governance.adapters.graph.client.GraphClient.erase_space", _unanswered
        )
        async with world(tmp_path, keys=known) as live:
            ops, party = AccessClient(live, OPERATING), live.party("team")
            await ops.space("team")
            await fill(party)
            assert not (await delete(ops, "team")).erased
    async with world(tmp_path, keys=known) as again:
        listed = access_pb2.ListSpacesRequest(include_deleted=True)
        stub = AccessClient(again, OPERATING).stub

        async def space() -> access_pb2.Space:
            return (await stub.ListSpaces(listed)).spaces[0]

        assert (await eventually(space, lambda found: found.erased)).name == "team"
        assert not (await stub.ListSpaces(access_pb2.ListSpacesRequest())).spaces


async def _unanswered(*_: object) -> bool:
    """Stand for a graph that does not answer."""
    from concord_governance.domain.errors import GraphUnavailable

    raise GraphUnavailable("stopped")
