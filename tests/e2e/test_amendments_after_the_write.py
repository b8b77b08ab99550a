"""A memory that edits a former one a little: AMENDS is proposed after the write (T6)."""

import asyncio
from collections.abc import Sequence

import pytest
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import lineage_pb2, memory_pb2, relation_pb2
from concord.type.v1 import type_pb2
from concord_dissonance.usecases import follow, suggestions
from dissonance_over_graph import Dissonant, Space, dissonant, waiting
from google.protobuf.timestamp_pb2 import Timestamp
from governed_world import AGENT, DAY, START, STATUS, Party, World, eventually, refused, request_id
from writing import to_erase, to_forget, to_update_memory

BUDGET = "The budget of the Apollo project is 40,000 euros a year."
RAISED = "The budget of the Apollo project is 45,000 euros a year."
TURN, PLAN = type_pb2.MEMORY_KIND_TURN, type_pb2.MEMORY_KIND_PLAN
AMENDS = type_pb2.LINEAGE_RELATION_AMENDS


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A follower that gathers for no time."""
    monkeypatch.setattr(follow, "QUIET", 0.01)


async def amended_by(space: Space, content: str, **fields: object) -> list[str]:
    """Add a memory; return the ids of those that it may amend."""
    added = await space.add(content, **fields)
    return [each.older_id for each in await space.amendments(added)]


async def relate(party: Party, newer: str, older: str) -> None:
    """State that a memory amends another."""
    request = lineage_pb2.AddLineageRequest(
        request_id=request_id(), relation=AMENDS, newer_id=newer, older_id=older
    )
    await party.lineage_service.AddLineage(request)


async def forget(space: Space, memory_id: str) -> None:
    """Forget a memory."""
    found = await space.memories.GetMemory(memory_pb2.GetMemoryRequest(id=memory_id, peek=True))
    await space.memories.ForgetMemory(to_forget(found.memory))


def at(micros: int) -> Timestamp:
    """Return a time."""
    stamp = Timestamp()
    stamp.FromMicroseconds(micros)
    return stamp


async def test_a_small_edit_is_proposed_and_not_written(live: World, party: Party) -> None:
    """T6 (promise 1) After the write, once; approved by the agent alone, it stands."""
    async with dissonant(live) as works:
        home = works.space()
        await home.add(BUDGET, id="old")
        new = await home.add(RAISED, id="new")
        (proposal,) = await eventually(lambda: waiting(party))
        (asked,) = await home.amendments(new)
        lineage = lineage_pb2.GetLineageRequest(id="new")
        before = (await party.lineage_service.GetLineage(lineage)).edges

        assert not before
        assert proposal.kind == proposal_pb2.PROPOSAL_KIND_ADD_LINEAGE
        assert proposal.trigger == proposal_pb2.PROPOSAL_TRIGGER_PROACTIVE
        assert (proposal.proposer, asked.proposal_number) == ("dissonance", proposal.number)
        assert (asked.older_id, asked.change) == ("old", '"40,000" became "45,000"')
        assert asked.similarity == pytest.approx(20 / 22)
        assert (await party.decide(proposal)).status == STATUS.PROPOSAL_STATUS_EXECUTED
        (edge,) = (await party.lineage_service.GetLineage(lineage)).edges
        assert (edge.source.id, edge.relation, edge.target.id) == ("new", "AMENDS", "old")
        assert not await home.amendments(new)


async def test_a_rejected_suggestion_does_not_come_back(live: World, party: Party) -> None:
    """T6 V7 Neither when the memory is asked about again, nor after a restart."""
    async with dissonant(live) as works:
        await works.space().add(BUDGET)
        new = await works.space().add(RAISED)
        (proposal,) = await eventually(lambda: waiting(party))
        await party.reject(proposal, "AGENT")
    async with dissonant(live) as works:
        space = works.space()
        await space.add("Nothing like it was ever said in this space before.")
        (asked,) = await space.amendments(new)

        assert asked.proposal_number == proposal.number
        assert not await waiting(party)


async def test_what_changed_is_said(works: Dissonant) -> None:
    """T6 (promise 2) In words that the two texts have."""
    changes = {
        BUDGET.replace("a year", "every year"): '"a" became "every"',
        BUDGET.replace("is", "is not"): 'added "not"',
        BUDGET.replace(" Apollo", ""): 'removed "Apollo"',
        BUDGET.upper(): "letter case, punctuation or links",
    }
    for number, (content, change) in enumerate(changes.items()):
        home = works.space(f"space {number}")
        old = await home.add(BUDGET)
        (found,) = await home.amendments(await home.add(content))

        assert (found.older_id, found.change) == (old.id, change)


async def test_facts_of_another_subject_amend_nothing(home: Space) -> None:
    """T6 Also where the texts do not say whom they are about."""

    def costs(subject: str) -> list[type_pb2.Fact]:
        return [type_pb2.Fact(subject=subject, relation="COSTS", object="much")]

    text = "it will cost us about 40 euros in a good month"
    await home.add(text, facts=costs("gas"))

    assert await amended_by(home, text.replace("40", "41"), facts=costs("water")) == []
    assert len(await amended_by(home, text.replace("40", "42"), facts=costs("gas"))) == 1


async def test_only_what_is_current_of_its_kind_and_space_is_amended(
    works: Dissonant, home: Space
) -> None:
    """T6 (promises 4, 5) Nor a turn, nor by a turn."""
    await forget(home, (await home.add(BUDGET)).id)
    await home.add(BUDGET.replace("40", "41"), id="superseded")
    await home.add("Supersedes: [[memory:superseded]]", id="replacement")
    over = {"valid_from": at(START - 9), "valid_until": at(START - 1)}
    await home.add(BUDGET.replace("40", "42"), **over)
    await home.add(BUDGET.replace("40", "43"), valid_from=at(START + DAY))
    await home.add(BUDGET.replace("40", "44"), id="plan", kind=PLAN)
    await home.add(BUDGET.replace("40", "45"), kind=TURN)
    await works.space("other").add(BUDGET)

    assert await amended_by(home, BUDGET.replace("40", "46")) == []
    assert await amended_by(home, BUDGET.replace("40", "47"), kind=TURN) == []
    assert await amended_by(home, BUDGET.replace("40", "48"), kind=PLAN) == ["plan"]


async def test_what_is_said_already_is_not_suggested(works: Dissonant) -> None:
    """T6 (promise 6) A memory that has lineage with the former one has told how it stands to it."""
    for word in ("Supersedes", "Amends", "Contradicts"):
        home = works.space(word)
        await home.add(BUDGET, id="old")

        assert await amended_by(home, f"{RAISED}\n{word}: [[memory:old]]") == []


async def test_the_newest_of_a_chain_is_amended(home: Space, party: Party) -> None:
    """T6 (promise 7) The former one again, once its amendment is forgotten."""
    await home.add(BUDGET, id="a")
    await home.add(RAISED, id="b")
    await relate(party, "b", "a")
    chained = await amended_by(home, BUDGET.replace("40", "48"), id="c")
    await forget(home, "c")
    await forget(home, "b")

    assert chained == ["b"]
    assert await amended_by(home, BUDGET.replace("40", "49")) == ["a"]


async def test_a_memory_is_compared_by_what_it_says_now(home: Space) -> None:
    """T6 (promise 9) Changed, or forgotten and restored."""
    old = await home.add("The cat sleeps under the warm stove all day.")
    await home.update(old, BUDGET)
    assert await amended_by(home, RAISED, id="b") == [old.id]
    await forget(home, "b")
    await forget(home, old.id)
    found = await home.memories.GetMemory(memory_pb2.GetMemoryRequest(id=old.id, peek=True))
    restore = memory_pb2.RestoreMemoryRequest(
        request_id=request_id(), id=old.id, etag=found.memory.etag
    )
    await home.memories.RestoreMemory(restore)

    assert await amended_by(home, BUDGET.replace("40", "47")) == [old.id]


async def batch(space: Space, *texts: str) -> None:
    """Write memories as an importer does."""
    header = memory_pb2.BatchHeader(request_id=request_id(), memory_count=len(texts))
    parts = [memory_pb2.BatchAddMemoriesRequest(header=header)]
    parts += [
        memory_pb2.BatchAddMemoriesRequest(memory=type_pb2.Memory(content=each)) for each in texts
    ]
    await space.memories.BatchAddMemories(iter(parts))


async def test_an_import_suggests_nothing_unless_asked(live: World, party: Party) -> None:
    """T6 (promise 10) What it wrote is compared with what comes later."""
    async with dissonant(live) as works:
        home = works.space()
        await batch(home, BUDGET, RAISED)
        await home.add("Tea is served in the garden at five o'clock.")
        later = await home.add(BUDGET.replace("a year", "each year"))
        proposals = await eventually(lambda: waiting(party))
        named = {each.action.add_lineage.newer_id for each in proposals}
        listed = await home.memories.ListMemories(memory_pb2.ListMemoriesRequest())
        (raised,) = [each for each in listed.memories if each.content == RAISED]

        assert named == {later.id}
        assert [each.change for each in await home.amendments(raised)] == [
            '"40,000" became "45,000"'
        ]


async def test_asked_again_the_answer_is_the_same(home: Space) -> None:
    """T6 (promise 11) Nothing that was suggested changes what is suggested."""
    await home.add(BUDGET)
    new = await home.add(RAISED)
    first = list(await home.amendments(new))

    assert list(await home.amendments(new)) == first
    assert first


async def test_a_token_of_nobody_is_the_callers_mistake(home: Space) -> None:
    """T6 S10 It is refused with its reason."""
    new = await home.add(RAISED)
    home.token = "of nobody"
    failure = await refused(home.amendments(new))

    assert failure.reason == "ERROR_REASON_CONSISTENCY_TOKEN_INVALID"


async def test_what_was_erased_is_found_by_nothing(home: Space) -> None:
    """T6 (promise 12) Nothing is kept of words, so nothing is left of them."""
    old = await home.add(BUDGET)
    await home.memories.EraseMemory(to_erase(old))

    assert await amended_by(home, RAISED) == []


async def test_a_copy_of_a_space_suggests_as_the_original(works: Dissonant) -> None:
    """T6 (promise 13) What is found follows from the memories alone."""
    home, copy = works.space(), works.space("copy")
    await home.add(BUDGET)
    new = await home.add(RAISED)
    await home.copy_to(copy)
    await copy.add("Tea is served in the garden at five o'clock.")

    assert list(await copy.amendments(new)) == list(await home.amendments(new))


async def test_a_conflict_withdraws_no_suggestion(live: World, party: Party) -> None:
    """D7 T6 What becomes of findings leaves what no conflict caused as it is."""
    async with dissonant(live) as works:
        home = works.space()
        await home.add(BUDGET)
        await home.add(RAISED)
        (suggested,) = await eventually(lambda: waiting(party))
        await home.declare("LIVES_IN")
        for city in ("Berlin", "Paris"):
            await home.edge("Ada", "LIVES_IN", city)
        await home.detect()
        both = await eventually(lambda: waiting(party), lambda there: len(there) > 1)

        assert suggested.id in {each.id for each in both}


def costs(project: str, amount: str) -> dict[str, object]:
    """Return what a budget states as a fact."""
    return {"facts": [type_pb2.Fact(subject=project, relation="COSTS", object=amount)]}


async def declare_costs(home: Space) -> None:
    """Say that the two amounts exclude each other; neither succeeds the other."""
    amounts = relation_pb2.ExclusiveSet(names=["40,000", "45,000"])
    await home.declare(
        "COSTS", functional=False, exclusive_sets=relation_pb2.ExclusiveSets(sets=[amounts])
    )


async def test_a_pair_that_has_a_suggestion_gets_no_other_proposal(
    live: World, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D7 T6 V1 What disagrees in the facts that the two state is proposed once it has ended."""
    monkeypatch.setattr(follow, "AGAIN", 0.1)
    async with dissonant(live) as works:
        home = works.space()
        await home.add(BUDGET, **costs("Apollo", "40,000"))
        await home.add(RAISED, **costs("Apollo", "45,000"))
        (edit,) = await eventually(lambda: waiting(party))
        await declare_costs(home)
        (found,) = (await home.detect()).conflicts
        await asyncio.sleep(3 * follow.TOGETHER)

        assert [each.id for each in await waiting(party)] == [edit.id]
        await party.reject(edit, AGENT)
        (of_facts,) = await eventually(lambda: waiting(party))
        assert of_facts.action.review_conflict.conflict_id == found.id


async def test_a_pair_that_disagrees_gets_no_suggestion(live: World, party: Party) -> None:
    """D7 T6 V1 The proposal of what disagrees in their facts waits already; others get theirs."""
    async with dissonant(live, follow=False) as works:
        home = works.space()
        await declare_costs(home)
        said = {}
        for name in ("Apollo", "Vega"):
            await home.add(BUDGET.replace("Apollo", name), **costs(name, "40,000"))
            new = await home.add(RAISED.replace("Apollo", name), **costs(name, "45,000"))
            said[name] = new
        (found, *_) = [
            each for each in (await home.detect()).conflicts if "Apollo" in each.first.statement
        ]
        async with dissonant(live, with_search=False):
            await eventually(lambda: waiting(party), lambda there: len(there) == 2)
            vega = [each for each in await waiting(party) if found.id not in str(each.action)]
            await party.reject(vega[0], AGENT)
        edits = await home.amendments(*said.values())

    assert {each.newer_id: bool(each.proposal_number) for each in edits} == {
        said["Apollo"].id: False,
        said["Vega"].id: True,
    }


async def test_the_same_words_are_merged_and_amend_nothing(live: World, party: Party) -> None:
    """D7 T6 V1 Other spaces between them make no second proposal of the pair."""
    async with dissonant(live) as works:
        home = works.space()
        await home.add(BUDGET)
        new = await home.add(BUDGET.replace(" ", "  ", 1))
        (merge,) = await eventually(lambda: waiting(party))
        (edit,) = await home.amendments(new)

        asked = proposal_pb2.ListProposalsRequest(with_summaries=True)
        (listed,) = (await party.proposals.ListProposals(asked)).proposals

        said = "'The budget of the Apollo project is 40,000 euros a year.'"
        assert listed.summary == f"{said} becomes one with {said}"
        assert merge.kind == proposal_pb2.PROPOSAL_KIND_MERGE
        assert edit.proposal_number == 0
        assert [each.id for each in await waiting(party)] == [merge.id]


async def test_few_suggestions_wait_beside_the_findings(live: World, party: Party) -> None:
    """D7 T6 They leave the places of dissonance's proposals to conflicts."""
    async with dissonant(live) as works:
        home = works.space()
        added: list[type_pb2.Memory] = []
        names = ("Apollo", "Vega", "Lyra", "Orion", "Cygnus", "Hydra", "Draco")
        for name in names:
            await home.add(BUDGET.replace("Apollo", name))
            added.append(await home.add(RAISED.replace("Apollo", name)))
        found = await home.amendments(*added)

        assert len(found) == len(names)
        assert len(await waiting(party)) == suggestions.MOST_WAITING
        assert len([each for each in found if not each.proposal_number]) == 2


async def test_a_memory_said_twice_is_proposed_to_be_one(live: World, party: Party) -> None:
    """V1 V8 D3 Of two sources, by nobody but the proposal; approved one is left, undone both."""
    async with dissonant(live) as works:
        home = works.space()
        old = await home.add(BUDGET, sources=[type_pb2.Source(speaker="ada")])
        new = await home.add(BUDGET, sources=[type_pb2.Source(speaker="ben")])
        (proposal,) = await eventually(lambda: waiting(party))

        assert (proposal.kind, proposal.trigger) == (
            proposal_pb2.PROPOSAL_KIND_MERGE,
            proposal_pb2.PROPOSAL_TRIGGER_PROACTIVE,
        )
        assert proposal.approval_level == proposal_pb2.APPROVAL_LEVEL_AGENT
        assert {old.id: old.etag, new.id: new.etag}.items() <= {
            item.id: item.etag for item in proposal.affected
        }.items()
        done = await party.decide(proposal)
        assert done.status == STATUS.PROPOSAL_STATUS_EXECUTED
        assert await heads(home, new.id) == [old.id]
        assert (await party.decide(await party.undo(done))).status == done.status
        assert await heads(home, new.id) == [new.id]


async def test_a_suggestion_is_of_the_versions_that_were_compared(
    live: World, party: Party
) -> None:
    """T6 V6 What changed since is not amended by it, and may be suggested anew."""
    async with dissonant(live) as works:
        home = works.space()
        await home.add(BUDGET)
        new = await home.add(RAISED)
        (proposal,) = await eventually(lambda: waiting(party))
        update = to_update_memory(type_pb2.Memory(id=new.id, etag=new.etag, tags=["money"]), "tags")
        await home.memories.UpdateMemory(update)

        failed = await party.decide(proposal)
        assert failed.status == STATUS.PROPOSAL_STATUS_FAILED
        assert failed.failure_reason == "ERROR_REASON_GRANT_INVALID"
        (asked,) = await home.amendments(new)
        assert asked.proposal_number > proposal.number


async def heads(space: Space, memory_id: str) -> Sequence[str]:
    """Return the heads of a memory's chain."""
    found = await space.memories.GetMemory(memory_pb2.GetMemoryRequest(id=memory_id, peek=True))
    return list(found.memory.supersession.head_ids)
