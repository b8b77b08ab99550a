"""What needs no consent goes along unnamed: nobody stops a change by hanging more on it (V6)."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from concord.graph.v1 import governed_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord_attestation.bounds import MAX_ENTRY_BYTES, MAX_ITEMS
from concord_client.trust.review import ReviewError, demand_undoing, review
from concord_governance.domain import documents
from concord_graph.usecases.write import cascade
from governed_steps import DESCRIPTIVE, decided, demand_honest, does, hub_with
from governed_world import CONSTITUTIVE, STATUS, Party, edge_action, reason_of, refused, request_id
from writing import action_of, salt, to_add, to_delete_edge, to_upsert_edge

EXECUTED, FAILED = STATUS.PROPOSAL_STATUS_EXECUTED, STATUS.PROPOSAL_STATUS_FAILED
A_BATCH = 1_000
MORE_THAN_ENVELOPES_NAME = pytest.mark.parametrize(
    ("most", "count"),
    [(20, 110), pytest.param(MAX_ITEMS, 2 * MAX_ITEMS, marks=pytest.mark.soak)],
)


async def remember(party: Party, texts: list[str]) -> None:
    """Add descriptive memories, alone."""
    for start in range(0, len(texts), A_BATCH):
        some = texts[start : start + A_BATCH]
        header = memory_pb2.BatchHeader(request_id=request_id(), memory_count=len(some))
        parts = [memory_pb2.BatchAddMemoriesRequest(header=header)]
        for text in some:
            memory = type_pb2.Memory(content=text)
            parts.append(memory_pb2.BatchAddMemoriesRequest(memory=memory))
        reply = await party.memory.BatchAddMemories(iter(parts))
        assert not reply.errors


async def creed_with(party: Party, count: int) -> governed_pb2.GovernedAction:
    """Make a constitutive memory, let so many others link to it; return what erases it."""
    memory = type_pb2.Memory(id="creed", content="Ada's secret.", edge_type=CONSTITUTIVE)
    await does(party, to_add(memory))
    await remember(party, [f"note {number}: see [[memory:creed]]" for number in range(count)])
    found = await party.memory.GetMemory(memory_pb2.GetMemoryRequest(id="creed"))
    erase = memory_pb2.EraseMemoryRequest(
        request_id=salt(), id="creed", etag=found.memory.etag, reason="r"
    )
    return action_of(erase)


async def executed_entry(party: Party) -> dict[str, object]:
    """Return what the newest SMF_EXECUTE says."""
    leaves = [json.loads(line) for line in (await party.export_log())[1:]]
    told = [leaf["properties"] for leaf in leaves if leaf["action"] == "SMF_EXECUTE"]
    return dict(told[-1])


@MORE_THAN_ENVELOPES_NAME
async def test_many_links_keep_no_constitutive_memory_from_being_erased(
    party: Party, most: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M4 G4 V6 The right to erase is in both principals' hands, however many memories one of them
    links to what is to go."""
    monkeypatch.setattr(documents, "MAX_ITEMS", most)
    proposal = await party.propose(await creed_with(party, count))
    assert [item.id for item in proposal.affected] == ["creed"]
    assert proposal.cascaded_count == count
    done = await decided(party, proposal)

    assert (done.status, done.failure_reason) == (EXECUTED, "")
    told = await executed_entry(party)
    assert [each["id"] for each in told["effects"]] == ["creed"]  # type: ignore[attr-defined]
    assert told["cascaded"]["count"] == count  # type: ignore[index]
    await demand_honest(party)


@MORE_THAN_ENVELOPES_NAME
async def test_many_edges_keep_no_constitutive_edge_from_being_deleted(
    party: Party, most: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G4 V6 V8 A node with a constitutive edge is deleted with all that hangs on it, more than
    envelopes could name; undone, everything is back as it was."""
    monkeypatch.setattr(documents, "MAX_ITEMS", most)
    delete = await hub_with(party, count)
    before = await party.state()
    proposal = await party.propose(delete)
    assert (len(proposal.affected), proposal.cascaded_count) == (2, count)
    done = await decided(party, proposal)
    assert (done.status, done.failure_reason) == (EXECUTED, "")
    assert await party.state() != before
    undone = await decided(party, await party.undo(done))

    assert undone.status == EXECUTED
    assert await party.state() == before
    assert max(map(len, await party.export_log())) < MAX_ENTRY_BYTES
    await demand_honest(party)


async def test_more_than_an_undo_can_name_is_done_and_final(
    party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G4 V8 A deletion is carried out however much goes along; what could not come back as it was
    is not offered to be undone."""
    monkeypatch.setattr(cascade, "MOST_LISTED", 2)
    proposal = await party.propose(await hub_with(party, 3))
    assert proposal.irreversible
    assert review(proposal).document["irreversible"] is True
    assert "It cannot be undone." in proposal.framing.if_approved
    done = await party.decide(proposal)

    assert done.status == EXECUTED
    assert (await executed_entry(party))["cascaded"]["count"] == 3  # type: ignore[index]
    assert reason_of(await refused(party.undo(done))) == ("RETENTION_EXPIRED", "")
    await demand_honest(party)


async def test_what_was_signed_as_final_stays_so(
    party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V8 What both were told cannot be undone is not undone, though less went along in the end."""
    monkeypatch.setattr(cascade, "MOST_LISTED", 2)
    proposal = await party.propose(await hub_with(party, 3))
    edge = await party.edge("hub", "R0", "x")
    assert edge is not None
    await party.graph.DeleteEdge(to_delete_edge(edge))
    done = await party.decide(proposal)

    assert (done.status, done.undo_until) == (EXECUTED, done.resolve_time)
    assert reason_of(await refused(party.undo(done))) == ("RETENTION_EXPIRED", "")
    await demand_honest(party)


async def test_nothing_becomes_final_untold(party: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    """V6 V8 What was to be undone for thirty days, and would be final because somebody hung more on
    it meanwhile, is not done: proposed anew it says so, and then nobody can stop it."""
    monkeypatch.setattr(cascade, "MOST_LISTED", 2)
    delete = await hub_with(party, 2)
    proposal = await party.propose(delete)
    assert not proposal.irreversible
    assert "irreversible" not in review(proposal).document
    edge = edge_action("hub", "R9", "x", edge_type=DESCRIPTIVE).upsert_edge.edge
    await party.graph.UpsertEdge(to_upsert_edge(edge))
    failed = await party.decide(proposal)

    assert (failed.status, failed.failure_reason) == (FAILED, "ERROR_REASON_UNDO_IMPOSSIBLE")
    assert await party.edge("hub", "VALUES", "honesty") is not None
    delete.delete_node.request_id = salt()
    assert (await does(party, delete)).irreversible
    assert await party.edge("hub", "VALUES", "honesty") is None
    await demand_honest(party)


async def test_what_is_never_undone_says_so(party: Party) -> None:
    """V3 V8 An erasure ends undo whatever it takes along: its words and its bytes say that, in both
    languages, and a server that shows another thing is caught."""
    erase = await creed_with(party, 1)
    for language, words in (
        ("en", "It cannot be undone."),
        ("de", "Das lässt sich nicht rückgängig machen."),
    ):
        proposal = await party.propose(erase, language=language)
        assert words in proposal.framing.if_approved
        assert proposal.irreversible
        assert review(proposal).document["irreversible"] is True
    proposal.irreversible = False
    with pytest.raises(ReviewError, match="'irreversible'"):
        review(proposal)


async def test_how_many_go_along_stands_in_the_words_that_are_signed(party: Party) -> None:
    """V6 The count is in the canonical bytes and in the template's words; a server that shows
    another is caught."""
    proposal = await party.propose(await hub_with(party, 7))

    assert review(proposal).document["cascaded_count"] == 7
    assert "7 more that need no consent go along" in proposal.framing.affected
    proposal.cascaded_count = 0
    with pytest.raises(Exception, match="'cascaded_count'"):
        review(proposal)


async def test_what_goes_along_may_change_until_then(party: Party) -> None:
    """G4 V6 One principal cannot stop a change by changing or adding meanwhile what goes along."""
    proposal = await party.propose(await hub_with(party, 3))
    for relation in ("R1", "R9"):
        edge = edge_action("hub", relation, "x", edge_type=DESCRIPTIVE, weight=0.5)
        await party.graph.UpsertEdge(to_upsert_edge(edge.upsert_edge.edge))
    done = await party.decide(proposal)

    assert done.status == EXECUTED
    assert (await executed_entry(party))["cascaded"]["count"] == 4  # type: ignore[index]
    await demand_honest(party)


async def test_what_became_constitutive_meanwhile_does_not_go_along(party: Party) -> None:
    """G4 V6 What needs consent when it is done must have been named: the change fails, and
    nothing is gone."""
    proposal = await party.propose(await hub_with(party, 3))
    await does(party, edge_action("hub", "R1", "x"))
    done = await party.decide(proposal)

    assert (done.status, done.failure_reason) == (FAILED, "ERROR_REASON_GRANT_INVALID")
    assert await party.edge("hub", "VALUES", "honesty") is not None
    await demand_honest(party)


async def test_what_an_undo_takes_along_is_held_to_its_revision(party: Party) -> None:
    """V8 What went along comes back only from the revision at which it was left; nothing that the
    action names itself goes unnamed by calling it taken along."""
    done = await does(party, await hub_with(party, 2))
    undo = await party.undo(done)
    named = {item.id for item in undo.affected}
    went = [each for each in undo.action.revert_items.items if each.cascaded]
    assert len(went) == undo.cascaded_count == 2
    assert not named & {each.id for each in went}

    stale = governed_pb2.RevertedItem()
    stale.CopyFrom(went[0])
    stale.expected_revision += 1
    failure = await refused(reverted(party, stale))
    assert reason_of(failure) == ("UNDO_CONFLICT", "")

    plain = governed_pb2.RevertedItem()
    plain.CopyFrom(went[0])
    plain.cascaded = False
    failure = await refused(reverted(party, plain))
    assert reason_of(failure) == ("GRANT_INVALID", "etags")

    for item in undo.action.revert_items.items:
        if item.id in named:
            item.cascaded = True
    failure = await refused(reverted(party, *undo.action.revert_items.items))
    assert reason_of(failure) == ("CONSTITUTIVE_EDGE_PROTECTED", "")


async def test_who_signs_an_undo_holds_it_against_what_went_along(party: Party) -> None:
    """V8 A2 The log's digest of what went along fits the whole of what an undo names as such, and
    nothing less or else."""
    undo = await party.undo(await does(party, await hub_with(party, 3)))
    log = [line.removesuffix(b"\n") for line in await party.export_log()]
    leaf = next(
        line
        for line in log
        if json.loads(line).get("action") == "SMF_EXECUTE"
        and json.loads(line)["proposal"]["id"] == undo.undo_of
    )
    found = review(undo)
    demand_undoing(found, leaf)

    items = found.document["action"]["revert_items"]["items"]
    place = next(at for at, item in enumerate(items) if item.get("cascaded"))
    for forged in ([*items[:place], *items[place + 1 :]], [*items, items[place] | {"id": "x"}]):
        action = {"revert_items": {"items": forged}}
        other = replace(found, document={**found.document, "action": action})
        with pytest.raises(ReviewError, match="undo_of"):
            demand_undoing(other, leaf)


async def reverted(party: Party, *items: governed_pb2.RevertedItem) -> None:
    """Ask graph to bring items back, alone."""
    revert = governed_pb2.RevertItemsRequest(request_id=salt(), items=items)
    action = action_of(revert)
    await party.governed.ApplyGovernedChange(
        governed_pb2.ApplyGovernedChangeRequest(request_id=request_id(), action=action)
    )
