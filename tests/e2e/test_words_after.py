"""What will hold stands in the signed bytes: a label alone says nothing of what comes back (V6)."""

from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import governed_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord_client.trust import review as reviewing
from governed_steps import does
from governed_world import CONSTITUTIVE, Party, edge_action, eventually
from undo_cases import deleting, held
from writing import action_of, salt, to_add, to_forget, to_restore, to_update_memory

Action = governed_pb2.GovernedAction


def words(proposal: proposal_pb2.Proposal) -> dict[str, tuple[str, str]]:
    """Return what each item that is written says, and will say, by what it says."""
    assert reviewing.review(proposal).canonical == proposal.canonical
    return {
        item.statement: (item.statement, item.statement_after)
        for item in proposal.affected
        if item.needs_consent and not item.pinned
    }


async def creed(party: Party, content: str) -> type_pb2.Memory:
    """Make a constitutive memory, by consent."""
    memory = type_pb2.Memory(id="creed", content=content, edge_type=CONSTITUTIVE)
    await does(party, to_add(memory))
    return await known(party)


async def known(party: Party) -> type_pb2.Memory:
    """Return the memory as it stands."""
    return (await party.memory.GetMemory(memory_pb2.GetMemoryRequest(id="creed"))).memory


def saying(memory: type_pb2.Memory, content: str) -> Action:
    """Return the action that lets a memory say something else."""
    changed = type_pb2.Memory(id=memory.id, etag=memory.etag, content=content)
    return action_of(to_update_memory(changed, "content"))


async def test_an_undo_says_what_will_hold(party: Party) -> None:
    """V6 V8 Both the words that go and the words that come back are signed."""
    memory = await creed(party, "I never lie.")
    change = await party.propose(saying(memory, "I may lie."))
    assert words(change) == {"I never lie.": ("I never lie.", "I may lie.")}
    undo = await party.undo(await party.decide(change))

    assert words(undo) == {"I may lie.": ("I may lie.", "I never lie.")}
    assert b'"statement_after":"I never lie."' in undo.canonical


async def test_a_restore_says_what_comes_back(party: Party) -> None:
    """V6 What is not there now and will be says so; what goes says nothing afterwards."""
    memory = await creed(party, "I never lie.")
    gone = await party.propose(to_forget(memory))
    assert words(gone) == {"I never lie.": ("I never lie.", "")}
    await party.decide(gone)
    restore = to_restore(await known(party))

    back = await party.propose(restore)

    assert words(back) == {"I never lie.": ("I never lie.", "I never lie.")}


async def test_an_edge_that_comes_back_is_named_with_its_ends(party: Party) -> None:
    """V6 V8 Of a deletion's undo the statement after is the whole edge."""
    await does(party, edge_action())
    was = await does(party, deleting(await held(party, "agent", "VALUES", "honesty")))
    undo = await party.undo(was)

    assert ("agent VALUES honesty",) * 2 in words(undo).values()


async def test_the_words_after_are_erased_too(party: Party) -> None:
    """M4 What a proposal said that an item would say goes with what the item says."""
    memory = await creed(party, "I never lie.")
    changed = await does(party, saying(memory, "I may lie."))
    erase = memory_pb2.EraseMemoryRequest(
        request_id=salt(), id="creed", etag=(await known(party)).etag, reason="asked"
    )
    await does(party, erase)

    after = await eventually(lambda: party.get(changed), lambda now: not now.canonical)

    assert [item.statement_after for item in after.affected if item.statement_after] == []
