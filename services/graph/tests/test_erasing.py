"""Erasing: what a memory said is read nowhere any more, and what is left of it."""

from concord.graph.v1 import feed_pb2, graph_pb2, memory_pb2
from concord.graph.v1.space_pb2 import ListOperationsRequest
from concord.type.v1 import type_pb2
from governed_actions import action_of
from graph_world import (
    AMENDS,
    CONSTITUTIVE,
    DAY,
    NOT_FOUND,
    PROTECTED,
    SUPERSEDES,
    Calls,
    Parties,
    World,
    by_id,
    edge_of,
    reason,
    refused,
    stamp,
    struct,
)

ERASED = type_pb2.LOOKUP_STATUS_ERASED
GONE = "ERROR_REASON_ITEM_ERASED"
RARE = (
    "Zorblax",
    "quuxly",
    "plingtown",
    "hobnob",
    "wibble",
    "frobnitz",
    "snarfle",
    "ext-77",
    "mr-x",
    "grumph",
    "yarble",
)


async def told(home: Calls) -> type_pb2.Memory:
    """Return a memory of rare words, in its third version."""
    memory = await home.add(
        "Zorblax lives in plingtown.",
        concepts=["quuxly"],
        tags=["hobnob"],
        domain="wibble.frobnitz",
        category="snarfle",
        surfaces_when=["wibble*"],
        external_id="ext-77",
        session_id="s-7",
        sources=[type_pb2.Source(speaker="mr-x", file="quuxly.txt", turn_ids=["t-plingtown"])],
        properties=struct({"grumph": ["yarble"]}),
    )
    for content in ("Zorblax lived in plingtown once.", "Zorblax left. See [[memory:hobnob-town]]"):
        memory.content = content
        memory = await home.update(memory, "content")
    return memory


async def everything(home: Calls, *ids: str) -> str:
    """Return all that can be read of a space and of some of its memories, as text."""
    seen = [repr(await home.export()), repr(await home.changes())]
    listed = memory_pb2.ListMemoriesRequest(include_superseded=True, page_size=200)
    seen += [
        repr(await home.memory.ListMemories(listed)),
        repr(await home.graph.ListEdges(graph_pb2.ListEdgesRequest(page_size=200))),
        repr(await home.graph.ListNodes(graph_pb2.ListNodesRequest(page_size=200))),
        repr(await home.space_service.ListOperations(ListOperationsRequest(page_size=500))),
    ]
    heads = range(len(await home.changes()) + 1)
    for memory_id in ids:
        history = memory_pb2.GetMemoryHistoryRequest(id=memory_id)
        seen += [
            repr(await home.memory.GetMemory(memory_pb2.GetMemoryRequest(id=memory_id))),
            repr(await home.memory.GetMemoryHistory(history)),
            repr(await home.lineage(memory_id)),
            repr(await home.states(*((memory_id, seq) for seq in heads))),
            repr(await home.neighbors(by_id(memory_id), include_superseded=True)),
        ]
    return "".join(seen)


async def test_nothing_reads_what_was_erased(home: Calls) -> None:
    """M4 Content, concepts, tags, sources and all else leave every version and every read."""
    memory = await told(home)
    before = await everything(home, memory.id)
    assert [word for word in RARE if word.casefold() in before.casefold()] == list(RARE)

    await home.erase(memory)

    seen = await everything(home, memory.id)
    assert memory.id in seen
    assert not [word for word in RARE if word.casefold() in seen.casefold()]


async def test_a_read_by_id_says_that_it_was_erased(live: World, home: Calls) -> None:
    """M4 T3 Left are the id, the kind, the times and when it was erased, now and at any instant."""
    memory = await told(home)
    before = live.clock.now + DAY // 2
    live.clock.pass_(DAY)
    await home.erase(memory)
    as_of = type_pb2.AsOf(record_time=stamp(before))

    now = await home.memory.GetMemory(memory_pb2.GetMemoryRequest(id=memory.id))
    then = await home.memory.GetMemory(memory_pb2.GetMemoryRequest(id=memory.id, as_of=as_of))
    by_key = await home.memory.GetMemory(
        memory_pb2.GetMemoryRequest(external_id="ext-77", as_of=as_of)
    )
    exported = await home.export(as_of=as_of)

    assert (now.status, then.status, by_key.status) == (ERASED, ERASED, NOT_FOUND)
    assert now.memory.erase_time == then.memory.erase_time
    assert now.memory.HasField("forget_time")
    assert not then.memory.HasField("forget_time")
    assert now.memory.create_time == memory.create_time
    assert f'{{"erased":"{memory.id}","kind":"memory"}}' in exported


async def test_history_shows_erased_versions(home: Calls) -> None:
    """M4 Every version stays with its number, its record interval and its author."""
    memory = await told(home)
    await home.erase(memory)

    history = await home.memory.GetMemoryHistory(memory_pb2.GetMemoryHistoryRequest(id=memory.id))

    assert [each.revision for each in history.versions] == [4, 3, 2, 1]
    assert all(each.memory.HasField("erase_time") for each in history.versions)
    assert {each.memory.content for each in history.versions} == {""}
    assert {each.principal for each in history.versions} == {"agent-1"}


async def test_every_state_is_erased_for_who_follows(home: Calls) -> None:
    """M4 Design 5: who asks for an exact state of the past is told that it is erased."""
    memory = await told(home)
    first = (await home.changes())[0].seq
    await home.erase(memory)

    states = await home.states((memory.id, first), (memory.id, 0))
    news = await home.changes(after=first)

    assert [each.erased for each in states] == [True, True]
    assert not any(each.HasField("memory") for each in states)
    assert feed_pb2.CHANGE_TYPE_ERASED in {n.type for n in news if n.item_id == memory.id}


async def test_an_erased_memory_stays_so(home: Calls) -> None:
    """M4 V8 No update, forgetting, restoring, erasing or adding brings its id back to life."""
    memory = await home.add("Zorblax lives here.", id="zoe")
    await home.erase(memory)
    left = (await home.memory.GetMemory(memory_pb2.GetMemoryRequest(id="zoe"))).memory
    left.content = "Something else"

    reasons = [
        await reason(home.update(left, "content")),
        await reason(home.forget(left)),
        await reason(home.restore(left)),
        await reason(home.erase(left)),
        await reason(home.add("Zorblax lives here.", id="zoe")),
    ]
    batch = await home.batch([type_pb2.Memory(id="zoe", content="Zorblax lives here.")])

    assert reasons == [GONE] * 5
    assert [each.outcome for each in batch.results] == [memory_pb2.BATCH_OUTCOME_ERASED]
    assert (await refused(home.add("Again", id="zoe"))).metadata["item_id"] == "zoe"


async def test_the_same_text_or_key_again_is_a_new_memory(home: Calls) -> None:
    """M4 M5 What was erased is not recognised, not even as the same."""
    text = type_pb2.Memory(content="Tea is at four.")
    keyed = type_pb2.Memory(content="Tea is at five.", external_id="ext-1")
    first = [(await home.add_memory(each)).memory for each in (text, keyed)]
    for memory in first:
        await home.erase(memory)

    again = [await home.add_memory(each) for each in (text, keyed)]

    assert all(each.created for each in again)
    assert not {each.memory.id for each in again} & {each.id for each in first}


async def test_lineage_between_ids_stays_and_rests(home: Calls) -> None:
    """M4 T2 The older memory holds again; the chain shows an erased item, and no context."""
    old = await home.add("Tea is at four.")
    new = await home.add("Tea is at six.")
    newest = await home.add("Tea is at seven.")
    await home.relate(SUPERSEDES, new.id, old.id, context="because Zorblax said so")
    await home.relate(AMENDS, newest.id, new.id, context="because Zorblax insisted")
    assert (await home.get(old.id)).supersession.is_superseded

    await home.erase(new)

    chain = await home.lineage(old.id)
    assert not (await home.get(old.id)).supersession.is_superseded
    assert {(e.relation, e.source.id, e.target.id) for e in chain.edges} == {
        ("SUPERSEDES", new.id, old.id),
        ("AMENDS", newest.id, new.id),
    }
    assert [item.id for item in chain.items if item.is_erased] == [new.id]
    assert "Zorblax" not in repr(chain) + await everything(home, old.id, new.id, newest.id)


async def test_lineage_at_it_is_never_written_again(home: Calls) -> None:
    """M4 M3 What pointed at it in its content may say something else; the lineage rests."""
    old = await home.add("Zorblax drinks tea.")
    new = await home.add(f"Wibble drinks tea. Supersedes: [[memory:{old.id}]]")
    await home.erase(old)
    (edge,) = (await home.lineage(new.id)).edges

    again = await home.relate(SUPERSEDES, new.id, old.id)
    new.content = "Wibble drinks coffee."
    await home.update(new, "content")
    new = await home.get(new.id)
    new.content = f"Wibble drinks milk. Supersedes: [[memory:{old.id}]]"
    await home.update(new, "content")

    assert again.edge.id == edge.id
    assert [e.etag for e in (await home.lineage(new.id)).edges] == [edge.etag]
    assert await reason(home.delete_edge(edge)) == GONE
    edge.weight = 0.5
    assert await reason(home.update_edge(edge, "weight")) == GONE


async def test_edges_at_it_lose_what_they_say(home: Calls) -> None:
    """M4 An edge between a node and an erased memory is deleted, with its relation and properties;
    its former versions too."""
    memory = await home.add("Tea is at four.")
    edge = await home.put_edge("Ada", "ZORBLAXED", by_id(memory.id), properties={"a": "plingtown"})
    edge.properties.update({"a": "quuxly", "participants": ["Hobnob of Wibble"]})
    edge = await home.update_edge(edge, "properties")
    old_edge = await home.put_edge("Ben", "PLINGED", by_id(memory.id))
    await home.delete_edge(old_edge)

    receipt_id = (await home.erase(memory)).erase_id

    got = await home.graph.GetEdge(graph_pb2.GetEdgeRequest(id=edge.id))
    assert got.status == NOT_FOUND
    assert (await home.receipt(memory.id)).edge_count == 2
    assert (await home.receipt(memory.id)).erase_id == receipt_id
    operations = await home.space_service.ListOperations(ListOperationsRequest(item_id=edge.id))
    assert operations.operations[0].type == feed_pb2.CHANGE_TYPE_ERASED
    seen = await everything(home, memory.id)
    assert not [
        word for word in ("ZORBLAXED", "PLINGED", "plingtown", "quuxly", "Hobnob") if word in seen
    ]


async def test_a_ghost_that_others_name_keeps_its_id(home: Calls) -> None:
    """M4 M3 What another memory says stays, and so does the id that both name."""
    memory = await home.add("See [[memory:shared-ghost]] and [[memory:own-ghost]].")
    other = await home.add("Supersedes: [[memory:shared-ghost]]")

    await home.erase(memory)

    shared, own = await home.lineage("shared-ghost"), await home.lineage("own-ghost")
    assert {each.id for each in shared.items} == {other.id, "shared-ghost"}
    assert own.status == NOT_FOUND


async def test_replays_after_erasing_add_nothing_and_tell_nothing(home: Calls) -> None:
    """M5 M4 A request that wrote what was erased is answered with what is left. Its digest, which
    could test a guess, is gone: another content is not told apart."""
    request = memory_pb2.AddMemoryRequest(
        request_id="again", memory=type_pb2.Memory(content="Zorblax lives here.")
    )
    memory = (await home.memory.AddMemory(request)).memory
    reply = await home.erase(memory, request_id="erase")

    again = await home.memory.AddMemory(request)
    request.memory.content = "A guess."
    guessed = await home.memory.AddMemory(request)

    assert (again.memory.id, again.memory.content) == (memory.id, "")
    assert guessed.memory.id == memory.id
    assert await home.listed() == []
    assert await home.erase(memory, request_id="erase") == reply


async def test_an_erase_needs_the_current_etag(home: Calls) -> None:
    """M4 Design 3: who erases has seen what is erased."""
    memory = await home.add("Tea is at four.")
    stale = type_pb2.Memory(id=memory.id, etag="0" * 24)
    missing = type_pb2.Memory(id="nobody", etag="x")

    assert await reason(home.erase(stale)) == "ERROR_REASON_ETAG_MISMATCH"
    assert await reason(home.erase(missing)) == "ERROR_REASON_ITEM_NOT_FOUND"
    assert (await home.get(memory.id)).content == "Tea is at four."


class TestReceipt:
    """What an erasure's receipt says."""

    async def test_tells_who_asked_when_and_who_confirmed(self, live: World, home: Calls) -> None:
        """M4 The store itself confirms (`make bench` times it); the receipt waits for the rest."""
        memory = await told(home)
        reply = await home.erase(memory, reason="asked for by Anna")
        receipt = await home.scrubbed(memory.id)
        by_id_ = await home.memory.GetEraseReceipt(
            memory_pb2.GetEraseReceiptRequest(erase_id=reply.erase_id)
        )

        assert by_id_.receipt == receipt
        assert receipt.memory_id == memory.id
        assert (receipt.principal, receipt.reason) == ("agent-1", "asked for by Anna")
        assert receipt.erase_time == reply.memory.erase_time
        assert [each.confirmer for each in receipt.confirmations] == ["graph", "search"]
        assert not receipt.confirmations[1].HasField("confirm_time")
        assert not receipt.HasField("complete_time")

        await live.calls(principal="search").memory.ConfirmErase(
            memory_pb2.ConfirmEraseRequest(request_id="c", memory_id=memory.id)
        )
        done = await home.receipt(memory.id)
        assert done.complete_time == max(
            (each.confirm_time for each in done.confirmations), key=lambda t: t.ToNanoseconds()
        )

    async def test_is_told_to_whom_it_waits_for_alone(self, live: World, home: Calls) -> None:
        """M4 W6 A confirmation counts once, from a configured confirmer, for what was erased."""
        memory, other = await home.add("Tea is at four."), await home.add("Tea is at six.")
        await home.erase(memory)
        search, stranger = live.calls(principal="search"), live.calls(principal="graph")

        def asked(memory_id: str, request_id: str = "c") -> memory_pb2.ConfirmEraseRequest:
            return memory_pb2.ConfirmEraseRequest(request_id=request_id, memory_id=memory_id)

        unknown = await reason(stranger.memory.ConfirmErase(asked(memory.id)))
        not_erased = await reason(search.memory.ConfirmErase(asked(other.id)))
        await search.memory.ConfirmErase(asked(memory.id))
        first = (await home.receipt(memory.id)).confirmations[1].confirm_time
        live.clock.pass_(DAY)
        await search.memory.ConfirmErase(asked(memory.id, "d"))

        assert unknown == "ERROR_REASON_CONFIRMER_UNKNOWN"
        assert not_erased == "ERROR_REASON_ITEM_NOT_FOUND"
        assert (await home.receipt(memory.id)).confirmations[1].confirm_time == first

    async def test_digest_is_what_the_record_said(self, home: Calls) -> None:
        """A3 The last version's digest is on record before and after; its salt is gone."""
        memory = await told(home)
        before = await home.space_service.ListOperations(ListOperationsRequest(item_id=memory.id))
        await home.erase(memory)
        receipt = await home.receipt(memory.id)
        after = await home.space_service.ListOperations(ListOperationsRequest(item_id=memory.id))

        assert receipt.digest == before.operations[0].after_digest
        assert receipt.digest == after.operations[0].before_digest


class TestProtection:
    """What defines the agent is erased with both consents only."""

    async def test_a_constitutive_memory_is_not_erased_alone(
        self, home: Calls, parties: Parties
    ) -> None:
        """G4 M4 Refused and on record, also when it was forgotten with consent before."""
        creed = await parties.constitutive_memory(home)
        assert await reason(home.erase(creed)) == PROTECTED

        action = action_of("forget_memory", id=creed.id, etag=creed.etag)
        forgotten = (await parties.apply(home, action)).memory

        assert await reason(home.erase(forgotten)) == PROTECTED
        tried = await home.space_service.ListOperations(
            ListOperationsRequest(types=[feed_pb2.CHANGE_TYPE_REFUSED])
        )
        assert [each.item_id for each in tried.operations] == [creed.id, creed.id]
        history = memory_pb2.GetMemoryHistoryRequest(id=creed.id)
        versions = (await home.memory.GetMemoryHistory(history)).versions
        assert {each.memory.content for each in versions} == {"I keep my promises."}

    async def test_a_memory_with_a_constitutive_edge_is_not_erased_alone(
        self, home: Calls, parties: Parties
    ) -> None:
        """G4 What both principals agreed to rests on the memory."""
        memory = await home.add("Honesty comes first.")
        edge = edge_of("Me", "VALUES", by_id(memory.id), edge_type=CONSTITUTIVE)
        await parties.apply(home, action_of("upsert_edge", edge=edge))

        assert await reason(home.erase(memory)) == PROTECTED
        assert (await home.get(memory.id)).content == "Honesty comes first."

    async def test_a_grant_lets_both_parties_erase(self, home: Calls, parties: Parties) -> None:
        """G4 V6 M4 With consent to its version, what defines the agent can be erased."""
        creed = await parties.constitutive_memory(home, content="Zorblax keeps promises.")
        action = action_of("erase_memory", id=creed.id, etag=creed.etag)

        without = await reason(parties.apply(home, action, {}))
        reply = await parties.apply(home, action, {creed.id: creed.etag})

        assert without == "ERROR_REASON_GRANT_INVALID"
        assert reply.memory.HasField("erase_time")
        assert "Zorblax" not in await everything(home, creed.id)
        assert (await home.receipt(creed.id)).memory_id == creed.id
