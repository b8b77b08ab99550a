"""A look at what an erasure by selection would take, and the erasure of exactly that (M4)."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from concord.graph.v1 import (
    conflict_pb2,
    erasure_pb2,
    memory_pb2,
    recall_pb2,
    record_pb2,
    space_pb2,
)
from concord.type.v1 import type_pb2
from concord_graph.domain.errors import ItemErased
from concord_graph.ports import Author, ServiceRecord, Writes
from concord_graph.usecases.governed.restore import Restoring
from concord_graph.usecases.selection import erasing
from concord_graph.usecases.write.writer import Writer
from conflict_world import CONFIRM, recorded, review
from erasing_people import (
    BOB,
    OTHERS,
    WORDS,
    ZORBLAX,
    episode,
    erase,
    erase_looked_at,
    found,
    ids,
    kept,
    look,
    of_subject,
    people,
    says,
)
from graph_world import Calls, Parties, World, reason, world
from transfers import export_of, import_into

CHANGED = "ERROR_REASON_SELECTION_CHANGED"


async def test_a_look_lists_what_was_said_what_is_stated_and_what_mentions(home: Calls) -> None:
    """M4 Three lists, with what derives from them and what stays; a look changes nothing."""
    made = await people(home)
    before = len(await home.changes())

    seen = await look(home, of_subject(ZORBLAX))

    assert ids(seen, "SAID") == {made["said"]}
    assert ids(seen, "FACTS") == {made["fact"], made["node"], made["edge"], made["thing"]}
    assert ids(seen, "DERIVED") == {made["summary"]}
    assert ids(seen, "MENTION") == set()
    assert kept(seen, "MENTION") == {made[name] for name in ("mention", "both", "episode", "note")}
    assert kept(seen, "SHARED") == {made["shared"]}
    assert len(await home.changes()) == before


async def test_mentions_and_what_is_shared_are_asked_for_apart(home: Calls) -> None:
    """M4 A memory about two people is listed apart until `shared` says so."""
    made = await people(home)

    mentions = await look(home, of_subject(ZORBLAX), mentions=True)
    all_ = await look(home, of_subject(ZORBLAX), mentions=True, shared=True)

    assert ids(mentions, "MENTION") == {made["mention"], made["episode"], made["note"]}
    assert kept(mentions, "SHARED") == {made["shared"], made["both"]}
    assert kept(all_, "SHARED") == set()
    (both,) = [each for each in mentions.items if each.id == made["both"]]
    assert list(both.others) == ["bob kerfuffle"]
    assert {made["other"], made["alike"]} & {each.id for each in all_.items} == set()


async def test_names_that_look_alike_are_named_and_not_taken(home: Calls) -> None:
    """M4 A near name is shown; `also` selects it as another name of the same."""
    await people(home)
    twin = await home.put_node("Zorblax Quuxli")

    alone = await look(home, of_subject(ZORBLAX))
    both = await look(home, of_subject(ZORBLAX, "Zorblax Quuxli"))

    assert "Zorblax Quuxli" in alone.near_names
    assert twin.id not in ids(alone, "FACTS")
    assert twin.id in ids(both, "FACTS")


async def test_no_file_holds_who_was_forgotten_and_the_others_stay(
    live: World, home: Calls
) -> None:
    """M4 Memories, facts, nodes, names, episodes, notes: their bytes are gone, others' are not."""
    made = await people(home)
    first, second = await home.get(made["mention"]), await home.get(made["other"])
    await review(home, await recorded(home, first, second), CONFIRM, "Quuxly said so")
    former = await home.get(made["said"])
    former.content = "I moved."
    await home.update(former, "content")
    assert found(live.path.parent, WORDS) == set(WORDS)

    receipt = await erase(home, of_subject(ZORBLAX), mentions=True, shared=True)
    await home.scrubbed(receipt["erase_id"])

    left = found(live.path.parent, WORDS)
    assert left == {"Zorblax"}, "what is called Zorblaxa stays"
    assert found(live.path.parent, OTHERS[:2]) == set(OTHERS[:2])
    gone = {each["id"] for each in receipt["erased"]}
    assert {made[name] for name in made if name not in ("other", "alike")} <= gone
    assert receipt["kept"] == []
    assert (await home.get(made["other"])).content == "I like Bumfuzzle."


async def test_an_erasure_takes_exactly_what_was_looked_at(home: Calls) -> None:
    """M4 If there is something new since the look, the whole is refused, and nothing is erased."""
    made = await people(home)
    seen = await look(home, of_subject(ZORBLAX))
    await home.add("And this.", sources=says(ZORBLAX))

    why = await reason(erase_looked_at(home, of_subject(ZORBLAX), seen.digest))

    assert why == CHANGED
    assert (await home.get(made["said"])).content == "I live in Plingtown."


async def test_the_same_request_again_is_one_erasure(home: Calls) -> None:
    """M4 An erasure is named by its look's digest: sent again it answers as it did."""
    await people(home)
    seen = await look(home, of_subject(ZORBLAX))

    first = await erase_looked_at(home, of_subject(ZORBLAX), seen.digest)
    again = await erase_looked_at(home, of_subject(ZORBLAX), seen.digest)

    assert first == again
    assert ids(await look(home, of_subject(ZORBLAX)), "SAID") == set()


async def test_what_defines_the_agent_stays_and_is_listed(home: Calls, parties: Parties) -> None:
    """M4 G4 Constitutive items, and the nodes they need, stay; the receipt says why."""
    made = await people(home)
    creed = await parties.constitutive_memory(home, content="I trust Zorblax Quuxly.")

    receipt = await erase(home, of_subject(ZORBLAX), mentions=True, shared=True)

    assert {"kind": "MEMORY", "id": creed.id, "why": "CONSTITUTIVE"} in receipt["kept"]
    assert (await home.get(creed.id)).content == "I trust Zorblax Quuxly."
    assert made["said"] in {each["id"] for each in receipt["erased"]}


async def test_a_session_a_speaker_and_a_principal_are_forgotten_whole(live: World) -> None:
    """M4 Turns, memories, episodes and notes of a session; what a speaker said; what one wrote."""
    home, guest = live.calls(), live.calls(principal="guest")
    said = await home.append("talk", ("Ada", "Ada speaks"), (BOB, "Bob speaks"))
    tale = await episode(home, "Tell a tale.", session_id="talk")
    other = await home.add("Elsewhere.", session_id="walk")
    written = await guest.add("The guest writes.")

    session = await look(home, erasure_pb2.Selection(session_id="talk"))
    speaker = await look(home, erasure_pb2.Selection(speaker="ada"))
    principal = await look(home, erasure_pb2.Selection(principal="guest"))

    assert ids(session, "SAID") == {*(each.id for each in said), tale}
    assert ids(speaker, "SAID") == {said[0].id}
    assert ids(principal, "SAID") == {written.id}
    assert other.id not in ids(session, "SAID")
    receipt = await erase(home, erasure_pb2.Selection(session_id="talk"))
    assert {each["id"] for each in receipt["erased"]} == ids(session, "SAID")
    assert receipt["kept_ids"] == ["talk"]


async def test_queries_votes_and_recalls_go_too(live: World, home: Calls) -> None:
    """M4 S7 W8 Queries' texts and votes' reasons that name the subject; a principal's recalls."""
    memory = await home.add("Tea at four.")
    on = recall_pb2.SetRecallLogRequest(enabled=True)
    await home.recall.SetRecallLog(on)
    stamp = f"{live.clock.now // 1000:012x}"
    query = f"{stamp[:8]}-{stamp[8:]}-7001"
    recall = recall_pb2.Recall(query_id=query, principal="guest", memory_ids=[memory.id])
    await home.recall.AddRecall(recall_pb2.AddRecallRequest(recall=recall))
    for kind, key, body in (
        ("ranked_query", query, {"text": "Where is Zorblax Quuxly?", "weight": 2.0}),
        ("feedback", f"{query}/guest", {"text": "Where?", "reason": "Quuxly, Zorblax Quuxly"}),
    ):
        record = record_pb2.Record(name=record_pb2.RecordName(kind=kind, key=key))
        record.body = json.dumps(body)
        await home.record.PutRecords(record_pb2.PutRecordsRequest(records=[record]))

    seen = await look(home, of_subject(ZORBLAX))
    receipt = await erase(home, of_subject(ZORBLAX))
    await erase(home, erasure_pb2.Selection(principal="guest"))

    assert seen.query_count == receipt["queries_blanked"] == 2
    names = [
        record_pb2.RecordName(kind="ranked_query", key=query),
        record_pb2.RecordName(kind="feedback", key=f"{query}/guest"),
    ]
    got = await home.record.GetRecords(record_pb2.GetRecordsRequest(names=names))
    assert "Quuxly" not in repr(got)
    left = await home.recall.ListRecalls(recall_pb2.ListRecallsRequest())
    assert not left.recalls


async def test_exports_hold_nothing_of_whom_was_forgotten(home: Calls) -> None:
    """M4 G15 Neither form of export, nor the history, says a word of it."""
    made = await people(home)
    await erase(home, of_subject(ZORBLAX), mentions=True, shared=True)

    text = repr([await home.export(), await home.export(form=space_pb2.EXPORT_FORM_FULL)])
    history = await home.memory.GetMemoryHistory(
        memory_pb2.GetMemoryHistoryRequest(id=made["said"])
    )

    text += repr(history)
    assert [word for word in WORDS[1:] if word in text] == []
    assert "Bumfuzzle" in text


async def test_an_edge_that_others_state_and_a_node_that_they_name_stay(home: Calls) -> None:
    """M4 What others' memories need is theirs, too: the receipt lists it."""
    made = await people(home)

    receipt = await erase(home, of_subject(ZORBLAX))

    assert {"kind": "NODE", "id": made["node"], "why": "NAMED"} in receipt["kept"]
    assert {"kind": "MEMORY", "id": made["shared"], "why": "SHARED"} in receipt["kept"]
    found_ = await home.conflict.ListConflicts(conflict_pb2.ListConflictsRequest())
    assert not found_.conflicts


async def test_a_cut_off_erasure_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """M4 A graph that ends in the middle leaves a plan without a name: the same request ends it."""
    monkeypatch.setattr(erasing, "ITEMS_A_CALL", 2)
    async with world(tmp_path / "graph.db") as live:
        home = live.calls()
        made = await people(home)
        seen = await look(home, of_subject(ZORBLAX))
        request = erasure_pb2.EraseSelectionRequest(
            selection=of_subject(ZORBLAX), digest=seen.digest
        )
        part = await home.erasure.EraseSelection(request)
        plans = await live.app._store.read(
            "home", lambda tx: tx.service_records(ServiceRecord.ERASURE_PLAN, "")
        )

    async with world(tmp_path / "graph.db", clock=live.clock) as live:
        home = live.calls()
        again = await look(home, of_subject(ZORBLAX))
        receipt = await erase_looked_at(home, of_subject(ZORBLAX), again.unfinished_digest)
        after = await look(home, of_subject(ZORBLAX))

    assert not part.complete
    assert part.left_count
    assert again.unfinished_digest == seen.digest
    assert "Zorblax" not in repr(plans)
    assert receipt["erase_id"] == part.erase_id
    assert {made["said"], made["fact"], made["summary"], made["edge"]} <= {
        each["id"] for each in receipt["erased"]
    }
    assert not after.unfinished_digest


async def test_an_erased_node_is_never_written_again(live: World, home: Calls) -> None:
    """M4 V8 No undo, merge or other write gives an erased node another name."""
    made = await people(home)
    await erase(home, of_subject(ZORBLAX), mentions=True, shared=True)

    async def rename(tx: Writes) -> None:
        node = await tx.node(made["node"])
        assert node is not None
        writer = Writer(tx, Author("p", "Test", "r"), tx.last_time + 1)
        await writer.put(node, replace(node, name="back", deleted=False))

    with pytest.raises(ItemErased):
        await live.app._store.write("home", rename)


async def test_what_changed_since_the_look_stays_and_is_listed(
    home: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M4 An item that changes while the erasure goes on is not the one that was looked at."""
    monkeypatch.setattr(erasing, "ITEMS_A_CALL", 1)
    made = await people(home)
    seen = await look(home, of_subject(ZORBLAX))
    request = erasure_pb2.EraseSelectionRequest(selection=of_subject(ZORBLAX), digest=seen.digest)
    await home.erasure.EraseSelection(request)
    edge = await home.get_edge(made["edge"])
    edge.weight = 0.25
    await home.update_edge(edge, "weight")

    receipt = await erase_looked_at(home, of_subject(ZORBLAX), seen.digest)

    assert {"kind": "EDGE", "id": made["edge"], "why": "CHANGED"} in receipt["kept"]
    assert (await home.get_edge(made["edge"])).weight == 0.25


async def test_what_a_person_derived_by_their_own_key_is_shared(live: World, home: Calls) -> None:
    """M4 W8 A person's own text is not erased with its source unless `shared` says so."""
    ada = live.calls(principal="ada", kind="HUMAN", origin="HUMAN")
    said = await home.add("I live there.", sources=says(ZORBLAX))
    own = await ada.add("My summary.", sources=[type_pb2.Source(memory_ids=[said.id])])

    seen = await look(home, of_subject(ZORBLAX))
    shared = await look(home, of_subject(ZORBLAX), shared=True)

    assert kept(seen, "SHARED") == {own.id}
    assert ids(shared, "DERIVED") == {own.id}


async def test_a_selection_that_is_too_large_is_refused(
    home: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M4 One erasure takes a bounded number of items; nothing is erased beyond it."""
    monkeypatch.setattr(erasing, "MOST_SELECTED", 2)
    await people(home)
    seen = await look(home, of_subject(ZORBLAX))

    why = await reason(erase_looked_at(home, of_subject(ZORBLAX), seen.digest))

    assert why == "ERROR_REASON_SELECTION_TOO_LARGE"


async def test_a_full_export_with_forgotten_people_comes_in_again(live: World, home: Calls) -> None:
    """M4 G15 Erased nodes, episodes and notes round-trip, line by line."""
    await people(home)
    await erase(home, of_subject(ZORBLAX), mentions=True, shared=True)
    lines = await export_of(home)
    other = live.calls("other")

    await import_into(other, lines)

    assert (await export_of(other))[1 : len(lines) - 1] == lines[1:-1]


async def test_a_restored_copy_is_erased_again(live: World, home: Calls) -> None:
    """M4 Items of every kind are erased again by their receipts: edges before the nodes at them."""
    made = await people(home)
    restoring = Restoring(live.app._store, live.clock, ())

    gone = [made[name] for name in ("node", "edge", "said", "fact", "shared", "episode", "note")]
    erased, _ = await restoring.apply([("home", each) for each in gone], [])

    seen = await look(home, of_subject(ZORBLAX), mentions=True, shared=True)
    assert erased == len(gone)
    assert {each.id for each in seen.items}.isdisjoint(gone)
