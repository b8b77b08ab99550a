"""What keys that append, or change their own, do, claim and are refused (W7, W9)."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from claim_world import accept, ada, add, claims, helper, refuse, said, update, withdraw
from claim_world import with_reach as key
from concord.graph.v1 import conflict_pb2, graph_pb2, memory_pb2, working_memory_pb2
from concord.type.v1 import type_pb2
from google.protobuf.field_mask_pb2 import FieldMask
from graph_world import SUPERSEDES, Calls, World, edge_of, fact, reason, refused

MISSING = "ERROR_REASON_PERMISSION_MISSING"


async def _forget(calls: Calls, memory: type_pb2.Memory) -> Any:
    request = memory_pb2.ForgetMemoryRequest(
        request_id=calls.request_id(), id=memory.id, etag=memory.etag
    )
    return await calls.memory.ForgetMemory(request)


async def test_append_adds_whatever_is_new(live: World) -> None:
    """W7 A memory with facts, a node, an edge, a relation: at once, and no reply claims."""
    calls = key(live, "append")
    tea = fact("Ada", "LIKES", "tea")

    memory = await add(calls, "Ada likes tea.", facts=[tea], id="m")
    await calls.put_node("Bob", label="Person")
    edge = await calls.upsert(edge_of("Bob", "KNOWS", "Ada"))
    await calls.declare("LIVES_IN", functional=False)
    value = await calls.upsert(edge_of("Bob", "LIVES_IN", "Bonn"))

    assert [said(reply) for reply in (memory, edge, value)] == [[], [], []]
    assert await calls.listed() == ["m"]
    assert await claims(calls) == []


async def test_append_declares_nothing_functional(live: World) -> None:
    """W7 W9 T2 It would decide how others' later values stand: refused, or where one is there that
    would end, a claim."""
    calls, other = key(live, "append"), helper(live)
    for number, city in enumerate(("Rome", "Oslo")):
        await other.put_edge("Ada", "LIVES_IN", city, valid_from=number + 1)

    refused = await reason(calls.declare("USES"))
    claimed = await calls.declare("LIVES_IN")

    assert refused == "ERROR_REASON_PERMISSION_MISSING"
    assert [action for action, _, _ in said(claimed)] == ["DECLARE"]
    assert await calls.declared() == {}


async def test_append_changes_nothing_even_of_its_own_principal(live: World) -> None:
    """W7 W9 Words become a memory beside it; all else a claim that shows it as it is."""
    calls = key(live, "append")
    memory = (await add(calls, "I am on call on Monday.", id="m")).memory
    memory.content = "I am on call on Friday."
    worded = await update(calls, memory, "content")
    memory = await calls.get("m")
    memory.tags.append("duty")
    tagged = await update(calls, memory, "tags")
    gone = await _forget(calls, await calls.get("m"))
    newer = await add(calls, "Never.\n\nSupersedes: [[memory:m]]", id="n")

    assert said(worded) == [("SUPERSEDE", "m", worded.memory.id)]
    assert worded.memory.id != "m"
    assert said(tagged) == [("UPDATE", "m", "")]
    assert said(gone) == [("FORGET", "m", "")]
    assert said(newer) == [("SUPERSEDE", "m", "n")]
    assert {each.owner for each in (*worded.claims, *gone.claims)} == {"other"}
    now = await calls.get("m")
    assert (now.content, list(now.tags)) == ("I am on call on Monday.", [])
    assert not now.supersession.is_superseded
    assert not now.HasField("forget_time")


async def test_its_principal_accepts_with_a_key_that_may_write_and_with_no_other(
    live: World,
) -> None:
    """W7 W9 The same principal's: append is not let in, own may since it wrote all, write may."""
    appends, owns, writes = key(live, "append"), key(live, "own"), key(live, "write")
    for name in ("m", "n"):
        memory = (await add(appends, f"I drink {name}.", id=name)).memory
        await _forget(appends, memory)
    one, two = sorted(each.number for each in await claims(writes))

    told = await refused(accept(appends, one))
    assert (told.code, told.reason) == (grpc.StatusCode.PERMISSION_DENIED, MISSING)
    assert "but only memory:append" in told.message
    await accept(owns, one)
    await accept(writes, two)

    assert await writes.listed() == []
    assert await claims(writes) == []


async def test_append_takes_its_own_claims_back(live: World) -> None:
    """W7 W9 It may only propose, and withdraw what it proposed."""
    writer, calls = helper(live), key(live, "append")
    memory = await writer.add("It rains.", id="m")
    number = (await _forget(calls, memory)).claims[0].number

    await withdraw(calls, number)

    assert await claims(calls) == []


async def test_own_changes_what_its_principal_alone_wrote(live: World) -> None:
    """W7 Words, lineage, nodes, values and relations; forgetting and bringing back."""
    calls = key(live, "own")
    memory = (await add(calls, "I like tea.", id="m", facts=[fact("I", "LIKES", "tea")])).memory
    memory.content = "I like black tea."
    worded = await update(calls, memory, "content")
    gone = await _forget(calls, worded.memory)
    back = await calls.restore(gone.memory)
    replies: list[Any] = [worded, gone]
    replies.append(await add(calls, "No tea.\n\nSupersedes: [[memory:m]]", id="n"))
    await calls.declare("LIVES_IN")
    replies += [await calls.upsert(edge_of("I", "LIVES_IN", city)) for city in ("Bonn", "Rome")]
    node = await calls.put_node("I", label="Person")
    renamed = graph_pb2.UpdateNodeRequest(
        request_id="r",
        node=type_pb2.Node(id=node.id, name="Me", etag=node.etag),
        update_mask=FieldMask(paths=["name"]),
    )
    replies.append(await calls.graph.UpdateNode(renamed))

    assert [said(reply) for reply in replies] == [[]] * len(replies)
    assert back.content == "I like black tea."
    assert await calls.listed() == ["n"]
    assert (await calls.get_node("Me")).id == node.id


async def test_what_another_wrote_once_is_no_longer_its_own(live: World) -> None:
    """W7 W9 One revision among all decides, whoever made it; beyond a page of them, too."""
    calls, other = key(live, "own"), helper(live)
    first = (await add(calls, "It rains.", id="first")).memory
    first.tags.append("weather")
    await update(other, first, "tags")
    second = await other.add("It snows.", id="second")
    for number in range(101):
        second.domain = f"d{number}"
        second = (await update(key(live, "write"), second, "domain")).memory

    for name, owner in (("first", "other"), ("second", "helper")):
        reply = await _forget(calls, await calls.get(name))
        assert said(reply) == [("FORGET", name, "")]
        assert reply.claims[0].owner == owner  # who wrote it first


async def test_a_shared_fact_is_nobodys_own(live: World) -> None:
    """W7 M1 An edge that another one's memory states, too, stays as it is; its own memory goes."""
    calls, other = key(live, "own"), helper(live)
    mine = (await add(calls, "Ada likes tea.", facts=[fact("Ada", "LIKES", "tea")])).memory
    await other.add("Ada likes tea a lot.", facts=[fact("Ada", "LIKES", "tea")])
    edge = await calls.get_triple("Ada", "LIKES", "tea")
    request = graph_pb2.DeleteEdgeRequest(request_id="1", id=edge.id, etag=edge.etag)

    reply = await calls.graph.DeleteEdge(request)
    gone = await _forget(calls, mine)

    assert said(reply) == [("DELETE", edge.id, "")]
    assert said(gone) == []
    assert len((await other.get_edge(edge.id)).sources) == 1


@pytest.mark.parametrize("reach", ["append", "own"])
async def test_a_later_value_beside_anothers_claims(live: World, reach: str) -> None:
    """W7 W9 T2 The value that was there goes on; a person's key, too, takes nothing back."""
    other, calls = helper(live), key(live, reach, kind="HUMAN")
    await other.declare("LIVES_IN")
    berlin = await other.put_edge("Ada", "LIVES_IN", "Berlin", valid_from=1_000)
    rome = await other.put_edge("Ada", "LIVES_IN", "Rome", valid_from=9_000)

    reply = await calls.upsert(edge_of("Ada", "LIVES_IN", "Bonn", valid_from=5_000))

    assert said(reply) == [("FOLLOW", berlin.id, reply.edge.id)]
    assert not (await other.get_edge(rome.id)).claimed
    assert not (await other.get_edge(berlin.id)).claimed


@pytest.mark.parametrize("reach", ["append", "own"])
async def test_a_conflict_of_others_is_theirs_to_decide(live: World, reach: str) -> None:
    """W7 D5 W9 A dismissal is a claim, whose acceptance dismisses."""
    other, calls = helper(live), key(live, reach)
    for word in "ab":
        await other.add(word, id=word)
    await other.relate(type_pb2.LINEAGE_RELATION_CONTRADICTS, "a", "b")
    listed = conflict_pb2.ListConflictsRequest()
    (found,) = (await calls.conflict.ListConflicts(listed)).conflicts

    reply = await calls.conflict.ReviewConflict(
        conflict_pb2.ReviewConflictRequest(
            request_id="1",
            conflict_id=found.id,
            etag=found.etag,
            decision=conflict_pb2.REVIEW_DECISION_DISMISS,
        )
    )

    assert said(reply) == [("DECIDE", "a", "")]
    assert reply.conflict.state == conflict_pb2.CONFLICT_STATE_CONFIRMED
    await accept(other, reply.claims[0].number)
    (now,) = (await calls.conflict.ListConflicts(listed)).conflicts
    assert now.state == conflict_pb2.CONFLICT_STATE_DISMISSED


async def test_own_ends_the_conflict_of_a_side_that_it_forgets(live: World) -> None:
    """W7 D5 The other side is another one's: what follows from its own write is done."""
    calls, other = key(live, "own"), helper(live)
    mine = (await add(calls, "It rains.", id="mine")).memory
    await other.add("It does not.", id="theirs")
    await other.relate(type_pb2.LINEAGE_RELATION_CONTRADICTS, "mine", "theirs")

    assert said(await _forget(calls, mine)) == []
    assert not (await other.get("theirs")).conflict_ids


async def test_what_can_be_no_claim_is_refused_by_name(live: World) -> None:
    """W7 Working memory: PERMISSION_DENIED, with the permission and the entry; own may its own."""
    other, appends, owns = helper(live), key(live, "append"), key(live, "own")
    theirs = await _noted(other, "note")
    mine = await _noted(appends, "another")
    put = working_memory_pb2.PutWorkingMemoryRequest(request_id="p", content="note")

    told = await refused(appends.working_memory.PutWorkingMemory(put))
    assert (told.code, told.reason) == (grpc.StatusCode.PERMISSION_DENIED, MISSING)
    assert told.metadata == {"permission": "memory:write", "item_id": theirs}
    assert "ask somebody whose key may write" in told.message
    for calls, entry in ((appends, mine), (owns, theirs)):
        remove = working_memory_pb2.RemoveWorkingMemoryRequest(request_id="r", id=entry)
        assert await reason(calls.working_memory.RemoveWorkingMemory(remove)) == MISSING
    remove = working_memory_pb2.RemoveWorkingMemoryRequest(request_id="s", id=mine)
    await owns.working_memory.RemoveWorkingMemory(remove)
    clear = working_memory_pb2.ClearWorkingMemoryRequest(request_id="c")
    assert await reason(owns.working_memory.ClearWorkingMemory(clear)) == MISSING


async def _noted(calls: Calls, content: str) -> str:
    put = working_memory_pb2.PutWorkingMemoryRequest(request_id=calls.request_id(), content=content)
    return (await calls.working_memory.PutWorkingMemory(put)).entry.id


async def test_own_settles_claims_on_its_own_alone(live: World) -> None:
    """W7 W9 The owner of an item that others wrote on, too, needs a key that may write."""
    calls, person, other = key(live, "own"), ada(live), helper(live)
    await add(calls, "It rains.", id="mine")
    shared = (await add(calls, "It snows.", id="shared")).memory
    shared.tags.append("weather")
    await update(person, shared, "tags")
    numbers = {}
    for name in ("mine", "shared"):
        lower = live.calls(
            principal="cron",
            scopes=frozenset({"graph:write", "memory:write", "memory:read"}),
            kind="SYSTEM",
            origin="TOOL",
        )
        reply = await add(lower, f"{name}?\n\nSupersedes: [[memory:{name}]]")
        numbers[name] = reply.claims[0].number

    assert await reason(refuse(calls, numbers["shared"])) in (MISSING, "ERROR_REASON_STANDS_ABOVE")
    await accept(calls, numbers["mine"])
    assert (await other.get("mine")).supersession.is_superseded
    assert not (await other.get("shared")).supersession.is_superseded


async def test_a_claim_that_is_stated_again_still_only_claims(live: World) -> None:
    """W7 W9 D5 The same lineage twice, by each of the keys: nothing acts by repetition."""
    person = ada(live)
    await person.add("I drink tea.", id="tea")
    for calls in (helper(live), key(live, "append"), key(live, "own")):
        own = (await add(calls, "She drinks rum.")).memory.id
        for relation in (SUPERSEDES, type_pb2.LINEAGE_RELATION_CONTRADICTS):
            for _ in range(2):
                reply = await calls.relate(relation, own, "tea")
                assert reply.edge.claimed

    tea = await person.get("tea")
    assert not tea.supersession.is_superseded
    assert tea.health.status == type_pb2.HEALTH_STATUS_HEALTHY


async def test_what_was_forgotten_comes_back_as_current_as_it_was(live: World) -> None:
    """W9 Lineage at a memory that is forgotten claims, too: it acts on nothing that comes back."""
    person = ada(live)
    gone = await person.forget(await person.add("I drink tea.", id="tea"))
    for calls in (helper(live), key(live, "append"), key(live, "own", principal="third")):
        new = await calls.add("She drinks rum.", id=f"rum{calls.request_id()}")
        reply = await calls.relate(SUPERSEDES, new.id, "tea")
        assert said(reply) == [("SUPERSEDE", "tea", new.id)]

    await person.restore(gone)

    assert not (await person.get("tea")).supersession.is_superseded


async def test_two_spaces_keep_reach_apart(live: World) -> None:
    """W7 The same principal: append in one space, write in the other."""
    here, there = key(live, "append"), live.calls("there", principal="other", kind="AGENT")
    await add(here, "It rains.", id="m")
    await add(there, "It rains.", id="m")

    assert said(await _forget(here, await here.get("m"))) == [("FORGET", "m", "")]
    assert said(await _forget(there, await there.get("m"))) == []


async def test_a_request_that_no_claim_keeps_is_refused(live: World) -> None:
    """W7 W9 More than 65,536 characters of it in base64: with a reason, and nothing is written."""
    calls, other = key(live, "append"), helper(live)
    memory = await other.add("It rains.", id="m")
    memory.properties.update({f"p{number}": "x" * 1_000 for number in range(60)})

    assert await reason(update(calls, memory, "properties")) == MISSING
    assert await claims(calls) == []
