"""Synthesis over the real graph, search and governance: from memories, kept as memories."""

from concord.dissonance.v1 import dialectic_pb2 as pb
from concord.dissonance.v1 import dialectic_pb2_grpc
from concord.graph.v1 import conflict_pb2, lineage_pb2, lineage_pb2_grpc, memory_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from dissonance_over_graph import ASKING, Dissonant, Space
from governed_world import request_id

WHO = Caller("one", "agent", ASKING | {"search:read"}, "AGENT")
YES, NO = "The permit is required.", "The permit is not required."


async def run(works: Dissonant, **fields: object) -> list[pb.DialecticEvent]:
    """Synthesize; every event."""
    stub = dialectic_pb2_grpc.DialecticServiceStub(works.served.channel(WHO))
    request = pb.SynthesizeRequest(**({"request_id": request_id()} | fields))  # type: ignore[arg-type]
    return [reply.event async for reply in stub.Synthesize(request)]


def of(event: pb.DialecticEvent) -> pb.Synthesis:
    """Return the synthesis of a last event."""
    assert event.WhichOneof("event") == "done"
    return event.done.synthesis


async def test_memories_are_synthesized_and_the_synthesis_is_kept(
    works: Dissonant, home: Space
) -> None:
    """D8 D10 Named ones and those that a query finds; kept once, with its grounds and lineage, and
    what stays open is a potential conflict, never a CONTRADICTS."""
    both = [(await home.add(text)).id for text in (YES, NO)]
    said = f"The deadline is four weeks, which supersedes [[memory:{both[0]}]]."
    linking = await home.add(said, kind=type_pb2.MEMORY_KIND_TURN, session_id="talk")
    await home.amendments(linking)  # the index has them all
    keep = pb.KeepSynthesis(memory=True, amend_sources=True, conflicts=True)
    asked = {"request_id": "once", "memory_ids": [*both, linking.id], "query": YES, "keep": keep}
    events = await run(works, **asked)
    found = of(events[-1])

    assert [each.number for each in events] == [*range(1, len(events) + 1)]
    assert [each.percent for each in events] == sorted(each.percent for each in events)
    assert {each.memory_id for each in found.theses} == {*both, linking.id}
    assert [each.severity for each in found.contradictions] == [
        conflict_pb2.CONFLICT_SEVERITY_CRITICAL
    ]
    assert list(found.unresolved) == [0]
    assert (found.is_complete, found.confidence) == (False, 0)
    kept = found.kept
    memory = (await home.memories.GetMemory(memory_pb2.GetMemoryRequest(id=kept.memory_id))).memory
    assert memory.kind == type_pb2.MEMORY_KIND_INSIGHT
    assert {*memory.sources[0].memory_ids} == {*both, linking.id}
    assert f"which supersedes [[memory:{both[0]}]]" in memory.content
    lineage = lineage_pb2_grpc.LineageServiceStub(works.world.graph.channel(WHO))
    chain = await lineage.GetLineage(lineage_pb2.GetLineageRequest(id=kept.memory_id))
    relations = {each.relation for each in chain.edges}
    assert "CONTRADICTS" not in relations
    assert "SUPERSEDES" not in relations
    listed = (await home.listed()).conflicts
    assert [(each.id, each.state) for each in listed] == [
        (kept.conflict_ids[0], conflict_pb2.CONFLICT_STATE_POTENTIAL)
    ]
    again = of((await run(works, **(asked | {"request_id": "again"})))[-1]).kept
    assert (again.memory_id, again.conflict_ids) == (kept.memory_id, kept.conflict_ids)


async def test_a_query_takes_what_it_surely_finds_and_each_thing_once(
    works: Dissonant, home: Space
) -> None:
    """D8 S4 A result of low confidence is no source, and two memories of the same words are one
    thesis; a memory without a speaker is told by its place."""
    first = await home.add(YES)
    again = await home.add(f"{YES} The deadline is four weeks.")
    await home.amendments(first, again)  # the index has them all
    found = of((await run(works, query=YES))[-1])
    strange = of((await run(works, query="How do zebras graze at dawn?"))[-1])

    assert not strange.theses
    assert sorted(each.claim for each in found.theses) == ["The deadline is four weeks.", YES]
    assert {each.memory_id for each in found.theses} == {first.id, again.id}
    assert {each.agent_source for each in found.theses} == {"memory 1", "memory 2"}


async def test_what_is_not_there_fails_the_run_and_keeps_nothing(
    works: Dissonant, home: Space
) -> None:
    """D10 G13 One terminal event says why; another space's memory is as if it did not exist."""
    there = (await works.space("two").add(YES)).id
    for memory_id in (there, "nothing"):
        events = await run(works, memory_ids=[memory_id], keep=pb.KeepSynthesis(memory=True))

        assert [each.WhichOneof("event") for each in events] == [None, "failed"]
        assert events[-1].failed.reason == "ERROR_REASON_ITEM_NOT_FOUND"
        assert events[-1].failed.metadata["item_id"] == memory_id
    found = await home.memories.ListMemories(memory_pb2.ListMemoriesRequest())
    assert not found.memories


async def test_without_a_thesis_nothing_is_kept(works: Dissonant, home: Space) -> None:
    """D8 What only supposes something gives no synthesis that a memory could hold."""
    supposed = (await home.add("Perhaps the permit is required.")).id
    events = await run(works, memory_ids=[supposed], keep=pb.KeepSynthesis(memory=True))
    found = of(events[-1])
    listed = await home.memories.ListMemories(memory_pb2.ListMemoriesRequest())

    assert (len(found.theses), len(found.set_aside)) == (0, 1)
    assert not found.HasField("kept")
    assert [each.id for each in listed.memories] == [supposed]
